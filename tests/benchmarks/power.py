"""How many schedules each way of searching needs to blame each mutant on its clause, in one run.

    python tests/benchmarks/power.py [--seeds 20] [--cap 1000] [--every 1] [--jobs 2] [--raw FILE]
                                     [--others SEEDS] [--others-every N] [--others-cap CAP]

The portfolio is what a mutant of `runlock selftest` is hunted with.  The other ways play the same runtimes
under the same judge with the same classes of action; they are dear, so that they may be given fewer seeds,
fewer mutants and a lower cap.  A search that finds nothing within its cap counts as the cap, so that a lower
one favours who has it, and is listed as missed; nothing is averaged over what was found alone.

The tables are Markdown: the portfolio over all of its seeds, then all ways over the searches that every one
of them has ended.  With a raw file each search is written down when it ends, and one that stands there is
not made again, so that a long campaign can be stopped and taken up.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test

from runlock.conformance.campaign.order import Sampled
from runlock.conformance.campaign.stages import SCRIPTED
from runlock.conformance.cli.commands.check import EXAMPLES
from runlock.conformance.driving.bench import ERRORS_MAX
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.shards import SHARDS
from runlock.conformance.driving.strategies.hypothesis_machine import (
    Drawing,
    Gathering,
    Machine,
    generate,
)
from runlock.conformance.driving.strategies.random_walk import walk, walk_over
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.actions import ACTIONS
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.mutants import MUTANTS, Mutant
from runlock.conformance.family.chooser import Chooser, Seeded
from runlock.conformance.selftest.mutation_testing import MutantRun, by_turns, scripts

Walk = Callable[[Session, Chooser], None]
Way = Callable[[MutantRun, int], None]


@dataclass(frozen=True, slots=True)
class Search:
    """One search: a way, a mutant, a seed, and how many schedules it took, or nothing within the cap."""

    way: str
    mutant: str
    seed: int
    cap: int
    schedules: int | None = None
    seconds: float = 0.0
    by: str = ""  # the stage of the portfolio that found it

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
    session.state.handshake = session.handshake.model_copy(
        update={"control": session.handshake.control.model_copy(update={"step": "none"})}
    )
    naive(session, chooser)


def walks(step: Walk) -> Way:
    """One walk after the other, each in the next scenario, as long as they can be judged."""

    def way(hunt: MutantRun, seed: int) -> None:
        tally = Tally()
        for index in count():
            chooser = Seeded(seed, index)
            scenario = hunt.scenarios[index % len(hunt.scenarios)]
            hunt.play(scenario, lambda session, chooser=chooser: step(session, chooser), tally)  # type: ignore[misc]
            if len(tally.troubles) >= ERRORS_MAX:
                return

    return way


def machine(hunt: MutantRun, seed: int) -> None:
    """The machine of the kit: rules that know their occasions, and schedules of twenty steps."""
    generate(hunt, hunt.cap or EXAMPLES, seed, Tally())


def plain_machine(hunt: MutantRun, seed_number: int) -> None:
    """What one writes first: a rule for each class of action, any of them at any time, by the defaults."""
    rules = {name: _rule(name) for name in ACTIONS if name != "kill"}
    made = type("PlainMachine", (Gathering,), {**rules, "bench": hunt, "tally": Tally()})
    defaults = settings(
        max_examples=hunt.cap or EXAMPLES,
        phases=(Phase.generate,),
        deadline=None,
        database=None,
        suppress_health_check=tuple(HealthCheck),
    )
    run_state_machine_as_test(with_seed(seed_number)(made), settings=defaults)


def _rule(name: str) -> Any:
    def act(self: Machine, data: st.DataObject) -> None:
        self.act(name, Drawing(data))

    act.__name__ = name
    return rule(data=st.data())(act)


PORTFOLIO = "portfolio"
WAYS: dict[str, Way] = {
    "naive walk, quiescent": walks(quiet),
    "naive walk, with turns": walks(naive),
    "plain Hypothesis machine": plain_machine,
    "the kit's Hypothesis machine": machine,
    "swarm walk": walks(walk),
}
"""The ways that the portfolio is compared with."""


def searched(searches: Sequence[Search]) -> list[Search]:
    """Make these searches for one mutant in one way, which differ by their seeds."""
    first = searches[0]
    mutant = next(one for one in MUTANTS if one.name == first.mutant)
    if first.way == PORTFOLIO:
        return _by_portfolio(mutant, searches)
    return [_searched(mutant, one, lambda hunt, one=one: WAYS[one.way](hunt, one.seed)) for one in searches]  # type: ignore[misc]


def _by_portfolio(mutant: Mutant, searches: Sequence[Search]) -> list[Search]:
    """The scripts, which are the same for every seed and are played once; then the turns of each seed."""
    scripted: list[MutantRun] = []

    def play_scripts(hunt: MutantRun) -> None:
        scripted.append(hunt)
        hunt.run(scripts(FAMILY, Sampled(EXAMPLES)))

    first = replace(_searched(mutant, searches[0], play_scripts), by=SCRIPTED)
    if first.schedules is not None:
        return [replace(first, seed=one.seed) for one in searches]

    def play_turns(hunt: MutantRun, seed: int) -> None:
        hunt.schedules = scripted[0].schedules
        hunt.run(by_turns(FAMILY, Sampled(EXAMPLES, seed), SHARDS))

    return [_searched(mutant, one, lambda hunt, one=one: play_turns(hunt, one.seed)) for one in searches]  # type: ignore[misc]


def _searched(mutant: Mutant, search: Search, play: Callable[[MutantRun], None]) -> Search:
    began = time.process_time()
    hunt = MutantRun(lambda: Hosted(mutant), mutant.clause, search.cap)
    with hunt.until_over():
        play(hunt)
    taken = hunt.blamed.get(mutant.clause)
    hunt.close()
    return replace(search, schedules=taken, seconds=round(time.process_time() - began, 2))


# --- the tables ---------------------------------------------------------------------------------


def of_the_portfolio(made: Sequence[Search]) -> Iterator[str]:
    """How soon the portfolio finds each mutant, and those that it owes to no script."""
    found = sorted(one.schedules for one in made if one.schedules is not None)
    yield "| searches | found | by a script | within 10 | within 100 | within 1000 | median | most |"
    yield "|---:|---:|---:|---:|---:|---:|---:|---:|"
    scripted = sum(one.by == SCRIPTED for one in made) / len(made)
    shares = " | ".join(
        f"{share:.1%}" for share in (scripted, *(_share(made, most) for most in (10, 100, 1000)))
    )
    yield f"| {len(made)} | {len(found)} | {shares} | {median(found):g} | {found[-1]} |"
    yield ""
    yield "| mutant that no script finds | median | most | missed |"
    yield "|---|---:|---:|---:|"
    for mutant in dict.fromkeys(one.mutant for one in made if one.by != SCRIPTED):
        taken = [one.schedules or one.cap for one in made if one.mutant == mutant]
        missed = sum(one.schedules is None for one in made if one.mutant == mutant)
        yield f"| {mutant} | {median(taken):g} | {max(taken)} | {missed} |"


def of_all_ways(made: Sequence[Search]) -> Iterator[str]:
    """A row for each way, then one for each mutant."""
    ways = [way for way in (*WAYS, PORTFOLIO) if any(one.way == way for one in made)]
    best = _mean([one for one in made if one.way == PORTFOLIO])
    yield "| way | cap | found | within 10 | within 100 | geometric mean | ratio | CPU s | never found |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
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
    mean = _mean(made)
    spent = sum(one.seconds for one in made)
    return (
        f"| {way} | {made[0].cap} | {len(found)} of {len(made)} | {_share(made, 10):.0%} "
        f"| {_share(made, 100):.0%} | {mean:.1f} | {mean / best:.1f} | {spent:.0f} "
        f"| {len(never)} of {len(mutants)} |"
    )


def _share(made: Sequence[Search], most: int) -> float:
    return sum(one.schedules is not None and one.schedules <= most for one in made) / len(made)


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
    left: dict[tuple[str, str], list[Search]] = {}
    for one in wanted:
        if one.key not in made:
            left.setdefault((one.way, one.mutant), []).append(one)
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        for future in as_completed([pool.submit(searched, some) for some in left.values()]):
            made |= {one.key: one for one in future.result()}
            _write(raw, future.result())
    return [made[one.key] for one in wanted]


def _write(raw: Path | None, made: Sequence[Search]) -> None:
    if raw is not None:
        with raw.open("a") as file:
            file.writelines(json.dumps(asdict(one)) + "\n" for one in made)


def _written(raw: Path | None) -> Iterator[Search]:
    if raw is not None and raw.exists():
        yield from (Search(**json.loads(line)) for line in raw.read_text().splitlines())


def whole(made: Sequence[Search]) -> list[Search]:
    """The searches of each mutant and seed that every way has ended, so that no way is spared a hard one."""
    ended = Counter((one.mutant, one.seed) for one in made)
    return [one for one in made if ended[one.mutant, one.seed] > len(WAYS)]


def wanted_of(given: argparse.Namespace) -> list[Search]:
    """The portfolio for every mutant and seed, then the other ways for as many as they were given."""
    portfolios = [
        Search(PORTFOLIO, mutant.name, seed, given.cap)
        for mutant in MUTANTS[:: given.every]
        for seed in range(given.seeds)
    ]
    others = [
        Search(way, mutant.name, seed, given.others_cap)
        for mutant in MUTANTS[:: given.others_every]
        for way in WAYS
        for seed in range(given.others)
    ]
    return [*portfolios, *others]


def main() -> None:
    """Make the searches and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--cap", type=int, default=1000)
    parser.add_argument("--every", type=int, default=1, help="take one of so many mutants")
    parser.add_argument("--others", type=int, default=20, help="seeds of the other ways")
    parser.add_argument("--others-every", type=int, default=1)
    parser.add_argument("--others-cap", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--raw", type=Path, help="where each search is written down")
    parser.add_argument("--table", action="store_true", help="search nothing; show what is written down")
    given = parser.parse_args()
    _show(list(_written(given.raw)) if given.table else run(wanted_of(given), given.jobs, given.raw))


def _show(made: Sequence[Search]) -> None:
    portfolios, compared = [one for one in made if one.way == PORTFOLIO], whole(made)
    for some, table in ((portfolios, of_the_portfolio), (compared, of_all_ways)):
        mutants, seeds = {one.mutant for one in some}, {one.seed for one in some}
        print(f"{len(mutants)} mutants, seeds {min(seeds, default=0)} to {max(seeds, default=0)}.\n")
        if some:
            print("\n".join(table(some)), end="\n\n")


if __name__ == "__main__":
    main()
