"""Hooks: occasions, order, denials, rewrites, faults."""

from __future__ import annotations

from typing import Any

import pytest
from loop_scene import Scene, ends, enters, hooks, model, ok, turn, user

FIRST = user("input of r1")


def hook(number: int, slot: str) -> dict[str, str]:
    """A hook of the scenario, named after its number."""
    at, point, kind = slot.split(".")
    return {"id": f"h{number}", "at": at, "point": point, "kind": kind}


def scene_with(*slots: str, **policies: str) -> Scene:
    """A scene with a hook at each of these slots."""
    return Scene(policies=policies, hooks=[hook(number, slot) for number, slot in enumerate(slots, start=1)])


GUARD, SECOND = "COMPOSE_REQUEST.post.guard", "COMPOSE_REQUEST.post.transform"
DATA = {"system": "", "messages": [FIRST], "tools": ["t0", "t1"]}


@pytest.mark.parametrize(
    ("seen", "clause"),
    [
        ([ends("Blocked")], ""),
        ([model("g2", FIRST)], "HOOK-3"),
        ([ends("Error")], "HOOK-3"),
        ([ends()], "HOOK-3"),
    ],
)
def test_a_denial_ends_the_turn_as_blocked(seen: list[dict[str, Any]], clause: str) -> None:
    scene = scene_with(GUARD).start(hooks("g1", "h1", GUARD, data=DATA))
    assert scene.release("g1", {"kind": "deny"}, *seen).broken == clause


@pytest.mark.parametrize(
    ("order", "first", "clause"),
    [
        ("listed", "h1", ""),
        ("listed", "h2", "HOOK-7"),
        ("by_kind", "h2", ""),
        ("by_kind", "h1", "HOOK-7"),
    ],
)
def test_hooks_are_asked_in_the_declared_order(order: str, first: str, clause: str) -> None:
    slots = {"h1": SECOND, "h2": GUARD}
    other = "h2" if first == "h1" else "h1"
    scene = scene_with(SECOND, GUARD, **{"hook.order": order})
    scene.start(hooks("g1", first, slots[first], data=DATA))
    scene.release("g1", {"kind": "continue"}, hooks("g2", other, slots[other], data=DATA))
    assert scene.broken == clause


@pytest.mark.parametrize(("system", "clause"), [("rewritten", ""), ("as before", "HOOK-4")])
def test_a_rewritten_request_is_what_is_sent(system: str, clause: str) -> None:
    scene = scene_with(SECOND).start(hooks("g1", "h1", SECOND, data=DATA))
    rewrite = {"kind": "rewrite", "data": {"system": "rewritten"}}
    assert scene.release("g1", rewrite, model("g2", FIRST, system=system)).broken == clause


def test_an_observer_rewrites_nothing() -> None:
    slot = "COMPOSE_REQUEST.post.observer"
    scene = scene_with(slot).start(hooks("g1", "h1", slot, data=DATA))
    rewrite = {"kind": "rewrite", "data": {"system": "rewritten"}}
    assert scene.release("g1", rewrite, model("g2", FIRST, system="rewritten")).broken == "HOOK-5"


@pytest.mark.parametrize("code", ["Blocked", "Error"])
def test_an_observer_ends_no_turn(code: str) -> None:
    slot = "COMPOSE_REQUEST.post.observer"
    scene = scene_with(slot).start(hooks("g1", "h1", slot, data=DATA))
    assert scene.release("g1", {"kind": "deny"}, ends(code)).broken == "HOOK-5"


@pytest.mark.parametrize(
    ("policy", "seen", "clause"),
    [
        ("continue", [model("g2", FIRST)], ""),
        ("deny", [model("g2", FIRST)], "HOOK-9"),
        ("end_run", [model("g2", FIRST)], "HOOK-9"),
        ("end_run", [ends("Error")], ""),
        ("continue", [ends("Error")], "HOOK-9"),
        ("deny", [ends("Blocked")], ""),
    ],
)
def test_a_broken_hook_counts_as_declared(policy: str, seen: list[dict[str, Any]], clause: str) -> None:
    scene = scene_with(GUARD, **{"hook.fault": policy}).start(hooks("g1", "h1", GUARD, data=DATA))
    assert scene.release("g1", {"kind": "fault"}, *seen).broken == clause


CALL_DATA = {"name": "t0", "args": {"k": "c1"}}


def rewritten_call(*seen: dict[str, Any]) -> Scene:
    """A transform has given call c1 other arguments."""
    slot = "TOOL_CALL.pre.transform"
    scene = scene_with(slot).start(model("g1", FIRST))
    scene.release("g1", turn("c1:t0", "c2:t0"), hooks("g2", "h1", slot, call="c1", data=CALL_DATA))
    rewrite = {"kind": "rewrite", "data": {"args": {"k": "c1", "v": 2}}}
    return scene.release("g2", rewrite, *seen)


def test_a_rewrite_stays_with_its_call() -> None:
    other = {"name": "t0", "args": {"k": "c2"}}
    scene = rewritten_call(hooks("g3", "h1", "TOOL_CALL.pre.transform", call="c2", data=other))
    scene.release("g3", {"kind": "continue"}, enters("g4", "c2:t0", args={"k": "c1", "v": 2}))
    assert scene.broken == "HOOK-10"


@pytest.mark.parametrize(
    ("deltas", "asked", "clause"),
    [(1, 1, ""), (1, 2, "HOOK-1"), (0, 1, "HOOK-1")],
    ids=["one", "two", "none"],
)
def test_a_stream_hook_is_asked_for_each_piece(deltas: int, asked: int, clause: str) -> None:
    slot = "STREAM_RESPONSE.pre.observer"
    scene = scene_with(slot).start(model("g1", FIRST))
    seen = [hooks(f"h{number}", "h1", slot, data={"text": "a"}) for number in range(asked)]
    if deltas:
        scene.release("g1", {"kind": "delta", "text": "a"}, *seen)
    else:
        scene.send("settle", {}, *seen)
    assert scene.broken == clause


def test_a_post_hook_comes_after_the_tool() -> None:
    slot = "TOOL_CALL.post.observer"
    scene = scene_with(slot).start(model("g1", FIRST)).release("g1", turn("c1:t0"), enters("g2", "c1:t0"))
    scene.send("settle", {}, hooks("g3", "h1", slot, call="c1", data={"status": "ok", "content": "one"}))
    assert scene.broken == "HOOK-2"


def test_guards_come_after_the_approval() -> None:
    slot = hook(1, "TOOL_CALL.pre.guard")
    scene = Scene(mode="ask", interactors=["i1"], hooks=[slot]).start(model("g1", FIRST))
    seen = hooks("g2", "h1", "TOOL_CALL.pre.guard", call="c1", data=CALL_DATA)
    assert scene.release("g1", turn("c1:t0"), seen).broken == "AUTH-2"


def test_an_approved_call_is_shown_to_each_guard() -> None:
    slots = ["TOOL_CALL.pre.guard", "TOOL_CALL.pre.guard"]
    scene = scene_with(*slots).start(model("g1", FIRST))
    scene.release("g1", turn("c1:t0"), hooks("g2", "h1", slots[0], call="c1", data=CALL_DATA))
    assert scene.release("g2", {"kind": "continue"}, enters("g3", "c1:t0")).broken == "AUTH-9"


def test_a_rewritten_result_is_what_the_model_reads() -> None:
    slot = "TOOL_CALL.post.transform"
    scene = scene_with(slot).start(model("g1", FIRST)).release("g1", turn("c1:t0"), enters("g2", "c1:t0"))
    shown = hooks("g3", "h1", slot, call="c1", data={"status": "ok", "content": "one"})
    scene.release("g2", ok("one"), shown)
    rewrite = {"kind": "rewrite", "data": {"content": "masked"}}
    answered = {"role": "tool", "call": "c1", "text": "one", "status": "ok"}
    said = {"role": "assistant", "text": "", "tool_calls": turn("c1:t0")["tool_calls"]}
    assert scene.release("g3", rewrite, model("g4", FIRST, said, answered)).broken == "PAIR-4"


STREAM = ("STREAM_RESPONSE.pre.guard", "STREAM_RESPONSE.pre.transform")


@pytest.mark.parametrize(("asked", "clause"), [(STREAM, ""), (STREAM[:1], "HOOK-3")])
def test_hooks_that_are_asked_at_once_are_waited_for(asked: tuple[str, ...], clause: str) -> None:
    """A denial ends the turn when the others have answered; with no other open the model waits in vain."""
    scene = scene_with(*STREAM, **{"hook.order": "parallel"}).start(model("g1", FIRST))
    held = [hooks(f"h{at}", f"h{at}", slot, data={"text": "a"}) for at, slot in enumerate(asked, start=1)]
    scene.release("g1", {"kind": "delta", "text": "a"}, *held)

    assert scene.release("h1", {"kind": "deny", "message": "no"}).broken == clause


@pytest.mark.parametrize(("response", "clause"), [(turn(text="done"), "HOOK-1"), (None, "")])
def test_hooks_of_render_are_asked_where_the_turn_comes_to_it(response: Any, clause: str) -> None:
    """A terminal call may end the turn without."""
    scene = scene_with("RENDER.pre.observer", **{"call.terminal": "finish"}).start(model("g1", FIRST))
    if response is None:
        scene.release("g1", turn("c1:t0", terminal=True), enters("g2", "c1:t0"))
        assert scene.release("g2", ok("done"), ends()).broken == clause
    else:
        assert scene.release("g1", response, ends()).broken == clause


# fmt: off
SCENES = {
    "a request waits for its hooks": ("HOOK-2", lambda:
        scene_with(GUARD).start(hooks("g1", "h1", GUARD, data=DATA), model("g2", FIRST))),
    "a hook that was not asked is missed": ("HOOK-1", lambda: scene_with(GUARD).start(model("g1", FIRST))),
    "a hook that continues lets the request go": ("", lambda:
        scene_with(GUARD).start(hooks("g1", "h1", GUARD, data=DATA))
        .release("g1", {"kind": "continue"}, model("g2", FIRST))),
    "a hook is asked once": ("HOOK-1", lambda:
        scene_with(GUARD).start(hooks("g1", "h1", GUARD, data=DATA))
        .release("g1", {"kind": "continue"}, hooks("g2", "h1", GUARD, data=DATA))),
    "no transform is asked after a denial": ("HOOK-8", lambda:
        scene_with(GUARD, SECOND, **{"hook.order": "listed"}).start(hooks("g1", "h1", GUARD, data=DATA))
        .release("g1", {"kind": "deny"}, hooks("g2", "h2", SECOND, data=DATA))),
    "rewritten arguments run": ("", lambda: rewritten_call(enters("g3", "c1:t0", args={"k": "c1", "v": 2}))),
    "arguments that were not rewritten do not run": ("HOOK-4", lambda: rewritten_call(enters("g3", "c1:t0"))),
}
# fmt: on


@pytest.mark.parametrize("name", SCENES)
def test_a_scene(name: str) -> None:
    clause, scene = SCENES[name]
    assert scene().broken == clause
