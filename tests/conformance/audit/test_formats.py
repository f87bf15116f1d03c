"""Recordings of real libraries: right runs give no alarm, and faults planted in them are found.

`tests/recorders` has the scripts that made the recordings, each with the real library and a scripted model.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import recorded_streams
from audited import RECORDINGS, audited, broken, records_in, verdicts, written
from exchanges import rows
from planted_faults import FAULTS, LEFT_OVER, attribute, spans
from planted_wire_faults import in_chunks, in_pieces
from recorded_sessions import ACTIONS_WRONG, WRONG, agent_of
from span_exports import SERVICES
from wrong_lists import LISTS, WRONG_LISTS

from runlock.conformance.audit.formats import importers

pytest.importorskip("duckdb", reason="the records of these formats are brought together by DuckDB")

WIRE = "WIRE-60 WIRE-61 WIRE-62 WIRE-63 WIRE-64 WIRE-65"
NUMBERS = (1, 2, 3, 7, 9, 10, 11, 12, 13, 16, 17, 18, 24, 30, 33)
STREAM = " ".join(f"PRODUCER-{number}" for number in NUMBERS)
HELD = {
    "otel_genai": "PAIR-1 PAIR-2 PAIR-3 PAIR-4 PAIR-8 ROUND-2 ONCE-1 CALL-23 DECIDE-7",
    "openinference": "PAIR-1 PAIR-2 PAIR-3 PAIR-4 PAIR-8 ROUND-1 ROUND-2 ONCE-1 CALL-23",
    "ag_ui": f"PAIR-1 PAIR-2 PAIR-3 RUN-3 RUN-20 RUN-21 RUN-23 {WIRE} {STREAM}",
    "ai_sdk": f"PAIR-1 PAIR-2 PAIR-3 RUN-3 RUN-20 RUN-21 RUN-23 GATE-1 GATE-2 ONCE-1 {WIRE}",
    "claude_code": "PAIR-1 PAIR-2 PAIR-3",
}
THREADS = {"otel_genai": 4, "openinference": 3, "ag_ui": 2, "ai_sdk": 3, "claude_code": 2}


ASKED = [
    {"role": "user", "parts": [{"type": "text", "content": "How is the weather in Oslo and Rome?"}]},
]
SAID = [
    {"role": "assistant", "parts": [{"type": "tool_call", "id": "c3", "name": "weather", "arguments": {}}]},
    {"role": "user", "parts": [{"type": "tool_call_response", "id": "c3", "result": "Lima: 20 degrees"}]},
]


@pytest.mark.parametrize("name", HELD)
def test_right_recordings_hold_what_their_format_shows(name: str) -> None:
    """Nothing is broken, left over or unknown; what is held is what the format shows, and no more."""
    found = audited(*sorted((RECORDINGS / name).glob("*.jsonl")))
    held = {clause for clause, verdict in verdicts(found).items() if verdict == "held"}

    assert (broken(found), found.result.troubles, dict(found.unknown)) == ({}, [], {})
    assert (found.threads, held) == (THREADS[name], set(HELD[name].split()))


@pytest.mark.parametrize("name", HELD)
def test_a_recording_that_is_cut_gives_no_alarm(name: str, tmp_path: Path) -> None:
    """Wherever a right recording ends, what is missing breaks nothing."""
    records = records_in(f"{name}/plain")
    for length in range(len(records) // 4, len(records), max(1, len(records) // 5)):
        assert broken(audited(written(tmp_path / "cut.jsonl", records[:length]))) == {}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name: str, tmp_path: Path) -> None:
    """The clause that a fault breaks is broken, with the reason."""
    recording, plant, clause, says = FAULTS[name]
    found = broken(audited(written(tmp_path / "wrong.jsonl", plant(records_in(recording)))))

    assert clause in found
    assert says in found[clause]


@pytest.mark.parametrize("name", LEFT_OVER)
def test_records_that_nothing_explains_are_an_error(name: str, tmp_path: Path) -> None:
    """A thread with left-over records is not judged, and the audit is undecided."""
    recording, plant, says = LEFT_OVER[name]
    found = audited(written(tmp_path / "left.jsonl", plant(records_in(recording))))

    assert [says in one.what for one in found.result.troubles] == [True]
    assert found.result.exit_code() == 3


@pytest.mark.parametrize(
    ("name", "spelt"),
    [
        ("ag_ui/plain", in_chunks),
        ("ag_ui/approved", in_chunks),
        ("ai_sdk/plain", in_pieces),
        ("ai_sdk/approved", in_pieces),
    ],
)
def test_a_stream_that_is_spelt_otherwise_holds_the_same(name: str, spelt: Any, tmp_path: Path) -> None:
    """Chunks of AG-UI, and inputs of the AI SDK that are streamed, open and end calls as well."""
    right = apart_from_spelling(audited(RECORDINGS / f"{name}.jsonl"))
    found = audited(written(tmp_path / "spelt.jsonl", spelt(records_in(name))))

    assert (broken(found), found.result.troubles, apart_from_spelling(found)) == ({}, [], right)


def apart_from_spelling(found: Any) -> dict[str, str]:
    """The verdicts of clauses that are about no spelling."""
    return {clause: one for clause, one in verdicts(found).items() if not clause.startswith("PRODUCER")}


@pytest.mark.parametrize("name", ["ag_ui/approved", "ai_sdk/approved"])
def test_a_recording_that_begins_with_a_resume_gives_no_alarm(name: str, tmp_path: Path) -> None:
    """A call that was opened before the recording begins is known to its page, and not to the audit."""
    records = records_in(name)
    second = [at for at, one in enumerate(records) if "messages" in one][1]
    with_request = audited(written(tmp_path / "resumed.jsonl", records[second:]))
    events_alone = audited(written(tmp_path / "events.jsonl", records[second + 1 :]))

    assert broken(with_request) == {}
    assert not any(clause.startswith("WIRE") for clause in broken(events_alone))


def test_an_input_that_a_limit_cuts_short_gives_no_alarm(tmp_path: Path) -> None:
    """Where the model ran out of tokens, an input that never became available breaks nothing."""
    records = [one for one in in_pieces(records_in("ai_sdk/plain")) if one.get("toolCallId") != "c3"]
    begun = [{"type": "tool-input-start", "toolCallId": "c3", "toolName": "weather"}]
    cut = [*records[:-1], *begun, {**records[-1], "finishReason": "length"}]

    assert broken(audited(written(tmp_path / "cut.jsonl", cut))) == {}


def test_segments_of_one_run_are_rejoined(tmp_path: Path) -> None:
    """The spans of a thread may lie in two files, in any order."""
    records = records_in("otel_genai/approved")
    one, other = written(tmp_path / "b.jsonl", records[:3]), written(tmp_path / "a.jsonl", records[3:])
    found = audited(one, other)

    assert (found.threads, broken(found), verdicts(found)["PAIR-4"]) == (1, {}, "held")


def test_the_order_of_spans_comes_from_their_histories(tmp_path: Path) -> None:
    """Spans that arrive backwards, with clocks that run backwards, are put in order."""
    backwards = spans(records_in("otel_genai/plain")[::-1], lambda span: [{**span, "startTimeUnixNano": "1"}])
    found = audited(written(tmp_path / "backwards.jsonl", backwards))

    assert broken(found) == {}
    assert set(HELD["otel_genai"].split()) - {"ROUND-1"} <= {
        clause for clause, verdict in verdicts(found).items() if verdict == "held"
    }


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "parts": [{"type": "text", "content": "Name this conversation."}]}],
        [{"role": "user", "parts": [{"type": "text", "content": "Summary: it is warm."}]}, *SAID],
        [*ASKED, {"role": "assistant", "parts": [{"type": "text", "content": "It is warm."}]}],
    ],
)
def test_another_history_of_a_thread_is_no_changed_one(messages: list[Any], tmp_path: Path) -> None:
    """Where an inference has a title, a summary or another turn, PAIR-8 is not observable in its thread."""

    def other(span: dict[str, Any]) -> list[dict[str, Any]]:
        value = attribute(span, "gen_ai.input.messages")
        if '"c3"' in value.get("stringValue", ""):
            value["stringValue"] = json.dumps(messages)
        return [span]

    records = spans(records_in("otel_genai/plain"), other)
    found = audited(written(tmp_path / "other.jsonl", records))

    assert "PAIR-8" not in broken(found)
    assert verdicts(found)["PAIR-8"] == "untested"


def test_records_of_unknown_kinds_are_counted(tmp_path: Path) -> None:
    """An event that an importer does not know is counted and shown; it breaks nothing."""
    *rest, end = records_in("ag_ui/plain")
    records = [*rest, {"type": "TELEPATHY"}, end]
    found = audited(written(tmp_path / "odd.jsonl", records))

    assert (dict(found.unknown), broken(found)) == ({"ag-ui: TELEPATHY": 1}, {})


def test_every_clause_that_a_format_shows_is_broken_by_a_file_of_it() -> None:
    """A clause that no file of a format can break says nothing of that format, however often it holds."""
    planted = {(name.partition("/")[0].replace("_", "-"), clause) for name, _, clause, _ in FAULTS.values()}
    planted |= {("ag-ui", row.clause) for row in rows(is_broken=True)}
    planted |= {(LISTS[name.partition(",")[0]], clause) for name, (_, clause) in WRONG_LISTS.items()}
    sessions = WRONG | ACTIONS_WRONG | recorded_streams.WRONG
    planted |= {(agent_of(name), clause) for name, (_, clause) in sessions.items()}
    planted |= {
        (service, clause) for service in SERVICES for name, clause in planted if name == "openinference"
    }
    claimed = {(one.name, clause) for one in importers().values() for clause in one.clauses or ()}

    assert claimed - planted == set()
