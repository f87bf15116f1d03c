"""What a hosted adapter gets for nothing: gates, counts, segments and refusals, as the protocol has them."""

import asyncio

import pytest
from hosted_toys import (
    OK,
    TURN,
    Talk,
    infer_once,
    kinds,
    one_tool,
    only,
    replay,
    resume,
    toy,
    two_tools,
    wait_for_a_decision,
)

from interlock.conformance.adapter import (
    CommitFault,
    ModelFault,
    PermissionFault,
    Refused,
    Segment,
    ToolFault,
    ToolRaised,
)
from interlock.conformance.protocol import METHODS, Message, Reason, Report

KIT = {"kit": {"name": "interlock", "version": "0"}}


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
    """What the kit is told can be read back with the protocol's own models."""
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


@pytest.mark.parametrize("kind", ["ok", "warning", "error", "pending"])
def test_a_tools_answer_comes_back_as_it_was_given(kind):
    """An answer is no exception, whatever it says."""
    answers = []

    async def enter(self, text):
        answers.append(await self.host.tool("c1", "t0", {}))
        return Segment("NaturalEnd")

    talk = Talk(toy(start=enter))
    talk.start()
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

    talk = Talk(toy(start=let_it_pass))
    talk.start()
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
    talk = Talk(toy(start=wait_for_a_decision, decide=replay))
    talk.start()
    gate = only(talk.decide(resume(payload={"v": 1})))

    assert gate["resume"] == {"decision": "d1", "action": "resume", "payload": {"v": 1}}

    async def replay_knowing(self, decisions):
        await self.host.tool("c1", "t0", {}, resume=None)
        return Segment("NaturalEnd")

    talk = Talk(toy(start=wait_for_a_decision, decide=replay_knowing))
    talk.start()
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

    talk = Talk(toy(start=wait_for_a_decision, decide=suspend_again))
    talk.start()
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


def test_a_cancel_without_a_method_of_its_own_cancels_the_task():
    """The runtime gives its gates up, and its segment ends Cancelled."""
    talk = Talk(toy(start=two_tools))
    talk.start()
    report = talk("cancel", run="r1")

    assert kinds(report) == ["gate.closed", "gate.closed", "run.finished"]
    assert report["observations"][-1]["reason"] == {"code": "Cancelled"}
    assert talk("cancel", run="r1")["observations"] == []


def test_a_runtimes_own_cancel_is_asked():
    """Where the adapter has a cancel, nothing else is cancelled for it."""

    async def hold(self, text):
        self.stop = asyncio.Event()
        await self.stop.wait()
        return Segment("Cancelled")

    async def cancel(self):
        self.stop.set()

    talk = Talk(toy(start=hold, cancel=cancel))
    assert talk.start() == {"observations": [], "quiescent": True, "refused": []}
    assert only(talk("cancel", run="r1"))["reason"] == {"code": "Cancelled"}


def test_a_waiting_run_is_cancelled_by_the_adapter_alone():
    """Without a cancel of its own a waiting run cannot be reached; with one, it may say how the run ended."""
    talk = Talk(toy(start=wait_for_a_decision))
    talk.start()
    assert "has no cancel" in talk.fails(-32001, "cancel", run="r1")

    async def cancel(self):
        return Segment("Cancelled")

    talk = Talk(toy(start=wait_for_a_decision, cancel=cancel))
    talk.start()
    assert only(talk("cancel", run="r1"))["reason"] == {"code": "Cancelled"}


def test_a_cancel_that_fails_half_way_is_shown():
    """A cancel that raises is a refusal if it did nothing, and is shown as it is if it did."""

    async def refuse(self):
        raise RuntimeError("not now")

    async def break_down(self):
        self.host.observe("event", name="half")
        raise RuntimeError("not now")

    talk = Talk(toy(cancel=refuse))
    talk.start()
    assert talk("cancel", run="r1")["refused"] == [{"stimulus": 0, "why": "not now"}]
    talk = Talk(toy(cancel=break_down))
    talk.start()
    assert kinds(talk("cancel", run="r1")) == ["event", "adapter.error"]


def test_a_refused_decision_has_changed_nothing():
    """Each decision of a verb that was turned down comes back, and the named one with the reason."""

    async def refuse(self, decisions):
        raise Refused("unknown call", decision="d2")

    talk = Talk(toy(start=wait_for_a_decision, decide=refuse))
    talk.start()
    report = talk.decide(resume(), resume("c9", "d2"))

    assert report["observations"] == []
    assert report["refused"] == [
        {"stimulus": 0, "decision": "d2", "why": "unknown call"},
        {"stimulus": 0, "decision": "d1", "why": "turned down together with d2"},
    ]


def test_an_exception_before_anything_happened_is_a_refusal():
    """What decide or input raises before its first gate or observation has changed nothing."""

    async def fail(self, what):
        raise ValueError("no such call")

    talk = Talk(toy(start=wait_for_a_decision, decide=fail, input=fail))
    talk.start()

    assert talk.decide(resume())["refused"] == [{"stimulus": 0, "decision": "d1", "why": "no such call"}]
    assert talk("run.input", run="r1", input="x")["refused"] == [{"stimulus": 0, "why": "no such call"}]


def test_an_exception_after_something_happened_is_an_error():
    """Once a decision has moved the run, what it raises ends the segment."""

    async def fail_late(self, decisions):
        await self.host.tool("c1", "t0", {})
        raise ValueError("too late")

    talk = Talk(toy(start=wait_for_a_decision, decide=fail_late))
    talk.start()
    talk.decide(resume())
    report = talk.release("g1", OK)

    assert report["refused"] == []
    assert only(report)["reason"] == {"code": "Error", "detail": "ValueError: too late"}


def test_one_decision_can_be_refused_and_the_others_taken():
    """`host.refuse` turns one down while the verb goes on."""

    async def take_some(self, decisions):
        self.host.refuse("unknown call", decisions[1].id)
        return Segment("NaturalEnd")

    talk = Talk(toy(start=wait_for_a_decision, decide=take_some))
    talk.start()
    report = talk.decide(resume(), resume("c9", "d2"))

    assert report["refused"] == [{"stimulus": 0, "decision": "d2", "why": "unknown call"}]
    assert kinds(report) == ["run.finished"]


def test_a_refused_start_never_was():
    """A run that was turned down leaves its id and its place free."""

    async def refuse_once(self, text):
        self.thread.append(text)
        if len(self.thread) == 1:
            raise Refused("not yet")
        return Segment("NaturalEnd")

    talk = Talk(toy(start=refuse_once))
    assert talk.start()["refused"] == [{"stimulus": 0, "why": "not yet"}]
    assert kinds(talk.start()) == ["run.finished"]


def test_two_runs_share_a_thread():
    """The next run begins when the one before is Done, with its own count of steps."""
    talk = Talk(toy())
    talk.start("r1")
    talk.release("g1", TURN)
    second = only(talk.start("r2"))

    assert [second["run"], second["step"], second["gate"]] == ["r2", 1, "g2"]
    words = talk.decide(resume(), run="r1")["refused"]
    assert words == [{"stimulus": 0, "decision": "d1", "why": "run r1 is over, and run r2 has followed it"}]
    assert talk("cancel", run="r1")["refused"][0]["why"].startswith("run r1 is over")


def test_input_goes_to_a_run_that_waits():
    """New input makes a segment of its own; decisions may come with it if the adapter takes them."""

    async def take(self, text, decisions=()):
        self.host.observe("event", name=text, data=[decision.id for decision in decisions])
        return Segment("NaturalEnd")

    talk = Talk(toy(start=wait_for_a_decision, input=take))
    talk.start()
    report = talk("run.input", run="r1", input="instead", decisions=[resume()])

    assert report["observations"][0]["data"] == ["d1"]
    assert kinds(report) == ["event", "run.finished"]


def test_a_run_can_begin_with_decisions():
    """New input and decisions in one re-entry reach an adapter that takes them."""

    async def take(self, text, decisions):
        self.host.observe("event", name=text, data=[decision.call for decision in decisions])
        return Segment("NaturalEnd")

    report = Talk(toy(start=take)).start(decisions=[resume()])

    assert report["observations"][0]["data"] == ["c1"]
    assert "takes no decisions" in Talk(toy()).fails(
        -32001, "run.start", run="r1", input="x", decisions=[resume()]
    )


def test_live_decisions_are_handed_to_the_segment_under_way():
    """Overlapping verbs make one segment: None says nothing, and the same end is said once."""

    async def hold(self, text):
        self.arrived = asyncio.Event()
        await self.arrived.wait()
        return Segment("NaturalEnd")

    async def hand_over(self, decisions):
        self.arrived.set()

    async def hand_over_and_wait(self, decisions):
        self.arrived.set()
        return Segment("NaturalEnd")

    for decide in (hand_over, hand_over_and_wait):
        talk = Talk(toy(live=True, start=hold, decide=decide))
        talk.start()
        assert kinds(talk.decide(resume())) == ["run.finished"]


def test_two_equal_ends_of_two_segments_are_two():
    """Only verbs that overlap make one segment."""
    talk = Talk(toy(live=True, start=wait_for_a_decision, decide=wait_for_a_decision))

    assert kinds(talk.start()) == ["run.finished"]
    assert kinds(talk.decide(resume())) == ["run.finished"]


def test_work_left_by_an_earlier_verb_counts_for_the_one_under_way():
    """A runtime with a worker of its own moves on behalf of the verb that waits for it."""

    async def start(self, text):
        self.asked, self.answered = asyncio.Event(), asyncio.Event()
        self.worker = asyncio.create_task(work(self))
        return Segment("Suspended", ["c1"])

    async def work(self):
        await self.asked.wait()
        self.host.observe("event", name="worked")
        self.answered.set()

    async def decide(self, decisions):
        self.asked.set()
        await self.answered.wait()
        raise ValueError("after the work")

    talk = Talk(toy(start=start, decide=decide))
    talk.start()

    assert kinds(talk.decide(resume())) == ["event", "run.finished"]


def test_a_durable_state_is_shown_at_once_if_the_store_is_not_held():
    """A gate that the kit does not hold is not announced, and counts as released."""
    report = Talk(toy(start=_commits)).start()

    expected = {"trigger": "StepEnd", "cause": None, "force": True, "state": {"n": 1}}
    assert report["observations"][0] == {"kind": "checkpoint", "run": "r1", **expected}
    assert kinds(report) == ["checkpoint", "run.finished"]


def test_a_held_store_is_a_gate_and_then_a_durable_state():
    """What the kit releases is durable from that moment, also if the run is cancelled in the same breath."""
    talk = Talk(toy(start=_commits), hold=["store.put"])
    gate = only(talk.start())
    report = talk.deliver(
        ("gate.release", {"gate": "g1", "outcome": {"kind": "ok"}}), ("cancel", {"run": "r1"})
    )

    assert gate["on"] == "store.put"
    assert gate["state"] == {"n": 1}
    assert report["observations"][0]["kind"] == "checkpoint"
    assert report["observations"][1]["reason"]["code"] == "Cancelled"


def test_a_store_that_breaks_makes_nothing_durable():
    """A fault at the store is raised to the runtime, and no checkpoint is shown."""
    talk = Talk(toy(start=_commits), hold=["store.put"])
    talk.start()
    report = talk.release("g1", {"kind": "fault", "message": "full"})

    assert only(report)["reason"]["detail"] == f"{CommitFault.__name__}: full"


async def _commits(self, text):
    from interlock.conformance.adapter import Checkpoint

    await self.host.commit(Checkpoint("StepEnd", force=True, state={"n": 1}))
    return Segment("NaturalEnd")


def test_what_a_done_run_leaves_behind_is_a_leak():
    """Gates still open and tasks still alive are a finding once the run is Done."""

    async def forget_a_tool(self, text):
        self.task = asyncio.ensure_future(one_tool(self, text))
        await asyncio.sleep(0)
        return Segment("NaturalEnd")

    talk = Talk(toy(start=forget_a_tool))
    talk.start()

    leaks = [{"gate": "g1", "on": "tool", "call": "c1"}, {"task": "one_tool"}]
    assert talk("scenario.close") == {"leaks": leaks}


def test_a_run_that_is_not_done_leaks_nothing():
    """A run that waits at a gate holds it rightly."""
    talk = Talk(toy(start=infer_once))
    talk.start()

    assert talk("scenario.close") == {"leaks": []}


@pytest.mark.parametrize(
    ("close", "leaks"),
    [
        (lambda self: asyncio.sleep(0), []),
        (lambda self: asyncio.Event().wait(), [{"close": "did not return"}, {"task": "Event.wait"}]),
        (lambda self: asyncio.wait_for(_break(), 1), [{"close": "OSError: still in use"}]),
    ],
    ids=["in order", "hangs", "fails"],
)
def test_a_close_that_goes_wrong_is_a_leak(close, leaks):
    """An adapter is closed at the end of its scenario, and what it could not give back is told."""
    talk = Talk(toy(close=close))
    talk.start()
    talk.release("g1", TURN)

    assert talk("scenario.close") == {"leaks": leaks}


async def _break():
    raise OSError("still in use")


def test_what_stood_before_the_first_run_is_no_leak():
    """A worker that the runtime keeps from the beginning is its own affair."""

    async def with_a_worker(self, host, scenario):
        self.host = host
        self.worker = asyncio.create_task(asyncio.Event().wait())

    talk = Talk(toy(open=with_a_worker))
    talk.start()
    talk.release("g1", TURN)

    assert talk("scenario.close") == {"leaks": []}


def test_a_handshake_claims_what_the_loop_gives_and_not_what_the_adapter_lacks():
    """Missing methods are not offered; the kit's loop is."""
    bare = Talk(toy()).sut.request("initialize", KIT)

    assert bare["control"] == {
        "settle": "exact", "clock": "virtual", "step": "turns", "store": "none", "crash": [],
    }  # fmt: skip
    assert bare["stimuli"] == ["decide", "cancel", "run.again", "clock.advance", "deliver"]
    assert bare["observes"] == ["run.finished"]
    METHODS["initialize"][1].model_validate(bare)


def test_a_handshake_keeps_what_the_adapter_says_itself():
    """What is set explicitly stands; what can be crashed needs a way back."""

    async def method(self, *_):
        return None

    own = {"settle": "observed", "crash": ["soft", "kill"], "store": "kit"}
    full = {name: method for name in ("cancel", "input", "checkpoint", "restore")}
    made = toy(control=own, gates=["model", "store.put"], **full)
    answer = Talk(made).sut.request("initialize", KIT)
    without = Talk(toy(control=own)).sut.request("initialize", KIT)
    kept = Talk(toy(checkpoint=method, restore=method)).sut.request("initialize", KIT)

    assert {**own, "clock": "virtual", "step": "turns"}.items() <= answer["control"].items()
    assert answer["observes"] == ["run.finished", "checkpoint"]
    assert {"cancel.waiting", "run.input"} <= set(answer["stimuli"])
    assert without["control"]["crash"] == []
    assert kept["control"]["crash"] == ["soft"]
    assert kept["control"]["store"] == "own"
