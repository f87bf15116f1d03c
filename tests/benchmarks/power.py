"""How many schedules each way of searching needs to blame each mutant on its clause, in one run.

    python tests/benchmarks/power.py [--seeds 20] [--cap 1000] [--every 1] [--jobs 2] [--raw FILE]

All ways play the same runtimes under the same judge with the same classes of action.  A search that finds
nothing within the cap counts as the cap and is listed as a survivor; nothing is averaged over survivors
alone.  The table is Markdown.  With a raw file each search is written down when it ends, and one that
stands there is not made again, so that a long campaign can be stopped and taken up.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from statistics import geometric_mean

from interlock.conformance.actions import ACTIONS
from interlock.conformance.campaign import Tally
from interlock.conformance.chooser import Chooser, Seeded
from interlock.conformance.commands.check import EXAMPLES
from interlock.conformance.hosted import Hosted
from interlock.conformance.kills import Hunt, portions
from interlock.conformance.mutants import MUTANTS
from interlock.conformance.session import Session
from interlock.conformance.stages import Order
from interlock.conformance.suite import generate
from interlock.conformance.walk import walk, walk_over

Walk = Callable[[Session, Chooser], None]
Way = Callable[[Hunt, int], None]


@dataclass(frozen=True, slots=True)
class Search:
    """One search: a way, a mutant, a seed, and how many schedules it took, or nothing within the cap."""

    way: str
    mutant: str
    seed: int
    cap: int
    schedules: int | None = None
    seconds: float = 0.0

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What tells it from every other search."""
        return (self.way, self.mutant, self.seed, self.cap)


# --- the ways -----------------------------------------------------------------------------------


def naive(session: Session, chooser: Chooser) -> None:
    """All classes alike, also between the turns of the runtime."""
    walk_over(session, chooser, list(ACTIONS))


def quiet(session: Session, chooser: Chooser) -> None:
    """All classes alike, only while the runtime is quiescent."""
    session.account.handshake = session.handshake.model_copy(
        update={"control": session.handshake.control.model_copy(update={"step": "none"})}
    )
    naive(session, chooser)


def walks(step: Walk) -> Way:
    """One walk after the other, each in the next scenario."""

    def way(hunt: Hunt, seed: int) -> None:
        for index in count():
            chooser = Seeded(seed, index)
            scenario = hunt.scenarios[index % len(hunt.scenarios)]
            hunt.play(scenario, lambda session, chooser=chooser: step(session, chooser), Tally())  # type: ignore[misc]

    return way


def machine(hunt: Hunt, seed: int) -> None:
    """A rule for each class of action, as Hypothesis draws them."""
    generate(hunt, hunt.cap or EXAMPLES, seed, Tally())


def portfolio(hunt: Hunt, seed: int) -> None:
    """What `check` plays: scripted scenarios, then swarm walks and the machine by turns."""
    hunt.run(portions(Order("", EXAMPLES, seed)))


WAYS: dict[str, Way] = {
    "naive walk, quiescent": walks(quiet),
    "naive walk, with turns": walks(naive),
    "Hypothesis machine": machine,
    "swarm walk": walks(walk),
    "portfolio": portfolio,
}


def searched(search: Search) -> Search:
    """Make one search."""
    mutant = next(one for one in MUTANTS if one.name == search.mutant)
    began = time.process_time()
    hunt = Hunt(lambda: Hosted(mutant), mutant.clause, search.cap)
    with hunt.until_over():
        WAYS[search.way](hunt, search.seed)
    taken = hunt.blamed.get(mutant.clause)
    hunt.close()
    return Search(*search.key, schedules=taken, seconds=round(time.process_time() - began, 2))


# --- the table ----------------------------------------------------------------------------------


def table(made: Sequence[Search]) -> Iterator[str]:
    """A row for each way, then one for each mutant that some way did not always find soon."""
    ways = [way for way in WAYS if any(one.way == way for one in made)]
    best = _mean([one for one in made if one.way == ways[-1]])
    yield "| way | found | within 10 | within 100 | geometric mean | ratio | CPU seconds | never found |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for way in ways:
        yield _row_of(way, [one for one in made if one.way == way], best)
    yield ""
    yield f"| mutant | {' | '.join(ways)} |"
    yield "|---|" + "---:|" * len(ways)
    for mutant in dict.fromkeys(one.mutant for one in made):
        cells = [_cell([one for one in made if (one.way, one.mutant) == (way, mutant)]) for way in ways]
        yield f"| {mutant} | {' | '.join(cells)} |"


def _row_of(way: str, made: Sequence[Search], best: float) -> str:
    found = [one for one in made if one.schedules is not None]
    mutants = {one.mutant for one in made}
    never = mutants - {one.mutant for one in found}
    shares = [sum((one.schedules or 0) <= most for one in found) / len(made) for most in (10, 100)]
    mean = _mean(made)
    spent = sum(one.seconds for one in made)
    return (
        f"| {way} | {len(found)} of {len(made)} | {shares[0]:.0%} | {shares[1]:.0%} "
        f"| {mean:.1f} | {mean / best:.1f} | {spent:.0f} | {len(never)} of {len(mutants)} |"
    )


def _mean(made: Sequence[Search]) -> float:
    return geometric_mean([one.schedules or one.cap for one in made])


def _cell(made: Sequence[Search]) -> str:
    """The geometric mean, with how many of the seeds found nothing."""
    missed = sum(one.schedules is None for one in made)
    if missed == len(made):
        return "never" if made else ""
    return f"{_mean(made):.1f}" + (f" ({missed} missed)" if missed else "")


# --- the run ------------------------------------------------------------------------------------


def run(wanted: Sequence[Search], jobs: int, raw: Path | None) -> list[Search]:
    """Make the searches that are not written down yet; gives all that were wanted, in their order."""
    made = {one.key: one for one in _written(raw)}
    left = [one for one in wanted if one.key not in made]
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        for future in as_completed([pool.submit(searched, one) for one in left]):
            one = future.result()
            made[one.key] = one
            if raw is not None:
                with raw.open("a") as file:
                    file.write(json.dumps(asdict(one)) + "\n")
    return [made[one.key] for one in wanted]


def _written(raw: Path | None) -> Iterator[Search]:
    if raw is not None and raw.exists():
        yield from (Search(**json.loads(line)) for line in raw.read_text().splitlines())


def whole(made: Sequence[Search]) -> list[Search]:
    """The searches of each mutant and seed that every way has ended, so that no way is spared a hard one."""
    ended = Counter((one.mutant, one.seed) for one in made)
    return [one for one in made if ended[one.mutant, one.seed] == len(WAYS)]


def main() -> None:
    """Make the searches and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--cap", type=int, default=1000)
    parser.add_argument("--every", type=int, default=1, help="take one of so many mutants")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--raw", type=Path, help="where each search is written down")
    parser.add_argument("--table", action="store_true", help="search nothing; show what is written down")
    given = parser.parse_args()
    if given.table:
        _show(whole(list(_written(given.raw))))
        return
    chosen = MUTANTS[:: given.every]
    wanted = [
        Search(way, mutant.name, seed, given.cap)
        for seed in range(given.seeds)
        for mutant in chosen
        for way in WAYS
    ]
    _show(run(wanted, given.jobs, given.raw))


def _show(made: Sequence[Search]) -> None:
    mutants, seeds = {one.mutant for one in made}, {one.seed for one in made}
    cap = max((one.cap for one in made), default=0)
    print(f"{len(mutants)} mutants, {len(seeds)} seeds, censored at {cap} schedules.\n")
    print("\n".join(table(made)))


if __name__ == "__main__":
    main()
