"""The session history and what is stored of it; stage executions."""

from __future__ import annotations

from typing import Any

import pytest
from loop_scene import Scene, asks, closes, ends, model, ok, opens, says, turn, user

FIRST = user("input of r1")
MESSAGES = {"observes": ["message", "run.finished"]}
STORED = {"gates": ["model", "tool", "store.put", "assert"], "observes": ["checkpoint", "run.finished"]}


def checkpoint(cause: str, *messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A state is durable."""
    state = {"messages": list(messages), "slots": fields.pop("slots", {})}
    return {"kind": "checkpoint", "trigger": "T", "cause": cause, "state": state, **fields}


@pytest.mark.parametrize(
    ("first", "last", "clause"),
    [
        ([says(FIRST)], [says(asks(text="done")), ends()], ""),
        ([], [], "TURN-5"),
        ([says(FIRST)], [ends()], "TURN-5"),
    ],
    ids=["right", "no input", "no response"],
)
def test_a_chat_turn_is_in_the_history(
    first: list[dict[str, Any]], last: list[dict[str, Any]], clause: str
) -> None:
    scene = Scene(shows=MESSAGES).start(*first, model("g1", FIRST))
    assert scene.release("g1", turn(text="done"), *last).broken == clause


@pytest.mark.parametrize(
    ("first", "last", "clause"),
    [
        ([checkpoint("input", FIRST)], [checkpoint("render", FIRST, asks(text="done")), ends()], ""),
        ([], [], "TURN-13"),
        ([checkpoint("input", FIRST)], [ends()], "TURN-13"),
    ],
)
def test_a_chat_turn_is_stored(first: list[dict[str, Any]], last: list[dict[str, Any]], clause: str) -> None:
    scene = Scene(shows=STORED).start(*first, model("g1", FIRST))
    assert scene.release("g1", turn(text="done"), *last).broken == clause


def test_a_commit_that_fails_ends_the_turn() -> None:
    state = {"messages": [], "slots": {}}
    commit = opens("g0", "store.put", trigger="UserMessage", cause="input", state=state)
    scene = Scene(shows=STORED, hold=["store.put"]).start(commit)
    assert scene.release("g0", {"kind": "fault"}, model("g1", FIRST)).broken == "TURN-15"


@pytest.mark.parametrize(
    ("messages", "clause"), [([FIRST, asks(text="done")], ""), ([FIRST], "TURN-12")], ids=["right", "shorter"]
)
def test_a_look_shows_the_history(messages: list[dict[str, Any]], clause: str) -> None:
    scene = Scene(shows=MESSAGES).start(says(FIRST), model("g1", FIRST))
    scene.release("g1", turn(text="done"), says(asks(text="done")), ends())
    scene.send("inspect", {"run": "r1"}, {"kind": "inspect", "status": "Done", "messages": messages})
    assert scene.broken == clause


STAGE: dict[str, Any] = {"body": "Plan it.", "allowed_tools": ["t0"], "completion": "done", "turn_cap": 1}
BODY = user("Plan it.")


def staged(*seen: dict[str, Any], shows: dict[str, Any] | None = None, **policies: str) -> Scene:
    """A stage execution whose response asked for nothing more."""
    scene = Scene(shows=shows, policies=policies, driver={"stages": {"plan": STAGE}})
    asked = model("g1", BODY, tools=("t0", "done"), system="Plan it.", stage="x1")
    scene.start(asked, stage={"id": "x1", "name": "plan"})
    return scene.release("g1", turn(text="planned"), *seen)


def asserts(gate: str, **fields: Any) -> dict[str, Any]:
    """The assertion is asked."""
    shown = {"transcript": [BODY, asks(text="planned")], "cap_hit": False, "attempt": 1, "stage": "x1"}
    return opens(gate, "assert", **{**shown, **fields})


@pytest.mark.parametrize(("cap_hit", "clause"), [(False, ""), (True, "LOOP-10")])
def test_an_assertion_knows_whether_the_cap_was_hit(cap_hit: bool, clause: str) -> None:
    shows = {"observes": ["event", "run.finished"], "events": ["ActEnded"]}
    assert staged(asserts("g2", cap_hit=cap_hit), shows=shows).broken == clause


@pytest.mark.parametrize(
    ("slots", "code", "clause"),
    [
        ({"plan": "the plan"}, "NaturalEnd", ""),
        ({"plan": "other"}, "NaturalEnd", "TURN-8"),
        (None, "NaturalEnd", "TURN-8"),
    ],
)
def test_exit_makes_the_slot_durable(slots: dict[str, str] | None, code: str, clause: str) -> None:
    scene = staged(asserts("g2"), shows=STORED)
    seen = [checkpoint("exit", slots=slots, stage="x1")] if slots is not None else []
    assert scene.release("g2", {"kind": "ok", "slot": "the plan"}, *seen, ends(code)).broken == clause


@pytest.mark.parametrize(("code", "clause"), [("Error", ""), ("NaturalEnd", "TURN-19")])
def test_a_failed_assertion_ends_the_turn_in_error(code: str, clause: str) -> None:
    assert staged(asserts("g2")).release("g2", {"kind": "fail"}, ends(code)).broken == clause


def test_exit_needs_an_assertion() -> None:
    state = {"messages": [], "slots": {}}
    commit = opens("g2", "store.put", trigger="StepEnd", cause="exit", state=state, stage="x1")
    assert staged(commit, shows=STORED).broken == "TURN-8"


@pytest.mark.parametrize(("transcript", "clause"), [("stage", ""), ("session", "TURN-6")])
def test_a_stage_writes_nothing_to_the_session(transcript: str, clause: str) -> None:
    written = {**says(asks(text="planned"), stage="x1"), "transcript": transcript}
    assert staged(written, asserts("g2"), shows=MESSAGES).broken == clause


def test_the_join_waits_for_its_siblings() -> None:
    shows = {
        "observes": ["event", "run.finished"],
        "events": ["StageEntered"],
        "gates": ["model", "tool", "assert"],
    }
    scene = Scene(shows=shows, driver={"stages": {"a": STAGE, "b": STAGE, "j": STAGE}})
    group = [{"id": "x1", "name": "a"}, {"id": "x2", "name": "b"}]
    first = [model(f"m{one}", BODY, tools=("t0", "done"), stage=f"x{one}") for one in (1, 2)]
    scene.start(*first, group=group, join={"id": "x3", "name": "j"})
    scene.release("m1", turn(text="planned"), asserts("a1"))
    scene.release("a1", {"kind": "ok", "slot": 1}, model("m3", BODY, tools=("t0", "done"), stage="x3"))
    assert scene.broken == "TURN-9"


def test_a_sibling_sees_nothing_of_another_one() -> None:
    scene = Scene(driver={"stages": {"a": STAGE, "b": STAGE}})
    group = [{"id": "x1", "name": "a"}, {"id": "x2", "name": "b"}]
    first = model("m1", BODY, tools=("t0", "done"), stage="x1")
    scene.start(first, group=group, join=None)
    call = opens("t1", "tool", call="c1", name="t0", args={"k": "c1"}, attempt=1, stage="x1")
    scene.release("m1", turn("c1:t0"), call)
    foreign = model("m2", asks("c1:t0"), BODY, tools=("t0", "done"), stage="x2")
    assert scene.send("settle", {}, foreign).broken == "TURN-7"


def test_a_cancelled_stage_is_announced() -> None:
    shows = {"observes": ["event", "run.finished"], "events": ["StageEntered", "StageCancelled"]}
    entered = {"kind": "event", "name": "StageEntered", "watcher": None,
               "data": {"turnId": "t", "execution": "x1"}}  # fmt: skip
    scene = Scene(shows=shows, driver={"stages": {"plan": STAGE}})
    asked = model("g1", BODY, tools=("t0", "done"), stage="x1")
    scene.start(entered, asked, stage={"id": "x1", "name": "plan"})
    assert scene.cancel(closes("g1"), ends("Cancelled")).broken == "TURN-10"


def test_statuses_follow_the_tools() -> None:
    scene = Scene(shows={"observes": ["call.status", "run.finished"]}).start(model("g1", FIRST))
    entered = opens("t1", "tool", call="c1", name="t0", args={"k": "c1"}, attempt=1)
    scene.release("g1", turn("c1:t0"), entered)
    failed = {"kind": "call.status", "call": "c1", "from": "Running", "to": "Failed"}
    assert scene.release("t1", ok("one"), failed).broken in ("CALL-4", "CALL-5")
