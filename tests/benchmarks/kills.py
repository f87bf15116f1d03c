"""A long campaign of kills: lives of the reference that die at drawn instants, up to four times in a row.

    python tests/benchmarks/kills.py [RUNS] [SEED]

For each case of tests/machines/killed.py that many runs; the deaths are drawn from a seed, and each one
that showed something wrong is named by its instants, so that it can be played again.
"""

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "doubles"))

from kill_campaign import CASES, Outcome, calm_life, play
from kill_points import at_line, in_store, instants, tear

DEATHS_MAX = 4
FILE_BYTES_MAX = 40_000


def drawn(chance, lines, in_store_max):
    """A way to die, and its instant."""
    way = chance.choice((at_line, in_store, tear))
    most = {at_line: lines, in_store: in_store_max, tear: FILE_BYTES_MAX}[way]
    return way, chance.randint(1, most)


def campaign(case, runs, seed):
    """Play this many runs of a case; how many lives died, and what went wrong."""
    chance, outcome = random.Random(seed), Outcome()
    calm, (lines, store) = calm_life(case), instants(case)
    for _ in range(runs):
        deaths = [drawn(chance, lines, len(store)) for _ in range(chance.randint(1, DEATHS_MAX))]
        play(case, calm, deaths, outcome)
    return outcome


def main(runs, seed):
    """Print a line for each case, and for each thing that went wrong; the exit code."""
    wrong = []
    print(f"{'case':<14}{'runs':>8}{'deaths':>8}{'wrong':>8}")
    for name, case in CASES.items():
        outcome = campaign(case, runs, seed)
        print(f"{name:<14}{runs:>8}{outcome.deaths:>8}{len(outcome.wrong):>8}", flush=True)
        wrong += outcome.wrong
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    sys.exit(main(*[*numbers, *(2000, 1)[len(numbers) :]]))
