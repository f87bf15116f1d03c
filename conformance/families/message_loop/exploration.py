"""One exploration of a message loop from its bounds to what it found."""

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
from runlock.machines.message_loop.joint.checker import judge
from runlock.machines.message_loop.joint.clauses import rules_for
from runlock.machines.message_loop.joint.policies import choose
from runlock.machines.message_loop.joint.transitions import Charts, Joint
from runlock.machines.table import Row
from runlock.spec.model import Value, load_spec

__all__ = ["BOUNDS", "Explored", "Plan", "explore", "explored", "guess"]

FAMILY: Final = "message-loop"
BOUNDS: Final = ("iterations", "interactors")
"""The names of the further bounds: the loop's `max_iterations`, and how many people can be asked."""

REACHES: Final = ("reject.reach", ("round", "turn"))
BEFORE, DENIES = ("rewrite.place", ("before_approval",)), ("hook.fault", ("deny",))
LATER: Final = ("rewrite.place", ("after_approval", "asked_again"))
TOGETHER: Final = ("prompt.line", ("parallel",))
AGAIN: Final = ("rewrite.place", ("asked_again",))
ABORTS: Final = ("cancel.inflight", ("abort",))
DRAINS: Final = ("cancel.inflight", ("drain",))
RETRIED: Final = ("model.fault", ("retried",))

LEFT_OUT: Final = (
    "stage executions, other hooks than those of TOOL_CALL, texts, the history, the store, events"
)

Needed = Sequence[tuple[str, Sequence[str]]]

ONLY_UNDER: Final[Mapping[tuple[str, str, str], Needed]] = {
    ("RUN-5", "Running", "Done"): [("bound.end", ("stopped",))],
    **{("AUTH-14", waits, "Denied"): [REACHES] for waits in ("Proposed", "ModeGate", "Guards", "Approved")},
    ("AUTH-14", "Prompting", "Denied"): [REACHES, TOGETHER],
    ("AUTH-8", "Proposed", "Denied"): [BEFORE, DENIES],
    ("AUTH-8", "Approved", "Denied"): [LATER, DENIES],
    ("AUTH-13", "Guards", "ModeGate"): [AGAIN],
    ("AUTH-13", "Approved", "ModeGate"): [AGAIN],
    ("CANCEL-5", "GivingUp", "Draining"): [DRAINS],
    ("CANCEL-5", "GivingUp", "Quiet"): [ABORTS],
    ("CANCEL-8", "Executing", "Cancelled"): [ABORTS],
    ("LOOP-20", "STREAM_RESPONSE", "STREAM_RESPONSE"): [RETRIED],
    ("CALL-6", "Running", "Cancelled"): [ABORTS],
}
"""Arrows that are drawn for some values of a policy whose clause is about all of them."""

OF_A_CANCEL: Final = ("CANCEL-", "LOOP-52", "RUN-7", "CALL-6", "CALL-16")
OF_A_CONTINUATION: Final = ("LOOP-45", "LOOP-70")
OF_A_PROMPT: Final = ("ask", "allow", "deny", "defer")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be explored, and within which bounds."""

    model: str
    calls: int
    iterations: int = 1
    interactors: int = 2
    cancels: int = 1
    symmetry: bool = True
    max_states: int | None = None
    is_late: Callable[[], bool] = lambda: False


class Explored(exploration.Explored):
    """What was explored of a message loop, and what was found."""

    __slots__ = ()

    @property
    def bounds(self) -> Mapping[str, int]:
        """The bounds by their names."""
        return {name: getattr(self.plan, name) for name in ("calls", *BOUNDS, "cancels")}

    @property
    def said_bounds(self) -> Sequence[str]:
        """The bounds in words."""
        plan = self.plan
        calls = f"{counted(plan.calls, 'call')} in each response that has calls"
        bound = f"a bound of {counted(plan.iterations, 'iteration')}"
        return [
            calls,
            bound,
            counted(plan.interactors, "interactor"),
            counted(plan.cancels, "cancel of the turn"),
        ]

    @property
    def trouble(self) -> str:
        """The verbs for what an environment that is not cooperative does."""
        return "cancels, denies or breaks"

    @property
    def remarks(self) -> Sequence[tuple[str, str]]:
        """What is left out."""
        return [("left out", LEFT_OUT)]

    def concerns(self, row: Row) -> bool:
        """Whether the policies that were explored allow an arrow at all."""
        if self.chosen is None or row.clause not in load_spec(FAMILY).clauses:
            return True
        policies = self.chosen.policies
        needed = ONLY_UNDER.get((row.clause, row.source, row.target), [])
        is_drawn = all(policies[key] in values for key, values in needed)
        return is_drawn and applies(FAMILY, row.clause, policies)

    def why_never(self, row: Row) -> str | None:
        """Why an arrow was never taken; None if it should have been."""
        why = super().why_never(row)
        return "the bounds exclude" if why is None and self._is_out_of_bounds(row) else why

    def _is_out_of_bounds(self, row: Row) -> bool:
        plan, policies = self.plan, self.chosen.policies if self.chosen is not None else {}
        has_prompt = row.event in OF_A_PROMPT or row.source == "Prompting"
        return (
            (not plan.cancels and row.clause.startswith(OF_A_CANCEL))
            or (row.clause in OF_A_CONTINUATION and not _continuations(plan, policies))
            or (not plan.interactors and has_prompt)
            or (plan.calls == 1 and row.event == "cascade")
        )


def _continuations(plan: Plan, policies: Mapping[str, Value]) -> int:
    """How many continuations the bound allows."""
    return max(plan.iterations - (policies.get("bound.counts") == "requests"), 0)


# --- as the command line asks for it ------------------------------------------------------------


def explored(model: str, asked: Asked, announce: Callable[[Estimate], None]) -> Explored:
    """Explore what was asked for; a large exploration is announced before it starts."""
    refuse_stores(FAMILY, BOUNDS, asked)
    chosen = chosen_of(load_spec(FAMILY), choose, model, asked.policies)
    plan = Plan(
        model,
        asked.calls,
        cancels=1 if asked.cancels is None else asked.cancels,
        symmetry=asked.symmetry,
        max_states=asked.max_states,
        is_late=asked.is_late,
        **asked.bounds,
    )
    if plan.calls >= SAMPLED_FROM:
        announce(guess(plan, chosen))
    return explore(plan, chosen)


def _joint(plan: Plan, chosen: Chosen, calls: int, charts: Charts | None = None) -> Joint:
    bounds = {"iterations": plan.iterations, "interactors": plan.interactors, "cancels": plan.cancels}
    return Joint(chosen.policies, calls, charts=charts, **bounds)


def guess(plan: Plan, chosen: Chosen) -> Estimate:
    """The estimated size of an exploration."""
    return extrapolated(lambda calls: _joint(plan, chosen, calls), plan)


def explore(plan: Plan, chosen: Chosen, charts: Charts | None = None) -> Explored:
    """Explore the joint charts of a profile."""
    system = _joint(plan, chosen, plan.calls, charts)
    search = Search(system, symmetry=plan.symmetry).run(Bounds(plan.max_states, plan.is_late))
    judged = judge(search, rules_for(chosen.policies, plan.calls), system.charts.tables)
    return Explored.of(plan, search, system.charts.tables, judged, chosen)
