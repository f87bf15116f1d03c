"""RUN, STOP, CANCEL, STREAM and RUNNER: ends, limits, cancels, streams, runners taken up again."""

import pytest
from runner_traces import HELLO, Told, Trace, asked, each_of, result, turn, user

C1 = turn("c1")
BYE = turn(text="bye")


def final(**options):
    """A run whose first turn is final, and is with the user."""
    told = Told(**options)
    told.start(told.request(HELLO))
    return told.says(BYE, told.shown(BYE))


def running(policies=None, *calls, **options):
    """A run whose calls run."""
    told = asked(policies, *(calls or ("c1",)), **options)
    return told.resume(*map(told.entered, calls or ("c1",)))


@pytest.mark.parametrize(
    ("code", "message", "verdict"),
    [
        ("NaturalEnd", BYE, "held"),
        ("BehaviorRequested", BYE, "RUN-2"),
        ("Error", BYE, "RUN-2"),
        ("Stopped", BYE, "RUN-2"),
        ("NaturalEnd", C1, "RUN-7"),
        ("NaturalEnd", None, "RUN-7"),
    ],
)
def test_a_natural_end(code, message, verdict):
    """The reason and the last turn of it."""
    told = final()
    told.resume(told.done(code, message=message))

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize(("code", "verdict"), [("BehaviorRequested", "held"), ("NaturalEnd", "RUN-3")])
def test_a_user_who_leaves(code, verdict):
    """The end has the reason of the user."""
    told = asked()
    told.leave(told.done(code, message=C1))

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize(("code", "verdict"), [("Error", "held"), ("NaturalEnd", "RUN-5")])
def test_a_fault_of_the_model(code, verdict):
    """The end is an error."""
    told = Told()
    told.start(told.request(HELLO)).breaks(told.done(code))

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize("after", ["end", "request"])
def test_a_broken_tool(after):
    """The run ends in Error."""
    told = running()
    goes_on = told.request(HELLO, C1, result("c1", status="error"))
    told.answers("c1", told.done("NaturalEnd", message=C1) if after == "end" else goes_on, kind="fault")

    assert told.verdict == "RUN-6"


# -- looking


@pytest.mark.parametrize(
    ("shown", "verdict"),
    [
        ({"status": "Running", "messages": [HELLO]}, "held"),
        ({"status": "Done"}, "RUN-10"),
        ({"status": "Running", "messages": []}, "RUN-11"),
        ({"status": "Running", "messages": [HELLO, C1]}, "RUN-11"),
        ({"status": "Running", "messages": [HELLO, C1, result("c1")]}, "RUNNER-40"),
    ],
)
def test_a_look_while_a_yield_is_open(shown, verdict):
    """The state does not hold the received turn."""
    told = asked()
    told.send("inspect", {"run": "r1"}, {"kind": "inspect", **shown})

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize(
    ("policy", "stands", "verdict"),
    [
        ("kept", True, "held"),
        ("kept", False, "RUNNER-46"),
        ("dropped", True, "RUNNER-46"),
        ("dropped", False, "held"),
    ],
)
def test_the_final_turn_at_the_end(policy, stands, verdict):
    """It stands in the state or not, as declared."""
    told = final(policies={"end.turn": policy})
    told.resume(told.done(message=BYE))
    messages = [HELLO, BYE] if stands else [HELLO]
    told.send("inspect", {"run": "r1"}, {"kind": "inspect", "status": "Done", "messages": messages})

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize(
    ("message", "verdict"),
    [(C1, "held"), (turn("c9"), "RUN-12"), (result("c9"), "RUN-12")],
)
def test_a_reported_message(message, verdict):
    """It was put there by the runner."""
    told = asked()
    told.resume({"kind": "message", "message": message}, told.entered("c1"))

    assert told.verdict == verdict, told.reason


# -- the limit


@pytest.mark.parametrize(
    ("policy", "entered", "verdict"),
    [
        ("drained", True, "held"),
        ("drained", False, "STOP-5"),
        ("preempted", True, "STOP-5"),
        ("preempted", False, "held"),
    ],
)
def test_the_calls_of_the_last_turn(policy, entered, verdict):
    """They run or do not run, as declared."""
    told = asked({"stop.tools": policy}, max_iterations=1)
    end = told.done("Stopped", stop={"code": "max_iterations"}, message=C1)
    if entered:
        told.resume(told.entered("c1")).answers("c1", end)
    else:
        told.resume(end)

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize(("policy", "verdict"), [("no_limit", "held"), ("no_request", "STOP-4")])
def test_a_limit_of_zero(policy, verdict):
    """It is no limit, or allows no request."""
    told = Told({"limit.zero": policy}, max_iterations=0)
    told.start(told.request(HELLO))

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize(
    ("code", "stop", "verdict"),
    [
        ("Stopped", "max_iterations", "held"),
        ("NaturalEnd", None, "held"),
        ("Stopped", "other", "RUN-4"),
        ("Error", None, "RUN-4"),
    ],
)
def test_the_reason_of_a_stop(code, stop, verdict):
    """Stopped with its code, or a natural end."""
    told = running(max_iterations=1)
    told.answers("c1", told.done(code, message=C1, **({"stop": {"code": stop}} if stop else {})))

    assert told.verdict == verdict, told.reason


# -- a runner that is taken up again


@pytest.mark.parametrize(
    ("policy", "goes_on", "verdict"),
    [
        ("goes_on", True, "held"),
        ("goes_on", False, "RUNNER-24"),
        ("over", True, "RUNNER-24"),
        ("over", False, "held"),
    ],
)
def test_after_a_break(policy, goes_on, verdict):
    """The runner is over, or goes on where it was left."""
    told = asked({"again.break": policy})
    told.leave(told.done("BehaviorRequested", message=C1))
    running_again = {"kind": "run.status", "run": "r2", "from": None, "to": "Running"}
    end = [{**one, "run": "r2"} for one in told.done("NaturalEnd", message=C1)]
    more = [{**told.entered("c1"), "run": "r2"}] if goes_on else end
    told.send("runner.again", {"run": "r2"}, running_again, more)

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize(
    ("policy", "sends", "verdict"),
    [
        ("retries", True, "held"),
        ("retries", False, "RUNNER-36"),
        ("over", True, "RUNNER-36"),
        ("over", False, "held"),
    ],
)
def test_after_a_fault(policy, sends, verdict):
    """The runner is over, or sends the request again."""
    told = Told({"again.fault": policy})
    told.start(told.request(HELLO)).breaks(told.done("Error"))
    running_again = {"kind": "run.status", "run": "r2", "from": None, "to": "Running"}
    end = [{**one, "run": "r2"} for one in told.done("Error")]
    told.send(
        "runner.again", {"run": "r2"}, running_again, [{**told.request(HELLO), "run": "r2"}] if sends else end
    )

    assert told.verdict == verdict, told.reason


# -- cancels

CANCEL = ("cancel", {"run": "r1"})


@pytest.mark.parametrize(("code", "verdict"), [("Cancelled", "held"), ("NaturalEnd", "CANCEL-2")])
def test_the_end_of_a_cancelled_run(code, verdict):
    """It ends with reason Cancelled."""
    told = asked()
    told.send(*CANCEL).resume(told.done(code, message=C1))

    assert told.verdict == verdict, told.reason


def test_a_cancel_of_a_done_run():
    """It changes nothing."""
    told = final()
    told.resume(told.done(message=BYE)).send(*CANCEL, {"kind": "message", "message": BYE})

    assert told.verdict in ("CANCEL-3", "RUN-12")


@pytest.mark.parametrize(("policy", "verdict"), [("run", "held"), ("not_run", "CANCEL-4")])
def test_calls_of_a_turn_with_the_user(policy, verdict):
    """They run or do not run, as declared."""
    told = asked({"cancel.handed_over": policy})
    told.send(*CANCEL).resume(told.entered("c1"))

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize(
    ("policy", "given_up", "verdict"),
    [
        ("abort", True, "held"),
        ("abort", False, "CANCEL-5"),
        ("drain", True, "CANCEL-5"),
        ("drain", False, "held"),
    ],
)
def test_a_tool_that_runs_at_the_cancel(policy, given_up, verdict):
    """It is given up, or ends by itself."""
    told = running({"cancel.inflight": policy})
    closed = [told.closed("tool:c1"), *told.done("Cancelled", message=C1)] if given_up else []
    told.send(*CANCEL, closed)

    assert told.verdict == verdict, told.reason


# -- streams


def streamed(read="all", policies=None):
    """A turn whose first piece has come, and which is with the user."""
    told = Told(policies, stream=True, read=read)
    told.start(told.request(HELLO), told.shown(None))
    return told.piece("one ", *([delta("one ")] if read == "all" else []))


def delta(text):
    """The event of a piece."""
    return {"kind": "event", "stream": "turn", "name": "delta", "data": {"text": text}}


@pytest.mark.parametrize(
    ("seen", "verdict"),
    [(["two "], "held"), ([], "STREAM-1"), (["two ", "two "], "STREAM-1"), (["one "], "STREAM-1")],
)
def test_the_pieces_of_a_stream(seen, verdict):
    """They come when the model gives them, in order and once."""
    told = streamed()
    told.piece("two ", *map(delta, seen))

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize(("text", "verdict"), [("one two", "held"), ("one ", "STREAM-2")])
def test_the_end_of_a_stream(text, verdict):
    """It shows the turn as the model stated it."""
    told = streamed()
    told.says(
        turn(text="one two"), {"kind": "event", "stream": "turn", "name": "end", "data": turn(text=text)}
    )

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize(("policy", "verdict"), [("after_resume", "STREAM-4"), ("streaming", "held")])
def test_a_call_that_starts_from_a_stream(policy, verdict):
    """Only where it is declared, and with its piece."""
    told = Told({"tools.start": policy}, stream=True, read="none")
    told.start(told.request(HELLO), told.shown(None))
    piece = {"kind": "delta", "tool_call": {"id": "c1", "name": "t0", "args": {"k": "c1"}}}
    told.release("model", piece, told.entered("c1"))

    assert told.verdict == verdict, told.reason


def test_a_call_of_a_paused_turn_that_started_from_its_stream():
    """The user had resumed before the turn was whole."""
    told = streamed("none", {"tools.start": "streaming"}).resume()
    piece = {"kind": "delta", "tool_call": {"id": "c1", "name": "t0", "args": {"k": "c1"}}}
    told.release("model", piece, told.entered("c1"))
    whole = turn("c1", text="one ")
    told.says(whole, told.closed("tool:c1"), told.request(HELLO, whole), told.shown(None), stop="pause_turn")

    assert told.verdict == "held", told.reason


@pytest.mark.parametrize(("messages", "verdict"), [((HELLO, user("note")), "held"), ((HELLO,), "RUNNER-8")])
def test_a_retry_holds_what_the_user_pushed_before_the_fault(messages, verdict):
    """A stream can be changed while it comes."""
    told = streamed()
    told.push(user("note")).breaks(told.closed("yield"), told.done("Error"))
    running_again = {"kind": "run.status", "run": "r2", "from": None, "to": "Running"}
    again = [{**told.request(*messages), "run": "r2"}, {**told.shown(None), "run": "r2"}]
    told.send("runner.again", {"run": "r2"}, running_again, again)

    assert told.verdict == verdict, told.reason


def test_a_release_that_comes_late_is_none():
    """The user left before the turn came, in one race."""
    told = streamed()
    gates = told.gates
    leaves = {"method": "gate.release", "params": {"gate": gates["yield"], "outcome": {"kind": "break"}}}
    whole = {"kind": "turn", "text": "one two", "tool_calls": []}
    comes = {"method": "gate.release", "params": {"gate": gates["model"], "outcome": whole}}
    told.send("deliver", {"stimuli": [leaves, comes]}, told.closed("model"), told.done("BehaviorRequested"))

    assert told.verdict == "held", told.reason


# -- one trace, one verdict

# fmt: off
TRACES = (
    Trace("RUN-1", "a second end", "A run announces its end once.", final,
          lambda t: t.resume(t.done(message=BYE), t.done(message=BYE)[1])),
    Trace("RUN-8", "statuses that do not agree", "The end was announced, and the status was not.", final,
          lambda t: t.resume(t.done(message=BYE)[1])),
    Trace("RUN-9", "a gate of a run that is done", "Done opens no gate.", final,
          lambda t: t.resume(t.done(message=BYE), t.entered("c1"))),
    Trace("PROGRESS-1", "a run that waits for nothing", "It is not Done, and no gate is open.", asked,
          lambda t: t.resume()),
    Trace("RUNNER-40", "a message that is reported while the user has the turn",
          "Nothing enters the state then.", Told,
          lambda t: t.start(t.request(HELLO)).says(C1, t.shown(C1), {"kind": "message", "message": C1})),
    Trace("STOP-1", "a request beyond the limit", "One request is allowed.",
          lambda: running(max_iterations=1), lambda t: t.answers("c1", t.request(HELLO, C1, result("c1")))),
    Trace("STOP-6", "a limit that a push sets back", "The limit counts over the whole runner.",
          lambda: asked(max_iterations=1),
          lambda t: t.push(user("note")).resume(t.request(HELLO, user("note")))),
    Trace("STOP-2", "a run that is stopped too early", "The limit is not used up.",
          lambda: running(max_iterations=3),
          lambda t: t.answers("c1", t.done("Stopped", stop={"code": "max_iterations"}, message=C1))),
    Trace("CANCEL-1", "a request after a cancel", "None is sent.",
          lambda: running({"cancel.inflight": "drain"}),
          lambda t: t.send(*CANCEL).answers("c1", t.request(HELLO, C1, result("c1")))),
    Trace("CANCEL-2", "a cancelled run that does not end", "Nothing of it is under way.", asked,
          lambda t: t.send(*CANCEL).resume()),
    Trace("CANCEL-6", "a response after a cancel", "It enters no body.", asked,
          lambda t: t.send(*CANCEL).send("runner.respond", {}, t.entered("c1"))),
    Trace("CANCEL-7", "a call that is entered again after a cancel", "It may have had its effects.",
          lambda: running({"cancel.inflight": "drain"}),
          lambda t: t.send(*CANCEL).answers("c1", t.entered("c1", attempt=2))),
    Trace("CANCEL-8", "a round that goes on after a cancel", "The second call of a sequential round starts.",
          lambda: asked({"round.executor": "sequential", "cancel.inflight": "drain"}, "c1", "c2"),
          lambda t: t.resume(t.entered("c1")).send(*CANCEL).answers("c1", t.entered("c2"))),
    Trace("STREAM-3", "a stream that is not read and blocks",
          "The user has resumed, the turn is whole, and nothing happens.", lambda: streamed("none"),
          lambda t: t.says(turn("c1", text="one ")).resume()),
    Trace("STREAM-5", "a call that starts before its piece", "The piece with its arguments has not come.",
          lambda: streamed("none", {"tools.start": "streaming"}), lambda t: t.piece("two ", t.entered("c1"))),
    Trace("held", "a call that the user pushed is none of the stream",
          "It has no piece there, and runs after the resume.",
          lambda: streamed("all", {"tools.start": "streaming"}).push(turn("c1")),
          lambda t: t.resume().says(turn(text="one "), t.entered("c1"))),
    Trace("STREAM-6", "a resume that takes effect too early", "The turn is not whole, and the run ends.",
          streamed, lambda t: t.resume(t.done("NaturalEnd"))),
    Trace("STREAM-7", "a stream that is not given up", "The user has left it.", streamed,
          lambda t: t.leave(t.done("BehaviorRequested"))),
)
# fmt: on


@each_of(TRACES)
def test_a_trace(trace):
    """Each trace of the table breaks its clause, or none."""
    told = trace.told()

    assert told.verdict == trace.verdict, told.reason
