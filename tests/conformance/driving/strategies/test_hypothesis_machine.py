"""The Hypothesis machine: what it draws, when it is judged, and what it does where something goes wrong."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from functools import partial
from typing import Any

import pytest

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.hypothesis_machine import (
    ClauseBroken,
    Machine,
    conformance_test,
    generate,
)
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.actions import ACTIONS, NEEDS
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.mutants import MUTANTS, Mutant
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.family.chooser import PLAIN
from runlock.conformance.family.recordings import from_text
from runlock.conformance.judging.judge import Judge
from runlock.conformance.protocol import SUT_CRASHED, ProtocolError
from runlock.conformance.selftest.witnesses import witnessed, witnesses
from runlock.conformance.trace.moves import Move, moves_of

REFERENCE = partial(Hosted, factory("tirea"))
LATER = (Move("settle", {}), Move("clock.advance", {"ms": 1}), Move("settle", {}))


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench(REFERENCE)
    yield bench
    bench.close()


def named(name: str) -> Mutant:
    return next(mutant for mutant in MUTANTS if mutant.name == name)


# --- what it draws ------------------------------------------------------------------------------


@pytest.mark.long
def test_it_draws_every_class_of_stimulus(bench: Bench) -> None:
    """What a runtime takes is sent to it sooner or later: races, cuts, losses and floods of decisions too."""
    sent: Counter[str] = Counter()
    request = bench.sut.request

    def counted(method: str, params: dict[str, Any]) -> dict[str, Any]:
        sent[method] += 1
        return request(method, params)

    bench.sut.request = counted  # type: ignore[method-assign]
    generate(bench, 150, 0, Tally())
    offered = {*bench.handshake.stimuli, "run.start", "gate.release", "settle", "crash", "recover"}

    assert offered - {"run.again", "cancel.waiting"} - sent.keys() == set()


@pytest.mark.long
def test_what_is_not_at_hand_gives_no_occasion(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """No class of action is switched off by what it is said to need, but where it would do nothing anyway."""
    without: Counter[str] = Counter()
    act = Machine.act

    def tried(self: Machine, name: str, chooser: Any) -> None:
        act(self, name, chooser)
        for one, need in NEEDS.items() if self.aside is not None else ():
            if need not in self.at_hand:
                without[one] += 1
                assert ACTIONS[one](self.aside, PLAIN) is None, one

    monkeypatch.setattr(Machine, "act", tried)
    generate(bench, 60, 0, Tally())

    assert without.keys() == NEEDS.keys()


@pytest.mark.long
def test_every_scenario_has_one_number(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is drawn for a scenario is its place, so that none is had for two numbers, and each comes."""
    drawn: set[int] = set()
    begin = Machine.begin
    monkeypatch.setattr(Machine, "begin", lambda self, index: (drawn.add(index), begin(self, index)))
    generate(bench, 220, 0, Tally())

    assert drawn == set(range(len(bench.scenarios)))


# --- when it is judged --------------------------------------------------------------------------


@pytest.mark.parametrize("mutant", witnessed(FAMILY)[::8], ids=lambda mutant: mutant.name)
def test_who_is_judged_later_is_judged_alike(mutant: Mutant) -> None:
    """The same is broken for the same reason after the same stimuli, and what came later is left out."""
    witness = witnesses(FAMILY)[mutant.name]
    scenario = witness.scenario
    bench = Bench(lambda: Hosted(mutant))
    at_once = bench.session(scenario)
    at_once.play(witness.moves)
    came_later = LATER if at_once.violation else ()  # else it breaks a clause at its end
    at_once.close()
    later = bench.session_judged_later(scenario)
    later.play([*witness.moves, *came_later])
    assert later.violation is None
    later.close()
    bench.close()

    assert later.violation == at_once.violation is not None
    assert later.violation is not None and later.violation.clause == mutant.clause
    assert later.sent == at_once.sent
    assert later.trace.records == at_once.trace.records
    assert later.ruling.exercised == at_once.ruling.exercised
    assert later.ruling.coverage == at_once.ruling.coverage


def test_what_was_answered_as_before_is_ruled_as_before(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A schedule that comes again is judged once; it counts as often as it was played."""
    judged: list[Judge] = []
    answer = Judge.answer
    monkeypatch.setattr(Judge, "answer", lambda self, report: (judged.append(self), answer(self, report)))
    tally = Tally()
    for _ in range(3):
        session = bench.session_judged_later(bench.scenarios[0])
        session.play([Move("run.start", {"run": "r1", "input": "hello"}), Move("cancel", {"run": "r1"})])
        session.close()
        bench.enter(session, tally)

    once = session.ruling
    assert len(judged) == 2
    assert (tally.schedules, tally.stimuli) == (3, 6)
    assert once.exercised
    assert tally.exercised == {clause: 3 * times for clause, times in once.exercised.items()}


def test_what_was_answered_otherwise_is_judged_anew(bench: Bench) -> None:
    """The same stimuli with another answer are no precedent."""
    rulings, request, move = [], bench.sut.request, Move("run.start", {"run": "r1", "input": "hello"})

    def slipping(method: str, params: dict[str, Any]) -> dict[str, Any]:
        answer = request(method, params)
        if method == "run.start" and rulings:  # only the second time
            answer["observations"].append({"kind": "run.status", "run": "r1", "to": "Waiting"})
        return answer

    bench.sut.request = slipping  # type: ignore[method-assign]
    for _ in range(2):
        session = bench.session_judged_later(bench.scenarios[0])
        session.play([move])
        session.close()
        rulings.append(session.ruling)

    assert rulings[0].violation is None
    assert rulings[1].violation is not None


class Name(StrEnum):
    OWN = "own"


def test_values_of_a_runtimes_own_kind_are_told_apart_too(bench: Bench) -> None:
    """A text that is a member of an enumeration is as good as any other."""
    request = bench.sut.request

    def enumerated(method: str, params: dict[str, Any]) -> dict[str, Any]:
        answer = request(method, params)
        said = {"kind": "event", "run": "r1", "name": "said", "data": Name.OWN}
        return {"observations": [said]} if method == "run.start" else answer

    bench.sut.request = enumerated  # type: ignore[method-assign]
    for _ in range(2):
        session = bench.session_judged_later(bench.scenarios[0])
        session.play([Move("run.start", {"run": "r1", "input": "hello"})])
        session.close()

    assert len(bench.cached_rulings) == 1


# --- where something goes wrong -----------------------------------------------------------------


class Fragile(Hosted):
    """A runtime that asks the model when it is done, and whatever comes after that finds it broken down."""

    is_done = is_down = False

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method in ("scenario.open", "run.start"):
            self.is_done = False
        if self.is_down:
            raise ProtocolError(SUT_CRASHED, "it is down")
        answer = super().request(method, params)
        for seen in (one for one in answer.get("observations", ()) if "/" not in str(one.get("run"))):
            self.is_done |= seen["kind"] == "run.status" and seen["to"] == "Done"
            self.is_down |= self.is_done and seen.get("on") == "model"
        return answer


@pytest.mark.long
def test_a_violation_outlives_the_breakdown_after_it() -> None:
    """A runtime that breaks a clause, and then breaks down, has broken the clause: that is no trouble."""
    mutant, tally = named("AsksOnWhenDone"), Tally()
    bench = Bench(lambda: Fragile(mutant))
    generate(bench, 60, 0, tally)
    bench.close()

    assert mutant.says in tally.found[mutant.clause].violation.reason
    assert tally.troubles == []


def test_it_raises_what_is_broken() -> None:
    """In a test of one's own, the broken clause is the error, and the schedule is a note to it."""
    mutant = named("FinishesTwice")

    with pytest.raises(ClauseBroken, match=f"^{mutant.clause}: .*{mutant.says}") as raised:
        conformance_test(lambda: Hosted(mutant), examples=200)

    shown = next(note for note in raised.value.__notes__ if "\nstart r1" in note)
    assert (
        next(move.method for move in moves_of(from_text(shown), FAMILY.line_formats.gate_name)) == "run.start"
    )


# --- what it leaves behind ----------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    "moves",
    [
        [Move("run.input", {"run": "r1", "input": "never mind"}), Move("cancel", {"run": "r1"})],
        [],
    ],
    ids=["turned down and called off", "under way at the end"],
)
def test_a_scenario_leaves_no_frames_behind(bench: Bench, moves: list[Move]) -> None:
    """What was turned down, given up or cut off is freed with its scenario and not by a collection."""
    session = bench.session(bench.scenarios[0])
    session.play([Move("run.start", {"run": "r1", "input": "hello"}), *moves])
    while gc.collect():  # what other tests left
        pass
    gc.disable()
    try:
        session.close()
        del session
        left = gc.collect()
    finally:
        gc.enable()

    assert left == 0
