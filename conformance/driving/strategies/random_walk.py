"""Random walks: each schedule is made move by move, over a random subset of the classes of action (swarm).

A walk proposes actions that are enabled, and prefers those that its shard has tried least in such a
situation.  One walk in three begins with a part of a script, so that what follows happens in a state that
random moves seldom reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from runlock.conformance.driving.bench import ERRORS_MAX, Bench, Schedule
from runlock.conformance.driving.schedule_ids import highest_ids
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.shards import SHARDS
from runlock.conformance.driving.strategies.scripted import Script, applicable, corpus, send
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.chooser import Chooser, Seeded, chance, pick
from runlock.conformance.family.parts import Actions
from runlock.conformance.protocol import Handshake, Scenario
from runlock.conformance.trace.moves import CRASH_AND_RECOVER, Move

LENGTHS: Final = range(2, 18)
"""How many moves a walk sends before the run is given everything that it waits for."""

TRIES_MAX: Final = 60
"""How often a walk may look for a move: an action that is enabled may still have nothing to propose."""

CURIOUS: Final = 3
"""All but one in this many walks prefer the actions that were tried least."""

SCRIPT_SHARE: Final = 3
"""One in this many walks begins with a part of a script."""

TURNS_MAX: Final = 7
"""Upper bound, exclusive, on the turns of a move with a limit."""


def swarm(actions: Actions, chooser: Chooser) -> list[str]:
    """A random subset of the classes of action; each class is included with probability one half."""
    kept = [
        name
        for name in actions.table
        if name in actions.always or chance(chooser, actions.seldom.get(name, 2))
    ]
    return weighted(actions, kept or list(actions.table))  # a family may have no class that is always on


def weighted(actions: Actions, names: Sequence[str]) -> list[str]:
    """Each class as often as it is likelier than others."""
    return [name for name in names for _ in range(actions.weights.get(name, 1))]


@dataclass(slots=True)
class Tried:
    """How often the walks of a shard tried each class of action, by the prerequisites that held then."""

    counts: Counter[tuple[frozenset[str], str]] = field(default_factory=Counter)

    def least(self, met: frozenset[str], names: Sequence[str], chooser: Chooser) -> str:
        """One of the classes that were tried least in this situation, which is then counted.

        A class that is listed twice may be tried twice as often.
        """
        tried = {name: self.counts[met, name] / weight for name, weight in Counter(names).items()}
        fewest = min(tried.values())
        name = pick(chooser, [one for one, times in tried.items() if times == fewest])
        self.counts[met, name] += 1
        return name


def walk(session: Session, chooser: Chooser, tried: Tried | None = None) -> None:
    """Walk on an open scenario, give the run everything that it still waits for, and close."""
    actions = session.family.actions
    names = swarm(actions, chooser) if chance(chooser, 2) else weighted(actions, [*actions.table])
    is_curious = not chance(chooser, CURIOUS)
    walk_over(session, chooser, names, (tried or Tried()) if is_curious else None)


def walk_over(session: Session, chooser: Chooser, names: Sequence[str], tried: Tried | None = None) -> None:
    """Walk over these classes: those that were tried least, or else each as often as it is listed."""
    actions = session.family.actions
    context = actions.new_context(session.state, highest_ids(session.sent))
    end = len(session.sent) + LENGTHS[chooser.choose(len(LENGTHS))]
    for _ in range(TRIES_MAX):
        if session.violation is not None or len(session.sent) >= end:
            break
        proposed = _proposed(actions, context, names, chooser, tried)
        if proposed is not None:
            session.send(with_turns(proposed, session.handshake, chooser))
    session.wind_up()
    session.close()


def _proposed(
    actions: Actions, context: Any, names: Sequence[str], chooser: Chooser, tried: Tried | None
) -> Move | None:
    met = frozenset(actions.met(context))
    needs = actions.prerequisites
    able = [name for name in names if name not in needs or needs[name] in met]
    if not able:
        return None
    name = pick(chooser, able) if tried is None else tried.least(met, able, chooser)
    return actions.table[name](context, chooser)


def with_turns(move: Move, handshake: Handshake, chooser: Chooser) -> Move:
    """The move, sometimes with a limit of turns, so that the next one arrives while the runtime works."""
    if handshake.control.step != "turns" or move.method == CRASH_AND_RECOVER:
        return move
    return Move(move.method, move.params, chooser.choose(TURNS_MAX)) if chance(chooser, 4) else move


def run_shard(bench: Bench, shard: int, schedules: int, seed: int) -> Tally:
    """Run one shard: walks with their own seeds, each in the next scenario."""
    tally, tried, scripts = Tally(), Tried(), scripts_of(bench)
    for index in range(schedules):
        chooser = Seeded(seed, shard, index)
        scenario, schedule = planned(bench, index * SHARDS + shard, scripts, tried, chooser)
        bench.play(scenario, schedule, tally)
        if len(tally.troubles) >= ERRORS_MAX:
            break
    return tally


def scripts_of(bench: Bench) -> list[Script]:
    """The scripts that fit a runtime."""
    return [one for one in corpus(bench.family) if fits(bench, one)]


def fits(bench: Bench, script: Script) -> bool:
    """Whether a script can be played on a runtime."""
    return not applicable(bench.family, script, bench.handshake)


def planned(
    bench: Bench, number: int, scripts: Sequence[Script], tried: Tried, chooser: Chooser
) -> tuple[Scenario, Schedule]:
    """The scenario and the schedule of the walk with this number."""
    at, kind = divmod(number, SCRIPT_SHARE)
    if kind == SCRIPT_SHARE - 1 and scripts:
        script = scripts[at % len(scripts)]
        part = script.moves[: 1 + chooser.choose(len(script.moves))]
        return continued(bench, replace(script, moves=part), chooser, tried)
    simple = not bench.combined or kind == 0
    among = bench.scenarios if simple else bench.combined
    return among[at % len(among)], partial(walk, chooser=chooser, tried=tried)


def continued(
    bench: Bench, script: Script, chooser: Chooser, tried: Tried | None = None
) -> tuple[Scenario, Schedule]:
    """The scenario of a script, and its moves with a walk behind them."""

    def schedule(session: Session) -> None:
        for move in script.moves:
            send(session, move)
        walk(session, chooser, tried)

    return bench.family.fitting.fitted(script.scenario, bench.handshake), schedule
