"""`runlock explore`: every state that the joint charts can be in, and what the clauses say of each."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.errors import UsageError
from runlock.conformance.families.lifecycle.exploration import (
    CALLS,
    Estimate,
    Explored,
    Plan,
    explore,
    explore_calls,
    guess,
)
from runlock.conformance.report import state_space as report
from runlock.conformance.report.console import Page
from runlock.machines.lifecycle.joint.calls import Calls
from runlock.machines.lifecycle.joint.policies import Chosen, NotExplored, choose
from runlock.machines.lifecycle.joint.search import Search
from runlock.spec.model import SpecError, Value, load_spec

DEFAULT: Final = "awaken-8"
WORTH_A_WORD: Final = 2_000_000
"""From so many states on an exploration is announced before it starts."""

SAMPLED_FROM: Final = 4
"""From so many calls on the size is estimated first: fewer are explored while one estimates."""


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
    _refuse(model, wish)
    with results() as stdout:
        explored = _calls(wish) if model == CALLS else _profile(model, wish)
        _export(explored, wish)
        page = Page(stdout)
        if wish.as_json:
            page.console.out(json.dumps(report.as_json(explored), indent=1))
        else:
            report.write(explored, page)
        return explored.exit_code


def _refuse(model: str, wish: Wish) -> None:
    known = (CALLS, *load_spec().profiles) if model != CALLS else (CALLS,)
    if model not in known:
        near = get_close_matches(model, known, n=1)
        right = f"Did you mean `{near[0]}`?" if near else f"There are {', '.join(known)}."
        raise UsageError(f"There is no profile {model} to explore.", right)
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
    if model == CALLS:
        _refuse_for_calls(wish)


def _refuse_for_calls(wish: Wish) -> None:
    for name, given in (
        ("crashes", wish.crashes),
        ("cancels", wish.cancels),
        ("policy", wish.policies or None),
    ):
        if given is not None:
            raise UsageError(
                f"`{CALLS}` takes no --{name}: it is calls alone, and one cancel of their run.",
                "Name a profile to explore them with their run, gate and store.",
            )


def _until(budget: float | None) -> Callable[[], bool]:
    if budget is None:
        return lambda: False
    end = time.monotonic() + budget
    return lambda: time.monotonic() > end


# --- what is explored ---------------------------------------------------------------------------


def _calls(wish: Wish) -> Explored:
    again = 2 if wish.resuspensions is None else wish.resuspensions
    plan = Plan(
        CALLS, wish.calls, again, symmetry=wish.symmetry,
        max_states=wish.max_states, is_late=_until(wish.budget),
    )  # fmt: skip
    model = Calls(plan.calls, resuspensions=again)
    states, transitions = model.estimate(symmetry=plan.symmetry)
    pace = 800_000 if plan.symmetry else 8_000_000
    megabytes = (
        states * 150 // 10**6 if plan.symmetry else states * plan.calls * len(model.local) // 8 // 10**6
    )
    _announce(Estimate(states, transitions // pace, megabytes))
    explored = explore_calls(plan)
    if wish.dot is not None or wish.graph is not None:
        explored.search = Search(model, symmetry=plan.symmetry).run()
    return explored


def _profile(profile: str, wish: Wish) -> Explored:
    chosen = _chosen(profile, wish.policies)
    plan = Plan(
        profile,
        wish.calls,
        1 if wish.resuspensions is None else wish.resuspensions,
        1 if wish.cancels is None else wish.cancels,
        1 if wish.crashes is None else wish.crashes,
        wish.symmetry,
        wish.max_states,
        _until(wish.budget),
    )
    if plan.calls >= SAMPLED_FROM:
        _announce(guess(replace(plan, max_states=None), chosen))
    return explore(plan, chosen)


def _chosen(profile: str, given: Sequence[str]) -> Chosen:
    asked: dict[str, Value] = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not equals:
            raise UsageError(f"--policy {one} sets nothing.", "Write it as in --policy end.live=left.")
        is_set = key in load_spec().policies and load_spec().policy(key).kind == "set of"
        asked[key] = [part for part in value.split(",") if part] if is_set else value
    try:
        return choose(profile, asked)
    except SpecError as error:
        raise UsageError(f"--policy: {error}") from None
    except NotExplored as error:
        raise UsageError(str(error)) from None


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


def _export(explored: Explored, wish: Wish) -> None:
    if explored.search is None:
        return
    from runlock.diagrams.lifecycle import state_space as drawing

    for path, write in ((wish.dot, drawing.write_dot), (wish.graph, drawing.write_graph)):
        if path is None:
            continue
        try:
            with path.open("w", encoding="utf-8") as file:
                write(explored.search, explored.plan.model, file)
        except drawing.TooLarge as error:
            path.unlink(missing_ok=True)
            raise UsageError(str(error), "Explore fewer calls, or write --graph FILE.json.") from None
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}.") from None
