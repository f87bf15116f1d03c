"""What becomes of a verb on the hosted interface: a segment, a refusal, an error, or nothing of its own."""

import asyncio
import re

import pytest
from hosted_fakes import (
    OK,
    TURN,
    Talk,
    begun,
    kinds,
    only,
    resume,
    toy,
    two_tools,
    wait_for_a_decision,
)

from runlock.conformance.families.lifecycle.adapter import Refused, Segment


def test_a_cancel_without_a_method_of_its_own_cancels_the_task():
    """The runtime gives its gates up, and its segment ends Cancelled."""
    talk = begun(start=two_tools)
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
    talk = begun(start=wait_for_a_decision)
    assert "has no cancel" in talk.fails(-32001, "cancel", run="r1")

    async def cancel(self):
        return Segment("Cancelled")

    talk = begun(start=wait_for_a_decision, cancel=cancel)
    assert only(talk("cancel", run="r1"))["reason"] == {"code": "Cancelled"}


def test_a_cancel_that_fails_half_way_is_shown():
    """A cancel that raises is a refusal if it did nothing, and is shown as it is if it did."""

    async def refuse(self):
        raise RuntimeError("not now")

    async def break_down(self):
        self.host.observe("event", name="half")
        raise RuntimeError("not now")

    talk = begun(cancel=refuse)
    assert talk("cancel", run="r1")["refused"] == [{"stimulus": 0, "why": "not now"}]
    talk = begun(cancel=break_down)
    assert kinds(talk("cancel", run="r1")) == ["event", "adapter.error"]


def test_a_late_decision_that_a_cancel_ends_leaves_the_run_over():
    """A runtime that answers with Cancelled before it did anything has not ended the run again."""

    async def done(self, text):
        self.stop = asyncio.Event()
        return Segment("NaturalEnd")

    async def decide(self, decisions):
        await self.stop.wait()
        return Segment("Cancelled")

    async def cancel(self):
        self.stop.set()

    talk = begun(start=done, decide=decide, cancel=cancel)
    talk.decide(resume())
    report = talk("cancel", run="r1")

    assert report["observations"] == []
    assert [one["why"] for one in report["refused"]] == ["the run is over, and the cancel came first"]


def test_a_refused_decision_has_changed_nothing():
    """Each decision of a verb that was turned down comes back, and the named one with the reason."""

    async def refuse(self, decisions):
        raise Refused("unknown call", decision="d2")

    talk = begun(start=wait_for_a_decision, decide=refuse)
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

    talk = begun(start=wait_for_a_decision, decide=fail, input=fail)

    assert talk.decide(resume())["refused"] == [{"stimulus": 0, "decision": "d1", "why": "no such call"}]
    assert talk("run.input", run="r1", input="x")["refused"] == [{"stimulus": 0, "why": "no such call"}]


@pytest.mark.parametrize("slip", [ZeroDivisionError, IndexError, NameError, RecursionError])
def test_a_slip_is_shown_although_it_counts_as_a_refusal(slip):
    """No runtime turns a decision down with such an exception."""

    async def fail(self, decisions):
        raise slip("a mistake")

    talk = begun(start=wait_for_a_decision, decide=fail)
    report = talk.decide(resume())

    assert kinds(report) == ["adapter.error"]
    assert report["refused"] == [{"stimulus": 0, "decision": "d1", "why": "a mistake"}]


def test_an_exception_after_something_happened_is_an_error():
    """Once a decision has moved the run, what it raises ends the segment."""

    async def fail_late(self, decisions):
        await self.host.tool("c1", "t0", {})
        raise ValueError("too late")

    talk = begun(start=wait_for_a_decision, decide=fail_late)
    talk.decide(resume())
    report = talk.release("g1", OK)

    raised, finished = report["observations"]
    assert report["refused"] == []
    assert (raised["kind"], raised["verb"]) == ("adapter.error", "decide")
    assert re.fullmatch(r"ValueError: “too late” \(.*test_verbs\.py:\d+\)", raised["error"])
    assert finished["reason"] == {"code": "Error", "detail": "ValueError: too late"}


def test_one_decision_can_be_refused_and_the_others_taken():
    """`host.refuse` turns one down while the verb goes on."""

    async def take_some(self, decisions):
        self.host.refuse("unknown call", decisions[1].id)
        return Segment("NaturalEnd")

    talk = begun(start=wait_for_a_decision, decide=take_some)
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

    talk = begun(start=wait_for_a_decision, input=take)
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
        talk = begun(live=True, start=hold, decide=decide)
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

    talk = begun(start=start, decide=decide)

    assert kinds(talk.decide(resume())) == ["event", "adapter.error", "run.finished"]


def test_a_runtime_hears_that_time_has_passed_where_waits_expire():
    """It ends what has expired; in any other scenario the clock moves alone."""

    async def time_passed(self):
        self.host.observe("event", name=f"at {asyncio.get_running_loop().time():g} s")

    asking = {"name": "t0", "permission": "ask"}
    for more, told in (({}, []), ({"expires_ms": 1000}, ["at 1.5 s"])):
        talk = Talk(toy(start=wait_for_a_decision, time_passed=time_passed), tools=[{**asking, **more}])
        talk.start()

        assert [seen["name"] for seen in talk("clock.advance", ms=1500)["observations"]] == told
