"""How many schedules tours need to take every arrow and pair of arrows, against walks, in one run.

    python tests/benchmarks/tours.py [WALKS]

For each profile of the reference: the goals, how many of them one round of tours reaches and in how many
schedules three rounds reach all that they can, and what as many walks, and WALKS of them, reach.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "doubles"))

from tour_bench import PROFILES, ROUNDS, bench_of, toured, walked

from runlock.conformance.families.lifecycle.chart_tours import goals, is_reached


def reached(bench, tally):
    """How many goals were reached, by whatever schedule."""
    return sum(is_reached(goal, tally.coverage) for goal in goals(bench))


def main(walks):
    """Print a line for each profile."""
    print(f"{'profile':<20}{'goals':>6}{'tours':>14}{'as many walks':>16}{f'{walks} walks':>14}")
    for profile in PROFILES:
        bench = bench_of(profile)
        tours = toured(bench, ROUNDS)
        few, many = walked(bench, tours.schedules), walked(bench, walks)
        shown = f"{reached(bench, tours)} in {tours.schedules}"
        print(
            f"{profile:<20}{len(goals(bench)):>6}{shown:>14}"
            f"{reached(bench, few):>16}{reached(bench, many):>14}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 500)
