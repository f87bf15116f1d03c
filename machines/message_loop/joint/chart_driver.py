"""The charts that are joined, how a joint state is driven through their rows, and what policies decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runlock.machines.joint.model import Change, Changed, Test
from runlock.machines.message_loop.charts.authority import ModeAuthority, ModeAuthorityAfterGuards
from runlock.machines.message_loop.charts.bounds import ContinuationBound
from runlock.machines.message_loop.charts.cancellation import StrictCancellation
from runlock.machines.message_loop.charts.stages import Pass
from runlock.machines.message_loop.charts.statuses import CallStatus, TurnStatus
from runlock.machines.message_loop.joint.state import ENDED, NOT_ASKED, Call, Control
from runlock.machines.table import Facts, Moved, Row, Table, compile_chart, react

__all__ = ["Charts", "Driven", "Policies", "Taken", "charts_of"]

Policies = Mapping[str, Any]
Taken = tuple[Control, tuple[Row, ...]]
"""Where an event leads, and the rows that it takes."""


@dataclass(frozen=True, slots=True)
class Charts:
    """The charts that are joined, as tables."""

    run: Table
    stage: Table
    bound: Table
    cancel: Table
    stack: Table
    status: Table

    @property
    def tables(self) -> tuple[Table, ...]:
        """All of them."""
        return (self.run, self.stage, self.bound, self.cancel, self.stack, self.status)


def charts_of(policies: Policies) -> Charts:
    """The charts of a chat turn; the policy `guard.place` selects the authority stack."""
    guards_first = policies["guard.place"] == "before_approval"
    stack = ModeAuthorityAfterGuards if guards_first else ModeAuthority
    every = (TurnStatus, Pass, ContinuationBound, StrictCancellation, stack, CallStatus)
    return Charts(*map(compile_chart, every))


class Driven:
    """The joint charts under some policies, within bounds: each event takes a row, or is refused."""

    family = "message-loop"
    owed: Test | None = None

    def __init__(
        self,
        policies: Policies,
        calls: int,
        *,
        iterations: int = 1,
        interactors: int = 2,
        cancels: int = 1,
        charts: Charts | None = None,
    ) -> None:
        self.policies, self.calls = policies, calls
        self.charts = charts or charts_of(policies)
        self.iterations, self.interactors, self.cancels = iterations, interactors, cancels

    def start(self) -> tuple[Control, Call]:
        """The turn begins."""
        charts = self.charts
        counts_requests = self.says("bound.counts", "requests")
        control = Control(
            charts.run.initial,
            charts.stage.initial,
            charts.bound.initial,
            cancels=self.cancels,
            left=max(self.iterations - counts_requests, 0),
            active=self.interactors,
        )
        return control, NOT_ASKED

    def is_over(self, control: Control) -> bool:
        """Whether the turn is Done."""
        return control.run == "Done"

    def says(self, policy: str, *values: str) -> bool:
        """Whether a policy has one of these values."""
        return self.policies[policy] in values

    @property
    def guards_first(self) -> bool:
        """Whether guards are asked before the approval."""
        return self.says("guard.place", "before_approval")

    def is_halted(self, control: Control) -> bool:
        """Whether a denial, or a prompt without an answer, ends the turn with its round."""
        denied = control.rejected and self.says("reject.reach", "turn")
        return denied or (control.unanswered and self.says("prompt.unanswered", "halt"))

    # -- the charts of the turn

    def take(
        self, control: Control, chart: str, event: str, facts: Facts = frozenset(), **changes: Any
    ) -> Taken | None:
        """Where an event leads one of the charts of the turn, or None if the chart refuses it."""
        moved = react(getattr(self.charts, chart), getattr(control, chart), event, facts)
        if not isinstance(moved, Moved):
            return None
        changes[chart] = moved.state
        return control._replace(**changes), (moved.row,)

    def then(self, taken: Taken | None, chart: str, event: str, facts: Facts = frozenset()) -> Taken | None:
        """Then an event of another chart; None if either chart refuses."""
        further = self.take(taken[0], chart, event, facts) if taken is not None else None
        return (further[0], (*taken[1], *further[1])) if taken is not None and further is not None else None

    # -- the charts of a call

    def advance(self, call: Call, event: str, status: str = "", **changes: Any) -> Changed | None:
        """A call takes an event in its stack, and one in its status; None if either chart refuses."""
        moved = react(self.charts.stack, call.stack, event)
        if not isinstance(moved, Moved):
            return None
        if not status:
            return Changed(call._replace(stack=moved.state, **changes), (moved.row,))
        shown = react(self.charts.status, call.status, status)
        if not isinstance(shown, Moved):
            return None
        to = call._replace(stack=moved.state, status=shown.state, **changes)
        return Changed(_ended(to) if to.status in ENDED else to, (moved.row, shown.row))

    def on(self, where: Test, event: str, status: str = "", **changes: Any) -> Change:
        """The change of a call that is `where`, by these events."""

        def change(call: Call) -> Changed | None:
            return self.advance(call, event, status, **changes) if where(call) else None

        return change


def _ended(call: Call) -> Call:
    """What is still known of a call that is over."""
    return Call(call.status, call.stack, denied=call.denied, entered=call.entered)
