"""How turns end: bounds, cancels, faults, and what comes after."""

from __future__ import annotations

from typing import Any

import pytest
from loop_scene import Scene, asks, closes, ends, enters, event, model, ok, opens, prompts, result, turn, user

FIRST = user("input of r1")
WARNING = "earlier tool calls may already have completed"
BOUND = {"detail": WARNING, "stop": {"code": "max_iterations"}}


def rounds(count: int, **scenario: Any) -> Scene:
    """A chat turn with `count` rounds of one call each; the tool of the last round has not answered yet."""
    scene = Scene(**scenario).start(model("m1", FIRST))
    said = [FIRST]
    for number in range(1, count + 1):
        call = f"c{number}:t0"
        scene.release(f"m{number}", turn(call), enters(f"t{number}", call))
        said += [asks(call), result(f"c{number}", f"answer {number}")]
        if number < count:
            scene.release(f"t{number}", ok(f"answer {number}"), model(f"m{number + 1}", *said))
    return scene


def last(scene: Scene, count: int, *seen: dict[str, Any]) -> Scene:
    """The tool of the last round answers."""
    return scene.release(f"t{count}", ok(f"answer {count}"), *seen)


def history(count: int) -> list[dict[str, Any]]:
    """What was said in a number of rounds."""
    said = [FIRST]
    for number in range(1, count + 1):
        said += [asks(f"c{number}:t0"), result(f"c{number}", f"answer {number}")]
    return said


@pytest.mark.parametrize(
    ("count", "policies", "code", "reason", "clause"),
    [
        (2, {"bound.counts": "requests"}, "Error", BOUND, ""),
        (3, {"bound.counts": "continuations"}, "Error", BOUND, ""),
        (2, {}, "Error", BOUND, ""),
        (1, {}, "Error", BOUND, "LOOP-8"),
        (2, {"bound.counts": "requests"}, "Stopped", BOUND, "LOOP-8"),
        (2, {"bound.counts": "requests"}, "Error", {**BOUND, "detail": "too many"}, "LOOP-8"),
        (2, {"bound.counts": "requests"}, "NaturalEnd", {}, "LOOP-8"),
    ],
)
def test_a_turn_ends_at_its_bound(
    count: int, policies: dict[str, str], code: str, reason: dict[str, Any], clause: str
) -> None:
    scene = rounds(count, policies=policies, bounds={"max_iterations": 2})
    assert last(scene, count, ends(code, **reason)).broken == clause


@pytest.mark.parametrize(
    ("policies", "clause"),
    [({}, ""), ({"bound.end": "stopped"}, "LOOP-8"), ({"bound.end": "error"}, "LOOP-8")],
)
def test_a_core_runtime_owes_no_detail_unless_it_declares_how_it_ends(
    policies: dict[str, str], clause: str
) -> None:
    scene = rounds(2, policies=policies, shows={"profile": "message-loop-core"}, bounds={"max_iterations": 2})
    assert last(scene, 2, ends("Stopped", **{**BOUND, "detail": "too many"})).broken == clause


@pytest.mark.parametrize(
    ("count", "counts", "clause"),
    [(2, "continuations", ""), (2, "requests", "LOOP-5"), (3, "continuations", "LOOP-5")],
)
def test_no_request_is_sent_beyond_the_bound(count: int, counts: str, clause: str) -> None:
    scene = rounds(count, policies={"bound.counts": counts}, bounds={"max_iterations": 2})
    assert last(scene, count, model("m9", *history(count))).broken == clause


@pytest.mark.parametrize(
    ("seen", "clause"),
    [
        ([closes("t1"), ends("Cancelled")], ""),
        ([closes("t1"), ends("Error")], "CANCEL-2"),
        ([closes("t1")], "CANCEL-2"),
        ([], "CANCEL-5"),
        ([closes("t1"), enters("t2", "c2:t0")], "CANCEL-8"),
        ([closes("t1"), event("Rendered", text="x"), ends("Cancelled")], "CANCEL-9"),
    ],
    ids=["right", "another reason", "not over", "still running", "a new call", "rendered"],
)
def test_a_cancel_ends_the_turn(seen: list[dict[str, Any]], clause: str) -> None:
    scene = Scene(shows={"observes": ["event", "run.finished"], "events": ["Rendered"]})
    scene.start(model("m1", FIRST)).release("m1", turn("c1:t0", "c2:t0"), enters("t1", "c1:t0"))
    assert scene.cancel(*seen).broken == clause


def test_an_aborted_call_reads_as_cancelled() -> None:
    scene = rounds(1).cancel(closes("t1"), ends("Cancelled"))
    said = [FIRST, asks("c1:t0"), result("c1", "aborted", "error"), user("input of r2")]
    assert scene.start(model("m2", *said)).broken == "CANCEL-6"


@pytest.mark.parametrize(
    ("policies", "seen", "clause"),
    [
        ({}, [ends("Error")], ""),
        ({}, [ends()], "LOOP-20"),
        ({}, [model("g2", FIRST)], "LOOP-20"),
    ],
)
def test_a_fault_of_the_model_ends_the_turn(
    policies: dict[str, str], seen: list[dict[str, Any]], clause: str
) -> None:
    scene = Scene(policies=policies).start(model("g1", FIRST))
    assert scene.release("g1", {"kind": "fault"}, *seen).broken == clause


@pytest.mark.parametrize(
    ("code", "clause"),
    [("NaturalEnd", ""), ("Error", "RUN-24"), ("Blocked", "RUN-24"), ("Cancelled", "RUN-24")],
)
def test_a_turn_ends_for_a_cause(code: str, clause: str) -> None:
    scene = Scene().start(model("g1", FIRST))
    assert scene.release("g1", turn(text="done"), ends(code)).broken == clause


@pytest.mark.parametrize(
    ("seen", "clause"),
    [
        ([ends("Error")], ""),
        ([ends()], "RUN-24"),
        ([model("m2", FIRST, asks("c1:t0"), result("c1", "broke", "error"))], "RUN-24"),
    ],
)
def test_a_fault_of_a_tool_ends_the_turn(seen: list[dict[str, Any]], clause: str) -> None:
    assert rounds(1).release("t1", {"kind": "fault"}, *seen).broken == clause


@pytest.mark.parametrize(
    ("policy", "seen", "clause"),
    [
        ("failed_call", [ends("Error")], "ROUND-8"),
        ("end_run", [ends("Error")], ""),
        ("end_run", [model("m2", FIRST, asks("c1:t0"), result("c1", "threw", "error"))], "ROUND-8"),
        ("failed_call", [model("m2", FIRST, asks("c1:t0"), result("c1", "threw", "error"))], ""),
    ],
)
def test_a_tool_that_throws_costs_what_is_declared(
    policy: str, seen: list[dict[str, Any]], clause: str
) -> None:
    scene = rounds(1, policies={"tool.raises": policy})
    assert scene.release("t1", {"kind": "raise", "message": "threw"}, *seen).broken == clause


def test_no_call_runs_before_its_response_is_complete() -> None:
    scene = Scene().start(model("g1", FIRST))
    piece = {"kind": "delta", "tool_call": {"id": "c1", "name": "t0", "args_text": "{"}}
    assert scene.release("g1", piece, enters("g2", "c1:t0")).broken == "LOOP-17"


def test_a_call_that_ran_too_early_has_run() -> None:
    """What opened before the response was complete is filed under its call: nothing else is blamed for it."""
    scene = Scene(mute=["LOOP-17"]).start(model("g1", FIRST))
    piece = {"kind": "delta", "tool_call": {"id": "c1", "name": "t0", "args_text": '{"k": "c1"}'}}
    scene.release("g1", piece, enters("g2", "c1:t0")).release("g2", ok("done"))
    history = (FIRST, asks("c1:t0"), result("c1", "done"))

    assert scene.release("g1", turn("c1:t0"), model("g3", *history)).broken == ""


# fmt: off
SCENES = {
    "the bound counts rounds and not calls": ("LOOP-6", lambda:
        Scene(bounds={"max_iterations": 2}).start(model("g1", FIRST))
        .release("g1", turn("c1:t0", "c2:t0"), enters("g2", "c1:t0"), enters("g3", "c2:t0"))
        .release("g2", ok("one")).release("g3", ok("two"), ends("Error", **BOUND))),
    "a cancel gives up a prompt": ("CANCEL-3", lambda:
        Scene(mode="ask", interactors=["i1"]).start(model("g1", FIRST))
        .release("g1", turn("c1:t0"), prompts("g2", "c1:t0")).cancel()),
    "a cancel of a turn that is over changes nothing": ("CANCEL-4", lambda:
        Scene().start(model("g1", FIRST)).release("g1", turn(text="done"), ends()).cancel(ends("Cancelled"))),
    "a turn ends once": ("RUN-21", lambda:
        Scene().start(model("g1", FIRST)).release("g1", turn(text="done"), ends(), ends())),
    "a turn that is over opens no gate": ("RUN-20", lambda:
        Scene().start(model("g1", FIRST)).release("g1", turn(text="done"), ends())
        .send("settle", {}, opens("g2", "context", provider="p1", budget=1))),
    "nothing comes after the end": ("WIRE-8", lambda:
        Scene().start(model("g1", FIRST)).release("g1", turn(text="done"), ends())
        .send("settle", {}, event("Rendered", text="done"))),
    "a turn that waits for nothing does not progress": ("LOOP-18", lambda:
        Scene().start(model("g1", FIRST)).release("g1", turn(text="done"))),
    "a response with calls is not the end": ("LOOP-3", lambda:
        Scene().start(model("g1", FIRST)).release("g1", turn("c1:t0"), ends())),
    "the next turn works": ("TURN-11", lambda:
        Scene().start(model("g1", FIRST)).cancel(closes("g1"), ends("Cancelled")).start(ends("Error"))),
    # That a call has no result leads; the clause about the next turn says the same of it.
    "the next turn begins on a whole history": ("PAIR-1", lambda:
        rounds(1).cancel(closes("t1"), ends("Cancelled"))
        .start(model("m2", FIRST, asks("c1:t0"), user("input of r2")))),
}
# fmt: on


@pytest.mark.parametrize("name", SCENES)
def test_a_scene(name: str) -> None:
    clause, scene = SCENES[name]
    assert scene().broken == clause
