"""What a hosted adapter gets for nothing: gates, counts, segments and refusals, as the protocol has them."""

import pytest
from hosted_fakes import (
    OK,
    TURN,
    Talk,
    begun,
    one_tool,
    only,
    replay,
    resume,
    toy,
    two_tools,
    wait_for_a_decision,
)

from runlock.conformance.families.lifecycle.adapter import (
    ModelFault,
    PermissionFault,
    Segment,
    ToolFault,
    ToolRaised,
)
from runlock.conformance.families.lifecycle.messages import Reason, Report
from runlock.conformance.protocol import Message


def test_a_run_waits_at_the_model_and_ends_with_its_segment():
    """The model's gate carries what the model receives; the segment's end is announced once."""
    talk = Talk(toy())

    opened = only(talk.start())
    ended = only(talk.release("g1", TURN))

    messages = [{"role": "user", "text": "hello"}]
    assert opened == {
        "kind": "gate.open", "run": "r1", "gate": "g1", "on": "model", "step": 1, "messages": messages,
    }  # fmt: skip
    assert ended == {"kind": "run.finished", "run": "r1", "reason": {"code": "NaturalEnd"}, "pending": []}
    assert talk("scenario.close") == {"leaks": []}


def test_every_answer_is_one_that_the_protocol_has():
    """What the kit receives can be read back with the protocol's own models."""
    talk = Talk(toy(start=two_tools))

    for report in (talk.start(), talk("cancel", run="r1")):
        assert Report.model_validate(report).quiescent


def test_a_tool_gate_says_what_is_entered_and_how_often():
    """Each entry of a body is an attempt; a later turn that uses the id again starts a new call."""

    async def enter(self, text):
        await self.host.tool("c1", "t0", {"v": (1, None)})
        await self.host.tool("c1", "t0", {})
        await self.host.infer([Message(role="user", text=text)])
        await self.host.tool("c1", "t0", {})
        await self.host.tool("c1", "t0", {}, attempt=7, step=3)
        return Segment("NaturalEnd")

    talk = Talk(toy(start=enter))
    gates = [only(talk.start()), only(talk.release("g1", OK)), only(talk.release("g2", OK))]
    asks_again = {"kind": "turn", "tool_calls": [{"id": "c1", "name": "t0"}]}
    gates += [only(talk.release("g3", asks_again)), only(talk.release("g4", OK))]

    assert gates[0]["args"] == {"v": [1, None]}
    assert [gate.get("attempt") for gate in gates] == [1, 2, None, 1, 7]
    assert [gate["step"] for gate in gates] == [0, 0, 1, 1, 3]


def test_a_tool_that_ignores_its_abort_stays_at_work():
    """A cancel ends the wait for it; its gate stays open, and its answer reaches no one."""
    talk = Talk(toy(start=one_tool), tools=[{"name": "t0", "abort": "ignored"}])
    gate = only(talk.start())["gate"]
    ended = only(talk("cancel", run="r1"))

    assert ended["reason"]["code"] == "Cancelled"
    assert talk.release(gate, OK) == {"observations": [], "quiescent": True, "refused": []}


def test_a_tool_that_ignores_its_abort_is_no_leak():
    """It is the kit's, and not the runtime's, that is at work when the scenario is closed."""
    talk = Talk(toy(start=one_tool), tools=[{"name": "t0", "abort": "ignored"}])
    talk.start()
    talk("cancel", run="r1")

    assert talk("scenario.close") == {"leaks": []}


@pytest.mark.parametrize("kind", ["ok", "warning", "error", "pending"])
def test_a_tools_answer_comes_back_as_it_was_given(kind):
    """An answer is no exception, whatever it says."""
    answers = []

    async def enter(self, text):
        answers.append(await self.host.tool("c1", "t0", {}))
        return Segment("NaturalEnd")

    talk = begun(start=enter)
    talk.release("g1", {"kind": kind, "content": {"a": [1]}})

    assert [(answer.kind, answer.content) for answer in answers] == [(kind, {"a": [1]})]


@pytest.mark.parametrize(
    ("ask", "outcome", "raised"),
    [
        (lambda host: host.infer([]), {"kind": "fault", "message": "m"}, ModelFault),
        (lambda host: host.tool("c1", "t0", {}), {"kind": "raise", "message": "m"}, ToolRaised),
        (lambda host: host.tool("c1", "t0", {}), {"kind": "fault", "message": "m"}, ToolFault),
        (lambda host: host.permit("c1", "t0", {}), {"kind": "fault", "message": "m"}, PermissionFault),
    ],
    ids=["model fault", "tool raise", "tool fault", "permission fault"],
)
def test_what_breaks_is_raised_and_ends_the_segment_in_error(ask, outcome, raised):
    """An exception that a run lets pass ends its segment in Error, with its words."""

    async def let_it_pass(self, text):
        await ask(self.host)
        return Segment("NaturalEnd")

    talk = begun(start=let_it_pass)
    ended = only(talk.release("g1", outcome))

    assert ended["reason"] == {"code": "Error", "detail": f"{raised.__name__}: m"}


@pytest.mark.parametrize("kind", ["allow", "block", "suspend", "set_result"])
def test_the_permission_hook_answers_with_a_verdict(kind):
    """A permission gate names the call; the kit's verdict reaches the runtime."""
    verdicts = []

    async def ask(self, text):
        verdicts.append((await self.host.permit("c1", "t0", {"v": 1})).kind)
        return Segment("NaturalEnd")

    talk = Talk(toy(start=ask))
    opened = only(talk.start())
    talk.release("g1", {"kind": kind})

    assert opened["on"] == "permission"
    assert {"call": "c1", "name": "t0", "args": {"v": 1}, "resume": None}.items() <= opened.items()
    assert verdicts == [kind]


def test_the_replay_of_a_call_shows_the_decision_it_acts_on():
    """A gate of a call that waited carries the decision; one that the runtime names stands instead."""
    talk = begun(start=wait_for_a_decision, decide=replay)
    gate = only(talk.decide(resume(payload={"v": 1})))

    assert gate["resume"] == {"decision": "d1", "action": "resume", "payload": {"v": 1}}

    async def replay_knowing(self, decisions):
        await self.host.tool("c1", "t0", {}, resume=None)
        return Segment("NaturalEnd")

    talk = begun(start=wait_for_a_decision, decide=replay_knowing)
    assert only(talk.decide(resume()))["resume"] is None


def test_a_call_that_is_suspended_again_has_no_decision_any_more():
    """Every suspension waits for a decision of its own."""

    async def suspend_again(self, decisions):
        self.thread.append(decisions)
        if len(self.thread) == 1:
            await self.host.tool("c1", "t0", {})
            return Segment("Suspended", ["c1"])
        await self.host.tool("c1", "t0", {})
        return Segment("NaturalEnd")

    talk = begun(start=wait_for_a_decision, decide=suspend_again)
    first = only(talk.decide(resume()))
    talk.release("g1", {"kind": "pending"})
    second = only(talk.decide(resume(decision="d2", suspension=2)))

    assert [first["attempt"], second["attempt"]] == [1, 2]
    assert [first["resume"]["decision"], second["resume"]["decision"]] == ["d1", "d2"]


def test_suspensions_are_counted_where_the_runtime_does_not():
    """A runtime that says Suspended need not say for the how-manieth time."""

    async def tell(self, text):
        for known in ({}, {}, {"suspension": 5}, {}):
            self.host.observe("call.status", call="c1", origin="Running", to="Suspended", **known)
        self.host.observe("call.status", call="c1", origin="Suspended", to="Resuming")
        return Segment("Suspended", ["c1"])

    seen = Talk(toy(start=tell)).start()["observations"]

    assert [one.get("suspension") for one in seen[:5]] == [1, 2, 5, 6, None]
    assert seen[0]["from"] == "Running"


def test_what_the_runtime_tells_is_kept_as_it_was():
    """Observations of the runtime's own are passed on, dated at the moment they were made."""

    async def tell(self, text):
        data = {"list": [1]}
        self.host.observe("event", name="said", data=data)
        data["list"].append(2)
        self.host.observe("acme.thing", run="r0", message=Message(role="user"), reason=Reason(code="Error"))
        self.host.observe("run.status", **{"from": None}, to="Running")
        return Segment("NaturalEnd")

    seen = Talk(toy(start=tell)).start()["observations"]

    assert seen[0] == {"kind": "event", "run": "r1", "name": "said", "data": {"list": [1]}}
    own = {"run": "r0", "message": {"role": "user"}, "reason": {"code": "Error"}}
    assert seen[1] == {"kind": "acme.thing", **own}
    assert seen[2] == {"kind": "run.status", "run": "r1", "from": None, "to": "Running"}
