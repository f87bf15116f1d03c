"""The engine: forms of files, shapes that are judged once, and one result however the work is divided."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from audited import RECORDINGS, audited, broken, summed, verdicts, written
from command_line import IMPORTED
from lost_workers import Losing
from places import DATA
from recorded_threads import threads

from runlock.conformance.audit.engine import Task, judged
from runlock.conformance.audit.reading import files_of
from runlock.conformance.audit.result import results_of
from runlock.conformance.audit.summary import Summary
from runlock.conformance.audit.workers import on_ray, processes
from runlock.conformance.errors import UsageError
from runlock.conformance.extras import MissingExtra
from runlock.conformance.judging.selection import EVERYTHING
from runlock.conformance.report.audit import as_json

RIGHT = sorted((DATA / "right_traces").glob("*.jsonl"))


def report(summary: Summary) -> str:
    """Everything that an audit says, as text."""
    found = results_of(summary, "audit:test", EVERYTHING)
    return json.dumps(as_json(found, [{} for _ in found], 0))


class Backwards:
    """Workers that give their results in another order than they were asked."""

    def run(self, work: Callable[..., Summary], of: Iterable[tuple[Any, ...]]) -> Iterator[Summary]:
        """The results, the last one first."""
        results = [work(*arguments) for arguments in of]
        yield from results[::-1]


@contextmanager
def backwards() -> Iterator[Backwards]:
    """These workers."""
    yield Backwards()


@pytest.mark.long
def test_the_division_of_the_work_changes_nothing(tmp_path: Path) -> None:
    """One process that judges as it reads, and partitions in any order, give the same to the byte."""
    pytest.importorskip("duckdb")
    files = [
        *RIGHT[:2],
        *sorted((DATA / "wrong_traces").glob("*.jsonl"))[:2],
        *sorted(RECORDINGS.glob("*/p*.jsonl")),
    ]
    files.append(written(tmp_path / "many.jsonl", threads(12, faulty=(3, 7))))

    assert report(judged(files, Task(), lambda _: None, backwards())) == report(summed(*files))


@pytest.mark.processes
def test_several_processes_change_nothing(tmp_path: Path) -> None:
    """Two processes give what one gives, to the byte."""
    pytest.importorskip("duckdb")
    files = [written(tmp_path / f"{name}.jsonl", threads(20, faulty=(3, 7))) for name in "ab"]
    files += sorted(RECORDINGS.glob("*/*.jsonl"))

    assert report(judged(files, Task(), lambda _: None, processes(2))) == report(summed(*files))


@pytest.mark.long
def test_a_cluster_changes_nothing(tmp_path: Path) -> None:
    """Ray on this machine gives what one process gives, to the byte."""
    pytest.importorskip("ray")
    files = [written(tmp_path / f"{name}.jsonl", threads(20, faulty=(3, 7))) for name in "ab"]
    files += sorted(RECORDINGS.glob("*/*.jsonl"))

    assert report(judged(files, Task(), lambda _: None, on_ray("ray", 2))) == report(summed(*files))


@pytest.mark.long
def test_a_part_whose_worker_is_lost_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Ray worker that is killed before it gives its result changes nothing, whether it reads or judges."""
    pytest.importorskip("ray")
    monkeypatch.setenv("PYTHONPATH", IMPORTED)
    files = [written(tmp_path / f"{name}.jsonl", threads(20, faulty=(3, 7))) for name in "ab"]
    with on_ray("ray", 2) as workers:
        found = judged(files, Task(), lambda _: None, nullcontext(Losing(workers, tmp_path)))

    assert {(tmp_path / name).exists() for name in ("read_file", "judge_part")} == {True}
    assert report(found) == report(summed(*files))


def test_a_cluster_needs_an_address() -> None:
    """What is no address of a cluster is wrong usage."""
    with pytest.raises(UsageError, match="names no cluster"), on_ray("spark", None):
        pass


def test_a_missing_extra_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to install."""
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)

    with pytest.raises(MissingExtra, match=r"needs duckdb, .* `pip install -e '\.\[audit\]'`"):
        summed(RECORDINGS / "ag_ui" / "plain.jsonl")


# --- files --------------------------------------------------------------------------------------


def test_compressed_files_are_read(tmp_path: Path) -> None:
    """Gzip; a file that breaks off is open, and the audit undecided."""
    text = RIGHT[0].read_bytes()
    packed = gzip.compress(text)
    (tmp_path / "whole.jsonl.gz").write_bytes(packed)
    (tmp_path / "torn.jsonl.gz").write_bytes(packed[: len(packed) * 3 // 4])
    found = audited(*files_of([str(tmp_path)]))

    (cut_off,) = found.result.troubles
    assert (found.threads, found.open, broken(found), found.result.verdict) == (2, 1, {}, "undecided")
    assert "torn.jsonl.gz broke off after line " in cut_off.what


def test_zstandard_is_read(tmp_path: Path) -> None:
    """With the extra."""
    zstandard = pytest.importorskip("zstandard")
    (tmp_path / "whole.jsonl.zst").write_bytes(zstandard.compress(RIGHT[0].read_bytes()))

    assert audited(*files_of([str(tmp_path / "*.zst")])).threads == 1


def test_parquet_is_read(tmp_path: Path) -> None:
    """A column of JSON texts holds one record in each row."""
    duckdb = pytest.importorskip("duckdb")
    file = tmp_path / "traces.parquet"
    sql = f"copy (select * from read_csv('{RIGHT[0]}', header=false, sep='\\x01', quote='')) to '{file}'"
    duckdb.connect().execute(sql)

    assert verdicts(audited(file)) == verdicts(audited(RIGHT[0]))


def test_a_path_that_names_nothing_is_wrong_usage(tmp_path: Path) -> None:
    """A missing file, an empty folder and a glob without matches."""
    for path in (tmp_path / "missing.jsonl", tmp_path, tmp_path / "*.jsonl"):
        with pytest.raises(UsageError):
            list(files_of([str(path)]))


# --- shapes -------------------------------------------------------------------------------------


def test_threads_of_one_shape_are_counted_as_if_each_was_judged(tmp_path: Path) -> None:
    """The counts of many like threads are those of as many files with one thread each."""
    many = threads(6)
    whole = summed(written(tmp_path / "many.jsonl", many))
    starts = [index for index, one in enumerate(many) if "scenario" in one]
    ends = [*starts[1:], len(many)]
    single = [
        written(tmp_path / f"{number}.jsonl", [many[0], *many[begin:end]])
        for number, (begin, end) in enumerate(zip(starts, ends, strict=True))
    ]
    (one,), (other,) = whole.sources.values(), summed(*single).sources.values()

    assert (one.threads, one.stimuli, one.records) == (other.threads, other.stimuli, other.records)
    assert (one.exercised, one.coverage) == (other.exercised, other.coverage)


def test_a_fault_among_many_threads_of_one_shape_is_found(tmp_path: Path) -> None:
    """A thread whose texts relate in another way has another shape."""
    found = audited(written(tmp_path / "many.jsonl", threads(40, faulty=(37,))))

    assert (found.threads, dict(found.broken)) == (40, {"PAIR-4": 1})
    assert found.examples["PAIR-4"][0].thread.endswith("#38")


@pytest.mark.long
def test_a_result_inside_of_a_longer_text_is_compared_each_time(tmp_path: Path) -> None:
    """That one text contains another is no matter of shape, so such threads are judged themselves."""
    right, wrong = threads(30, framed=True), threads(30, framed=True, faulty=(29,))

    assert broken(audited(written(tmp_path / "right.jsonl", right))) == {}
    assert set(broken(audited(written(tmp_path / "wrong.jsonl", wrong)))) == {"PAIR-4"}


def test_a_torn_line_among_many_threads_of_one_shape_is_an_error(tmp_path: Path) -> None:
    """Text that is no JSON has no shape, wherever it is torn."""
    lines = [json.dumps(one) for one in threads(8)]
    chance = random.Random(5)
    for _ in range(20):
        at = chance.randrange(len(lines) // 2, len(lines) - 1)
        line = lines[at]
        cut = chance.randrange(1, len(line) - 1)
        torn = chance.choice([line[:cut], line[:cut] + "\t" + line[cut:], line[:cut] + '"' + line[cut:]])
        if _is_json(torn):
            continue
        file = tmp_path / "torn.jsonl"
        file.write_text("\n".join([*lines[:at], torn, *lines[at + 1 :]]) + "\n", "utf-8")
        assert summed(file).failed == 1


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
