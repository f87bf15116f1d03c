"""Traces of the kit's own format: an audit says of them what the target `trace:` says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from audited import audited, broken, records_in, summed, verdicts, written
from places import DATA

from runlock.conformance.campaign.audit import audit
from runlock.conformance.text import counted

TRACES = (
    sorted((DATA / "wrong_traces").glob("*.jsonl")) + sorted((DATA / "right_traces").glob("*.jsonl"))[::6]
)
RIGHT = sorted((DATA / "right_traces").glob("*.jsonl"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_an_audit_agrees_with_the_target(path: Path) -> None:
    """Verdicts, reasons and counts are those of `trace:`, and so are the causes."""
    one, other = audit(path, "trace"), audited(path).result

    assert other.clauses == one.clauses
    assert [(w.clause, w.reason, w.cause) for w in other.witnesses] == [
        (w.clause, w.reason, w.cause) for w in one.witnesses
    ]


@pytest.mark.parametrize("path", RIGHT[::8], ids=lambda path: path.stem)
def test_a_recording_that_ends_early_is_open(path: Path, tmp_path: Path) -> None:
    """Wherever a right trace is cut, in the middle of a line as well, nothing in it breaks."""
    text = path.read_bytes()
    begins = text.index(b'{"stimulus"')
    for part in range(1, 5):
        cut = begins + (len(text) - begins) * part // 5
        cut -= 3 if b"\n" in text[cut - 1 : cut + 1] else 0  # not between two lines
        file = tmp_path / f"cut-{part}.jsonl"
        file.write_bytes(text[:cut])
        found = audited(file)

        (cut_off,) = found.result.troubles
        assert (broken(found), found.open, found.result.verdict) == ({}, 1, "undecided")
        assert f"{file} broke off after line " in cut_off.what


def test_threads_of_many_files_are_counted(tmp_path: Path) -> None:
    """A violation says in how many threads it was seen; the counterexample is the shortest of them."""
    wrong = DATA / "wrong_traces" / "a-permission-asked-twice-after-one-phase.jsonl"
    lines = wrong.read_text("utf-8")
    (tmp_path / "a.jsonl").write_text(lines)
    (tmp_path / "b.jsonl").write_text(lines + lines.partition("\n")[2])
    found = audited(tmp_path / "a.jsonl", tmp_path / "b.jsonl")

    assert found.broken == {"PHASE-87": 3}
    assert broken(found)["PHASE-87"].endswith("(in 3 of 3 threads)")
    assert [one.thread.rpartition("/")[2] for one in found.examples["PHASE-87"]] == [
        "a.jsonl#1", "b.jsonl#1", "b.jsonl#2",
    ]  # fmt: skip


def test_a_counterexample_is_made_short(tmp_path: Path) -> None:
    """It ends with the answer that breaks the clause, and earlier runs are left out."""
    wrong = DATA / "wrong_traces" / "a-permission-asked-twice-after-one-phase.jsonl"
    records = [json.loads(line) for line in wrong.read_text("utf-8").splitlines()]
    head, body = records[:2], [one for one in records[2:] if "end" not in one]
    before = json.loads(json.dumps(body[:3]).replace('"r1"', '"r0"').replace('"g1"', '"g0"'))
    turn = {"kind": "turn", "text": "", "tool_calls": [], "usage": {"input": 1, "output": 1}}
    before += [
        {"stimulus": {"method": "gate.release", "params": {"gate": "g0", "outcome": turn}}},
        {"report": {"quiescent": True, "refused": []}},
    ]
    found = audited(written(tmp_path / "long.jsonl", [*head, *before, *body]))

    (example,) = found.examples["PHASE-87"]
    runs = [one["params"]["run"] for one in example.trace.stimuli if one["method"] == "run.start"]
    assert runs == ["r1"]


LEFT_OVER = {
    "nothing": ([], "nothing of it could be read"),
    "no format": ([{"hello": 1}], "no importer recognises its first 1 record, with the keys hello"),
    "no scenario": (["handshake", "stimulus"], "no scenario stands before its records"),
    "no handshake": (["scenario", "stimulus"], "no handshake stands before its scenario"),
    "only a handshake": (["handshake"], "nothing of it could be read"),
    "a strange record": (["handshake", "scenario", {"odd": {}}], "this is no record of a trace"),
    "a gate that opens twice": (
        ["handshake", "scenario", "stimulus", "gate", "gate", "report"],
        "opens gate g1 twice",
    ),
}


@pytest.mark.parametrize("name", LEFT_OVER)
def test_what_is_left_over_is_an_error(name: str, tmp_path: Path) -> None:
    """Records that nothing explains, and inputs of which nothing could be read, are never a pass."""
    parts = {
        "handshake": {"handshake": {"implementation": {"name": "x", "version": "1"}, "profile": "core"}},
        "scenario": {"scenario": {"scenario": "s"}},
        "stimulus": {"stimulus": {"method": "run.start", "params": {"run": "r1", "input": ""}}},
        "gate": {"observation": {"kind": "gate.open", "run": "r1", "gate": "g1", "on": "model", "step": 1}},
        "report": {"report": {"quiescent": True, "refused": []}},
    }
    given, says = LEFT_OVER[name]
    file = written(
        tmp_path / "left.jsonl", [parts.get(one, one) if isinstance(one, str) else one for one in given]
    )
    found = audited(file).result

    assert [says in one.what for one in found.troubles] == [True]
    assert (found.verdict, found.exit_code()) == ("undecided", 3)


def test_a_line_that_is_no_json_is_an_error_of_its_thread(tmp_path: Path) -> None:
    """The other threads of the file are judged."""
    right = RIGHT[0].read_text("utf-8")
    head, *rest = right.splitlines(keepends=True)
    file = tmp_path / "torn.jsonl"
    file.write_text("".join([head, rest[0], '{"stimulus": \n', *rest[1:], *rest]))
    summary = summed(file)

    assert [f"{file}#1" in error and "line 3 is no JSON" in error for error in summary.errors] == [True]
    assert sum(source.threads for source in summary.sources.values()) == 1


def test_unknown_kinds_are_counted() -> None:
    """An observation of a kind that is not listed is counted, shown, and judged by nothing."""
    found = audited(DATA / "right_traces" / "a-cut-stream-and-an-unlisted-kind.jsonl")

    assert set(found.unknown) == {"runlock: acme.tick"}
    assert found.result.warnings == [
        f"{counted(found.unknown['runlock: acme.tick'], 'record')} of unknown kind runlock: acme.tick"
    ]


def test_what_a_handshake_does_not_show_is_not_held() -> None:
    """The verdict is three-valued: what is not shown is untested, with the reason."""
    found = audited(DATA / "right_traces" / "a-failure-and-a-wait-of-a-former-round.jsonl")
    why = {one.id: one.why for one in found.result.clauses}

    assert verdicts(found)["CALL-1"] == "untested"
    assert why["CALL-1"] == "the runtime does not show call.status"
    assert found.sources[0]["grade"]["statuses"] == "not shown"


def test_recordings_of_formats_do_not_recognise_each_other() -> None:
    """Each recording is recognised by the importer of its format alone."""
    from runlock.conformance.audit.formats import importers

    for name, format_ in (
        ("otel_genai/plain", "otel-genai"),
        ("openinference/plain", "openinference"),
        ("ag_ui/plain", "ag-ui"),
        ("ai_sdk/plain", "ai-sdk"),
        ("claude_code/plain", "claude-code"),
    ):
        first = records_in(name)[0]
        assert [one.name for one in importers().values() if one.recognises(first)] == [format_]
