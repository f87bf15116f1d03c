"""A damaged file costs itself and nothing else, and one that breaks off is never plainly held."""

from __future__ import annotations

import gzip
import json
import os
import random
from pathlib import Path

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("zstandard")

from audited import RECORDINGS, audited, summed, verdicts
from command_line import run
from damaged_files import DAMAGED, TEXT, THREADS, checked, flipped, parquet, spoil
from places import DATA

from runlock.conformance.audit import engine
from runlock.conformance.audit.importers import trace
from runlock.conformance.audit.reading import files_of
from runlock.conformance.audit.result import results_of
from runlock.conformance.campaign.audit import audit
from runlock.conformance.errors import UsageError
from runlock.conformance.judging.selection import EVERYTHING
from runlock.conformance.report.audit import as_json

Capsys = pytest.CaptureFixture[str]
FILES = sorted(DATA.glob("*_traces/*.jsonl"))


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_ends_in_one_sentence(name: str, tmp_path: Path) -> None:
    """It names the file, the other file is judged, and what the damaged one shows breaks no clause."""
    file, content, said = DAMAGED[name]
    (tmp_path / "a.jsonl").write_bytes(TEXT)
    data = content(tmp_path / file)
    (tmp_path / file).write_bytes(data)
    found = audited(tmp_path / "a.jsonl", tmp_path / file)
    troubles = [one.what for one in found.result.troubles]

    assert found.result.verdict == "undecided"
    assert [said in one and str(tmp_path / file) in one for one in troubles] == [True]
    assert (found.threads >= THREADS, dict(found.broken)) == (True, {})


def test_the_command_goes_on_after_a_damaged_file(capsys: Capsys, tmp_path: Path) -> None:
    """The exit code is 3, and the first lines say why."""
    (tmp_path / "a.jsonl").write_bytes(TEXT)
    (tmp_path / "b.jsonl.gz").write_bytes(flipped(gzip.compress(TEXT)))
    ran = run(capsys, "audit", tmp_path, "-o", tmp_path / "out")

    assert ran.code == 3
    assert ran.out.splitlines()[3].startswith("could not be judged:")
    assert f"undecided: {THREADS} threads" in ran.out


def test_nothing_of_a_file_counts_whose_checksum_is_wrong(tmp_path: Path) -> None:
    """Threads of a shape that is known by then are not counted either, for this file or for the next one."""
    damaged = bytearray(gzip.compress(TEXT))
    damaged[-8] ^= 1
    (tmp_path / "a.jsonl").write_bytes(TEXT)
    (tmp_path / "b.jsonl.gz").write_bytes(damaged)
    (tmp_path / "c.jsonl").write_bytes(TEXT)

    assert audited(*files_of([str(tmp_path)])).threads == 2 * THREADS


def test_the_name_of_a_file_is_no_pattern(tmp_path: Path) -> None:
    """Brackets, stars and quotes in the name of a file, and in that of the folder for what is spilled."""
    folder = tmp_path / "it's [a] *"
    folder.mkdir()
    names = ["a[1].jsonl", "what*.jsonl", "p[1]'*.parquet"]
    for name in names[:2]:
        (folder / name).write_bytes(TEXT)
    (folder / names[2]).write_bytes(parquet(tmp_path / "rows.parquet", TEXT.decode().splitlines()))
    found = [audited(*files_of([str(folder / name)])) for name in names]

    assert [one.threads for one in found] == [THREADS] * 3
    assert verdicts(found[0]) == verdicts(found[1]) == verdicts(found[2])


def test_no_sql_is_made_of_a_path(tmp_path: Path) -> None:
    """A folder for what is spilled may have any name."""
    folder = tmp_path / "it's [a] *"
    folder.mkdir()
    file = RECORDINGS / "ag_ui" / "plain.jsonl"
    found = engine.judged([file], engine.Task(), lambda _: None, scratch=folder)

    assert (found.errors, len(found.sources)) == ([], 1)


def test_a_thread_has_a_bounded_number_of_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has more is not judged, with a sentence; in text, in rows and in other formats."""
    monkeypatch.setattr(engine, "RECORDS_MAX", 5)
    monkeypatch.setattr(trace, "RECORDS_MAX", 5)
    (tmp_path / "a.jsonl").write_bytes(TEXT)
    (tmp_path / "b.json").write_bytes(TEXT)
    for file in (tmp_path / "a.jsonl", tmp_path / "b.json", RECORDINGS / "ag_ui" / "plain.jsonl"):
        assert any("more than 5 records" in error for error in summed(file).errors)


# --- at random ----------------------------------------------------------------------------------


def _damage(data: bytes, chance: random.Random) -> bytes:
    """The data with a bit turned over, cut, or with a part missing or doubled."""
    at, end = sorted(chance.sample(range(1, len(data)), 2))
    turned = data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
    return chance.choice([turned, data[:at], data[:at] + data[end:], data[:end] + data[at:]])


PACKED = {"jsonl.gz": gzip.compress(TEXT, mtime=0), "jsonl.zst": checked(TEXT)}


@pytest.mark.parametrize("begin", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(20, 500, 20))])
def test_no_damage_to_a_compressed_file_is_plainly_held(begin: int, tmp_path: Path) -> None:
    """Whatever is done to its bytes, it ends with a sentence, or with all of the threads."""
    for seed in range(begin, begin + 20):
        chance = random.Random(seed)
        ending, data = chance.choice(list(PACKED.items()))
        file = tmp_path / f"{seed}.{ending}"
        file.write_bytes(_damage(data, chance))
        found = summed(file)

        whole = sum(one.threads for one in found.sources.values()) == THREADS
        assert found.errors or whole, f"seed {seed}"


@pytest.mark.sampled(1, nightly=4)
@pytest.mark.parametrize("begin", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(20, 500, 20))])
def test_no_odd_value_in_a_trace_is_a_bug_of_the_kit(begin: int, tmp_path: Path) -> None:
    """A trace in which some values do not belong is judged, or refused with a sentence."""
    for seed in range(begin, begin + 20):
        chance = random.Random(seed)
        records = [json.loads(line) for line in chance.choice(FILES).read_text("utf-8").splitlines()]
        for _ in range(chance.choice((1, 1, 2, 4))):
            spoil(records, chance)
        file = tmp_path / f"{seed}.jsonl"
        file.write_text("".join(json.dumps(one) + os.linesep for one in records), "utf-8")
        for one in results_of(summed(file), "audit:test", EVERYTHING):
            json.dumps(as_json([one], [{}], 0))
        try:
            audit(file, "trace:test")
        except UsageError as error:
            assert str(file) in str(error), f"seed {seed}"
