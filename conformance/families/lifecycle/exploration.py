"""One exploration from its bounds to what it found: which model, how it was counted, and what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from runlock.conformance.errors import UsageError
from runlock.conformance.family import exploration
from runlock.conformance.family.exploration import (
    SAMPLED_FROM,
    Asked,
    Estimate,
    chosen_of,
    extrapolated,
)
from runlock.conformance.text import counted
from runlock.machines.joint.policies import Chosen
from runlock.machines.joint.search import Bounds, Search
from runlock.machines.lifecycle.joint.calls import (
    Calls,
    Count,
    count_counted,
    count_named,
)
from runlock.machines.lifecycle.joint.checker import Judged, judge
from runlock.machines.lifecycle.joint.clauses import CALL_RULES, ONCE_MORE, applies, rules_for
from runlock.machines.lifecycle.joint.policies import choose
from runlock.machines.lifecycle.joint.transitions import Joint
from runlock.machines.lifecycle.run_status import derive_run_status
from runlock.machines.table import Row
from runlock.spec.model import load_spec

__all__ = ["CALLS", "Estimate", "Explored", "Plan", "explore", "explore_calls", "explored", "guess"]

CALLS: Final = "calls"
"""The name of the model that is N calls and nothing else."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be explored, and within which bounds."""

    model: str
    calls: int
    resuspensions: int
    cancels: int = 1
    crashes: int = 1
    symmetry: bool = True
    max_states: int | None = None
    is_late: Callable[[], bool] = lambda: False


class Explored(exploration.Explored):
    """What was explored of runs, or of calls alone, and what was found."""

    __slots__ = ()

    @property
    def is_calls_alone(self) -> bool:
        """Whether the model is calls and nothing else."""
        return bool(self.plan.model == CALLS)

    @property
    def bounds(self) -> Mapping[str, int]:
        """The bounds by their names."""
        plan = self.plan
        bounds = {"calls": plan.calls, "resuspensions": plan.resuspensions, "cancels": plan.cancels}
        return bounds if self.is_calls_alone else {**bounds, "crashes": plan.crashes}

    @property
    def said_bounds(self) -> Sequence[str]:
        """The bounds in words."""
        plan = self.plan
        parts = [counted(plan.calls, "call"), f"{counted(plan.resuspensions, 're-suspension')} each"]
        if self.is_calls_alone:
            return [*parts, "a cancel of the run"]
        parts += [counted(plan.cancels, "cancel of the run"), counted(plan.crashes, "crash", "crashes")]
        return [*parts, "one round", "one decision at a time for each call"]

    @property
    def trouble(self) -> str:
        """The verbs for what an environment that is not cooperative does."""
        return "cancels, rejects, breaks or crashes"

    @property
    def remarks(self) -> Sequence[tuple[str, str]]:
        """Why one call is enough for the rules of calls alone."""
        why = "each is about one call, and calls know nothing of each other: one call shows them all"
        return [("rules", why)] if self.is_calls_alone else []

    def concerns(self, row: Row) -> bool:
        """Whether the policies that were explored allow an arrow at all."""
        if self.chosen is None or row.clause not in load_spec("lifecycle").clauses:
            return True
        return applies(row.clause, self.chosen.policies)


# --- as the command line asks for it ------------------------------------------------------------


def explored(model: str, asked: Asked, announce: Callable[[Estimate], None]) -> Explored:
    """Explore what was asked for; a large exploration is announced before it starts."""
    if model == CALLS:
        _refuse_for_calls(asked)
        return _calls_alone(asked, announce)
    return _profile(model, asked, announce)


def _refuse_for_calls(asked: Asked) -> None:
    given = {"crashes": asked.crashes, "cancels": asked.cancels, "policy": asked.policies or None}
    for name, value in given.items():
        if value is not None:
            raise UsageError(
                f"`{CALLS}` takes no --{name}: it is calls alone, and one cancel of their run.",
                "Name a profile to explore them with their run, gate and store.",
            )


def _calls_alone(asked: Asked, announce: Callable[[Estimate], None]) -> Explored:
    again = 2 if asked.resuspensions is None else asked.resuspensions
    plan = Plan(
        CALLS, asked.calls, again, symmetry=asked.symmetry,
        max_states=asked.max_states, is_late=asked.is_late,
    )  # fmt: skip
    model = Calls(plan.calls, resuspensions=again)
    announce(_size_of(model, plan))
    found = explore_calls(plan)
    if asked.wants_graph:
        found.search = Search(model, symmetry=plan.symmetry).run()
    return found


def _size_of(model: Calls, plan: Plan) -> Estimate:
    states, transitions = model.estimate(symmetry=plan.symmetry)
    if plan.symmetry:
        return Estimate(states, transitions // 800_000, states * 150 // 10**6)
    return Estimate(states, transitions // 8_000_000, states * plan.calls * len(model.local) // 8 // 10**6)


def _profile(profile: str, asked: Asked, announce: Callable[[Estimate], None]) -> Explored:
    chosen = chosen_of(load_spec("lifecycle"), choose, profile, asked.policies)
    plan = Plan(
        profile,
        asked.calls,
        1 if asked.resuspensions is None else asked.resuspensions,
        1 if asked.cancels is None else asked.cancels,
        1 if asked.crashes is None else asked.crashes,
        asked.symmetry,
        asked.max_states,
        asked.is_late,
    )
    if plan.calls >= SAMPLED_FROM:
        announce(guess(replace(plan, max_states=None), chosen))
    return explore(plan, chosen)


# --- the joint charts of a profile --------------------------------------------------------------


def explore(plan: Plan, chosen: Chosen) -> Explored:
    """Explore the joint charts of a profile."""
    system = _joint(plan, chosen, plan.calls)
    search = Search(system, symmetry=plan.symmetry).run(Bounds(plan.max_states, plan.is_late))
    judged = judge(search, rules_for(chosen.policies, plan.resuspensions), system.charts.tables)
    return Explored.of(plan, search, system.charts.tables, judged, chosen)


def _joint(plan: Plan, chosen: Chosen, calls: int) -> Joint:
    return Joint(
        chosen.policies,
        calls,
        resuspensions=plan.resuspensions,
        cancels=plan.cancels,
        crashes=plan.crashes,
    )


def guess(plan: Plan, chosen: Chosen) -> Estimate:
    """The estimated size of an exploration."""
    return extrapolated(lambda calls: _joint(plan, chosen, calls), plan)


# --- calls alone --------------------------------------------------------------------------------


def explore_calls(plan: Plan) -> Explored:
    """Explore calls that know nothing of each other, and a cancel of the run over all of them."""
    model = Calls(plan.calls, resuspensions=plan.resuspensions)
    count_them = count_counted if plan.symmetry else count_named
    limit = plan.max_states
    counted = count_them(model, lambda states: plan.is_late() or (limit is not None and states > limit))
    return Explored(
        plan,
        counted.states,
        counted.transitions,
        counted.levels - 1,
        (model.table,),
        _judged(model),
        stopped=counted.stopped,
        derived=_derived(counted),
    )


def _judged(model: Calls) -> Judged:
    """The rules for calls are about one call each, and calls know nothing of each other: one shows all."""
    alone = Calls(1, resuspensions=model.suspensions - 1, table=model.table)
    again = model.suspensions > 1
    rules = [rule for rule in CALL_RULES if again or rule.clause != ONCE_MORE]
    return judge(Search(alone).run(), rules, (model.table,))


def _derived(counted: Count) -> dict[str, int]:
    """How many states there are by what their calls make of the run."""
    by_kind = {"New": counted.busy, "Suspended": counted.waiting, "Succeeded": counted.over}
    found = {derive_run_status([status]): states for status, states in by_kind.items()}
    return {**found, "Cancelled": counted.cancelled}
