"""Hooks of the reference loop: guards, transforms and observers at the points of a stage."""

import pytest
from loop_world import call

GUARD = ("h1", "TOOL_CALL", "pre", "guard")
TRANSFORM = ("h2", "TOOL_CALL", "pre", "transform")
OBSERVER = ("h3", "TOOL_CALL", "pre", "observer")


def at_the_round(begun, *hooks, calls=("c1",), mode="yolo", **settings):
    one = begun(hooks=hooks, mode=mode, **settings)
    return one, one.respond(*(call(one_call) for one_call in calls))


@pytest.mark.parametrize(
    "slot",
    [
        ("h1", "RECEIVE_INPUT", "pre", "guard"),
        ("h1", "COMPOSE_REQUEST", "pre", "guard"),
        ("h1", "COMPOSE_REQUEST", "post", "guard"),
        ("h1", "SEND_REQUEST", "pre", "guard"),
    ],
    ids=lambda slot: ".".join(slot[1:]),
)
def test_a_guard_that_denies_a_stage_blocks_the_turn(begun, slot):
    """No request is sent, and the next turn works."""
    one = begun(hooks=[slot])

    assert one.release("hook:h1", "deny") == []
    assert one.reason.code == "Blocked"
    assert "model" not in one.world.opened
    one.start("again")
    one.release("hook:h1", "continue")
    assert "model" in one.world.gates or "hook:h1" in one.world.gates


@pytest.mark.parametrize(("policy", "history"), [("kept", [("user", "hello")]), ("dropped", [])])
def test_a_refused_input_is_kept_or_dropped(begun, policy, history):
    """As declared."""
    one = begun({"input.refused": policy}, hooks=[("h1", "RECEIVE_INPUT", "pre", "guard")])
    one.release("hook:h1", "deny")

    assert one.history == history


def test_a_guard_cuts_a_response_off(begun):
    """What it denied is not published, and the request is given up."""
    one = begun(hooks=[("h1", "STREAM_RESPONSE", "pre", "guard")])
    one.say("secret")

    assert one.release("hook:h1", "deny") == []
    assert one.reason.code == "Blocked"
    assert one.names("ProviderTokensStreamed", "ProviderRequestFailed") == ["ProviderRequestFailed"]


def test_a_guard_of_a_call_denies_that_call_alone(begun):
    """Its sibling runs, and the turn goes on."""
    one, opened = at_the_round(begun, GUARD, calls=("c1", "c2"))

    assert opened == ["hook:h1:c1"]
    one.release("hook:h1:c1", "deny")
    assert one.release("hook:h1:c2", "continue") == ["tool:c2"]
    assert one.release("tool:c2") == ["model"]
    assert one.history[2:] == [("c1", "error"), ("c2", "ok")]


def test_rewritten_arguments_are_what_runs_and_the_name_stays(begun):
    """A transform cannot redirect a call to another tool."""
    one, _ = at_the_round(begun, TRANSFORM)
    one.release("hook:h2:c1", "rewrite", data={"args": {"k": "new"}, "name": "t1"})

    assert one.world.shown["tool:c1"] == {"name": "t0", "args": {"k": "new"}}


def test_rewrites_reach_the_request_the_result_and_the_screen(begun):
    """Every later step uses the rewritten data."""
    one = begun(
        hooks=[
            ("h1", "RECEIVE_INPUT", "pre", "transform"),
            ("h2", "COMPOSE_REQUEST", "post", "transform"),
            ("h3", "TOOL_CALL", "post", "transform"),
            ("h4", "RENDER", "pre", "transform"),
        ],
        mode="yolo",
    )
    one.release("hook:h1", "rewrite", data={"input": "other"})
    one.release("hook:h2", "rewrite", data={"system": "be kind"})
    assert one.world.shown["model"]["system"] == "be kind"
    one.respond(call("c1"))
    one.release("tool:c1", content="r1")
    one.release("hook:h3:c1", "rewrite", data={"content": "masked"})
    one.release("hook:h2", "continue")
    one.respond(text="answer")
    one.release("hook:h4", "rewrite", data={"text": "***"})

    assert [message.get("text") for message in one.loop.history] == ["other", "done", "masked", "answer"]
    assert [data["text"] for name, data in one.world.events if name == "Rendered"] == ["***"]


def test_an_observer_changes_nothing_whatever_it_answers(begun):
    """Its denial and its rewrite count as continue."""
    one, _ = at_the_round(begun, OBSERVER, calls=("c1", "c2"))
    one.release("hook:h3:c1", "deny")

    opened = one.release("hook:h3:c2", "rewrite", data={"args": {}})
    assert opened == ["tool:c1", "tool:c2"]
    assert one.world.shown["tool:c2"]["args"] == {"k": "c2"}


@pytest.mark.parametrize(
    ("order", "gates"),
    [
        ("listed", ["hook:h3:c1"]),
        ("by_kind", ["hook:h1:c1"]),
        ("parallel", ["hook:h1:c1", "hook:h2:c1", "hook:h3:c1"]),
    ],
)
def test_hooks_are_asked_in_the_declared_order(begun, order, gates):
    """As they are listed, guards first, or together."""
    policies = {"hook.order": order, "rewrite.place": "after_approval"}
    _, opened = at_the_round(begun, OBSERVER, TRANSFORM, GUARD, policies=policies)

    assert opened == gates


def test_no_transform_is_asked_after_a_denial(begun):
    """There is nothing left to rewrite."""
    one, _ = at_the_round(begun, GUARD, TRANSFORM, policies={"rewrite.place": "after_approval"})

    assert one.release("hook:h1:c1", "deny") == ["model"]


@pytest.mark.parametrize(
    ("policy", "gates", "code"),
    [("continue", ["tool:c1"], None), ("deny", ["model"], None), ("end_run", [], "Error")],
)
def test_a_guard_that_breaks_is_what_was_declared(begun, policy, gates, code):
    """It is ignored, counts as a denial, or ends the turn."""
    one, _ = at_the_round(begun, GUARD, policies={"hook.fault": policy})

    assert one.fault("hook:h1:c1") == gates
    assert (one.reason.code if one.reason else None) == code


@pytest.mark.parametrize(
    ("place", "gates"), [("after_approval", ["prompt:c1:i1"]), ("before_approval", ["hook:h1:c1"])]
)
def test_guards_stand_on_the_declared_side_of_the_approval(begun, place, gates):
    """After the approval, or before it."""
    _, opened = at_the_round(begun, GUARD, mode="ask", policies={"guard.place": place})

    assert opened == gates


def test_an_approver_sees_what_a_transform_before_it_left(begun):
    """What was shown is what runs."""
    one, _ = at_the_round(begun, TRANSFORM, mode="ask", policies={"rewrite.place": "before_approval"})
    one.release("hook:h2:c1", "rewrite", data={"args": {"k": "new"}})

    assert one.world.shown["prompt:c1:i1"]["args"] == {"k": "new"}
    one.release("prompt:c1:i1", "allow")
    assert one.world.shown["tool:c1"]["args"] == {"k": "new"}


def test_a_rewrite_after_the_approval_is_asked_about_again(begun):
    """Under `asked_again` the approver is shown what was rewritten."""
    one, _ = at_the_round(begun, TRANSFORM, mode="ask", policies={"rewrite.place": "asked_again"})
    one.release("prompt:c1:i1", "allow")

    assert one.release("hook:h2:c1", "rewrite", data={"args": {"k": "new"}}) == ["prompt:c1:i1"]
    assert one.world.shown["prompt:c1:i1"]["args"] == {"k": "new"}
    assert one.release("prompt:c1:i1", "deny") == ["model"]


def test_a_guard_wins_over_a_person(begun):
    """The approval does not replace the guard."""
    one, _ = at_the_round(begun, GUARD, mode="ask")
    one.release("prompt:c1:i1", "allow")

    assert one.release("hook:h1:c1", "deny") == ["model"]
    assert "tool:c1" not in one.world.opened
