"""Crash and recovery on the hosted interface: what is durable comes back, and nothing else does."""

import asyncio
import gc

import pytest
from hosted_fakes import OK, TURN, Talk, begun, infer_once, kinds, only, resume, toy, wait_for_a_decision

from runlock.conformance.families.lifecycle.adapter import Refused, Segment
from runlock.conformance.transport import hosted


async def keep(self):
    return list(self.thread)


async def take_up(self, host, scenario, checkpoint):
    self.host, self.scenario, self.thread = host, scenario, list(checkpoint)


async def remember(self, text):
    self.thread.append(text)
    await self.host.infer([{"role": "user", "text": text}])
    return Segment("NaturalEnd")


async def infer_again(self, run):
    await self.host.infer([{"role": "user", "text": text} for text in self.thread])
    return Segment("NaturalEnd")


def test_a_run_that_was_running_goes_on_from_what_was_durable():
    """A new adapter object takes up the checkpoint; its gates are new, and its step is the same."""
    talk = begun(start=remember, checkpoint=keep, restore=take_up, resume_run=infer_again)
    assert talk("crash") == {}
    again = only(talk("recover", run="r1"))

    assert [again["gate"], again["step"], again["messages"][0]["text"]] == ["g2", 1, "hello"]
    talk.fails(-32003, "gate.release", gate="g1", outcome=TURN)
    assert only(talk.release("g2", TURN))["reason"] == {"code": "NaturalEnd"}
    assert talk("scenario.close") == {"leaks": []}


def test_a_run_that_waited_waits_again():
    """Without a run to go on with, recovery is silent, and a decision moves it."""

    async def replay_once(self, decisions):
        await self.host.tool("c1", "t0", {})
        return Segment("NaturalEnd")

    made = toy(start=wait_for_a_decision, decide=replay_once, checkpoint=keep, restore=take_up)
    talk = Talk(made)
    talk.start()
    talk("crash")

    assert talk("recover", run="r1") == {"observations": [], "quiescent": True, "refused": []}
    assert only(talk.decide(resume()))["resume"]["decision"] == "d1"


def test_the_clock_goes_on_where_the_kit_says_so():
    """The new life begins at the time that the recovery names."""

    async def tell_the_time(self, run):
        self.host.observe("event", name=f"at {asyncio.get_running_loop().time():g} s")

    talk = begun(start=wait_for_a_decision, checkpoint=keep, restore=take_up, resume_run=tell_the_time)
    talk("clock.advance", ms=2500)
    talk("crash")

    assert only(talk("recover", run="r1", now_ms=2500))["name"] == "at 2.5 s"


@pytest.mark.long
def test_a_crash_runs_no_clean_up():
    """What a dead runtime still does, or would do when it is collected, reaches nothing."""
    cleaned = []

    async def hold(self, text):
        try:
            await self.host.tool("c1", "t0", {})
        finally:
            cleaned.append(text)
            self.host.observe("event", name="clean-up")
            self.host.refuse("clean-up")
            await self.host.infer([])

    talk = begun(start=hold, checkpoint=keep, restore=take_up)
    talk("crash")
    gc.collect()
    assert cleaned == []
    assert talk("recover", run="r1")["observations"] == []
    assert cleaned == []
    talk("scenario.close")


def test_a_crash_in_the_middle_of_a_turn_moves_nothing():
    """Asking what would survive lets nothing else run, even where it needs the loop."""
    moved = []

    async def slow(self, text):
        moved.append(text)
        return Segment("NaturalEnd")

    async def keep_slowly(self):
        await asyncio.sleep(0)
        return [*self.thread]

    talk = Talk(toy(start=slow, checkpoint=keep_slowly, restore=take_up))
    talk.start(turns=0)
    talk("crash")

    assert moved == []


def test_between_crash_and_recovery_there_is_nothing_to_drive():
    """A dead runtime takes no stimulus; its scenario can be closed."""
    talk = begun(checkpoint=keep, restore=take_up)
    talk("crash")

    assert "recover comes first" in talk.fails(-32002, "settle")
    assert "the run at hand was r1" in talk.fails(-32002, "recover", run="r7")
    assert talk("scenario.close") == {"leaks": []}


def test_a_living_runtime_cannot_be_recovered():
    """Recovery follows a crash."""
    talk = begun(checkpoint=keep, restore=take_up)

    assert "Nothing crashed" in talk.fails(-32002, "recover", run="r1")


def test_a_runtime_without_a_way_back_cannot_be_crashed():
    """Without `restore` there is no crash."""
    assert "has no restore" in Talk(toy()).fails(-32001, "crash")


def test_with_nothing_durable_the_run_never_was():
    """The recovery is refused, and the thread is free for the next run."""

    async def nothing(self):
        return None

    talk = begun(checkpoint=nothing, restore=take_up)
    talk("crash")

    assert talk("recover", run="r1")["refused"] == [{"stimulus": 0, "why": "nothing was durable"}]
    assert kinds(talk.start("r2")) == ["gate.open"]


def test_a_recovery_that_the_runtime_turns_down_leaves_it_as_new():
    """A refusal of `restore` comes back with its words."""

    async def refuse(self, host, scenario, checkpoint):
        raise Refused("the store is empty")

    talk = begun(restore=refuse)
    talk("crash")

    assert talk("recover", run="r1")["refused"] == [{"stimulus": 0, "why": "the store is empty"}]
    assert kinds(talk.start("r2")) == ["gate.open"]


def test_a_runtime_that_breaks_as_it_goes_on_ends_in_error():
    """Once restored, what going on raises is the segment's end."""

    async def break_down(self, run):
        raise ValueError("lost")

    talk = begun(checkpoint=keep, restore=take_up, resume_run=break_down)
    talk("crash")

    raised, finished = talk("recover", run="r1")["observations"]
    assert (raised["kind"], raised["verb"]) == ("adapter.error", "recover")
    assert finished["reason"] == {"code": "Error", "detail": "ValueError: lost"}


STATE = {
    "run": {"status": "Waiting", "reason": None, "step": 4},
    "calls": {"c1": {"status": "Suspended", "suspension": 2}, "c2": {"status": "Succeeded"}},
    "decisions": {"c3": {"id": "d3", "action": "resume", "payload": 1}},
    "messages": [],
}


def test_a_state_that_the_kit_holds_is_what_is_restored():
    """With the store in the kit's hands its state is passed, and counting goes on from it."""

    async def restore(self, host, scenario, checkpoint):
        self.host = host
        self.host.observe("call.status", call="c1", origin=None, to="Suspended")
        self.host.observe("call.status", call="c1", origin="Running", to="Suspended")

    async def go_on(self, decisions):
        await self.host.tool("c1", "t0", {})
        await self.host.tool("c3", "t0", {})
        await self.host.infer([])
        return Segment("NaturalEnd")

    talk = begun(control={"store": "kit", "crash": ["soft"]}, restore=restore, decide=go_on)
    talk("crash")
    seen = talk("recover", run="r1", store=STATE)["observations"]
    gates = [only(talk.decide(resume())), only(talk.release("g2", OK)), only(talk.release("g3", OK))]

    assert [one["suspension"] for one in seen] == [2, 3]
    assert [gate["step"] for gate in gates] == [4, 4, 5]
    assert [gate["resume"]["decision"] for gate in gates[:2]] == ["d1", "d3"]


def test_a_kit_that_holds_nothing_recovers_nothing():
    """A null state from the kit's store is nothing durable, whatever the adapter keeps."""
    talk = begun(control={"store": "kit", "crash": ["soft"]}, checkpoint=keep, restore=take_up)
    talk("crash")

    assert talk("recover", run="r1")["refused"] == [{"stimulus": 0, "why": "nothing was durable"}]


def test_a_killed_runtime_can_be_recovered_from_its_own_store():
    """After a kill the handshake and the scenario come again, and then the recovery."""

    async def from_the_folder(self, host, scenario, checkpoint):
        self.host, self.thread = host, [scenario.data]

    made = toy(control={"store": "own", "crash": ["kill"]}, restore=from_the_folder, resume_run=infer_again)
    talk = Talk(made, data="/data")
    talk.start()
    talk.sut.kill()
    talk("scenario.open", scenario="s", data="/data")

    assert only(talk("recover", run="r1"))["messages"][0]["text"] == "/data"


def test_only_so_many_killed_lives_are_kept(monkeypatch):
    """What was killed is put away quietly in its time."""
    monkeypatch.setattr(hosted, "KILLED_MAX", 1)
    for _ in range(3):
        talk = begun(start=infer_once)
        talk.sut.kill()

    assert len(hosted.KILLED) == 1
    hosted.KILLED.popleft().bury()
