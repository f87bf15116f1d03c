"""What is published: stages, requests, text, calls, the audit, the screen, watchers."""

from __future__ import annotations

from typing import Any

import pytest
from loop_scene import Scene, asks, closes, ends, enters, event, hooks, model, ok, prompts, result, turn, user

FIRST = user("input of r1")
OBSERVES = ["event", "run.finished"]


def shown(*events: str) -> dict[str, Any]:
    """A handshake that declares these events."""
    return {"observes": OBSERVES, "events": list(events)}


def pre(stage: str, **data: Any) -> dict[str, Any]:
    """A stage begins."""
    return event("StagePreFired", stage=stage, **data)


def post(stage: str, outcome: str = "ok", **data: Any) -> dict[str, Any]:
    """A stage is over."""
    return event("StagePostFired", stage=stage, outcome=outcome, **data)


def stages(*names: str) -> list[dict[str, Any]]:
    """Stages that begin and end one after the other."""
    return [one for name in names for one in (pre(name), post(name))]


STAGES = shown("StagePreFired", "StagePostFired")
BEFORE = [*stages("RECEIVE_INPUT", "COMPOSE_REQUEST"), pre("SEND_REQUEST")]
SENT = [*BEFORE, model("g1", FIRST), post("SEND_REQUEST"), pre("STREAM_RESPONSE")]


@pytest.mark.parametrize(
    ("seen", "clause"),
    [
        (SENT, ""),
        ([pre("COMPOSE_REQUEST")], "LOOP-1"),
        ([*stages("RECEIVE_INPUT", "RECEIVE_INPUT")], "LOOP-1"),
        ([*stages("RECEIVE_INPUT"), pre("SEND_REQUEST")], "LOOP-1"),
        ([*stages("RECEIVE_INPUT", "COMPOSE_REQUEST"), model("g1", FIRST)], "WIRE-1"),
        ([*BEFORE, model("g1", FIRST), post("SEND_REQUEST", "denied")], "WIRE-1"),
    ],
    ids=["right", "no input", "twice", "left out", "too late", "wrong outcome"],
)
def test_stages_come_in_order(seen: list[dict[str, Any]], clause: str) -> None:
    assert Scene(shows=STAGES).start(*seen).broken == clause


RENDERED = [post("STREAM_RESPONSE"), *stages("RENDER"), ends()]


@pytest.mark.parametrize(
    ("seen", "clause"),
    [
        (RENDERED, ""),
        ([post("STREAM_RESPONSE"), ends()], "LOOP-1"),
        ([post("STREAM_RESPONSE"), pre("RENDER"), ends()], "WIRE-1"),
        ([post("STREAM_RESPONSE"), *stages("RENDER", "RENDER"), ends()], "LOOP-1"),
        ([post("STREAM_RESPONSE"), *stages("TOOL_CALL"), ends()], "LOOP-3"),
    ],
    ids=["right", "not rendered", "no end", "twice", "a round"],
)
def test_a_pass_ends_with_render(seen: list[dict[str, Any]], clause: str) -> None:
    assert Scene(shows=STAGES).start(*SENT).release("g1", turn(text="done"), *seen).broken == clause


def test_a_continuation_begins_at_compose() -> None:
    scene = Scene(shows=STAGES).start(*SENT)
    scene.release("g1", turn("c1:t0"), post("STREAM_RESPONSE"), pre("TOOL_CALL"), enters("g2", "c1:t0"))
    assert scene.release("g2", ok("one"), post("TOOL_CALL"), pre("SEND_REQUEST")).broken == "LOOP-2"


TEXT = shown("ProviderTokensStreamed")


def tokens(text: str) -> dict[str, Any]:
    """Text is published."""
    return event("ProviderTokensStreamed", request="q1", text=text)


@pytest.mark.parametrize(
    ("seen", "clause"),
    [
        ([tokens("a")], ""),
        ([tokens("b")], "WIRE-3"),
        ([tokens("a"), tokens("a")], "WIRE-3"),
        ([], "WIRE-3"),
    ],
    ids=["right", "other text", "twice", "not yet"],
)
def test_text_is_published_when_it_comes(seen: list[dict[str, Any]], clause: str) -> None:
    scene = Scene(shows=TEXT).start(model("g1", FIRST))
    assert scene.release("g1", {"kind": "delta", "text": "a"}, *seen).broken == clause


def test_a_rewritten_text_is_what_is_published() -> None:
    slot = {"id": "h1", "at": "STREAM_RESPONSE", "point": "pre", "kind": "transform"}
    scene = Scene(shows=TEXT, hooks=[slot]).start(model("g1", FIRST))
    held = hooks("g2", "h1", "STREAM_RESPONSE.pre.transform", data={"text": "a"})
    scene.release("g1", {"kind": "delta", "text": "a"}, held)
    scene.release("g2", {"kind": "rewrite", "data": {"text": "*"}}, tokens("a"))
    assert scene.broken == "WIRE-3"


CALLS = shown(
    "ToolInvocationProposed", "ToolInvocationStarted", "ToolInvocationSucceeded", "ToolInvocationFailed",
    "ToolInvocationCancelled", "ToolCallDenied",
)  # fmt: skip
PROPOSED, STARTED = event("ToolInvocationProposed", call="c1"), event("ToolInvocationStarted", call="c1")


def over(name: str) -> dict[str, Any]:
    """A call is reported as ended."""
    return event(f"ToolInvocation{name}", call="c1")


@pytest.mark.parametrize(
    ("before", "after", "clause"),
    [
        ([PROPOSED, STARTED], [over("Succeeded")], ""),
        ([PROPOSED, STARTED], [over("Failed")], "WIRE-4"),
        ([PROPOSED, STARTED], [over("Succeeded"), over("Succeeded")], "WIRE-4"),
        ([STARTED], [over("Succeeded")], "WIRE-4"),
        ([PROPOSED], [over("Succeeded")], "WIRE-4"),
        ([PROPOSED, STARTED], [], "WIRE-4"),
    ],
    ids=["right", "wrong end", "twice", "not proposed", "not started", "no end"],
)
def test_a_call_goes_through_its_events(
    before: list[dict[str, Any]], after: list[dict[str, Any]], clause: str
) -> None:
    scene = Scene(shows=CALLS).start(model("g1", FIRST))
    scene.release("g1", turn("c1:t0"), *before, enters("g2", "c1:t0"))
    scene.release("g2", ok("one"), *after, model("g3", FIRST, asks("c1:t0"), result("c1", "one")))
    assert scene.broken == clause


PIECE = {"kind": "delta", "tool_call": {"id": "c1", "name": "t0", "args_text": "{"}}


@pytest.mark.parametrize(
    ("early", "later", "clause"),
    [
        ([PROPOSED], [STARTED], ""),
        ([], [PROPOSED, STARTED], ""),
        ([PROPOSED], [PROPOSED, STARTED], "WIRE-4"),
        ([], [STARTED], "WIRE-4"),
    ],
    ids=["with its first piece", "when it is complete", "twice", "never"],
)
def test_a_call_may_be_proposed_while_it_streams(
    early: list[dict[str, Any]], later: list[dict[str, Any]], clause: str
) -> None:
    scene = Scene(shows=CALLS).start(model("g1", FIRST)).release("g1", PIECE, *early)
    assert scene.release("g1", turn("c1:t0"), *later, enters("g2", "c1:t0")).broken == clause


def test_a_piece_with_a_known_id_begins_a_new_call() -> None:
    """What is published then is not about the earlier call of that id."""
    scene = Scene(shows=CALLS).start(model("g1", FIRST))
    scene.release("g1", turn("c1:t0"), PROPOSED, STARTED, enters("g2", "c1:t0"))
    said = [FIRST, asks("c1:t0"), result("c1", "one")]
    scene.release("g2", ok("one"), over("Succeeded"), model("g3", *said)).release("g3", PIECE, PROPOSED)
    assert scene.release("g3", turn("c1:t0"), STARTED, enters("g4", "c1:t0")).broken == ""


@pytest.mark.parametrize(
    ("asked", "allowed", "clause"),
    [([], [STARTED], ""), ([STARTED], [], "WIRE-4")],
    ids=["once it is allowed", "while people are asked"],
)
def test_a_call_starts_once_it_may_run(
    asked: list[dict[str, Any]], allowed: list[dict[str, Any]], clause: str
) -> None:
    scene = Scene(shows=CALLS, mode="ask", interactors=["i1"]).start(model("g1", FIRST))
    scene.release("g1", turn("c1:t0"), PROPOSED, prompts("g2", "c1:t0"), *asked)
    assert scene.release("g2", {"kind": "allow"}, *allowed, enters("g3", "c1:t0")).broken == clause


AUDIT = shown("ToolCallApproved", "ToolCallDenied")


@pytest.mark.parametrize(
    ("answer", "seen", "clause"),
    [
        ("allow", [event("ToolCallApproved", call="c1", by="interactor"), enters("g3", "c1:t0")], ""),
        ("allow", [event("ToolCallApproved", call="c1", by="mode"), enters("g3", "c1:t0")], "WIRE-5"),
        ("deny", [event("ToolCallApproved", call="c1", by="interactor"), closes("g1")], "WIRE-5"),
        ("deny", [event("ToolCallDenied", call="c1", code="GuardDenied")], "WIRE-5"),
    ],
)
def test_the_audit_tells_the_truth(answer: str, seen: list[dict[str, Any]], clause: str) -> None:
    scene = Scene(shows=AUDIT, mode="ask", interactors=["i1"]).start(model("g1", FIRST))
    scene.release("g1", turn("c1:t0"), prompts("g2", "c1:t0"))
    goes_on = model("g9", FIRST, asks("c1:t0"), result("c1", "denied", "error"))
    more = [] if answer == "allow" else [goes_on]
    kept = [one for one in seen if one["kind"] != "gate.closed"]
    assert scene.release("g2", {"kind": answer}, *kept, *more).broken == clause


@pytest.mark.parametrize(
    ("seen", "clause"),
    [
        ([event("Rendered", text="done"), ends()], ""),
        ([event("Rendered", text="other"), ends()], "WIRE-9"),
        ([event("Rendered", text="done"), event("Rendered", text="done"), ends()], "WIRE-9"),
        ([ends()], "WIRE-9"),
    ],
)
def test_the_payload_is_published_once(seen: list[dict[str, Any]], clause: str) -> None:
    scene = Scene(shows=shown("Rendered")).start(model("g1", FIRST))
    assert scene.release("g1", turn(text="done"), *seen).broken == clause


def to(watcher: str, one: dict[str, Any]) -> dict[str, Any]:
    """The same event, as a watcher gets it."""
    return {**one, "watcher": watcher}


@pytest.mark.parametrize(
    ("copies", "clause"), [([0], ""), ([], "WIRE-10"), ([0, 0], "WIRE-10")], ids=["right", "none", "twice"]
)
def test_a_watcher_gets_each_event_once(copies: list[int], clause: str) -> None:
    scene = Scene(shows=shown("Rendered"))
    scene.send("watch", {"watcher": "w1", "fails": False})
    scene.start(model("g1", FIRST))
    done = event("Rendered", text="done")
    scene.release("g1", turn(text="done"), done, *(to("w1", done) for _ in copies), ends())
    assert scene.broken == clause


BRACKET = shown("SessionTurnStart", "SessionTurnEnd")
START, END = event("SessionTurnStart"), event("SessionTurnEnd")


@pytest.mark.parametrize(
    ("first", "last", "clause"),
    [
        ([START, model("g1", FIRST)], [END, ends()], ""),
        ([START, model("g1", FIRST)], [ends(), END], ""),
        ([START, START, model("g1", FIRST)], [END, ends()], "TURN-1"),
        ([model("g1", FIRST), START], [END, ends()], "TURN-1"),
        ([START, model("g1", FIRST)], [ends()], "TURN-2"),
        ([START, model("g1", FIRST)], [END, END, ends()], "TURN-2"),
    ],
    ids=["right", "after the end", "twice", "late", "no end", "two ends"],
)
def test_a_turn_has_one_bracket(first: list[dict[str, Any]], last: list[dict[str, Any]], clause: str) -> None:
    scene = Scene(shows=BRACKET).start(*first)
    assert scene.release("g1", turn(text="done"), *last).broken == clause


@pytest.mark.parametrize(
    ("other", "clause"),
    [({"turnId": "t2", "correlationId": "p2"}, ""), ({"turnId": "t", "correlationId": "p2"}, "TURN-4"),
     ({"turnId": "t2", "correlationId": "p"}, "TURN-4")],
)  # fmt: skip
def test_ids_are_of_one_turn_and_one_pass(other: dict[str, str], clause: str) -> None:
    scene = Scene(shows=shown("StagePreFired", "Rendered")).start(
        *[one for one in SENT if one.get("name") != "StagePostFired"]
    )
    scene.release("g1", turn(text="done"), pre("RENDER"), event("Rendered", text="done"), ends())
    assert scene.start(pre("RECEIVE_INPUT", **other), closes("none")).broken in (clause, clause or "LOOP-18")
