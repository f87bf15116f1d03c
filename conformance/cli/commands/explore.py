"""`runlock explore`: every reachable state of the joint charts, with the clauses checked in each."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.errors import UsageError
from runlock.conformance.family.exploration import Asked, Estimate, Exploration
from runlock.conformance.family.family import Family, families, family_named, family_of_profile
from runlock.conformance.outputs import no_link
from runlock.conformance.report import state_space as report
from runlock.conformance.report.console import Page
from runlock.diagrams import state_space as drawn

DEFAULT: Final = "awaken-8"
WORTH_A_WORD: Final = 2_000_000
"""From this number of states on, an exploration is announced before it starts."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the command, apart from the model."""

    calls: int
    resuspensions: int | None
    cancels: int | None
    crashes: int | None
    policies: Sequence[str]
    further: Sequence[str]
    symmetry: bool
    max_states: int | None
    budget: float | None
    dot: Path | None
    graph: Path | None
    as_json: bool


def run(model: str | None, family_name: str | None, options: Options) -> int:
    """Run the whole command; the exit code."""
    model = model or (_known(family_name).default_profile if family_name else DEFAULT)
    family, exploration = _model(model, family_name)
    _refuse(options)
    asked = _asked(options, _further(family, exploration, options.further))
    with results() as stdout:
        explored = exploration.explore(model, asked, _announce)
        _export(explored, options)
        page = Page(stdout)
        if options.as_json:
            page.console.out(json.dumps(report.as_json(explored), indent=1))
        else:
            report.write(family, explored, page)
        return int(explored.exit_code)


def _further(family: Family, exploration: Exploration, given: Sequence[str]) -> dict[str, int]:
    """The bounds that only some families have, each as NAME=N."""
    found = {}
    for one in given:
        name, _, number = one.partition("=")
        if name not in exploration.bounds:
            right = f"It takes {', '.join(exploration.bounds)}." if exploration.bounds else "It takes none."
            raise UsageError(f"The family {family.name} takes no --bound {name}.", right)
        if not number.isdecimal():
            raise UsageError(f"--bound {one} gives no number.", f"Write it as in --bound {name}=2.")
        found[name] = int(number)
    return found


def _asked(options: Options, further: Mapping[str, int]) -> Asked:
    return Asked(
        options.calls, options.resuspensions, options.cancels, options.crashes, options.policies,
        options.symmetry, options.max_states, _until(options.budget),
        options.dot is not None or options.graph is not None, further,
    )  # fmt: skip


def _model(name: str, family_name: str | None) -> tuple[Family, Exploration]:
    """The family that has this model; the joint model of a family is explored under its profiles."""
    able = [(one, one.explored) for one in families() if one.explored is not None]
    asked = [(one, found) for one, found in able if family_name in (None, one.name)]
    other = _known(family_name) if family_name else family_of_profile(name)
    if other is not None and other.explored is None:
        *others, last = (one.name for one, _ in able)
        having = f"{', '.join(others)} and {last}"
        raise UsageError(f"The family {other.name} has no joint model to explore; {having} have one.")
    known = [model for one, found in asked for model in (*found.models, *one.spec.profiles)]
    for one, found in asked:
        if name in (*found.models, *one.spec.profiles):
            return one, found
    near = get_close_matches(name, known, n=1)
    right = f"Did you mean `{near[0]}`?" if near else f"There are {', '.join(known)}."
    where = f" of {family_name}" if family_name else ""
    raise UsageError(f"There is no profile {name}{where} to explore.", right)


def _known(name: str) -> Family:
    try:
        return family_named(name)
    except LookupError as error:
        raise UsageError(str(error)) from None


def _refuse(options: Options) -> None:
    if options.calls < 1:
        raise UsageError(f"--calls {options.calls} leaves nothing to explore.", "A round has 1 call or more.")
    for name, value in (("resuspensions", options.resuspensions), ("crashes", options.crashes)):
        if value is not None and value < 0:
            raise UsageError(f"--{name} {value} is negative.", "Write 0 or more.")
    if options.cancels not in (None, 0, 1):
        raise UsageError(f"--cancels {options.cancels} is more than one cancel.", "Write 0 or 1.")
    for name, limit in (("max-states", options.max_states), ("budget", options.budget)):
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


def _export(explored: Any, options: Options) -> None:
    if explored.search is None:
        return
    for path, write in ((options.dot, drawn.write_dot), (options.graph, drawn.write_graph)):
        if path is None:
            continue
        try:
            with open(path, "w", encoding="utf-8", opener=no_link) as file:
                write(explored.search, explored.plan.model, file)
        except drawn.TooLarge as error:
            path.unlink(missing_ok=True)
            raise UsageError(str(error), "Explore fewer calls, or write --graph FILE.json.") from None
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}.") from None
