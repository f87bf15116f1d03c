"""The supervisor: shares the units of a campaign among workers, and puts what they found together in order.

Tallies add up in the order of the stages and their units, never in the order in which they came, so that
the number of workers changes nothing.  A unit that could not go on ends the campaign there, with what
later units found left out, whether they were played already or not.
"""

from __future__ import annotations

import signal
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Protocol

from runlock.conformance.campaign.result import Level, Result, Search, Toured
from runlock.conformance.campaign.stages import Order, Stage, stages_of
from runlock.conformance.campaign.units import Facts, Played, Unit
from runlock.conformance.campaign.verdicts import verdicts
from runlock.conformance.campaign.worker import STOP, KitBroke, as_found, bench_of, shortened
from runlock.conformance.campaign.worker_process import (
    GRACE_SECONDS,
    Hand,
    Lost,
    heard,
)
from runlock.conformance.driving.bench import ERRORS_MAX
from runlock.conformance.driving.findings import Trouble, Witness
from runlock.conformance.driving.shards import SHARDS
from runlock.conformance.driving.strategies.exhaustive import COUNTED
from runlock.conformance.driving.tally import Found, Tally
from runlock.conformance.errors import RunlockError, SutDied
from runlock.conformance.protocol import SPEC_REVISION

INTERRUPTED: Final = "it was interrupted"
OUT_OF_TIME: Final = "its time was over"
HANDSHAKE: Final = "its handshake"
STOP_SECONDS: Final = 5.0
"""How long a worker may take to stop between two schedules, before what it holds is given up."""

Advanced = Callable[[int], None]
"""Told how many schedules were played so far."""


@dataclass(slots=True)
class Limits:
    """What may cut a campaign off, and what did."""

    deadline: float | None = None
    cut_off: str = ""

    @staticmethod
    def of(budget_seconds: float | None) -> Limits:
        """Limits that begin now."""
        return Limits(None if budget_seconds is None else time.monotonic() + budget_seconds)

    @property
    def is_over(self) -> bool:
        """Whether the time is over; then that is what cuts the campaign off."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            self.cut_off = self.cut_off or OUT_OF_TIME
        return bool(self.cut_off)


class Workforce(Protocol):
    """Who plays the units: this process, or several of their own."""

    def facts(self) -> Facts:
        """What the runtime says of itself."""
        ...

    def play(self, units: Sequence[Unit], limits: Limits, advanced: Advanced) -> dict[Unit, Played]:
        """Play the units, until a limit or a hopeless unit."""
        ...

    def shorten(self, found: Sequence[Found]) -> list[Witness]:
        """Make witnesses short, each as far as the runtime lets itself be asked again."""
        ...

    def close(self) -> None:
        """Give everything back."""
        ...


def campaign(
    order: Order, jobs: int, budget_seconds: float | None = None, advanced: Advanced = lambda _: None
) -> Result:
    """Play a whole campaign; an interrupt makes its result partial instead of ending it."""
    limits = Limits.of(budget_seconds)
    with employed(order, jobs) as workforce:
        facts = workforce.facts()
        stages = stages_of(order, facts.family)
        units = [(at, unit) for at, stage in enumerate(stages) for unit in range(stage.units)]
        played = workforce.play(units, limits, advanced)
        tally, hopeless = merged(units, played)
        witnesses = witnesses_of(workforce, tally, facts)
    partial = limits.cut_off or hopeless
    budget = _budget(order, budget_seconds)
    result = concluded(order, facts, tally, witnesses, budget=budget, partial=partial)
    result.search = search_of(order, stages, tally, played)
    return result


@contextmanager
def employed(order: Order, jobs: int) -> Iterator[Workforce]:
    """Whoever plays the units, until they are played."""
    workforce: Workforce = Alone(order) if jobs == 1 else Crew(order, jobs)
    try:
        yield workforce
    finally:
        workforce.close()


def witnesses_of(workforce: Workforce, tally: Tally, facts: Facts) -> list[Witness]:
    """A short witness for each clause that is broken."""
    tally.settle(facts.undeclared)
    return made_short(workforce, [found for _, found in sorted(tally.found.items())])


def search_of(
    order: Order, stages: Sequence[Stage], tally: Tally, played: Mapping[Unit, Played]
) -> Search | None:
    """How far every schedule was tried, if any length was to be."""
    levels = tuple(
        _level(stage, tally.searched, [played.get((at, unit)) for unit in range(stage.units)])
        for at, stage in enumerate(stages)
        if stage.level
    )
    if not levels:
        return None
    return Search(len(levels), order.races, levels, order.is_exhaustive, order.one_order)


def _level(stage: Stage, counts: Mapping[tuple[int, str], int], units: Sequence[Played | None]) -> Level:
    is_whole = all(unit is not None and unit.is_whole and not unit.tally.troubles for unit in units)
    played, named, spare, broken, reordered = (counts.get((stage.level, one), 0) for one in COUNTED)
    return Level(stage.level, played, named, spare, broken, reordered, is_whole)


def _budget(order: Order, seconds: float | None) -> dict[str, Any]:
    bound = {} if seconds is None else {"seconds": seconds}
    return {"examples": order.examples, "seed": order.seed, "shards": SHARDS, **bound}


def merged(units: Sequence[Unit], played: Mapping[Unit, Played]) -> tuple[Tally, str]:
    """The tallies in order, up to where the campaign gives up; and whether it does."""
    tally = Tally()
    last = given_up_at(units, played)
    for unit in units:
        if unit in played:
            tally.add(played[unit].tally)
        if unit == last:
            return tally, f"it gave up after {_schedules(len(tally.troubles))} that could not be judged"
    return tally, ""


def given_up_at(units: Sequence[Unit], played: Mapping[Unit, Played]) -> Unit | None:
    """The first unit, in their order, at which too many schedules in a row could not be judged."""
    in_a_row = 0
    for unit in units:
        one = played.get(unit)
        if one is None:
            in_a_row = 0
            continue
        in_a_row = len(one.tally.troubles) + (0 if one.tally.schedules else in_a_row)
        if one.is_hopeless or in_a_row >= ERRORS_MAX:
            return unit
    return None


def _schedules(number: int) -> str:
    return f"{number} schedule{'' if number == 1 else 's'}"


def made_short(workforce: Workforce, found: list[Found]) -> list[Witness]:
    """A short witness for each; as it was met, if somebody interrupts."""
    try:
        return workforce.shorten(found)
    except KeyboardInterrupt:  # now at once: what was found is shown as it was met
        return [as_found(one) for one in found]


def concluded(
    order: Order,
    facts: Facts,
    tally: Tally,
    witnesses: list[Witness],
    *,
    budget: dict[str, Any],
    partial: str,
) -> Result:
    """The whole result; why a clause is broken is said as its short witness shows it."""
    because = {witness.clause: witness.because for witness in witnesses}
    clauses = [replace(one, why=because.get(one.id, one.why)) for one in verdicts(facts, tally)]
    return Result(
        target=order.target,
        implementation=facts.handshake.implementation.to_wire(),
        profile=facts.handshake.profile,
        policies=facts.policies,
        spec=SPEC_REVISION,
        budget=budget,
        schedules=tally.schedules,
        stimuli=tally.stimuli,
        partial=partial,
        clauses=clauses,
        witnesses=sorted(witnesses, key=lambda witness: (witness.steps, witness.clause)),
        troubles=tally.troubles,
        leaks=list(tally.leaks.values()),
        coverage=facts.family.coverage_targets(
            facts.handshake, facts.policies, facts.standings, tally.coverage
        ),
        tours=[
            Toured(*goal, played, tally.tours_reached[goal])
            for goal, played in sorted(tally.tours_played.items())
        ],
    )


class Alone:
    """The kit's own process plays all units, one after the other."""

    def __init__(self, order: Order) -> None:
        self._limits = Limits()
        self._advanced: Advanced = lambda _: None
        self._before = 0
        self.bench = bench_of(order, self._between)

    def _between(self, played: int) -> bool:
        self._advanced(self._before + played)
        return not self._limits.is_over

    def facts(self) -> Facts:
        return self.bench.facts

    def play(self, units: Sequence[Unit], limits: Limits, advanced: Advanced) -> dict[Unit, Played]:
        self._limits, self._advanced, self._before = limits, advanced, 0
        results: dict[Unit, Played] = {}
        with _polite_interrupt(limits):
            for unit in units:
                if limits.is_over:
                    break
                results[unit] = self._played(unit, limits)
                self._before += self.bench.played
                if given_up_at(units, results) is not None:
                    break
        return results

    def _played(self, unit: Unit, limits: Limits) -> Played:
        try:
            return self.bench.unit(unit)
        except KeyboardInterrupt:
            limits.cut_off = INTERRUPTED
            with suppress(RunlockError):
                self.bench.renew()  # it was stopped in the middle of something
            return Played(self.bench.tally, is_whole=False)

    def shorten(self, found: Sequence[Found]) -> list[Witness]:
        return [shortened(self.bench, one) for one in found]

    def close(self) -> None:
        self.bench.close()


@contextmanager
def _polite_interrupt(limits: Limits) -> Iterator[None]:
    """Let a first interrupt wait for the end of the schedule, and a second one for nothing.

    An exception in the middle of a schedule would be the runtime's to catch, and one in the middle of a
    message would break the conversation with a worker.
    """
    if threading.current_thread() is not threading.main_thread():  # only there can a signal be caught
        yield
        return

    def interrupt(*_: object) -> None:
        limits.cut_off = INTERRUPTED
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@dataclass(slots=True)
class Share:
    """The units that are still to be played, and what is known of those that ended their process."""

    units: Sequence[Unit]
    queue: deque[Unit]
    results: dict[Unit, Played] = field(default_factory=dict)
    losses: Counter[tuple[Unit, int]] = field(default_factory=Counter)
    left_out: dict[Unit, dict[int, Trouble]] = field(default_factory=dict)

    def done(self, unit: Unit, played: Played) -> None:
        """Enter a result; what comes after the campaign gave up need not be played."""
        self.results[unit] = played
        last = given_up_at(self.units, self.results)
        if last is not None:
            self.queue = deque(other for other in self.queue if other < last)

    def lost(self, unit: Unit, schedule: int, trouble: Trouble) -> None:
        """Play a unit again; a schedule that has ended its process twice is left out and said."""
        self.losses[unit, schedule] += 1
        if self.losses[unit, schedule] > 1:
            self.left_out.setdefault(unit, {})[schedule] = trouble
        self.queue.appendleft(unit)

    @property
    def schedules(self) -> int:
        """How many schedules are played and entered."""
        return sum(played.tally.schedules for played in self.results.values())


class Crew:
    """Several worker processes; one that is lost is replaced."""

    def __init__(self, order: Order, jobs: int) -> None:
        self._order = order
        self._folder = tempfile.TemporaryDirectory(prefix="runlock-")
        self._journals = 0
        self._facts: Facts | None = None
        self._blame = "SUT" if order.target.startswith("py:") else "kit"
        self._hands = [self._hired() for _ in range(jobs)]

    def _hired(self) -> Hand:
        self._journals += 1
        return Hand(self._order, Path(self._folder.name, f"journal-{self._journals}.jsonl"))

    def facts(self) -> Facts:
        for hand in self._hands:
            hand.task = HANDSHAKE
        while self._facts is None:
            for hand, message in heard(self._hands):
                self._met(hand, message)
        return self._facts

    def _met(self, hand: Hand, message: Any) -> None:
        """Take what a worker says before it has a task."""
        if isinstance(message, Lost):
            raise SutDied(f"{message}", "It should answer the handshake and wait.")
        kind, said = message
        if kind == "refused":
            raise said
        hand.task = None
        self._facts = self._facts or said

    def _share_out(self, tasks: Callable[[], tuple[Any, tuple[str, Any]] | None]) -> None:
        for hand in self._hands:
            if hand.task is None:
                given = tasks()
                if given is None:
                    return
                hand.task, message = given
                hand.at = 0
                hand.tell(message)

    def _replaced(self, hand: Hand) -> None:
        hired = self._hired()
        hired.task = HANDSHAKE
        self._hands[self._hands.index(hand)] = hired

    def _busy(self) -> list[Hand]:
        return [hand for hand in self._hands if hand.task is not None]

    def _answers(self) -> Iterator[tuple[Hand, Any, Any]]:
        """Each worker that ended its task, the task, and what came of it: a result, or how it was lost."""
        for hand, message in list(heard(self._hands)):
            if hand.task == HANDSHAKE:
                self._met(hand, message)
            elif isinstance(message, Lost):
                task, hand.task = hand.task, None
                self._replaced(hand)
                yield hand, task, message
            elif message[0] == "at":
                hand.at = message[1]
            elif message[0] == "broke":
                raise message[1]
            else:
                task, hand.task = hand.task, None
                yield hand, task, message[1]

    # -- units

    def play(self, units: Sequence[Unit], limits: Limits, advanced: Advanced) -> dict[Unit, Played]:
        share = Share(units, deque(units))
        with _polite_interrupt(limits):
            try:
                self._play(share, limits, advanced)
            except KeyboardInterrupt:
                limits.cut_off = INTERRUPTED
            except RunlockError as error:
                limits.cut_off = f"a worker that was lost could not be replaced: {error}"
            if limits.cut_off:
                self._stop(share)
        return share.results

    def _play(self, share: Share, limits: Limits, advanced: Advanced) -> None:
        def next_unit() -> tuple[Unit, tuple[str, Any]] | None:
            if not share.queue:
                return None
            unit = share.queue.popleft()
            return unit, ("play", (unit, share.left_out.get(unit, {})))

        while (share.queue or self._busy()) and not limits.is_over:
            self._share_out(next_unit)
            for hand, unit, outcome in self._answers():
                self._enter(share, hand, unit, outcome)
            advanced(share.schedules + sum(hand.at for hand in self._busy()))

    def _enter(self, share: Share, hand: Hand, unit: Unit, outcome: Played | Lost) -> None:
        if isinstance(outcome, Lost):
            share.lost(unit, hand.at + 1, Trouble(self._blame, str(outcome), outcome.trace))
        else:
            share.done(unit, outcome)

    def _stop(self, share: Share) -> None:
        """Let the workers end their units where they are; one that does not is ended."""
        for hand in self._busy():
            hand.tell(STOP)
        patience = Limits.of(STOP_SECONDS)
        with suppress(KeyboardInterrupt):
            while any(hand.task != HANDSHAKE for hand in self._busy()) and not patience.is_over:
                for _, unit, outcome in self._answers():
                    if isinstance(outcome, Played):
                        share.results[unit] = outcome
        for hand in self._busy():
            hand.kill()
            hand.task = None
            self._replaced(hand)

    # -- witnesses

    def shorten(self, found: Sequence[Found]) -> list[Witness]:
        waiting = deque(enumerate(found))
        short: dict[int, Witness] = {}

        def next_found() -> tuple[int, tuple[str, Any]] | None:
            if not waiting:
                return None
            number, one = waiting.popleft()
            return number, ("shorten", one)

        with suppress(RunlockError):  # a worker that was lost could not be replaced
            while waiting or len(short) < len(found):
                self._share_out(next_found)
                for _, number, outcome in self._answers():
                    short[number] = as_found(found[number]) if isinstance(outcome, Lost) else outcome
        return [short.get(number) or as_found(one) for number, one in enumerate(found)]

    def close(self) -> None:
        for hand in self._hands:
            hand.tell(STOP)
            hand.tell(None)
        for hand in self._hands:
            with suppress(Exception):
                hand.process.wait(GRACE_SECONDS)
            hand.kill()
        self._folder.cleanup()


__all__ = ["INTERRUPTED", "KitBroke", "Limits", "campaign", "concluded", "given_up_at", "merged"]
