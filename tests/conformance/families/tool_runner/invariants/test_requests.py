"""RUNNER: what a request holds."""

import pytest
from runner_traces import HELLO, Told, Trace, asked, call, each_of, result, turn, user

NOTE = user("note")
C1 = turn("c1")


def handled(told, *messages, **more):
    """The call of the first turn is handled, and a request with these messages follows."""
    told.resume(told.entered("c1"))
    return told.answers("c1", told.request(*messages, **more))


def resumed(told, *messages, **more):
    """Nothing is handled, and a request with these messages follows."""
    return told.resume(told.request(*messages, **more))


@pytest.mark.parametrize(
    ("messages", "verdict"),
    [
        ((HELLO, C1, result("c1")), "held"),
        ((HELLO,), "RUNNER-23"),
        ((HELLO, result("c1")), "RUNNER-9"),
        ((C1, HELLO, result("c1")), "RUNNER-9"),
        ((HELLO, C1, C1, result("c1")), "RUNNER-9"),
        ((C1, result("c1")), "RUNNER-8"),
        ((HELLO, C1, result("c1"), user("by the way")), "RUNNER-42"),
        ((HELLO, C1, result("c1"), {"role": "system", "text": "tools changed"}), "RUNNER-42"),
        ((HELLO, C1), "PAIR-1"),
        ((HELLO, C1, result("c1", "something else")), "PAIR-4"),
        ((HELLO, C1, result("c1", status="error")), "PAIR-4"),
        ((HELLO, C1, result("c1"), result("c1")), "PAIR-3"),
        ((HELLO, C1, result("c1"), result("c9", status="error")), "PAIR-2"),
    ],
)
def test_after_an_unchanged_iteration(messages, verdict):
    """The request holds the turn and its result."""
    told = handled(asked(), *messages)

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize(
    ("messages", "verdict"),
    [
        ((HELLO, NOTE), "held"),
        ((HELLO,), "RUNNER-8"),
        ((NOTE, HELLO), "RUNNER-8"),
        ((HELLO, NOTE, NOTE), "RUNNER-8"),
        ((HELLO, C1, NOTE), "RUNNER-10"),
    ],
)
def test_after_a_push(messages, verdict):
    """The turn is left out, and what was pushed is there."""
    told = asked()
    told.push(NOTE)

    assert resumed(told, *messages).verdict == verdict, told.reason


@pytest.mark.parametrize(
    ("append", "messages", "verdict"),
    [
        ("unless_pushed", (HELLO, C1, result("c1")), "held"),
        ("unless_pushed", (HELLO, result("c1")), "RUNNER-9"),
        ("if_unchanged", (HELLO,), "held"),
        ("if_unchanged", (HELLO, C1, result("c1")), "RUNNER-13"),
    ],
)
def test_params_that_are_set(append, messages, verdict):
    """Whether a set is a change is the policy's to say."""
    told = asked({"runner.append": append})
    told.send("runner.set", {"params": {"max_tokens": 7}})
    params = {"max_tokens": 7}
    is_handled = len(messages) > 1
    told = handled(told, *messages, params=params) if is_handled else resumed(told, *messages, params=params)

    assert told.verdict == verdict, told.reason


@pytest.mark.parametrize(("messages", "verdict"), [((NOTE,), "held"), ((HELLO, NOTE), "RUNNER-12")])
def test_messages_that_are_set(messages, verdict):
    """They replace all before them."""
    told = asked()
    told.send("runner.set", {"messages": [NOTE]})

    assert resumed(told, *messages).verdict == verdict, told.reason


@pytest.mark.parametrize(
    ("messages", "verdict"),
    [
        ((HELLO, C1, result("c1"), NOTE), "held"),
        ((HELLO, C1, NOTE, result("c1")), "RUNNER-14"),
        ((HELLO, C1, result("c1"), C1, NOTE), "RUNNER-10"),
    ],
)
def test_a_turn_on_receipt(messages, verdict):
    """Results stand directly after their turn, before what was pushed."""
    policies = {"runner.append": "on_receipt"}
    told = asked(policies)
    told.push(NOTE)
    told = handled(told, *messages)

    assert told.verdict == verdict or (verdict == "RUNNER-10" and told.verdict != "held"), told.reason


@pytest.mark.parametrize(
    ("results", "shown", "verdict"),
    [
        ("appended", (result("c1"),), "held"),
        ("appended", (), "RUNNER-45"),
        ("dropped", (result("c1"),), "RUNNER-45"),
    ],
)
def test_results_of_a_changed_iteration(results, shown, verdict):
    """The user pushed the turn alone."""
    told = asked({"runner.results": results, "runner.cache": "none"})
    told.push(C1)

    assert handled(told, HELLO, C1, *shown).verdict == verdict, told.reason


@pytest.mark.parametrize(
    ("history", "sent", "verdict"),
    [
        ("delta", 1, "held"),
        ("delta", 3, "held"),
        ("delta", 0, "RUNNER-26"),
        ("whole", 3, "held"),
        ("whole", 1, "RUNNER-38"),
    ],
)
def test_what_a_request_carries(history, sent, verdict):
    """What is left out has to be with the server."""
    told = handled(asked({"runner.history": history}), HELLO, C1, result("c1"), sent=sent)

    assert told.verdict == verdict, told.reason


def test_a_paused_turn_is_kept_before_what_was_pushed():
    """Under `kept` it stands there; under `dropped` it does not."""
    wait = turn(text="wait")
    for policy, messages, verdict in [
        ("kept", (HELLO, wait, NOTE), "held"),
        ("kept", (HELLO, NOTE), "RUNNER-31"),
        ("kept", (HELLO, NOTE, wait), "RUNNER-31"),
        ("dropped", (HELLO, NOTE), "held"),
        ("dropped", (HELLO, wait, NOTE), "RUNNER-31"),
    ]:
        told = Told({"pause.changed": policy})
        told.start(told.request(HELLO)).says(wait, told.shown(wait), stop="pause_turn")
        told.push(NOTE)
        assert resumed(told, *messages).verdict == verdict, (policy, told.reason)


def test_results_in_the_declared_order():
    """Of the calls, or of their ends."""
    both = turn("c1", "c2")
    for order, shown, verdict in [
        ("call", ("c1", "c2"), "held"),
        ("call", ("c2", "c1"), "ROUND-6"),
        ("finish", ("c2", "c1"), "held"),
        ("finish", ("c1", "c2"), "ROUND-6"),
    ]:
        told = asked({"results.order": order}, "c1", "c2")
        told.resume(told.entered("c1"), told.entered("c2")).answers("c2")
        told.answers("c1", told.request(HELLO, both, *map(result, shown)))
        assert told.verdict == verdict, (order, told.reason)


@pytest.mark.parametrize(
    ("shown", "verdict"),
    [
        ((result("c1", "result of c1", "error"), result("c2")), "held"),
        ((result("c1"), result("c2")), "ROUND-8"),
        ((result("c1", "result of c1", "error"),), "ROUND-1"),
        ((result("c1", "result of c2", "error"), result("c2", "result of c1")), "ROUND-2"),
    ],
)
def test_one_of_two_calls_fails(shown, verdict):
    """The other keeps its result."""
    told = asked(None, "c1", "c2")
    told.resume(told.entered("c1"), told.entered("c2")).answers("c1", kind="error")
    told.answers("c2", told.request(HELLO, turn("c1", "c2"), *shown))

    assert told.verdict == verdict, told.reason


def test_a_success_that_no_tool_gave():
    """An unknown tool has an error result."""
    told = Told()
    unknown = {"role": "assistant", "text": "", "tool_calls": [call("c1", "no-such-tool")]}
    told.start(told.request(HELLO)).says(unknown, told.shown(unknown))

    assert resumed(told, HELLO, unknown, result("c1")).verdict == "RUNNER-34"


# fmt: off
TRACES = (
    Trace("RUNNER-8", "the first request holds something else", "The input of the user is missing.", Told,
          lambda t: t.start(t.request(user("bye")))),
    Trace("RUNNER-8", "two pushes out of order", "They are sent in the order in which they were given.",
          asked, lambda t: resumed(t.push(NOTE).push(user("second")), HELLO, user("second"), NOTE)),
    Trace("RUNNER-43", "params that are lost", "What was set is in every later request.", asked,
          lambda t: resumed(t.send("runner.set", {"params": {"max_tokens": 7}}), HELLO,
              params={"max_tokens": 5})),
    Trace("RUNNER-11", "a change that is remembered",
          "The turn of an unchanged iteration after a changed one is missing.", asked,
          lambda t: t.push(NOTE).resume(t.request(HELLO, NOTE)).says(turn("c2"), t.shown(turn("c2")))
              .resume(t.entered("c2")).answers("c2", t.request(HELLO, NOTE, result("c2")))),
    Trace("RUNNER-48", "tools that are taken for a change",
          "A change of the tools alone is no change of the state.", asked,
          lambda t: handled(t.send("runner.tools", {"add": ["t2"]}), HELLO, result("c1"))),
    Trace("RUNNER-27", "results without their turn",
          "The turn was dropped by a push, and its results are there.",
          lambda: asked({"runner.inspects": "received"}),
          lambda t: handled(t.push(NOTE), HELLO, result("c1"), NOTE)),
    Trace("RUNNER-28", "a second result for a call that the user answered",
          "The user pushed the turn and its response.", asked,
          lambda t: resumed(t.push(C1, result("c1", "mine")), HELLO, C1, result("c1", "mine"),
              result("c1", "again"))),
    Trace("RUNNER-15", "the answer of the user is replaced", "The runner sends its own result.", asked,
          lambda t: resumed(t.push(C1, result("c1", "mine")), HELLO, C1, result("c1", "again"))),
    Trace("ROUND-3", "one id twice", "Two calls with one id never give two results.",
          lambda: asked(None, "c1", "c1"),
          lambda t: t.resume(t.entered("c1"))
              .answers("c1", t.request(HELLO, turn("c1", "c1"), result("c1"), result("c1")))),
)
# fmt: on


@each_of(TRACES)
def test_a_trace(trace):
    """Each trace of the table breaks its clause, or none."""
    told = trace.told()

    assert told.verdict == trace.verdict, told.reason
