"""Stimuli that race, stop half-way, or may not come at all, on the hosted interface."""

import asyncio
import re

import pytest
from hosted_fakes import (
    OK,
    TURN,
    Talk,
    begun,
    infer_once,
    kinds,
    only,
    replay,
    requests,
    resume,
    toy,
    two_tools,
    wait_for_a_decision,
)

from runlock.conformance.families.lifecycle.adapter import Segment
from runlock.conformance.families.lifecycle.host.hosted import Hosted

RELEASE_G1 = ("gate.release", {"gate": "g1", "outcome": OK})
RELEASE_G2 = ("gate.release", {"gate": "g2", "outcome": OK})
CANCEL = ("cancel", {"run": "r1"})


def test_a_race_is_handed_over_in_its_order():
    """The runtime meets what came first, first."""
    for order in ((RELEASE_G1, RELEASE_G2), (RELEASE_G2, RELEASE_G1)):

        async def tell(self, text):
            await asyncio.gather(_enter(self, "c1"), _enter(self, "c2"))
            return Segment("NaturalEnd")

        talk = begun(start=tell)
        seen = [one["name"] for one in talk.deliver(*order)["observations"][:2]]
        assert seen == (["c1", "c2"] if order[0] is RELEASE_G1 else ["c2", "c1"])


async def _enter(self, call):
    await self.host.tool(call, "t0", {})
    self.host.observe("event", name=call)


def test_a_release_that_comes_after_its_gate_was_given_up_is_dropped():
    """Cancel first, release second: the gate is closed, and the release is late and no error."""
    talk = begun(start=two_tools)
    report = talk.deliver(CANCEL, RELEASE_G1)

    assert kinds(report) == ["gate.closed", "gate.closed", "run.finished"]


def test_a_release_before_a_cancel_has_happened():
    """Release first, cancel second: that gate was passed and is not closed."""
    talk = begun(start=two_tools)
    report = talk.deliver(RELEASE_G1, CANCEL)

    assert [seen.get("gate") for seen in report["observations"]] == ["g2", None]
    assert report["observations"][-1]["reason"] == {"code": "Cancelled"}


def test_a_run_cancelled_before_its_first_step_still_ends():
    """A task that is cancelled before it begins never runs; its segment is announced all the same."""
    talk = Talk(toy())
    report = talk.deliver(("run.start", {"run": "r1", "input": "x"}), CANCEL)

    assert only(report)["reason"] == {"code": "Cancelled"}


def test_a_refusal_names_its_place_in_the_race():
    """Which stimulus of a deliver was turned down can be told from the answer."""

    async def refuse(self, what):
        raise ValueError("no")

    talk = begun(live=True, start=infer_once, decide=refuse, input=refuse)
    report = talk.deliver(
        ("run.input", {"run": "r1", "input": "x"}),
        ("gate.release", {"gate": "g1", "outcome": TURN}),
        ("decide", {"run": "r1", "decisions": [resume()]}),
    )

    assert [(one["stimulus"], one.get("decision")) for one in report["refused"]] == [(0, None), (2, "d1")]


def test_a_runtime_can_be_stopped_between_two_turns():
    """With `turns` the answer comes before the runtime has settled, and the next stimulus lands inside."""

    async def slow(self, text):
        await asyncio.sleep(0)
        await self.host.infer([])
        return Segment("NaturalEnd")

    talk = Talk(toy(start=slow))
    assert talk.start(turns=0) == {"observations": [], "quiescent": False, "refused": []}
    assert talk("settle", turns=1)["quiescent"] is False
    assert kinds(talk("settle", turns=1)) == ["gate.open"]
    assert talk("settle", turns=3) == {"observations": [], "quiescent": True, "refused": []}
    report = talk.release("g1", TURN, turns=1)
    assert (kinds(report), report["quiescent"]) == (["run.finished"], False)
    assert talk("settle") == {"observations": [], "quiescent": True, "refused": []}


def test_a_gate_that_was_given_up_unseen_can_still_be_released():
    """Between two turns the kit cannot know that a gate is gone; its release is late, and dropped."""
    talk = begun(start=two_tools)
    assert talk("cancel", run="r1", turns=0)["observations"] == []

    report = talk.release("g1", OK)

    assert kinds(report) == ["gate.closed", "gate.closed", "run.finished"]


def test_a_race_with_the_clock():
    """A timer that falls due and a release meet in one turn."""

    async def with_timeout(self, text):
        async with asyncio.timeout(1):
            await self.host.infer([])
        return Segment("NaturalEnd")

    talk = begun(start=with_timeout)
    assert talk("clock.advance", ms=999)["observations"] == []
    report = talk("clock.advance", ms=1)

    assert kinds(report) == ["gate.closed", "run.finished"]
    assert report["observations"][-1]["reason"]["detail"] == "TimeoutError: "


def test_a_race_is_handed_over_whole_or_not_at_all():
    """One stimulus that may not come keeps back all the others."""
    talk = begun(start=two_tools)

    words = talk.fails(-32003, "deliver", stimuli=requests(RELEASE_G1, _release("g9")))

    assert words == "Gate g9 is not open; open are: g1, g2."
    assert talk("settle")["observations"] == []
    assert kinds(talk.release("g1", OK)) == []


def _release(gate, outcome=OK):
    return ("gate.release", {"gate": gate, "outcome": outcome})


@pytest.mark.parametrize(
    ("code", "stimuli"),
    [
        (-32002, [RELEASE_G1, RELEASE_G1]),
        (-32002, [("run.start", {"run": "r2", "input": "x"})]),
        (-32002, [("decide", {"run": "r1", "decisions": []})]),
        (-32002, [("cancel", {"run": "r9"})]),
        (-32001, [("run.input", {"run": "r1", "input": "x"})]),
        (-32003, [_release("g0")]),
        (-32602, [_release("g1", {"kind": "allow"})]),
        (-32602, [("settle", {})]),
        (-32602, [("clock.advance", {})]),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else value[-1][0],
)
def test_a_stimulus_that_may_not_come_is_an_error_and_changes_nothing(code, stimuli):
    """Each mistake has its code, alone or in a race, and the run goes on as if it had not been sent."""
    talk = begun(start=two_tools)

    talk.fails(code, "deliver", stimuli=requests(*stimuli))
    if len(stimuli) == 1 and stimuli[0][0] != "settle":
        talk.fails(code, stimuli[0][0], **stimuli[0][1])

    talk.release("g1", OK)
    assert kinds(talk.release("g2", OK)) == ["run.finished"]


def test_two_segments_cannot_begin_in_one_race():
    """Without live decisions the second verb would come while the first one's segment is under way."""
    talk = begun(start=wait_for_a_decision, decide=replay)
    decide = ("decide", {"run": "r1", "decisions": [resume()]})

    assert "not taken meanwhile" in talk.fails(-32002, "deliver", stimuli=requests(decide, decide))
    assert kinds(talk.deliver(decide)) == ["gate.open"]


def test_verbs_come_in_their_order():
    """Before a scenario there is nothing to drive, and one is open at a time."""
    sut = Hosted(toy())
    talk = Talk(toy())

    assert "is open" in talk.fails(-32002, "scenario.open", scenario="s2")
    talk.start()
    assert "started before" in _after_its_end(talk)
    assert talk("shutdown") == {}
    for verb in ("settle", "crash", "inspect", "deliver", "recover", "run.start", "scenario.close"):
        params = {"run": "r1", "input": "x", "stimuli": []}
        assert "scenario.open comes first" in talk.fails(-32002, verb, **params)
    sut.close()


def _after_its_end(talk):
    talk.release("g1", TURN)
    return talk.fails(-32002, "run.start", run="r1", input="x")


def test_unknown_verbs_and_parameters_are_named():
    """JSON-RPC's own errors say what there is instead."""
    talk = Talk(toy())

    assert "There is no verb run.stop" in talk.fails(-32601, "run.stop")
    assert "run.start cannot take these parameters" in talk.fails(-32602, "run.start", run=1)


def test_a_kit_of_another_protocol_is_turned_away():
    """The handshake names both versions."""
    kit = {"kit": {"name": "runlock", "version": "9"}, "protocol": {"min": 2, "max": 3}}

    assert "speaks protocol 2 to 3" in Talk(toy()).fails(-32602, "initialize", **kit)


def test_a_runtime_that_never_rests_does_not_settle():
    """A busy loop is an answer with a code of its own."""

    async def spin(self, text):
        while True:
            await asyncio.sleep(0)

    assert "still busy after 10000 turns" in Talk(toy(start=spin)).fails(
        -32004, "run.start", run="r1", input="x"
    )


def test_an_opening_that_waits_does_not_settle():
    """`open` has no one to wait for."""

    async def wait(self, host, scenario):
        await asyncio.Event().wait()

    talk = Talk(toy())
    talk("scenario.close")
    talk.sut.factory = toy(open=wait)

    assert "nobody will give" in talk.fails(-32004, "scenario.open", scenario="s")


def test_a_runtime_that_breaks_is_said_to_have_crashed():
    """What tears down the runtime, or its adapter, comes back with its trace."""

    async def leave(self, text):
        raise SystemExit(3)

    words = Talk(toy(start=leave)).fails(-32005, "run.start", run="r1", input="x")
    assert words.startswith("The runtime or its adapter crashed: SystemExit: “3” (")
    assert re.search(r"test_races\.py:\d+\)$", words)

    words = Talk(toy(start=lambda self, text: None)).fails(-32005, "run.start", run="r1", input="x")
    assert "TypeError" in words


def test_a_verb_that_returns_something_else_is_told_what_it_should():
    """An adapter learns from its first mistake."""

    async def confused(self, text):
        return "done"

    words = Talk(toy(start=confused)).fails(-32603, "run.start", run="r1", input="x")
    assert words == "The adapter's start returned 'done'; it should return a Segment."


def test_a_start_that_returns_nothing_is_told_what_it_should():
    """None is an answer of `decide` alone, where a segment is under way."""

    async def forgets(self, text):
        await self.host.infer([])

    talk = begun(start=forgets)
    words = talk.fails(-32603, "gate.release", gate="g1", outcome=TURN)
    assert words == "The adapter's start returned None; it should return a Segment."


def test_looking_needs_a_method_of_its_own():
    """A run can be inspected if the adapter can, at once or on the loop, and is not moved by it."""

    def inspect(self, run):
        return {"status": "Running", "calls": {}}

    async def inspect_on_the_loop(self, run):
        return inspect(self, run)

    assert "has no inspect" in Talk(toy()).fails(-32001, "inspect", run="r1")
    for look in (inspect, inspect_on_the_loop):
        talk = Talk(toy(inspect=look))
        talk.start(turns=0)
        assert talk("inspect", run="r1") == {"status": "Running", "calls": {}}
        assert kinds(talk("settle")) == ["gate.open"]
