"""pydantic-ai, offline, through the hosted interface: its approvals suspend, its history is what survives."""

import pytest
from hosted_fakes import OK, TURN, Talk, kinds, only, resume

pytest.importorskip("pydantic_ai")

from runlock.conformance.adapters.pydantic_ai import adapter

TOOLS = [{"name": "t0"}, {"name": "t1", "permission": "ask"}]


@pytest.fixture
def talk():
    return Talk(adapter, tools=TOOLS)


def turn(*calls):
    asked = [{"id": call, "name": name, "args": {"k": call}} for call, name in calls]
    return {"kind": "turn", "tool_calls": asked}


def results(gate):
    """What the model receives of each call."""
    return {seen["call"]: seen["status"] for seen in gate["messages"] if seen["role"] == "tool"}


def suspend(talk):
    """A run that waits for an approval of c2, after c1 has run."""
    talk.start()
    talk.release("g1", turn(("c1", "t0"), ("c2", "t1")))
    return only(talk.release("g2", OK))


def test_it_declares_what_it_has(talk):
    """No decisions while it runs; its history makes it survive a crash."""
    answer = talk("initialize", kit={"name": "runlock", "version": "0"})

    assert answer["control"] == {
        "settle": "exact", "clock": "virtual", "step": "turns", "store": "own", "crash": ["soft"],
        "told": "kept",
    }  # fmt: skip
    assert answer["tools"] == ["allow", "ask", "gate", "timeout"]
    assert answer["implementation"]["name"] == "pydantic-ai"
    assert [name for name, taken in answer["decisions"].items() if taken] == ["payload", "edit"]


def test_a_run_without_tools_ends_naturally(talk):
    """One inference, one answer."""
    assert only(talk.start())["messages"] == [{"role": "user", "text": "hello"}]
    assert only(talk.release("g1", TURN))["reason"] == {"code": "NaturalEnd"}
    assert talk("scenario.close") == {"leaks": []}


def test_a_call_that_needs_approval_suspends_the_run(talk):
    """Calls that need none run at once; the segment ends with the others pending."""
    assert suspend(talk)["pending"] == ["c2"]


def test_an_approver_is_shown_the_call(talk):
    """The tool and its arguments, as pydantic-ai lists them among the deferred requests."""
    talk.start()
    shown, _ = talk.release("g1", turn(("c2", "t1")))["observations"]

    assert [shown["kind"], shown["call"], shown["name"], shown["args"]] == [
        "call.shown",
        "c2",
        "t1",
        {"k": "c2"},
    ]


def test_an_approval_may_change_the_arguments(talk):
    """The call runs with those of the approval."""
    suspend(talk)
    gate = only(talk.decide({**resume("c2"), "edit": {"args": {"k": "c2", "v": 1}}}))

    assert gate["args"] == {"k": "c2", "v": 1}


def test_an_approved_call_runs_and_its_result_reaches_the_model(talk):
    """The body is entered with the decision, once, and both results follow the model's turn."""
    suspend(talk)
    gate = only(talk.decide(resume("c2")))
    asked = only(talk.release("g3", OK))

    assert [gate["call"], gate["attempt"], gate["resume"]["decision"]] == ["c2", 1, "d1"]
    assert results(asked) == {"c1": "ok", "c2": "ok"}
    assert asked["step"] == 2


def test_a_denied_call_never_runs_and_the_model_is_told(talk):
    """A cancel decision becomes pydantic-ai's denial."""
    suspend(talk)
    asked = only(talk.decide({"id": "d1", "call": "c2", "action": "cancel"}))

    assert results(asked) == {"c1": "ok", "c2": "cancelled"}


def test_a_decision_for_another_call_is_refused(talk):
    """The runtime names what it expects, and the run waits on."""
    suspend(talk)
    (refused,) = talk.decide(resume("c9"))["refused"]

    assert "need to be provided for all deferred tool calls" in refused["why"]
    assert kinds(talk.decide(resume("c2"))) == ["gate.open"]


def test_a_tool_that_answers_pending_is_suspended_again(talk):
    """A body may ask for approval itself; it is entered again when that comes."""
    suspend(talk)
    talk.decide(resume("c2"))

    assert only(talk.release("g3", {"kind": "pending"}))["pending"] == ["c2"]
    again = only(talk.decide(resume("c2", decision="d2")))
    assert [again["attempt"], again["resume"]["decision"]] == [2, "d2"]


def test_a_result_from_outside_stands_for_the_call():
    """A call whose result comes with its decision is never entered, whatever that result is."""
    talk = Talk(adapter, tools=[{"name": "t1", "permission": "ask", "resume_mode": "use_as_result"}])
    talk.start()
    assert only(talk.release("g1", turn(("c2", "t1"))))["pending"] == ["c2"]
    asked = only(talk.decide({**resume("c2"), "payload": False}))

    assert asked["on"] == "model"
    assert [seen["text"] for seen in asked["messages"] if seen["role"] == "tool"] == ["False"]


def test_what_a_sibling_answered_outlives_the_tool_that_raised(talk):
    """The next run sees what was finished before an exception ended the run before it."""
    talk.start()
    talk.release("g1", turn(("c1", "t0"), ("c3", "t0")))
    talk.release("g2", OK)
    talk.release("g3", {"kind": "raise", "message": "m"})

    assert results(only(talk.start("r2"))) == {"c1": "ok", "c3": "cancelled"}


def test_an_error_of_a_tool_is_an_answer(talk):
    """The model learns that the tool failed, and the run goes on."""
    talk.start()
    talk.release("g1", turn(("c1", "t0")))

    assert results(only(talk.release("g2", {"kind": "error", "content": "oops"}))) == {"c1": "error"}


@pytest.mark.parametrize(("kind", "detail"), [("raise", "ToolRaised: m"), ("fault", "ToolFault: m")])
def test_an_exception_of_a_tool_ends_the_run(talk, kind, detail):
    """pydantic-ai lets what a tool raises pass."""
    talk.start()
    talk.release("g1", turn(("c1", "t0")))
    ended = only(talk.release("g2", {"kind": kind, "message": "m"}))

    assert ended["reason"] == {"code": "Error", "detail": detail}


def test_an_unknown_tool_is_told_to_the_model(talk):
    """What a bad model asks for comes back to it as an error."""
    talk.start()

    assert results(only(talk.release("g1", turn(("c1", "nope"))))) == {"c1": "error"}


def test_a_cancelled_run_gives_up_its_tools_and_repairs_its_history(talk):
    """Its own token cancels it; the next run finds a result for every call."""
    talk.start()
    talk.release("g1", turn(("c1", "t0"), ("c3", "t0")))
    report = talk("cancel", run="r1")

    assert kinds(report) == ["gate.closed", "gate.closed", "run.finished"]
    assert report["observations"][-1]["reason"] == {"code": "Cancelled"}
    assert results(only(talk.start("r2"))) == {"c1": "cancelled", "c3": "cancelled"}


def test_a_fault_of_the_model_ends_the_run_and_not_the_thread(talk):
    """The next run has the history of the one before."""
    talk.start()

    assert (
        only(talk.release("g1", {"kind": "fault", "message": "down"}))["reason"]["detail"]
        == "ModelFault: down"
    )
    assert [seen["text"] for seen in only(talk.start("r2"))["messages"]] == ["hello", "hello"]


def test_a_running_run_goes_on_after_a_crash(talk):
    """The last inference that began is asked again."""
    talk.start()
    talk.release("g1", turn(("c1", "t0")))
    talk("crash")
    again = only(talk("recover", run="r1"))

    assert again["messages"] == [{"role": "user", "text": "hello"}]
    assert only(talk.release("g3", TURN))["reason"] == {"code": "NaturalEnd"}
    assert talk("scenario.close") == {"leaks": []}


def test_a_waiting_run_waits_after_a_crash(talk):
    """The approval is taken by the life after."""
    suspend(talk)
    talk("crash")

    assert only(talk("recover", run="r1"))["pending"] == ["c2"]
    assert only(talk.decide(resume("c2")))["call"] == "c2"
    assert results(only(talk.release("g3", OK))) == {"c1": "ok", "c2": "ok"}


def test_a_tool_gets_the_arguments_of_its_call_and_no_others(talk):
    """A parameter that the call leaves out is not given: its default is no argument of the model."""
    talk.start()
    gate = only(
        talk.release("g1", {"kind": "turn", "tool_calls": [{"id": "c1", "name": "t0", "args": {"v": 1}}]})
    )

    assert gate["args"] == {"v": 1}


def test_input_to_a_run_at_work_is_shown_by_its_next_inference(talk):
    """It stands after the results of the round, and a run that would end goes on for it."""
    talk.start()
    talk.release("g1", turn(("c1", "t0")))
    assert talk("run.input", run="r1", input="and that too")["observations"] == []
    asked = only(talk.release("g2", OK))

    assert [seen["role"] for seen in asked["messages"]] == ["user", "assistant", "tool", "user"]
    assert asked["messages"][-1]["text"] == "and that too"
    talk("run.input", run="r1", input="one more")
    assert only(talk.release("g3", TURN))["messages"][-1]["text"] == "one more"


def test_arguments_that_do_not_parse_are_shown_as_they_are(talk):
    """The tool is not entered, and the call fails; the history has the text that the model gave."""
    talk.start()
    broken = {"id": "c1", "name": "t0", "args": '{"k": "c1'}
    asked = only(talk.release("g1", {"kind": "turn", "tool_calls": [broken]}))

    assert asked["messages"][1]["tool_calls"][0]["args"] == '{"k": "c1'
    assert results(asked) == {"c1": "error"}


def test_a_tool_that_takes_too_long_is_given_up():
    """The library ends its body at the limit, and the model is shown an error."""
    talk = Talk(adapter, tools=[{"name": "t0", "timeout_ms": 1500}])
    talk.start()
    talk.release("g1", turn(("c1", "t0")))
    given_up, asked = talk("clock.advance", ms=1500)["observations"]

    assert [given_up["kind"], given_up["gate"]] == ["gate.closed", "g2"]
    assert results(asked) == {"c1": "error"}
