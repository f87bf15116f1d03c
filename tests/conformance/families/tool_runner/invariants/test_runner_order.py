"""RUNNER: request, yield, resume, and what comes next."""

import pytest
from runner_traces import HELLO, Told, asked, result, turn, user

BYE = turn(text="bye")


def ended(message, **kept):
    """A run whose first turn is final, and is with the user."""
    told = Told(**kept)
    told.start(told.request(HELLO))
    return told.says(message, told.shown(message))


def test_a_run_in_its_order_holds():
    """Each clause of the order is exercised."""
    told = asked()
    told.resume(told.entered("c1"))
    told.answers("c1", told.request(HELLO, turn("c1"), result("c1")))
    told.says(BYE, told.shown(BYE)).resume(told.done(message=BYE))

    assert told.verdict == "held", told.reason
    assert {
        "RUNNER-1",
        "RUNNER-2",
        "RUNNER-5",
        "RUNNER-6",
        "RUNNER-9",
        "RUNNER-41",
        "RUN-2",
    } <= told.exercised


def test_a_turn_that_is_not_yielded():
    """The next request comes before the yield."""
    told = Told()
    told.start(told.request(HELLO)).says(turn("c1"), told.request(HELLO, turn("c1"), result("c1")))

    assert told.verdict == "RUNNER-1"
    assert "was never yielded" in told.reason


def test_a_turn_that_is_yielded_twice():
    """A second yield of the same turn."""
    told = asked()
    told.resume(told.shown(turn("c1")))

    assert told.verdict == "RUNNER-1", told.reason


def test_a_yield_of_another_message():
    """The user sees something else than the model said."""
    told = Told()
    told.start(told.request(HELLO)).says(turn("c1"), told.shown(turn("c2")))

    assert told.verdict == "RUNNER-2"
    assert "c2" in told.reason


def test_a_request_while_a_yield_is_open():
    """The runner does not wait for the user."""
    told = asked()
    told.push(user("note"))
    told.send("settle", {}, told.request(HELLO, user("note")))

    assert told.verdict == "RUNNER-39"


@pytest.mark.parametrize("late", ["tool", "request"])
def test_something_happens_after_the_user_left(late):
    """A break stops the runner."""
    told = asked()
    seen = told.entered("c1") if late == "tool" else told.request(HELLO, turn("c1"), result("c1"))
    told.leave(seen)

    assert told.verdict == "RUNNER-4"


def test_a_fault_of_the_model_that_is_tried_again():
    """The runner sends the request once more by itself."""
    told = Told()
    told.start(told.request(HELLO)).breaks(told.request(HELLO))

    assert told.verdict == "RUNNER-25"


def test_a_final_turn_that_does_not_end_the_run():
    """Nothing was changed, and a request follows."""
    told = ended(BYE)
    told.resume(told.request(HELLO, BYE))

    assert told.verdict == "RUNNER-6"


@pytest.mark.parametrize(
    ("finish", "sends", "verdict"),
    [
        ("state", True, "held"),
        ("state", False, "RUNNER-7"),
        ("received", True, "RUNNER-7"),
        ("received", False, "held"),
    ],
)
def test_a_changed_final_turn(finish, sends, verdict):
    """The policy says whether the state is sent."""
    told = ended(BYE, policies={"runner.finish": finish})
    told.push(user("note"))
    told.resume(told.request(HELLO, user("note")) if sends else told.done(message=BYE))

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize("sends", [True, False])
def test_a_changed_final_turn_under_an_open_policy(sends):
    """Either is right where the policy is open."""
    told = ended(BYE, leaves_open=("runner.finish",))
    told.push(user("note"))
    told.resume(told.request(HELLO, user("note")) if sends else told.done(message=BYE))

    assert told.verdict == "held", told.reason


def test_a_turn_that_asks_for_tools_ends_the_run():
    """The next request is owed."""
    told = asked()
    told.resume(told.entered("c1")).answers("c1", told.done(message=turn("c1")))

    assert told.verdict == "RUNNER-41"


@pytest.mark.parametrize(
    ("pause", "sends", "verdict"),
    [
        ("resent", True, "held"),
        ("resent", False, "RUNNER-20"),
        ("ends", True, "RUNNER-20"),
        ("ends", False, "held"),
    ],
)
def test_a_paused_turn(pause, sends, verdict):
    """The policy says whether it goes back."""
    wait = turn(text="wait")
    told = Told({"runner.pause": pause})
    told.start(told.request(HELLO)).says(wait, told.shown(wait), stop="pause_turn")
    told.resume(told.request(HELLO, wait) if sends else told.done(message=wait))

    assert told.verdict == verdict, told.reason
