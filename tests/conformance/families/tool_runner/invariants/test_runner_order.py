"""RUNNER: request, yield, resume, and what comes next."""

import pytest
from runner_traces import HELLO, Told, Trace, asked, each_of, result, turn, user

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


def test_a_yield_of_another_message():
    """The user sees something else than the model said."""
    told = Told()
    told.start(told.request(HELLO)).says(turn("c1"), told.shown(turn("c2")))

    assert told.verdict == "RUNNER-2"
    assert "c2" in told.reason


@pytest.mark.parametrize("late", ["tool", "request"])
def test_something_happens_after_the_user_left(late):
    """A break stops the runner."""
    told = asked()
    seen = told.entered("c1") if late == "tool" else told.request(HELLO, turn("c1"), result("c1"))
    told.leave(seen)

    assert told.verdict == "RUNNER-4"


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


# fmt: off
TRACES = (
    Trace("RUNNER-1", "a turn that is yielded twice", "A second yield of the same turn.", asked,
          lambda t: t.resume(t.shown(turn("c1")))),
    Trace("RUNNER-39", "a request while a yield is open", "The runner does not wait for the user.", asked,
          lambda t: t.push(user("note")).send("settle", {}, t.request(HELLO, user("note")))),
    Trace("RUNNER-25", "a fault of the model that is tried again",
          "The runner sends the request once more by itself.", Told,
          lambda t: t.start(t.request(HELLO)).breaks(t.request(HELLO))),
    Trace("RUNNER-6", "a final turn that does not end the run", "Nothing was changed, and a request follows.",
          lambda: ended(BYE), lambda t: t.resume(t.request(HELLO, BYE))),
    Trace("RUNNER-41", "a turn that asks for tools ends the run", "The next request is owed.", asked,
          lambda t: t.resume(t.entered("c1")).answers("c1", t.done(message=turn("c1")))),
)
# fmt: on


@each_of(TRACES)
def test_a_trace(trace):
    """Each trace of the table breaks its clause, or none."""
    told = trace.told()

    assert told.verdict == trace.verdict, told.reason
