"""RUNNER, ONCE and ROUND: which bodies are entered, and when."""

import pytest
from runner_traces import HELLO, Told, Trace, asked, call, each_of, result, turn, user

NOTE = user("note")
C1 = turn("c1")


@pytest.mark.parametrize("more", [{"args": {"k": "other"}}, {"tool": "t1"}])
def test_a_call_with_other_arguments(more):
    """The tool and the arguments are the model's."""
    told = asked()
    told.resume(told.entered("c1", **more))

    assert told.verdict == "RUNNER-5"


@pytest.mark.parametrize(
    ("inspects", "entered", "verdict"),
    [("state", "c1", "RUNNER-13"), ("state", None, "held"), ("received", "c1", "held")],
)
def test_a_changed_turn(inspects, entered, verdict):
    """The policy says whose calls are handled."""
    told = asked({"runner.inspects": inspects, "runner.results": "dropped"})
    told.push(NOTE)
    told.resume(told.entered(entered) if entered else told.request(HELLO, NOTE))

    assert told.verdict == verdict, told.reason


def test_the_calls_of_what_was_pushed():
    """Under `state` the last message is inspected, though the turn is final."""
    bye = turn(text="bye")
    told = Told()
    told.start(told.request(HELLO)).says(bye, told.shown(bye)).push(turn("x1"))
    told.resume(told.request(HELLO, turn("x1")))

    assert told.verdict == "RUNNER-13"


@pytest.mark.parametrize(("answered", "verdict"), [("skipped", "RUNNER-15"), ("run", "held")])
def test_a_call_that_the_user_answered(answered, verdict):
    """The policy says whether it runs."""
    told = asked({"runner.answered": answered, "runner.inspects": "received"})
    told.push(C1, result("c1", "mine"))
    told.resume(told.entered("c1"))

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize(
    ("stop", "policy", "runs", "verdict"),
    [
        ("max_tokens", "not_run", True, "RUNNER-21"),
        ("max_tokens", "run", True, "held"),
        ("refusal", "run_unless_refused", True, "RUNNER-21"),
        ("max_tokens", "run", False, "RUNNER-21"),
        ("pause_turn", "not_run", True, "RUNNER-32"),
    ],
)
def test_a_turn_that_was_cut_off(stop, policy, runs, verdict):
    """Its calls run or do not run, as declared."""
    told = Told({"runner.cut_off": policy})
    told.start(told.request(HELLO)).says(C1, told.shown(C1), stop=stop)
    told.resume(told.entered("c1") if runs else told.done(message=C1))

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize(
    ("executor", "first", "second", "verdict"),
    [
        ("parallel", ("c1", "c2"), (), "held"),
        ("parallel", ("c1",), ("c2",), "ROUND-5"),
        ("sequential", ("c1",), ("c2",), "held"),
        ("sequential", ("c1", "c2"), (), "ROUND-4"),
        ("sequential", ("c2",), ("c1",), "ROUND-4"),
    ],
)
def test_the_executor(executor, first, second, verdict):
    """Calls start together, or one after the other in their order."""
    told = asked({"round.executor": executor}, "c1", "c2")
    told.resume(*map(told.entered, first)).answers(first[0], *map(told.entered, second))

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize(
    ("policies", "change", "version", "verdict"),
    [
        ({"tools.removed": "at_once"}, {"remove": ["t0"]}, 1, "RUNNER-33"),
        ({"tools.removed": "next_request"}, {"remove": ["t0"]}, 1, "held"),
        ({"tools.added": "at_once"}, {"add": ["t0"]}, 2, "held"),
        ({"tools.added": "at_once"}, {"add": ["t0"]}, 1, "RUNNER-22"),
        ({"tools.added": "next_request"}, {"add": ["t0"]}, 1, "held"),
        ({"tools.added": "next_request"}, {"add": ["t0"]}, 2, "RUNNER-22"),
    ],
)
def test_a_change_of_the_tools(policies, change, version, verdict):
    """It counts at once, or from the next request on."""
    told = asked(policies)
    told.send("runner.tools", change)
    told.resume(told.entered("c1", version=version))

    assert told.verdict == verdict, told.reason


def test_an_unknown_tool_that_is_entered():
    """A tool that is not in the set does not run."""
    told = Told()
    unknown = {"role": "assistant", "text": "", "tool_calls": [call("c1", "t2")]}
    told.start(told.request(HELLO)).says(unknown, told.shown(unknown)).resume(told.entered("c1", tool="t2"))

    assert told.verdict == "RUNNER-34"


@pytest.mark.parametrize(
    ("policy", "code", "verdict"),
    [
        ("failed_call", "Error", "ROUND-7"),
        ("end_run", "Error", "held"),
    ],
)
def test_a_tool_that_throws(policy, code, verdict):
    """The policy says whether it ends the run."""
    told = asked({"tool.raises": policy})
    told.resume(told.entered("c1")).answers("c1", told.done(code, message=C1), kind="raise")

    assert told.verdict == verdict, told.reason


# -- responses


def responded(policies, act, **kept):
    """The user asked for a response, and did something after it."""
    told = asked(policies, **kept)
    told.send("runner.respond", {}, told.entered("c1"))
    told.answers("c1", told.response(result("c1")))
    if act == "push":
        told.push(NOTE)
    elif act == "set":
        told.send("runner.set", {"params": {"max_tokens": 7}})
    return told


def test_a_response_that_was_never_made():
    """It also breaks the chart of the response, which is blamed where its own clause is not judged."""
    told = asked(muted=("RUNNER-17",))
    told.send("runner.respond", {}, told.response(result("c1")))

    assert told.verdict == "RUNNER-50"
    assert "used in the beginning; the chart has no such transition" in told.reason


KEPT = [
    ("kept", "push", True),
    ("until_change", None, True),
    ("until_change", "set", False),
    ("until_push", "set", True),
    ("until_push", "push", False),
    ("by_state", None, True),
    ("by_state", "push", False),
    ("none", None, False),
]


@pytest.mark.parametrize(("cache", "act", "is_kept"), KEPT)
@pytest.mark.parametrize("runs", [True, False])
def test_a_second_response(cache, act, is_kept, runs):
    """What is kept is used, and what is not kept is made anew."""
    told = responded({"runner.cache": cache}, act)
    if runs:
        told.send("runner.respond", {}, told.entered("c1", attempt=2))
        told.answers("c1", told.response(result("c1")))
    else:
        told.send("runner.respond", {}, told.response(result("c1")))
    wanted = "held" if runs != is_kept else ("RUNNER-18" if is_kept else "RUNNER-30")

    assert told.verdict == wanted, told.reason


@pytest.mark.parametrize(
    ("messages", "verdict"),
    [
        ([result("c1")], "held"),
        ([], "RUNNER-17"),
        ([None], "RUNNER-17"),
        ([result("c1", "something else")], "RUNNER-17"),
        ([result("c9")], "RUNNER-19"),
    ],
)
def test_what_a_response_holds(messages, verdict):
    """One result for each call of its turn."""
    told = asked()
    told.send("runner.respond", {}, told.entered("c1"))
    told.answers("c1", told.response(*messages))

    assert told.verdict == verdict, told.reason


def test_a_push_while_a_response_is_made_leaves_it_open_whether_it_is_kept():
    """The page does not say which of the two came first."""
    for runs in (True, False):
        told = asked({"runner.cache": "until_push"})
        told.send("runner.respond", {}, told.entered("c1")).push(NOTE)
        told.answers("c1", told.response(result("c1")))
        told.send(
            "runner.respond", {}, told.entered("c1", attempt=2) if runs else told.response(result("c1"))
        )
        assert told.verdict == "held", told.reason


# -- one trace, one verdict

# fmt: off
TRACES = (
    Trace("RUNNER-3", "a tool before the resume", "Nothing but a response starts one.", Told,
          lambda t: t.start(t.request(HELLO)).says(C1, t.shown(C1), t.entered("c1"))),
    Trace("RUNNER-5", "a call that is not of the turn", "An unchanged turn is handled, and no other.", asked,
          lambda t: t.resume(t.entered("c9"))),
    Trace("RUNNER-5", "a call that is left out", "The request comes before all calls have run.",
          lambda: asked(None, "c1", "c2"),
          lambda t: t.resume(t.entered("c1"))
              .answers("c1", t.request(HELLO, turn("c1", "c2"), result("c1"), result("c2", status="error")))),
    Trace("ONCE-1", "a body that is entered twice", "After the first entry has ended.", asked,
          lambda t: t.resume(t.entered("c1")).answers("c1", t.entered("c1", attempt=2))),
    Trace("ONCE-2", "a body that is entered while it runs", "Two executions at once.", asked,
          lambda t: t.resume(t.entered("c1"), t.entered("c1", attempt=2))),
    Trace("RUNNER-47", "an answered call that has to run", "Under `run` it may not be skipped.",
          lambda: asked({"runner.answered": "run", "runner.inspects": "received"}),
          lambda t: t.push(C1, result("c1", "mine")).resume(t.request(HELLO, C1, result("c1", "mine")))),
    Trace("held", "a paused turn that may be kept after a set",
          "No page says whether it stands after what was set, so that the calls there may wait.",
          lambda: Told({"pause.changed": "kept"}, stream=True, read="none"),
          lambda t: t.start(t.request(HELLO), t.shown(None)).send("runner.set", {"messages": [NOTE, C1]})
              .says(turn(text="more"), stop="pause_turn")
              .resume(t.request(NOTE, C1, turn(text="more")), t.shown(None))),
    Trace("RUNNER-35", "a running call that is interrupted", "A change of the tools leaves it alone.", asked,
          lambda t: t.send("runner.respond", {}, t.entered("c1"))
              .send("runner.tools", {"remove": ["t0"]}, t.closed("tool:c1"))),
    Trace("RUNNER-18", "the runner makes a kept response again", "Nothing was changed, so that it is kept.",
          lambda: responded({"runner.cache": "until_change"}, None),
          lambda t: t.resume(t.entered("c1", attempt=2))),
    Trace("RUNNER-29", "a response that enters the state", "Asking for it changes nothing.", asked,
          lambda t: t.send("runner.respond", {}, t.entered("c1"))
              .answers("c1", t.response(result("c1")), {"kind": "message", "message": result("c1")})),
)
# fmt: on


@each_of(TRACES)
def test_a_trace(trace):
    """Each trace of the table breaks its clause, or none."""
    told = trace.told()

    assert told.verdict == trace.verdict, told.reason
