"""What was sent in one window may be acted on in any order; outside a race the same is blamed."""

import pytest
from runner_traces import HELLO, Told, asked, call, result, turn, user

NOTE = user("note")
C1 = turn("c1")
TWO = turn("c1", "c2")
BYE = turn(text="bye")
RACE = pytest.mark.parametrize("race", [True, False], ids=["in a race", "at rest"])


def after(told, race):
    """The next answer leaves a race open, or not."""
    return told.early() if race else told


def streamed(policies=None, read="none"):
    """A stream that is with the user before its turn is whole."""
    told = Told(policies, stream=True, read=read)
    return told.start(told.shown(None), told.request(HELLO))


def responded(told, *seen):
    """The user asks for a response."""
    return told.send("runner.respond", {}, *seen)


def changed(told, *seen, **change):
    """The user changes the tools."""
    return told.send("runner.tools", {"add": [], "remove": [], **change}, *seen)


@RACE
def test_calls_that_finish_in_one_window(race):
    """Their results stand in any order, where the order is that of their ends."""
    told = asked({"results.order": "finish", "round.executor": "parallel"}, "c1", "c2")
    told.resume(told.entered("c1"), told.entered("c2"))
    after(told, race).answers("c1")
    told.answers("c2", told.request(HELLO, TWO, result("c2"), result("c1")))

    assert told.verdict == ("held" if race else "ROUND-6"), told.reason


@RACE
def test_a_resume_in_the_window_of_a_cancel(race):
    """The resume may have come first."""
    told = asked({"cancel.handed_over": "not_run"})
    after(told, race).send("cancel", {"run": "r1"})
    told.resume(told.entered("c1"))

    assert told.verdict == ("held" if race else "CANCEL-4"), told.reason


@RACE
def test_a_model_that_answers_in_the_window_of_a_cancel(race):
    """The run may have ended before the cancel came."""
    told = asked({"again.break": "over", "cancel.inflight": "drain"})
    told.resume(told.entered("c1"))
    after(told, race).send("cancel", {"run": "r1"})
    told.answers("c1", told.request(HELLO, C1, result("c1")))

    assert told.verdict == ("held" if race else "CANCEL-1"), told.reason


@RACE
def test_a_response_in_the_window_of_the_turn(race):
    """It may have been asked for too soon, and be null."""
    told = after(streamed(), race).says(C1)
    responded(told, told.response(None))

    assert told.verdict == ("held" if race else "RUNNER-17"), told.reason


@RACE
def test_a_push_in_the_window_of_a_second_response(race):
    """The push may have dropped what was kept before the response was looked for."""
    told = asked({"runner.cache": "until_push"})
    responded(told, told.entered("c1")).answers("c1", told.response(result("c1")))
    if race:
        responded(told.early())
        told.send("runner.push", {"messages": [NOTE]}, told.entered("c1", attempt=2))
    else:
        responded(told, told.entered("c1", attempt=2))

    assert told.verdict == ("held" if race else "RUNNER-18"), told.reason


@RACE
def test_a_tool_that_is_removed_in_the_window_of_its_call(race):
    """The call of a response may have started before."""
    told = asked({"tools.removed": "at_once", "round.executor": "sequential"}, "c1", "c2")
    responded(told, told.entered("c1"))
    if race:
        told.early().answers("c1")
        changed(told, told.entered("c2"), remove=["t0"])
    else:
        changed(told, remove=["t0"]).answers("c1", told.entered("c2"))

    assert told.verdict == ("held" if race else "RUNNER-33"), told.reason


@RACE
def test_a_fault_in_the_window_of_a_break(race):
    """The fault may have ended the run."""
    told = streamed()
    if race:
        told.early().breaks().leave(told.done("Error"))
    else:
        told.leave(told.closed("model"), told.done("Error"))

    assert told.verdict == ("held" if race else "RUN-3"), told.reason


@RACE
def test_a_turn_in_the_window_of_a_break(race):
    """The runner may have given the request up before the turn came."""
    told = after(streamed(read="all"), race).says(C1)
    told.leave(told.done("BehaviorRequested", message=None))

    assert told.verdict == ("held" if race else "RUN-7"), told.reason


def test_a_stream_that_breaks_before_it_is_yielded():
    """It is yielded all the same, and breaks while it is read."""
    told = Told(stream=True, read="none")
    told.start(told.request(HELLO)).early().piece("one ")
    told.breaks(told.shown(None)).resume(told.done("Error"))

    assert told.verdict == "held", told.reason


def test_a_break_at_a_stream_that_is_not_read():
    """The runner need not have received a turn that came in a stream which was not read."""
    told = streamed().says(C1)
    told.leave(told.done("BehaviorRequested", message=None))

    assert told.verdict == "held", told.reason


@pytest.mark.parametrize(("start", "blamed"), [("streaming", "held"), ("after_resume", "RUNNER-32")])
def test_a_call_of_a_paused_turn_whose_stream_is_read_after_the_resume(start, blamed):
    """The reader may have waited for a tool, and the call may start from the rest of the stream."""
    told = streamed({"tools.start": start}, read="all").says(C1, stop="pause_turn")
    told.resume(told.entered("c1"))

    assert told.verdict == blamed, told.reason


@pytest.mark.parametrize("race", [True, False])
def test_a_refusal_that_comes_later(race):
    """The answer of the next stimulus tells of it."""
    told = asked({"again.break": "over"})
    told.leave(told.done("BehaviorRequested", message=C1))
    after(told, race).send("runner.again", {"run": "r2"}, refused=() if race else (0,))
    told.send("settle", {}, refused=(0,) if race else ())

    assert told.verdict == "held", told.reason


# -- what a change leaves behind


@pytest.mark.parametrize(
    ("shown", "verdict"), [([NOTE, C1], "held"), ([NOTE], "held"), ([HELLO, NOTE, C1], "RUN-11")]
)
def test_messages_that_are_set_before_the_turn_is_whole(shown, verdict):
    """A turn that is put into the state on receipt comes after them."""
    told = streamed({"runner.append": "on_receipt"})
    told.send("runner.set", {"messages": [NOTE]}).says(C1)
    if C1 in shown:
        told.send("inspect", {"run": "r1"}, {"kind": "inspect", "status": "Running", "messages": shown})
    told.resume(told.entered("c1"))
    told.answers("c1", told.request(NOTE, *([C1, result("c1")] if C1 in shown else [])))

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize("messages", [(NOTE, C1), (C1, NOTE)])
def test_messages_that_are_pushed_before_the_turn_is_whole(messages):
    """A turn that is put into the state on receipt stands before or after them."""
    told = streamed({"runner.append": "on_receipt"})
    told.push(NOTE).says(C1)
    told.send(
        "inspect", {"run": "r1"}, {"kind": "inspect", "status": "Running", "messages": [HELLO, *messages]}
    )
    told.resume(told.entered("c1"))
    at = messages.index(C1) + 1
    told.answers("c1", told.request(HELLO, *messages[:at], result("c1"), *messages[at:]))

    assert told.verdict == "held", told.reason


@pytest.mark.parametrize(("text", "verdict"), [("answer", "held"), (None, "RUNNER-28")])
def test_a_call_that_runs_though_the_user_answered_it(text, verdict):
    """Its own result enters no state, since the answer of the user stands there."""
    told = asked({"runner.answered": "run", "runner.inspects": "received"})
    answer = result("c1", "answer")
    told.push(C1, answer, NOTE)
    told.resume(told.entered("c1"))
    own = [] if text else [result("c1")]
    told.answers("c1", told.request(HELLO, C1, answer, *own, NOTE))

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize("back", [[], ["t0"]])
@pytest.mark.parametrize("removed", [True, False])
def test_a_response_that_is_made_anew_without_its_tool(removed, back):
    """The call has an error, also if the tool was put back."""
    told = asked({"runner.cache": "none", "tools.added": "next_request"})
    responded(told, told.entered("c1")).answers("c1", told.response(result("c1")))
    if removed:
        changed(told, remove=["t0"], add=back)
    responded(told, told.response(result("c1", "no such tool", "error")))

    assert told.verdict == ("held" if removed else "RUNNER-30"), told.reason


@pytest.mark.parametrize("policy", ["next_request", "at_once"])
def test_a_tool_that_is_removed_and_added_again(policy):
    """Where only its removal counts at once, its call need not run."""
    told = asked({"tools.removed": "at_once", "tools.added": policy})
    changed(told, remove=["t0"])
    changed(told, add=["t0"])
    told.resume(told.request(HELLO, C1, result("c1", "no such tool", "error")))

    assert told.verdict == ("held" if policy == "next_request" else "RUNNER-5"), told.reason


@pytest.mark.parametrize("cache", ["none", "kept"])
def test_a_call_that_started_from_the_stream_and_is_asked_for_twice(cache):
    """The first response uses what the stream started; the second one runs it anew."""
    told = Told({"tools.start": "streaming", "runner.cache": cache}, stream=True, read="none")
    told.start(told.shown(None), told.request(HELLO))
    piece = {"kind": "delta", "tool_call": call("c1")}
    told.release("model", piece, told.entered("c1")).answers("c1").says(C1)
    responded(told, told.response(result("c1")))
    responded(told, told.entered("c1", attempt=2))

    assert told.verdict == ("held" if cache == "none" else "RUNNER-18"), told.reason
