"""`runlock explore`: every state that the joint charts can be in, and what the clauses say of each."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.errors import UsageError
from runlock.conformance.family.exploration import Asked, Estimate, Exploration
from runlock.conformance.family.family import Family, families, family_of_profile
from runlock.conformance.report import state_space as report
from runlock.conformance.report.console import Page
from runlock.diagrams.of_family import drawing

DEFAULT: Final = "awaken-8"
WORTH_A_WORD: Final = 2_000_000
"""From so many states on an exploration is announced before it starts."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for on the command line, apart from the model."""

    calls: int
    resuspensions: int | None
    cancels: int | None
    crashes: int | None
    policies: Sequence[str]
    symmetry: bool
    max_states: int | None
    budget: float | None
    dot: Path | None
    graph: Path | None
    as_json: bool


def run(model: str, wish: Wish) -> int:
    """Run the whole command; the exit code."""
    family, exploration = _model(model)
    _refuse(wish)
    with results() as stdout:
        explored = exploration.explore(model, _asked(wish), _announce)
        _export(family, explored, wish)
        page = Page(stdout)
        if wish.as_json:
            page.console.out(json.dumps(report.as_json(explored), indent=1))
        else:
            report.write(family, explored, page)
        return int(explored.exit_code)


def _asked(wish: Wish) -> Asked:
    return Asked(
        wish.calls, wish.resuspensions, wish.cancels, wish.crashes, wish.policies, wish.symmetry,
        wish.max_states, _until(wish.budget), wish.dot is not None or wish.graph is not None,
    )  # fmt: skip


def _model(name: str) -> tuple[Family, Exploration]:
    """The family that has this model; the joint model of a family is explored under its profiles."""
    able = [(one, one.explored) for one in families() if one.explored is not None]
    known = [model for one, found in able for model in (*found.models, *one.spec.profiles)]
    for one, found in able:
        if name in (*found.models, *one.spec.profiles):
            return one, found
    other = family_of_profile(name)
    if other is not None:
        raise UsageError(
            f"The charts of {other.name} have no joint model to explore under {name}.",
            f"There is one for {' and '.join(one.name for one, _ in able)}.",
        )
    near = get_close_matches(name, known, n=1)
    right = f"Did you mean `{near[0]}`?" if near else f"There are {', '.join(known)}."
    raise UsageError(f"There is no profile {name} to explore.", right)


def _refuse(wish: Wish) -> None:
    if wish.calls < 1:
        raise UsageError(f"--calls {wish.calls} leaves nothing to explore.", "A round has 1 call or more.")
    for name, value in (("resuspensions", wish.resuspensions), ("crashes", wish.crashes)):
        if value is not None and value < 0:
            raise UsageError(f"--{name} {value} is fewer than none.", "Write 0 or more.")
    if wish.cancels not in (None, 0, 1):
        raise UsageError(f"--cancels {wish.cancels} is more than a run takes.", "Write 0 or 1.")
    for name, limit in (("max-states", wish.max_states), ("budget", wish.budget)):
        if limit is not None and limit <= 0:
            raise UsageError(f"--{name} {limit:g} leaves nothing to explore.", "Write more than 0.")


def _until(budget: float | None) -> Callable[[], bool]:
    if budget is None:
        return lambda: False
    end = time.monotonic() + budget
    return lambda: time.monotonic() > end


def _announce(estimate: Estimate) -> None:
    if estimate.states < WORTH_A_WORD:
        return
    print(
        f"runlock: about {estimate.states:,} states are ahead: {_spell(estimate.seconds)} or so, and "
        f"{estimate.megabytes:,} MB. --budget and --max-states end it sooner.",
        file=sys.stderr,
        flush=True,
    )


def _spell(seconds: int) -> str:
    for size, name in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds // size:,} {name}"
    return f"{seconds} seconds" if seconds > 1 else "a second"


# --- the graph in a file ------------------------------------------------------------------------


def _export(family: Family, explored: Any, wish: Wish) -> None:
    drawn = drawing(family.name, "state_space")
    if explored.search is None or drawn is None:
        return
    for path, write in ((wish.dot, drawn.write_dot), (wish.graph, drawn.write_graph)):
        if path is None:
            continue
        try:
            with path.open("w", encoding="utf-8") as file:
                write(explored.search, explored.plan.model, file)
        except drawn.TooLarge as error:
            path.unlink(missing_ok=True)
            raise UsageError(str(error), "Explore fewer calls, or write --graph FILE.json.") from None
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}.") from None
