"""Importers pass on what was recorded: where it stands, as often, and nothing that was not."""

from __future__ import annotations

from pathlib import Path

import pytest
from audited import audited, broken, summed, verdicts, written
from recorded_events import (
    Record,
    answered,
    answers,
    asked,
    asks,
    begins,
    block,
    chunk,
    ends,
    fails,
    request,
    results,
    says,
    session,
    snapshot,
    turn,
    typed,
)

pytest.importorskip("duckdb", reason="the records of these formats are brought together by DuckDB")

STEERED = typed("Take the second one.")
BOUNDARY = {"type": "system", "subtype": "compact_boundary"}
SUMMARY = typed("So far: one of two was found.", isCompactSummary=True)
KEPT = {"compactMetadata": {"preservedSegment": {"headUuid": "n1", "anchorUuid": "n4", "tailUuid": "n2"}}}
ERROR = chunk("error", errorText="no answer")
STEP = chunk("start-step")
SAID = [STEP, chunk("text-delta", id="t", delta="Here."), chunk("finish-step")]
CALL = {"toolCallId": "k1", "toolName": "lookup"}
CALLED = [STEP, chunk("tool-input-available", **CALL, input={})]
MERGED = '{"at":1}{"at":2}'

BROKEN: dict[str, tuple[list[Record], str, str]] = {
    "a result after a message of the user": (
        session(typed("Find both."), turn("a", "t1", "t2"), results("t1"), STEERED, results("t2"), turn("b")),
        "PAIR-2",
        "a result for call t2",
    ),
    "a message of the user before a result in one record": (
        session(
            typed("Find it."),
            turn("a", "t1"),
            {
                "type": "user",
                "message": {
                    "role": "user",
                    "content": [
                        block("text", text="Wait."),
                        block("tool_result", tool_use_id="t1", content="found"),
                    ],
                },
            },
            turn("b"),
        ),
        "PAIR-2",
        "a result for call t1",
    ),
    "a result of no call": (
        session(typed("Find it."), turn("a"), results("t9"), turn("b", "t1"), results("t1"), turn("c")),
        "PAIR-2",
        "a result for call t9",
    ),
    "a result that a compaction cut off its call": (
        [
            *session(typed("Find both."), turn("a", "t1", "t2"), results("t1")),
            *[
                {
                    **one,
                    "uuid": f"c{one['uuid']}",
                    "parentUuid": one["parentUuid"] and f"c{one['parentUuid']}",
                }
                for one in session(BOUNDARY, SUMMARY, results("t2"), turn("b"))
            ],
        ],
        "PAIR-2",
        "a result for call t2, which no turn right before it asked for; the thread was compacted",
    ),
    "one call with two results in a row": (
        session(typed("Find it."), turn("a", "t1"), results("t1"), results("t1"), turn("b")),
        "PAIR-3",
        "two results for call t1",
    ),
    "an end after an error": (
        [begins(), *asks("k1"), answers("k1"), fails(), ends()],
        "RUN-21",
        "the run had finished as Error",
    ),
    "an end after an error, where no call was asked for": (
        [begins(), *says(), fails(), ends()],
        "RUN-21",
        "the run had finished as Error",
    ),
    "an error after an end": ([begins(), *says(), ends(), fails()], "RUN-21", "finished again as Error"),
    "two ends of a message": (
        [chunk("start"), *SAID, chunk("finish"), chunk("finish")],
        "RUN-21",
        "finished again",
    ),
    "a result for a call of which the stream opens another one": (
        [
            begins(threadId="one"),
            *asks("k1", args=MERGED),
            answers("k2"),
            answers("k1"),
            *says(),
            snapshot(asked("k1", "k2"), answered("k1"), answered("k2")),
            ends(),
        ],
        "WIRE-61",
        "TOOL_CALL_RESULT tells of call k2, which this stream has not opened",
    ),
    "arguments of two calls under one": (
        [
            begins(threadId="one"),
            *asks("k1", args=MERGED),
            answers("k1"),
            *says(),
            snapshot(asked("k1", args='{"at":1}'), answered("k1")),
            ends(),
        ],
        "WIRE-62",
        "and the model gave {'at': 1}",
    ),
    "a call that is opened twice": (
        [begins(threadId="one"), *asks("k1"), *asks("k1"), answers("k1"), *says(), ends()],
        "WIRE-60",
        "TOOL_CALL_START opens call k1",
    ),
    "an orphan in a request": (
        [request(answered("k1")), begins(threadId="one"), *says(), ends()],
        "PAIR-2",
        "a result for call k1",
    ),
    "an open call in a snapshot": (
        [begins(), snapshot(asked("k1"), {"role": "user", "content": "So?"}), *says(), ends()],
        "PAIR-1",
        "call k1 without a result",
    ),
    "one of two calls that have a message each": (
        [
            begins(),
            *asks("k1", "m1"),
            snapshot(asked("k1", message="m1")),
            *asks("k2", "m2"),
            snapshot(asked("k1", message="m1"), asked("k2", message="m2")),
            answers("k2"),
            snapshot(asked("k1", message="m1"), asked("k2", message="m2"), answered("k2")),
            *says("m3"),
            ends(),
        ],
        "PAIR-1",
        "call k1 without a result",
    ),
    "two results in a snapshot": (
        [begins(), *asks("k1"), snapshot(asked("k1"), answered("k1"), answered("k1", 2)), *says(), ends()],
        "PAIR-3",
        "two results for call k1",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_fault_is_seen_where_it_was_recorded(name: str, tmp_path: Path) -> None:
    """Orphans, doubles, open calls and second ends."""
    records, clause, says_ = BROKEN[name]
    found = broken(audited(written(tmp_path / "wrong.jsonl", records)))

    assert clause in found
    assert says_ in found[clause]


PAIRS = "PAIR-1 PAIR-2 PAIR-3"
RIGHT: dict[str, tuple[list[Record], str, str]] = {
    "a failure of a tool ends a message with an error": (
        [
            chunk("start"),
            *CALLED,
            chunk("tool-output-error", toolCallId="k1", errorText="no"),
            ERROR,
            chunk("finish-step"),
            chunk("finish", finishReason="error"),
        ],
        "RUN-21",
        "",
    ),
    "an error after a text": (
        [chunk("start"), *SAID, ERROR, chunk("finish", finishReason="error")],
        "RUN-21",
        "RUN-3",
    ),
    "an error without an end": ([chunk("start"), *SAID, ERROR], "RUN-21", "RUN-3"),
    "results that only snapshots have": (
        [
            begins(),
            chunk("TOOL_CALL_CHUNK", toolCallId="k1", toolCallName="lookup", delta="{}"),
            snapshot(asked("k1", message="x")),
            snapshot(asked("k1", message="y"), answered("k1")),
            chunk("TEXT_MESSAGE_CHUNK", messageId="m2", delta="Here."),
            snapshot(asked("k1", message="z"), answered("k1"), {"role": "assistant", "content": "Here."}),
            ends(),
        ],
        f"{PAIRS} RUN-3 RUN-21",
        "",
    ),
    "two calls that have a message each": (
        [
            begins(),
            *asks("k1", "m1"),
            snapshot(asked("k1", message="m1")),
            *asks("k2", "m2"),
            snapshot(asked("k1", message="m1"), asked("k2", message="m2")),
            answers("k1"),
            answers("k2"),
            snapshot(asked("k1", message="m1"), asked("k2", message="m2"), answered("k1"), answered("k2")),
            *says("m3"),
            ends(),
        ],
        f"{PAIRS} RUN-21",
        "",
    ),
    "results that no one recorded": ([begins(), *asks("k1"), *says(), ends()], "RUN-21", "PAIR-1 RUN-3"),
    "a resume without its request": ([begins(), answers("k1"), *says(), ends()], "RUN-21", "PAIR-2 WIRE-61"),
    "a wait for something else than a call": (
        [begins(), *says(), ends(outcome={"type": "interrupt", "interrupts": [{"id": "i"}]})],
        "RUN-21",
        "RUN-23",
    ),
    "a result that comes after the next turn has begun": (
        [
            begins(threadId="one"),
            *asks("k1"),
            snapshot(asked("k1")),
            *says("m2"),
            answers("k1"),
            *says("m3"),
            ends(),
            request(asked("k1"), answered("k1")),
        ],
        "PAIR-3 RUN-21",
        "",
    ),
    "tools of a client without the request": (
        [begins(), *asks("k1"), ends(), begins(), *says(), ends()],
        "RUN-21",
        "PAIR-1 RUN-3 RUN-23",
    ),
    "tools of a client": (
        [
            request(tools=("lookup",)),
            begins(threadId="one"),
            *asks("k1"),
            ends(outcome={"type": "success", "pendingToolCallIds": ["k1"]}),
            request(asked("k1"), answered("k1"), tools=("lookup",)),
            begins(threadId="one"),
            *says(),
            ends(),
        ],
        f"{PAIRS} RUN-3 RUN-21 RUN-23",
        "",
    ),
    "a snapshot of files before the first message": (
        [
            {"type": "file-history-snapshot", "messageId": "n0", "snapshot": {}},
            *session(typed("Find it."), turn("a", "t1"), results("t1"), turn("b")),
        ],
        PAIRS,
        "",
    ),
    "an agent whose parent is in another file": (
        [
            {**one, "isSidechain": True, "agentId": "x"}
            for one in session(results("t0"), turn("a", "t1"), results("t1"), turn("b"), first="elsewhere")
        ],
        "PAIR-1 PAIR-3",
        "PAIR-2",
    ),
    "a request that the user interrupted": (
        session(
            typed("Find it."),
            turn("a", "t1"),
            typed("[Request interrupted by user]"),
            turn("b", "t2"),
            results("t2"),
            turn("c"),
        ),
        "PAIR-2 PAIR-3",
        "PAIR-1",
    ),
    "an error that Claude Code writes itself": (
        session(
            typed("Find it."),
            turn("a", "t1"),
            results("t1"),
            {"type": "assistant", "message": {"model": "<synthetic>", "content": "API Error"}},
            typed("Again."),
            turn("b"),
        ),
        PAIRS,
        "",
    ),
    "messages that a compaction kept": (
        [
            *session(typed("Find it."), turn("a", "t1"), results("t1")),
            {**BOUNDARY, **KEPT, "uuid": "n3", "parentUuid": None, "sessionId": "s"},
            {**SUMMARY, "uuid": "n4", "parentUuid": "n3", "sessionId": "s"},
            {**turn("b"), "uuid": "n5", "parentUuid": "n2", "sessionId": "s"},
        ],
        PAIRS,
        "",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_not_recorded_breaks_nothing(name: str, tmp_path: Path) -> None:
    """What a recording shows holds; what it does not show is not observable."""
    records, held, hidden = RIGHT[name]
    found = audited(written(tmp_path / "right.jsonl", records))
    said = verdicts(found)

    assert (broken(found), found.result.troubles, found.result.verdict) == ({}, [], "held")
    assert {one for one in held.split() if said[one] != "held"} == set()
    assert {said[one] for one in hidden.split()} <= {"untested"}


def test_runs_without_a_thread_are_those_of_their_file(tmp_path: Path) -> None:
    """Two files whose runs name no thread have one thread each."""
    for name in "ab":
        written(tmp_path / f"{name}.jsonl", [begins(), *asks("k1"), answers("k1"), *says(), ends()])

    assert audited(tmp_path / "a.jsonl", tmp_path / "b.jsonl").threads == 2


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_two_sessions_with_the_same_ids_are_judged_apart(order: str, tmp_path: Path) -> None:
    """One file says something else under an id than the other; one that repeats another is the same."""
    right = session(typed("Find it."), turn("a", "t1"), results("t1"), turn("b"))
    wrong = session(typed("Find it."), turn("a", "t1"), turn("b"))
    files = dict(zip(order, (right, wrong), strict=True))
    apart = audited(*(written(tmp_path / f"{name}.jsonl", files[name]) for name in "ab"))
    same = audited(*(written(tmp_path / f"{name}.jsonl", right) for name in "cd"))

    assert (apart.threads, set(broken(apart))) == (2, {"PAIR-1"})
    assert (same.threads, broken(same)) == (1, {})


def test_a_compaction_is_part_of_the_counterexample(tmp_path: Path) -> None:
    """The trace says that the thread was compacted before the inference that was shown an orphan."""
    records = BROKEN["a result that a compaction cut off its call"][0]
    (example,) = audited(written(tmp_path / "wrong.jsonl", records)).examples["PAIR-2"]

    assert [one["why"] for one in example.trace.of("observation") if one["kind"] == "thread.edited"] == [
        "compaction"
    ]


def test_a_similar_file_of_another_tool_is_not_taken(tmp_path: Path) -> None:
    """Messages with the ids of Claude Code and other contents are refused, with what is nearest."""
    one = {"type": "user", "uuid": "a", "parentUuid": None, "sessionId": "s"}
    (error,) = summed(written(tmp_path / "a.jsonl", [{**one, "message": {"parts": [{"text": "Hi"}]}}])).errors

    assert "the keys type, uuid, parentUuid, sessionId, message and the types user" in error
    assert "it is nearest to claude-code, as which `--format claude-code` reads it" in error
