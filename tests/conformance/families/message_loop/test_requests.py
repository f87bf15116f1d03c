"""The content of requests: history, results, manifest, system, context."""

from __future__ import annotations

import pytest
from loop_scene import Scene, asks, closes, ends, enters, model, ok, opens, result, turn, user

FIRST = user("input of r1")
SECOND = user("input of r2")


def after_a_round(*messages: dict) -> Scene:  # type: ignore[type-arg]
    """A second request, after call c1 has answered."""
    scene = Scene().start(model("g1", FIRST)).release("g1", turn("c1:t0"), enters("g2", "c1:t0"))
    return scene.release("g2", ok("one"), model("g3", *messages))


def after_a_turn(*messages: dict) -> Scene:  # type: ignore[type-arg]
    """A second turn, after the first one said `done`."""
    scene = Scene().start(model("g1", FIRST)).release("g1", turn(text="done"), ends())
    return scene.start(model("g2", *messages))


ROUND = [asks("c1:t0"), result("c1", "one")]


@pytest.mark.parametrize(
    ("messages", "clause"),
    [
        ([FIRST, *ROUND], ""),
        ([FIRST, asks("c1:t0")], "PAIR-1"),
        ([FIRST], "LOOP-4"),
        ([user("another input"), *ROUND], "LOOP-4"),
        ([FIRST, *ROUND, user("never said")], "LOOP-14"),
        ([FIRST, asks("c1:t0"), result("c1", "two")], "PAIR-4"),
        ([FIRST, asks("c1:t0"), result("c1", "one", "error")], "PAIR-6"),
    ],
    ids=["right", "no result", "no round", "changed", "added", "wrong result", "wrong status"],
)
def test_a_request_holds_what_was_said(messages: list[dict], clause: str) -> None:  # type: ignore[type-arg]
    assert after_a_round(*messages).broken == clause


@pytest.mark.parametrize(
    ("messages", "clause"),
    [
        ([FIRST, asks(text="done"), SECOND], ""),
        ([FIRST, SECOND], "LOOP-4"),
        ([SECOND], "LOOP-4"),
        ([FIRST, asks(text="something else"), SECOND], "LOOP-4"),
        ([FIRST, asks(text="done"), asks(text="more"), SECOND], "LOOP-14"),
        ([FIRST, asks(text="done")], "LOOP-4"),
    ],
    ids=["right", "no response", "no history", "changed", "added", "no input"],
)
def test_a_turn_begins_with_the_history(messages: list[dict], clause: str) -> None:  # type: ignore[type-arg]
    assert after_a_turn(*messages).broken == clause


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("input of r2", ""),
        ("input of r1\n[interrupted]\ninput of r2", ""),
        ("input of r1\nanother input", "LOOP-4"),
    ],
    ids=["alone", "joined", "lost"],
)
def test_a_client_may_join_the_input_with_one_that_was_not_answered(text: str, clause: str) -> None:
    scene = Scene().start(model("g1", FIRST)).cancel(closes("g1"), ends("Cancelled"))
    assert scene.start(model("g2", user(text))).broken == clause


@pytest.mark.parametrize(
    ("fields", "clause"),
    [
        ({"tools": ("t0", "t1")}, ""),
        ({"tools": ("t0",)}, "LOOP-13"),
        ({"tools": ("t0", "t1", "t9")}, "LOOP-13"),
        ({"system": "You help."}, ""),
        ({"system": "You do not."}, "LOOP-14"),
    ],
)
def test_a_request_is_as_composed(fields: dict, clause: str) -> None:  # type: ignore[type-arg]
    assert Scene(system="You help.").start(model("g1", FIRST, **fields)).broken == clause


def context(slices: list[str], shown: list[str], **policies: str) -> Scene:
    """A request after a provider with a budget of ten characters gave these slices."""
    scene = Scene(context=[{"id": "p1", "budget": 10}], policies=policies)
    scene.start(opens("g1", "context", provider="p1", budget=10))
    return scene.release("g1", {"kind": "slices", "slices": slices}, model("g2", FIRST, context=shown))


@pytest.mark.parametrize(
    ("slices", "shown", "policies", "clause"),
    [
        (["abc"], ["abc"], {}, ""),
        (["abc"], [], {}, "LOOP-15"),
        (["abc"], ["abc", "xyz!"], {}, "LOOP-14"),
        (["abcdefgh", "ijklmnop"], ["abcdefgh", "ijklmnop"], {}, "LOOP-15"),
        (["abcdefgh", "ijklmnop"], ["abcdefgh"], {"context.over": "dropped"}, ""),
        (["abcdefgh", "ijklmnop"], ["abcdefgh", "ij"], {"context.over": "dropped"}, "LOOP-21"),
        (["abcdefgh", "ijklmnop"], ["abcdefgh", "ij"], {"context.over": "cut"}, ""),
        (["abcdefgh", "ijklmnop"], ["abcdefgh"], {"context.over": "refused"}, "LOOP-21"),
    ],
)
def test_context_stands_within_its_budget(
    slices: list[str], shown: list[str], policies: dict[str, str], clause: str
) -> None:
    assert context(slices, shown, **policies).broken == clause


def test_a_provider_that_was_not_asked_is_missed() -> None:
    scene = Scene(context=[{"id": "p1", "budget": 10}]).start(model("g1", FIRST))
    assert scene.broken == "LOOP-15"


@pytest.mark.parametrize(
    ("response", "clause"),
    [(turn("c1:t0", terminal=True), "LOOP-16"), (turn(text="done"), "LOOP-3"), (turn("c1:t0"), "")],
)
def test_a_pass_goes_on_after_a_round_alone(response: dict, clause: str) -> None:  # type: ignore[type-arg]
    scene = Scene().start(model("g1", FIRST))
    if not response["tool_calls"]:
        assert scene.release("g1", response, model("g3", FIRST, asks(text="done"))).broken == clause
        return
    scene.release("g1", response, enters("g2", "c1:t0"))
    assert scene.release("g2", ok("one"), model("g3", FIRST, *ROUND)).broken == clause


@pytest.mark.parametrize(
    ("order", "first", "clause"),
    [("call", "c1", ""), ("call", "c2", "ROUND-11"), ("finish", "c2", ""), ("finish", "c1", "ROUND-11")],
)
def test_results_stand_in_the_declared_order(order: str, first: str, clause: str) -> None:
    scene = Scene(policies={"results.order": order}).start(model("g1", FIRST))
    scene.release("g1", turn("c1:t0", "c2:t0"), enters("g2", "c1:t0"), enters("g3", "c2:t0"))
    scene.release("g3", ok("two"))
    results = [result("c1", "one"), result("c2", "two")]
    shown = results if first == "c1" else results[::-1]
    scene.release("g2", ok("one"), model("g4", FIRST, asks("c1:t0", "c2:t0"), *shown))
    assert scene.broken == clause


def test_a_result_under_another_call_is_seen() -> None:
    scene = Scene().start(model("g1", FIRST))
    scene.release("g1", turn("c1:t0", "c2:t0"), enters("g2", "c1:t0"), enters("g3", "c2:t0"))
    scene.release("g3", ok("two"))
    swapped = [result("c1", "two"), result("c2", "one")]
    scene.release("g2", ok("one"), model("g4", FIRST, asks("c1:t0", "c2:t0"), *swapped))
    assert scene.broken == "ROUND-2"
