"""One exploration of a tool runner from its bounds to what it found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from runlock.conformance.family import exploration
from runlock.conformance.family.exploration import (
    SAMPLED_FROM,
    Asked,
    Estimate,
    chosen_of,
    extrapolated,
    refuse_stores,
)
from runlock.conformance.text import counted
from runlock.machines.joint.policies import Chosen, applies
from runlock.machines.joint.search import Bounds, Search
from runlock.machines.table import Row
from runlock.machines.tool_runner.joint.checker import judge
from runlock.machines.tool_runner.joint.clauses import rules_for
from runlock.machines.tool_runner.joint.policies import choose
from runlock.machines.tool_runner.joint.transitions import Charts, Joint
from runlock.spec.model import load_spec

__all__ = ["LIMIT", "Explored", "Plan", "explore", "explored", "guess"]

LIMIT: Final = "limit"
"""The name of the bound that is the runner's `max_iterations`."""

ONLY_UNDER: Final[Mapping[tuple[str, str], tuple[str, tuple[str, ...]]]] = {
    ("RUNNER-7", "Finished"): ("runner.finish", ("received",)),
    ("RUNNER-16", "Settled"): ("runner.answered", ("skipped",)),
    ("RUNNER-20", "Settled"): ("runner.pause", ("resent",)),
    ("RUNNER-24", "Resumed"): ("again.break", ("goes_on",)),
    ("RUNNER-36", "Settled"): ("again.fault", ("retries",)),
    ("RUNNER-45", "Settled"): ("runner.results", ("dropped",)),
    ("RUNNER-9", "Updated"): ("runner.append", ("if_unchanged", "unless_pushed")),
    ("STOP-5", "Limited"): ("stop.tools", ("preempted",)),
    ("RUNNER-30", "Empty"): ("runner.cache", ("until_change", "until_push", "by_state", "none")),
}
"""Arrows that are drawn for some values of a policy whose clause is about all of them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be explored, and within which bounds."""

    model: str
    calls: int
    limit: int = 2
    cancels: int = 1
    symmetry: bool = True
    max_states: int | None = None
    is_late: Callable[[], bool] = lambda: False


class Explored(exploration.Explored):
    """What was explored of a runner, and what was found."""

    __slots__ = ()

    @property
    def bounds(self) -> Mapping[str, int]:
        """The bounds by their names."""
        return {"calls": self.plan.calls, "limit": self.plan.limit, "cancels": self.plan.cancels}

    @property
    def said_bounds(self) -> Sequence[str]:
        """The bounds in words."""
        plan = self.plan
        calls = f"{counted(plan.calls, 'call')} in each turn that has calls"
        return [calls, f"a limit of {plan.limit}", counted(plan.cancels, "cancel of the run")]

    @property
    def trouble(self) -> str:
        """The verbs for what an environment that is not cooperative does."""
        return "cancels, leaves or breaks"

    @property
    def remarks(self) -> Sequence[tuple[str, str]]:
        """What is left out."""
        return [("left out", "the texts of messages, params, the set of tools, and what a request carries")]

    def concerns(self, row: Row) -> bool:
        """Whether the policies that were explored allow an arrow at all."""
        if self.chosen is None or row.clause not in load_spec("tool-runner").clauses:
            return True
        policies = self.chosen.policies
        if (row.clause, row.source, row.target) == ("RUN-8", "Left", "Over"):
            return policies["again.break"] == "over"
        if (row.clause, row.source, row.target) == ("RUN-8", "Broken", "Over"):
            return policies["again.fault"] == "over"
        key, values = ONLY_UNDER.get((row.clause, row.target), ("", ()))
        is_drawn = not key or policies[key] in values
        return is_drawn and applies("tool-runner", row.clause, policies)

    def why_never(self, row: Row) -> str | None:
        """Why an arrow was never taken; None if it should have been."""
        if row.event == "cancel" and not self.plan.cancels:
            return "the bounds exclude"
        if row.event == "limit" and not self.plan.limit and self.concerns(row):
            return "the bounds exclude"
        return super().why_never(row)


# --- as the command line asks for it ------------------------------------------------------------


def explored(model: str, asked: Asked, announce: Callable[[Estimate], None]) -> Explored:
    """Explore what was asked for; a large exploration is announced before it starts."""
    refuse_stores("tool-runner", [LIMIT], asked)
    chosen = chosen_of(load_spec("tool-runner"), choose, model, asked.policies)
    plan = Plan(
        model,
        asked.calls,
        asked.bounds.get(LIMIT, 2),
        1 if asked.cancels is None else asked.cancels,
        asked.symmetry,
        asked.max_states,
        asked.is_late,
    )
    if plan.calls >= SAMPLED_FROM:
        announce(guess(plan, chosen))
    return explore(plan, chosen)


def _joint(plan: Plan, chosen: Chosen, calls: int, charts: Charts | None = None) -> Joint:
    return Joint(chosen.policies, calls, limit=plan.limit, cancels=plan.cancels, charts=charts)


def guess(plan: Plan, chosen: Chosen) -> Estimate:
    """The estimated size of an exploration."""
    return extrapolated(lambda calls: _joint(plan, chosen, calls), plan)


def explore(plan: Plan, chosen: Chosen, charts: Charts | None = None) -> Explored:
    """Explore the joint charts of a profile."""
    system = _joint(plan, chosen, plan.calls, charts)
    search = Search(system, symmetry=plan.symmetry).run(Bounds(plan.max_states, plan.is_late))
    judged = judge(search, rules_for(chosen.policies, plan.limit), system.charts.tables)
    return Explored.of(plan, search, system.charts.tables, judged, chosen)
