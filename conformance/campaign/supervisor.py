"""The supervisor: distributes the units of a campaign to workers, and merges the results in order.

Tallies are added in the order of the stages and their units, not in the order of arrival, so the result
does not depend on the number of workers.  A unit that fails permanently ends the campaign there: the
results of later units are dropped, even if they have been run.
"""

from __future__ import annotations

import signal
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol

from runlock.conformance.campaign.causes import grouped
from runlock.conformance.campaign.result import ClauseVerdict, Level, Result, Search, Toured
from runlock.conformance.campaign.stages import Order, Stage, stages_of
from runlock.conformance.campaign.units import Facts, Played, Unit
from runlock.conformance.campaign.verdicts import verdicts
from runlock.conformance.campaign.worker import STOP, KitBroke, as_found, bench_of, shortened
from runlock.conformance.campaign.worker_process import (
    GRACE_SECONDS,
    Lost,
    WorkerHandle,
    heard,
)
from runlock.conformance.driving.bench import ERRORS_MAX
from runlock.conformance.driving.findings import Trouble, Witness
from runlock.conformance.driving.shards import SHARDS
from runlock.conformance.driving.strategies.exhaustive import COUNTED
from runlock.conformance.driving.tally import Found, Tally
from runlock.conformance.errors import RunlockError, SutDied
from runlock.conformance.judging.selection import Selection
from runlock.conformance.protocol import SPEC_REVISION

INTERRUPTS: Final = (signal.SIGINT, signal.SIGTERM)
INTERRUPTED: Final = "it was interrupted"
OUT_OF_TIME: Final = "its time was over"
AT_THE_FIRST: Final = "it stopped at the first violation"
HANGS_MAX: Final = 2
"""Schedules that blocked their process, after which a campaign gives up: each of them takes long."""
HANDSHAKE: Final = "its handshake"
STOP_SECONDS: Final = 5.0
"""How long a worker may take to stop between two schedules, before its task is abandoned."""

Advanced = Callable[[int], None]
"""Called with the number of schedules that were run so far."""

Muted = frozenset[str]
"""Clauses that broke before, and mixed policies: the schedules go on without them."""

Expects = Callable[[int], None]
"""Called with the total number of schedules, once the family of the runtime is known."""


@dataclass(slots=True)
class Limits:
    """The limits of a campaign, and which of them cut it off."""

    deadline: float | None = None
    cut_off: str = ""
    is_terminated: bool = False  # by SIGTERM, after which little time is left

    @staticmethod
    def of(budget_seconds: float | None) -> Limits:
        """Limits that start now."""
        return Limits(None if budget_seconds is None else time.monotonic() + budget_seconds)

    @property
    def is_over(self) -> bool:
        """Whether the time is over, which is then the reason for the cut-off."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            self.cut_off = self.cut_off or OUT_OF_TIME
        return bool(self.cut_off)


class Workforce(Protocol):
    """Runs the units: in this process, in several worker processes, or on a cluster."""

    def facts(self) -> Facts:
        """The handshake of the runtime."""
        ...

    def play(
        self, units: Sequence[Unit], limits: Limits, advanced: Advanced, muted: Muted = frozenset()
    ) -> dict[Unit, Played]:
        """Run units until a limit is reached or a unit fails permanently."""
        ...

    def shorten(self, found: Sequence[Found]) -> list[Witness]:
        """Shrink witnesses, as far as the runtime still answers."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...


def campaign(
    order: Order,
    jobs: int,
    budget_seconds: float | None = None,
    advanced: Advanced = lambda _: None,
    expects: Expects = lambda _: None,
    on: str | None = None,
) -> Result:
    """Run a whole campaign; after an interrupt, return a partial result."""
    limits = Limits.of(budget_seconds)
    with employed(order, jobs, on) as workforce:
        facts = workforce.facts()
        stages = stages_of(order, facts.family)
        expects(sum(stage.schedules for stage in stages))
        units = [(at, unit) for at, stage in enumerate(stages) for unit in range(stage.units)]
        if order.first:
            played = workforce.play(units, limits, advanced)
        else:
            played = played_to_the_end(workforce, facts, units, limits, advanced)
        tally, hopeless = merged(units, played, first=order.first)
        witnesses = witnesses_of(workforce, tally, facts)
    partial = limits.cut_off or hopeless
    budget = _budget(order, budget_seconds)
    result = concluded(order, facts, tally, witnesses, budget=budget, partial=partial)
    result.search = search_of(order, stages, tally, played)
    return result


def played_to_the_end(
    workforce: Workforce,
    facts: Facts,
    units: Sequence[Unit],
    limits: Limits,
    advanced: Advanced,
    muted: Muted = frozenset(),
    before: Mapping[Unit, Played] = MappingProxyType({}),
) -> dict[Unit, Played]:
    """Run units, except those that were run before; repeat those that broke a clause with the broken clauses
    muted, until nothing more breaks.

    A schedule ends at its first violation, so each other clause is judged to the end only then.
    """
    played = {unit: before[unit] for unit in units if unit in before}
    played |= workforce.play([unit for unit in units if unit not in played], limits, advanced, muted)
    while not limits.is_over and given_up_at(units, played) is None:
        again = [unit for unit, one in played.items() if one.tally.cut_short]
        if not again:
            break
        muted = muted | broken_in(played.values(), facts)
        for unit, one in workforce.play(again, limits, lambda _: None, muted).items():
            one.tally.keep(played[unit].tally)
            played[unit] = one
    return played


def broken_in(played: Iterable[Played], facts: Facts) -> Muted:
    """The clauses that broke, and the open policies whose values the runtime mixes."""
    tally = Tally()
    for one in played:
        tally.keep(one.tally)
    return frozenset(tally.found.keys() | tally.mixed(facts.undeclared))


@contextmanager
def employed(order: Order, jobs: int, on: str | None = None) -> Iterator[Workforce]:
    """The runner of the units, closed at the end: this process, several, or the cluster at an address."""
    workforce = _workforce(order, jobs, on)
    try:
        yield workforce
    finally:
        workforce.close()


def _workforce(order: Order, jobs: int, on: str | None) -> Workforce:
    if on is not None:
        from runlock.conformance.campaign.on_cluster import ClusterWorkers  # it uses the pool

        return ClusterWorkers(order, on, jobs)
    return InProcessRunner(order) if jobs == 1 else WorkerPool(order, jobs)


def witnesses_of(workforce: Workforce, tally: Tally, facts: Facts) -> list[Witness]:
    """A shrunk witness for each broken clause."""
    tally.settle(facts.undeclared)
    short = made_short(workforce, [found for _, found in sorted(tally.found.items())])
    return grouped(short, facts, tally)


def search_of(
    order: Order, stages: Sequence[Stage], tally: Tally, played: Mapping[Unit, Played]
) -> Search | None:
    """How far every schedule was tried, if levels were requested."""
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
    skip = {"skip": list(order.skip)} if order.skip else {}
    again = {"replayed": len(order.again)} if order.again else {}
    return {"examples": order.examples, "seed": order.seed, "shards": SHARDS, **bound, **skip, **again}


def merged(units: Sequence[Unit], played: Mapping[Unit, Played], *, first: bool = False) -> tuple[Tally, str]:
    """The tallies in order, up to where the campaign ends; and why it does, if it does not run to its end."""
    tally = Tally()
    last = given_up_at(units, played, first=first)
    for unit in units:
        if unit in played:
            tally.add(played[unit].tally)
        if unit == last:
            gave_up = f"it gave up after {_schedules(len(tally.troubles))} that could not be judged"
            return tally, AT_THE_FIRST if first and tally.found else gave_up
    return tally, ""


def given_up_at(units: Sequence[Unit], played: Mapping[Unit, Played], *, first: bool = False) -> Unit | None:
    """The first unit, in their order, with too many consecutive schedules that could not be judged.

    With `first`, a unit with a violation ends the campaign too.
    """
    in_a_row = 0
    for unit in units:
        one = played.get(unit)
        if first and one is not None and one.tally.found:
            return unit
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
    """A shrunk witness for each clause; after an interrupt, the violation as it was found."""
    try:
        return workforce.shorten(found)
    except KeyboardInterrupt:  # immediately: the violations are shown as they were found
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
    """The whole result, with the reasons of the shrunk witnesses, and without skipped clauses."""
    skipped, kept = Selection(skip=order.skip), []
    found = {witness.clause: witness for witness in witnesses}
    shown = [one for one in witnesses if not (skipped.skips(one.clause) or skipped.skips(one.cause))]
    for one in verdicts(facts, tally):
        if not skipped.skips(one.id):
            kept.append(_explained(one, found.get(one.id), skipped))
    return Result(
        target=order.target,
        implementation=facts.handshake.implementation.to_wire(),
        profile=facts.handshake.profile,
        policies=facts.policies,
        spec=SPEC_REVISION,
        family_name=facts.family.name,
        budget=budget,
        schedules=tally.schedules,
        stimuli=tally.stimuli,
        partial=partial,
        clauses=kept,
        witnesses=shown,
        troubles=tally.troubles,
        warnings=list(facts.warnings),
        unjudged_policies=_unjudged(facts, tally),
        raised=list(tally.raised.values()),
        coverage=facts.family.coverage_targets(
            facts.handshake, facts.policies, facts.standings, tally.coverage
        ),
        tours=[
            Toured(*goal, played, tally.tours_reached[goal])
            for goal, played in sorted(tally.tours_played.items())
        ],
    )


def _unjudged(facts: Facts, tally: Tally) -> list[str]:
    """The declared policies that no check read, and none of whose clauses was exercised."""
    clauses = facts.family.spec.clauses
    exercised = {key for clause in tally.exercised for key in clauses[clause].applies}
    return [key for key in facts.policies if key not in tally.policies | exercised]


def _explained(verdict: ClauseVerdict, witness: Witness | None, skipped: Selection) -> ClauseVerdict:
    """The verdict with the reason of the witness; a symptom of a skipped violation decides nothing."""
    if witness is None:
        return verdict
    if witness.cause and skipped.skips(witness.cause):
        why = f"it broke only as a consequence of {witness.cause}, which is skipped"
        return replace(verdict, verdict="untested", why=why, offered=False)
    return replace(verdict, why=witness.reason)


class InProcessRunner:
    """This process runs all units, one after the other."""

    def __init__(self, order: Order) -> None:
        self._limits = Limits()
        self._advanced: Advanced = lambda _: None
        self._before = 0
        self._first = order.first
        self.bench = bench_of(order, self._between)

    def _between(self, played: int) -> bool:
        self._advanced(self._before + played)
        return not self._limits.is_over

    def facts(self) -> Facts:
        return self.bench.facts

    def play(
        self, units: Sequence[Unit], limits: Limits, advanced: Advanced, muted: Muted = frozenset()
    ) -> dict[Unit, Played]:
        self._limits, self._advanced, self._before = limits, advanced, 0
        self.bench.mute(muted)
        results: dict[Unit, Played] = {}
        with polite_interrupt(limits):
            for unit in units:
                if limits.is_over:
                    break
                results[unit] = self._played(unit, limits)
                self._before += self.bench.played
                if given_up_at(units, results, first=self._first) is not None:
                    break
        return results

    def _played(self, unit: Unit, limits: Limits) -> Played:
        try:
            return self.bench.unit(unit, self.bench.muted)
        except KeyboardInterrupt:
            limits.cut_off = INTERRUPTED
            with suppress(RunlockError):
                self._after_interrupt(limits)
            return Played(self.bench.tally, is_whole=False)

    def _after_interrupt(self, limits: Limits) -> None:
        """The runtime was stopped in the middle of a schedule."""
        if limits.is_terminated:
            self.bench.sut.kill()
        else:
            self.bench.renew()

    def shorten(self, found: Sequence[Found]) -> list[Witness]:
        return [as_found(one) if self._limits.is_terminated else shortened(self.bench, one) for one in found]

    def close(self) -> None:
        self.bench.close()


@contextmanager
def polite_interrupt(limits: Limits) -> Iterator[None]:
    """Let a first interrupt wait for the end of the schedule; a second one takes effect at once.

    The runtime could catch an exception in the middle of a schedule, and one in the middle of a message would
    break the conversation with a worker.
    """
    if threading.current_thread() is not threading.main_thread():  # signals can only be handled there
        yield
        return

    def interrupt(number: int, _: object) -> None:
        limits.cut_off = INTERRUPTED
        limits.is_terminated = limits.is_terminated or number == signal.SIGTERM
        for one in INTERRUPTS:
            signal.signal(one, signal.default_int_handler)
        if limits.is_terminated:  # a target that hangs would use up the time that is left
            raise KeyboardInterrupt

    before = {one: signal.signal(one, interrupt) for one in INTERRUPTS}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


@dataclass(slots=True)
class WorkQueue:
    """The units that are still to be run, and the schedules that ended their process."""

    units: Sequence[Unit]
    queue: deque[Unit]
    muted: Muted = frozenset()
    first: bool = False
    results: dict[Unit, Played] = field(default_factory=dict)
    losses: Counter[tuple[Unit, int]] = field(default_factory=Counter)
    left_out: dict[Unit, dict[int, Trouble]] = field(default_factory=dict)
    hangs: int = 0
    last: Unit | None = None  # where the campaign ends, as far as is known

    def done(self, unit: Unit, played: Played) -> None:
        """Record a result; units after the point where the campaign gave up are dropped."""
        self.results[unit] = played
        last = given_up_at(self.units, self.results, first=self.first)
        if last is not None:
            self.last = last
            self.queue = deque(other for other in self.queue if other < last)
            self.results = {other: one for other, one in self.results.items() if other <= last}

    def is_wanted(self, unit: Unit) -> bool:
        """Whether the campaign has not ended before this unit."""
        return self.last is None or unit <= self.last

    def lost(self, unit: Unit, schedule: int, trouble: Trouble, *, is_hung: bool = False) -> None:
        """Retry a unit; one that has blocked its process, or ended it twice, is left out."""
        self.losses[unit, schedule] += 1
        self.hangs += is_hung
        if is_hung or self.losses[unit, schedule] > 1:
            self.left_out.setdefault(unit, {})[schedule] = trouble
        if self.hangs >= HANGS_MAX:
            troubles = [*self.left_out.get(unit, {}).values()]
            self.done(unit, Played(Tally(troubles=troubles), is_whole=False, is_hopeless=True))
        else:
            self.queue.appendleft(unit)

    @property
    def schedules(self) -> int:
        """The number of schedules that were run and recorded."""
        return sum(played.tally.schedules for played in self.results.values())


class WorkerPool:
    """Several worker processes; one that is lost is replaced."""

    def __init__(self, order: Order, jobs: int, folder: str | None = None) -> None:
        self._order = order
        self._folder = tempfile.TemporaryDirectory(prefix="runlock-", dir=folder)
        self._journals = 0
        self._facts: Facts | None = None
        self._limits = Limits()
        self._blame = "SUT" if order.target.startswith("py:") else "kit"
        self._workers = [self._hired() for _ in range(jobs)]

    def _hired(self) -> WorkerHandle:
        self._journals += 1
        return WorkerHandle(self._order, Path(self._folder.name, f"journal-{self._journals}.jsonl"))

    def facts(self) -> Facts:
        if self._facts is None:
            for worker in self._workers:
                worker.task = HANDSHAKE
        while self._facts is None:
            for worker, message in heard(self._workers):
                self._met(worker, message)
        return self._facts

    def _met(self, worker: WorkerHandle, message: Any) -> None:
        """Handle a worker's start-up message."""
        if isinstance(message, Lost):
            raise SutDied(f"{message}", "It should answer the handshake and wait.")
        kind, said = message
        if kind == "refused":
            raise said
        worker.task = None
        self._facts = self._facts or said

    def _share_out(self, tasks: Callable[[], tuple[Any, tuple[str, Any]] | None]) -> None:
        for worker in self._workers:
            if worker.task is None:
                given = tasks()
                if given is None:
                    return
                worker.task, message = given
                worker.at = 0
                worker.tell(message)

    def _replaced(self, worker: WorkerHandle) -> None:
        hired = self._hired()
        hired.task = HANDSHAKE
        self._workers[self._workers.index(worker)] = hired

    def _busy(self) -> list[WorkerHandle]:
        return [worker for worker in self._workers if worker.task is not None]

    def _answers(self) -> Iterator[tuple[WorkerHandle, Any, Any]]:
        """Each worker that ended its task, the task, and its result or how it was lost."""
        for worker, message in list(heard(self._workers)):
            if worker.task == HANDSHAKE:
                self._met(worker, message)
            elif isinstance(message, Lost):
                task, worker.task = worker.task, None
                self._replaced(worker)
                yield worker, task, message
            elif message[0] == "at":
                worker.at = message[1]
            elif message[0] == "broke":
                raise message[1]
            else:
                task, worker.task = worker.task, None
                yield worker, task, message[1]

    # -- units

    def play(
        self, units: Sequence[Unit], limits: Limits, advanced: Advanced, muted: Muted = frozenset()
    ) -> dict[Unit, Played]:
        share = WorkQueue(units, deque(units), muted, self._order.first)
        self._limits = limits
        with polite_interrupt(limits):
            try:
                self._play(share, limits, advanced)
            except KeyboardInterrupt:
                limits.cut_off = INTERRUPTED
            except RunlockError as error:
                limits.cut_off = f"a worker that was lost could not be replaced: {error}"
            if limits.cut_off:
                self._stop(share)
        return share.results

    def _play(self, share: WorkQueue, limits: Limits, advanced: Advanced) -> None:
        def next_unit() -> tuple[Unit, tuple[str, Any]] | None:
            if not share.queue:
                return None
            unit = share.queue.popleft()
            return unit, ("play", (unit, share.muted, share.left_out.get(unit, {})))

        while (share.queue or self._busy()) and not limits.is_over:
            self._share_out(next_unit)
            for worker, unit, outcome in self._answers():
                self._enter(share, worker, unit, outcome)
            advanced(share.schedules + sum(worker.at for worker in self._busy()))

    def _enter(self, share: WorkQueue, worker: WorkerHandle, unit: Unit, outcome: Played | Lost) -> None:
        if isinstance(outcome, Lost):
            blame = "SUT" if outcome.is_hung and outcome.verb else self._blame
            trouble = Trouble(blame, str(outcome), outcome.trace)
            share.lost(unit, worker.at + 1, trouble, is_hung=outcome.is_hung)
        else:
            share.done(unit, outcome)

    def _stop(self, share: WorkQueue) -> None:
        """Ask the workers to stop their units; kill one that does not."""
        for worker in self._busy():
            worker.tell(STOP)
        patience = Limits.of(STOP_SECONDS)
        with suppress(KeyboardInterrupt):
            while any(worker.task != HANDSHAKE for worker in self._busy()) and not patience.is_over:
                for _, unit, outcome in self._answers():
                    if isinstance(outcome, Played):
                        share.results[unit] = outcome
        for worker in self._busy():
            worker.kill()
            worker.task = None
            if not self._limits.is_terminated:
                self._replaced(worker)

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
            while not self._limits.is_terminated and (waiting or len(short) < len(found)):
                self._share_out(next_found)
                for _, number, outcome in self._answers():
                    short[number] = as_found(found[number]) if isinstance(outcome, Lost) else outcome
        return [short.get(number) or as_found(one) for number, one in enumerate(found)]

    def close(self) -> None:
        for worker in self._workers:
            worker.tell(STOP)
            worker.tell(None)
        for worker in self._workers:
            with suppress(Exception):
                worker.process.wait(GRACE_SECONDS)
            worker.kill()
        self._folder.cleanup()


__all__ = ["INTERRUPTED", "KitBroke", "Limits", "campaign", "concluded", "given_up_at", "merged"]
