"""What a call runs on: modes, prompts, grants, guards, denials."""

from __future__ import annotations

from typing import Any

import pytest
from loop_scene import (
    Scene,
    asks,
    closes,
    ends,
    enters,
    event,
    hooks,
    model,
    ok,
    prompts,
    result,
    turn,
    user,
)

FIRST = user("input of r1")
ASK: dict[str, Any] = {"mode": "ask", "interactors": ["i1"]}
TWO: dict[str, Any] = {"mode": "ask", "interactors": ["i1", "i2"]}
STAGE = {
    "body": "Plan it.",
    "allowed_tools": ["t0"],
    "grants": [{"tool": "t1", "uses": 1}],
    "completion": "done",
}
DRIVEN: dict[str, Any] = {"interactors": ["i1"], "driver": {"stages": {"plan": STAGE}}}


def asked(scene: Scene, call: str, *seen: dict[str, Any]) -> Scene:
    """The model has asked for a call."""
    return scene.start(model("g1", FIRST)).release("g1", turn(call), *seen)


def driven(call: str, *seen: dict[str, Any], **scenario: Any) -> Scene:
    """The model has asked for a call in a stage execution."""
    scene = Scene(**{**DRIVEN, **scenario})
    shown = model("g1", user("Plan it."), tools=("t0", "done"), system="Plan it.", stage="x1")
    return scene.start(shown, stage={"id": "x1", "name": "plan"}).release("g1", turn(call), *seen)


@pytest.mark.parametrize(
    ("scenario", "call", "clause"),
    [
        ({"mode": "yolo"}, "c1:t0", ""),
        ({"mode": "allowlist", "allowlist": ["t0"], "interactors": ["i1"]}, "c1:t0", ""),
        ({"mode": "allowlist", "allowlist": ["t0"], "interactors": ["i1"]}, "c1:t1", "AUTH-21"),
        (ASK, "c1:t0", "AUTH-1"),
        ({"mode": "ask", "interactors": []}, "c1:t0", "AUTH-17"),
        ({"mode": "yolo"}, "c1:none", "AUTH-40"),
    ],
)
def test_a_call_needs_an_approval(scenario: dict[str, Any], call: str, clause: str) -> None:
    scene = Scene(**scenario).start(model("g1", FIRST))
    assert scene.release("g1", turn(call), enters("g2", call)).broken == clause


@pytest.mark.parametrize(
    ("answer", "clause"),
    [({"kind": "allow"}, ""), ({"kind": "deny"}, "GATE-2"), ({"kind": "defer"}, "AUTH-47")],
)
def test_a_call_runs_as_it_was_answered(answer: dict[str, Any], clause: str) -> None:
    scene = Scene(**ASK).start(model("g1", FIRST)).release("g1", turn("c1:t0"), prompts("g2", "c1:t0"))
    assert scene.release("g2", answer, enters("g3", "c1:t0")).broken == clause


@pytest.mark.parametrize(
    ("second", "policies", "clause"),
    [
        ("c2:t0", {}, ""),
        ("c2:t0", {"grant.match": "tool"}, ""),
        ("c2:t0", {"grant.match": "call"}, "AUTH-28"),
        ("c2:t1", {"grant.scopes": ["once", "session"]}, "AUTH-15"),
    ],
)
def test_a_standing_grant_covers_its_tool(second: str, policies: dict[str, Any], clause: str) -> None:
    scene = Scene(policies=policies, **ASK).start(model("g1", FIRST))
    scene.release("g1", turn("c1:t0"), prompts("g2", "c1:t0"))
    scene.release("g2", {"kind": "allow", "scope": "session"}, enters("g3", "c1:t0"))
    scene.release("g3", ok("one"), model("g4", FIRST, asks("c1:t0"), result("c1", "one")))
    assert scene.release("g4", turn(second), enters("g5", second)).broken == clause


@pytest.mark.parametrize(
    ("calls", "clause"),
    [
        (["c1:t0"], ""),
        (["c1:t1"], ""),
        (["c1:t1", "c2:t1"], "AUTH-6"),
        (["c1:t0", "c2:t1", "c3:t1"], "AUTH-6"),
    ],
)
def test_a_token_serves_no_more_calls_than_its_uses(calls: list[str], clause: str) -> None:
    scene = Scene(**DRIVEN)
    shown = model("g1", user("Plan it."), tools=("t0", "done"), system="Plan it.", stage="x1")
    scene.start(shown, stage={"id": "x1", "name": "plan"})
    entered = [enters(f"e{one}", one, stage="x1") for one in calls]
    assert scene.release("g1", turn(*calls), *entered).broken == clause


@pytest.mark.parametrize(
    ("call", "fields", "clause"),
    [
        ("c1:t0", {"ask": "grant"}, "AUTH-4"),
        ("c1:t1", {"ask": "grant"}, "AUTH-5"),
        ("c1:t1", {"ask": "mode"}, "AUTH-3"),
    ],
)
def test_a_stage_asks_for_what_it_must(call: str, fields: dict[str, str], clause: str) -> None:
    shows = {"observes": ["event", "run.finished"], "events": ["ToolCallModeInvoked"]}
    scene = driven(call, prompts("g2", call, stage="x1", **fields), mode="ask", shows=shows)
    assert scene.broken == clause


@pytest.mark.parametrize(
    ("gates", "clause"),
    [
        ([prompts("g2", "c1:t0")], ""),
        ([prompts("g2", "c1:t0"), prompts("g3", "c2:t0", "p2")], "AUTH-10"),
        ([prompts("g2", "c9:t0")], "AUTH-31"),
        ([prompts("g2", "c1:t0", name="t1")], "AUTH-31"),
        ([prompts("g2", "c1:t0", interactor="i9")], "AUTH-11"),
    ],
    ids=["right", "two at once", "no such call", "another tool", "a stranger"],
)
def test_prompts_come_one_at_a_time(gates: list[dict[str, Any]], clause: str) -> None:
    scene = Scene(**ASK).start(model("g1", FIRST))
    assert scene.release("g1", turn("c1:t0", "c2:t0"), *gates).broken == clause


@pytest.mark.parametrize(
    ("more", "clause"),
    [([prompts("g3", "c1:t0", interactor="i2")], ""), ([], "AUTH-11")],
)
def test_a_prompt_goes_to_everybody(more: list[dict[str, Any]], clause: str) -> None:
    scene = Scene(**TWO).start(model("g1", FIRST))
    assert scene.release("g1", turn("c1:t0"), prompts("g2", "c1:t0"), *more).broken == clause


@pytest.mark.parametrize(("seen", "clause"), [([closes("g3")], ""), ([], "AUTH-11")])
def test_the_others_are_given_up_after_the_first_answer(seen: list[dict[str, Any]], clause: str) -> None:
    scene = Scene(**TWO).start(model("g1", FIRST))
    scene.release("g1", turn("c1:t0"), prompts("g2", "c1:t0"), prompts("g3", "c1:t0", interactor="i2"))
    assert scene.release("g2", {"kind": "allow"}, *seen, enters("g4", "c1:t0")).broken == clause


@pytest.mark.parametrize(
    ("policy", "seen", "clause"),
    [
        ("answers", [closes("g3"), model("g4", FIRST, asks("c1:t0"), result("c1", "no", "error"))], ""),
        ("answers", [], "AUTH-25"),
        ("passes", [], ""),
        ("passes", [closes("g3"), model("g4", FIRST, asks("c1:t0"), result("c1", "no", "error"))], "AUTH-25"),
    ],
)
def test_a_deferral_counts_as_declared(policy: str, seen: list[dict[str, Any]], clause: str) -> None:
    scene = Scene(policies={"prompt.defer": policy}, **TWO).start(model("g1", FIRST))
    scene.release("g1", turn("c1:t0"), prompts("g2", "c1:t0"), prompts("g3", "c1:t0", interactor="i2"))
    assert scene.release("g2", {"kind": "defer"}, *seen).broken == clause


@pytest.mark.parametrize(
    ("reach", "profile", "seen", "clause"),
    [
        ("call", "message-loop", [prompts("g4", "c2:t0", "p2")], ""),
        ("round", "message-loop-core", [prompts("g4", "c2:t0", "p2")], "AUTH-14"),
        ("turn", "message-loop-core", [ends("Blocked")], ""),
        ("call", "message-loop", [ends("Blocked")], "AUTH-14"),
    ],
)
def test_a_denial_reaches_as_far_as_declared(
    reach: str, profile: str, seen: list[dict[str, Any]], clause: str
) -> None:
    policies = {"reject.reach": reach} if profile != "message-loop" else {}
    scene = Scene(policies=policies, shows={"profile": profile}, **ASK).start(model("g1", FIRST))
    scene.release("g1", turn("c1:t0", "c2:t0"), prompts("g2", "c1:t0"))
    assert scene.release("g2", {"kind": "deny"}, *seen).broken == clause


def test_a_guard_wins_over_every_approval() -> None:
    scene = Scene(hooks=[{"id": "h1", "at": "TOOL_CALL", "kind": "guard"}]).start(model("g1", FIRST))
    asked_guard = hooks(
        "g2", "h1", "TOOL_CALL.pre.guard", call="c1", data={"name": "t0", "args": {"k": "c1"}}
    )
    scene.release("g1", turn("c1:t0"), asked_guard)
    scene.release("g2", {"kind": "deny"}, enters("g3", "c1:t0"))
    assert scene.broken == "AUTH-8"
    assert "guard h1 denied call c1" in str(scene.violation)


def test_what_the_approver_was_shown_runs() -> None:
    slot = {"id": "h1", "at": "TOOL_CALL", "kind": "transform"}
    scene = Scene(policies={"rewrite.place": "asked_again"}, hooks=[slot], **ASK).start(model("g1", FIRST))
    scene.release("g1", turn("c1:t0"), prompts("g2", "c1:t0"))
    data = {"name": "t0", "args": {"k": "c1"}}
    scene.release("g2", {"kind": "allow"}, hooks("g3", "h1", "TOOL_CALL.pre.transform", call="c1", data=data))
    rewritten = {"k": "c1", "v": 2}
    scene.release(
        "g3", {"kind": "rewrite", "data": {"args": rewritten}}, enters("g4", "c1:t0", args=rewritten)
    )
    assert scene.broken == "AUTH-13"


@pytest.mark.parametrize(
    ("seen", "clause"),
    [([], ""), ([enters("g4", "c1:t0")], "AUTH-20"), ([event("ToolCallDenied", call="c1")], "WIRE-8")],
)
def test_a_late_answer_changes_nothing(seen: list[dict[str, Any]], clause: str) -> None:
    scene = Scene(**ASK).start(model("g1", FIRST)).release("g1", turn("c1:t0"), prompts("g2", "c1:t0"))
    scene.cancel(closes("g2"), ends("Cancelled"))
    scene.send("late", {"gate": "g2", "outcome": {"kind": "allow"}}, *seen)
    assert scene.broken == clause


def test_an_unasked_call_is_not_dropped() -> None:
    refused = result("c1", "no", "error")
    scene = asked(Scene(**ASK), "c1:t0", model("g2", FIRST, asks("c1:t0"), refused))
    assert scene.broken == "AUTH-43"


# fmt: off
SCENES = {
    "an answer counts for its own call": ("AUTH-12", lambda:
        Scene(**ASK).start(model("g1", FIRST)).release("g1", turn("c1:t0", "c2:t0"), prompts("g2", "c1:t0"))
        .release("g2", {"kind": "allow"}, enters("g3", "c1:t0"), enters("g4", "c2:t0"))),
    "an idle state machine asks for no grant": ("AUTH-19", lambda:
        asked(Scene(**{**DRIVEN, "mode": "ask"}), "c1:t1", prompts("g2", "c1:t1", ask="grant"))),
    "a mode asks for nothing that it lets pass": ("AUTH-16", lambda:
        asked(Scene(mode="yolo", interactors=["i1"]), "c1:t0", prompts("g2", "c1:t0"))),
    "prompts keep the order of the calls": ("AUTH-10", lambda:
        Scene(**ASK).start(model("g1", FIRST)).release("g1", turn("c1:t0", "c2:t0"), prompts("g2", "c2:t0"))
        .release("g2", {"kind": "allow"}, prompts("g3", "c1:t0", "p2"))),
    "a call is entered once": ("ONCE-1", lambda:
        Scene().start(model("g1", FIRST)).release("g1", turn("c1:t0"), enters("g2", "c1:t0"))
        .release("g2", ok("one"), enters("g3", "c1:t0"))),
    "a call is not entered while it runs": ("ONCE-3", lambda:
        Scene().start(model("g1", FIRST))
        .release("g1", turn("c1:t0"), enters("g2", "c1:t0"), enters("g3", "c1:t0"))),
    "other arguments than were asked for are seen": ("ROUND-2", lambda:
        Scene().start(model("g1", FIRST))
        .release("g1", turn("c1:t0"), enters("g2", "c1:t0", args={"k": "c9"}))),
}
# fmt: on


@pytest.mark.parametrize("name", SCENES)
def test_a_scene(name: str) -> None:
    clause, scene = SCENES[name]
    assert scene().broken == clause
