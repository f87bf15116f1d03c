"""How many schedules each way of searching needs to find each mutant, in one run with one judge.

    python tests/benchmarks/power.py [SEEDS] [CAP]

Three ways are compared on the same runtimes, actions and judge: a naive walk that acts only while the
runtime is quiescent, a naive walk that also acts between its turns, and the walk that the kit takes, over
a random part of the classes of action.  A search that finds nothing within CAP schedules counts as CAP,
and is listed; nothing is averaged over survivors.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable

from interlock.conformance.actions import ACTIONS
from interlock.conformance.campaign import Bench, Tally
from interlock.conformance.chooser import Chooser, Seeded
from interlock.conformance.hosted import Hosted
from interlock.conformance.mutants import MUTANTS, Mutant
from interlock.conformance.session import Session
from interlock.conformance.walk import walk, walk_over

Way = Callable[[Session, Chooser], None]


def naive(session: Session, chooser: Chooser) -> None:
    """All classes alike, also between the turns of the runtime."""
    walk_over(session, chooser, list(ACTIONS))


def quiet(session: Session, chooser: Chooser) -> None:
    """All classes alike, only while the runtime is quiescent."""
    session.account.handshake = session.handshake.model_copy(
        update={"control": session.handshake.control.model_copy(update={"step": "none"})}
    )
    naive(session, chooser)


WAYS: dict[str, Way] = {"naive, quiescent": quiet, "naive": naive, "swarm": walk}


def schedules_to_kill(mutant: Mutant, way: Way, seed: int, cap: int) -> int | None:
    """How many schedules until the mutant's clause is blamed, or nothing within the cap."""
    bench = Bench(lambda: Hosted(mutant))
    for index in range(cap):
        tally = Tally()
        scenario = bench.scenarios[index % len(bench.scenarios)]
        chooser = Seeded(seed, index)
        bench.play(scenario, lambda session, chooser=chooser: way(session, chooser), tally)
        if mutant.clause in tally.found:
            return index + 1
    return None


def main() -> None:
    """Print the table."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    cap = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    print(f"{len(MUTANTS)} mutants, {seeds} seeds, at most {cap} schedules each\n")
    print(f"{'way':18} {'found':>9} {'median':>7} {'geometric mean':>15} {'total':>8}  never found")
    for name, way in WAYS.items():
        needed = {m.name: [schedules_to_kill(m, way, seed, cap) for seed in range(seeds)] for m in MUTANTS}
        flat = [count or cap for counts in needed.values() for count in counts]
        found = sum(count is not None for counts in needed.values() for count in counts)
        never = [mutant for mutant, counts in needed.items() if not any(counts)]
        mean = statistics.geometric_mean(flat)
        row = f"{found:>4}/{len(flat):<4} {statistics.median(flat):>7.1f} {mean:>15.1f} {sum(flat):>8}"
        print(f"{name:18} {row}  {', '.join(never) or '-'}", flush=True)


if __name__ == "__main__":
    main()
