"""How many schedules and stimuli a campaign needs until a mutant dies.

    python tests/benchmarks/hunt.py [EXAMPLES] [EVERY] [CHECKOUT]

One of EVERY mutants of each family (1 unless told otherwise) meets a campaign of EXAMPLES schedules (300), as
`runlock selftest` plays it: the scripts, then walks, the Hypothesis machine and tours by turns.  With a
CHECKOUT, an older copy of the project, the same is measured of that, and the table has the ratio.  A mutant
that lives counts as the most expensive one that died.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from runlock.conformance.campaign.order import Sampled
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.family import Family, family_named, family_names
from runlock.conformance.selftest.mutation_testing import MutantRun, portions

SEED: Final = 1
COSTS: Final = ("schedules", "stimuli")


class Hunt(MutantRun):
    """Counts the stimuli as well."""

    stimuli = 0

    def enter(self, session: Session, tally: Tally) -> None:
        self.stimuli += session.state.stimuli
        super().enter(session, tally)


def hunted(family: Family, name: str, examples: int) -> dict[str, int] | None:
    """What it took until the mutant was blamed on its clause, or None."""
    mutant = family.made.mutants()[name]
    with closing(Hunt(lambda: family.host(mutant), mutant.clause)) as run:
        run.mute(mutant.also if mutant.is_masked else ())
        run.run(portions(family, Sampled(examples, SEED)))
        return {"schedules": run.schedules, "stimuli": run.stimuli} if run.found is not None else None


def measured(examples: int, every: int) -> dict[str, dict[str, Any]]:
    """By family and mutant, what it took."""
    families = [family_named(name) for name in family_names()]
    return {
        family.name: {name: hunted(family, name, examples) for name in sorted(family.made.mutants())[::every]}
        for family in families
    }


def measured_of(checkout: str, examples: int, every: int) -> dict[str, dict[str, Any]]:
    """The same, of an older copy of the project."""
    words = [sys.executable, __file__, str(examples), str(every), "--json"]
    environment = os.environ | {"PYTHONPATH": str(Path(checkout) / ".links")}
    ran = subprocess.run(words, env=environment, capture_output=True, check=True)
    found: dict[str, dict[str, Any]] = json.loads(ran.stdout)
    return found


def at(share: float, costs: Sequence[int]) -> int:
    """The cost that this share of the mutants does not exceed."""
    return sorted(costs)[min(int(share * len(costs)), len(costs) - 1)]


def costs_of(found: dict[str, Any], names: Sequence[str], what: str) -> list[int]:
    """The cost of each mutant; one that lives costs as much as the most expensive one that died."""
    known = [found[name][what] for name in names if found[name] is not None]
    return [found[name][what] if found[name] is not None else max(known) for name in names]


def main(examples: int, every: int, checkout: str | None) -> None:
    """Print a line for each family and cost, and the mutants that live."""
    now = measured(examples, every)
    before = measured_of(checkout, examples, every) if checkout is not None else now
    print(f"{'family':<14}{'cost':<11}{'mutants':>8}{'live':>6}{'median':>8}{'90 %':>8}{'ratios':>14}")
    for family, found in now.items():
        names = [name for name in found if name in before[family]]
        for what in COSTS:
            costs, old = costs_of(found, names, what), costs_of(before[family], names, what)
            ratios = [f"{at(share, costs) / max(at(share, old), 1):7.2f}" for share in (0.5, 0.9)]
            live = sum(found[name] is None for name in names)
            line = f"{family:<14}{what:<11}{len(names):>8}{live:>6}{at(0.5, costs):>8}{at(0.9, costs):>8}"
            print(line, *ratios, sep="", flush=True)
        print(*(f"  lives: {name}" for name in names if found[name] is None), sep="\n")


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if word != "--json"]
    counts = [*(int(word) for word in given[:2]), *(300, 1)[len(given[:2]) :]]
    if "--json" in sys.argv:
        print(json.dumps(measured(counts[0], counts[1])))
    else:
        main(counts[0], counts[1], given[2] if len(given) > 2 else None)
