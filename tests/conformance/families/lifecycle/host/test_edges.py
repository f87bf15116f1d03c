"""The edges of a hosted life: what is durable, what is left behind, what is claimed."""

import asyncio

import pytest
from hosted_fakes import (
    TURN,
    Talk,
    begun,
    infer_once,
    kinds,
    one_tool,
    only,
    toy,
)

from runlock.conformance.campaign.order import Sampled
from runlock.conformance.families.lifecycle.adapter import CommitFault, Segment
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.messages import METHODS
from runlock.conformance.families.lifecycle.mutants import Mutant
from runlock.conformance.selftest.mutation_testing import kill
from runlock.machines.lifecycle.runtime.runtime import Runtime

KIT = {"kit": {"name": "runlock", "version": "0"}}


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
    from runlock.conformance.families.lifecycle.adapter import Checkpoint

    await self.host.commit(Checkpoint("StepEnd", force=True, state={"n": 1}))
    return Segment("NaturalEnd")


def test_what_a_done_run_leaves_behind_is_a_leak():
    """Gates still open and tasks still alive are a finding once the run is Done."""

    async def forget_a_tool(self, text):
        self.task = asyncio.ensure_future(one_tool(self, text))
        await asyncio.sleep(0)
        return Segment("NaturalEnd")

    talk = begun(start=forget_a_tool)

    leaks = [{"gate": "g1", "on": "tool", "call": "c1"}, {"task": "one_tool"}]
    assert talk("scenario.close") == {"leaks": leaks}


def test_a_run_that_is_not_done_leaks_nothing():
    """A run that waits at a gate holds it rightly."""
    talk = begun(start=infer_once)

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
    """An adapter is closed at the end of its scenario, and what it could not give back is reported."""
    talk = begun(close=close)
    talk.release("g1", TURN)

    assert talk("scenario.close") == {"leaks": leaks}


async def _break():
    raise OSError("still in use")


def test_what_stood_before_the_first_run_is_no_leak():
    """A worker that the runtime keeps from the beginning is its own affair."""

    async def with_a_worker(self, host, scenario):
        self.host = host
        self.worker = asyncio.create_task(asyncio.Event().wait())

    talk = begun(open=with_a_worker)
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


class WearsItsArgumentsDown(Runtime):
    """Takes an argument out of what the model gave, in place."""

    def arguments(self, call, resume):
        """The arguments, less one."""
        call.args.pop("v", None)
        return super().arguments(call, resume)


class FillsThePayload(Runtime):
    """Writes into what was decided, in place."""

    def take(self, decision):
        """The decision, with more in it."""
        if isinstance(decision.payload, dict):
            decision.payload["v"] = "more"
        super().take(decision)


@pytest.mark.parametrize(
    ("make", "clause", "says"),
    [
        (WearsItsArgumentsDown, "DECIDE-7", "yet it ran with"),
        (FillsThePayload, "DECIDE-6", "yet its replay got"),
    ],
)
def test_who_changes_what_it_was_handed_is_seen(make, clause, says):
    """What the kit sent stays as it was, though a runtime in its process changes what it was handed."""
    mutant = Mutant(make, clause, says, also=("DECIDE-21", "SHOWN-3"))
    killed = kill(FAMILY, mutant, Sampled(1_000), 0)

    assert killed.is_dead, killed.why
