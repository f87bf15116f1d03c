"""The charts that are joined, how a joint state is driven through their rows, and what policies decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from runlock.machines.joint.model import Test
from runlock.machines.table import Moved, Row, Table, compile_chart, react
from runlock.machines.tool_runner.charts.iteration import RunnerIteration
from runlock.machines.tool_runner.charts.response import CachedToolResponse
from runlock.machines.tool_runner.joint.state import NOT_ASKED, OVER, Call, Control

__all__ = ["Charts", "Driven", "Policies", "Taken", "charts_of"]

Policies = Mapping[str, Any]
Taken = tuple[Control, tuple[Row, ...]]
"""Where an event leads, and the rows that it takes."""

DROPPING: Final = {
    "until_change": ("push", "set"),
    "until_push": ("push",),
    "by_state": ("push", "set"),
}
"""What invalidates a response, by the value of `runner.cache`."""

OF_AN_ITERATION: Final[Mapping[str, Any]] = {
    "last": "", "resumed": False, "stale": False, "dropped": False, "again": "",
}  # fmt: skip
"""What is forgotten at the end of an iteration, since nothing depends on it any more."""

OF_A_RUN: Final[Mapping[str, Any]] = {"pushed": False, "was_set": False, "target": "", "broken": ""}
"""What is forgotten as well at an end that says nothing of the turn."""

FOR_GOOD: Final = ("Limited", "Cancelled", "Over")


@dataclass(frozen=True, slots=True)
class Charts:
    """The charts that are joined, as tables."""

    runner: Table
    response: Table

    @property
    def tables(self) -> tuple[Table, ...]:
        """Both of them."""
        return (self.runner, self.response)


def charts_of() -> Charts:
    """The charts of the tool runner, which are the same under every profile."""
    return Charts(compile_chart(RunnerIteration), compile_chart(CachedToolResponse))


class Driven:
    """The joint charts under some policies, within bounds: each event takes a row, or is refused."""

    family = "tool-runner"
    owed: Test | None = None

    def __init__(
        self,
        policies: Policies,
        calls: int,
        *,
        limit: int = 2,
        cancels: int = 1,
        charts: Charts | None = None,
    ) -> None:
        self.policies, self.calls = policies, calls
        self.charts = charts or charts_of()
        self.limit, self.cancels = limit, cancels

    def start(self) -> tuple[Control, Call]:
        """Nothing was sent yet."""
        left = -1 if self.limit == 0 and self.says("limit.zero", "no_limit") else self.limit
        cancel = "may come" if self.cancels else "over"
        return Control(self.charts.runner.initial, left=left, cancel=cancel), NOT_ASKED

    def is_over(self, control: Control) -> bool:
        """Whether the run is Done."""
        return control.runner in OVER

    def says(self, policy: str, *values: str) -> bool:
        """Whether a policy has one of these values."""
        return self.policies[policy] in values

    # -- policies applied to the iteration

    @property
    def places_on_receipt(self) -> bool:
        """Whether a turn is in the state before it is yielded."""
        return self.says("runner.append", "on_receipt")

    def is_changed(self, control: Control) -> bool:
        """Whether the user changed the state in this iteration."""
        counts_set = not self.says("runner.append", "unless_pushed")
        return control.pushed or (counts_set and control.was_set)

    def is_paused(self, control: Control) -> bool:
        """Whether the received turn is sent back as it is."""
        return control.stop == "pause_turn" and self.says("runner.pause", "resent")

    def asks_for_tools(self, control: Control) -> bool:
        """Whether the calls of the received turn are to run."""
        if control.stop == "max_tokens":
            return self.says("runner.cut_off", "run", "run_unless_refused")
        if control.stop == "refusal":
            return self.says("runner.cut_off", "run")
        return control.stop == "tool_use"

    def is_final(self, control: Control) -> bool:
        """Whether the received turn is final."""
        return not self.is_paused(control) and not self.asks_for_tools(control)

    def ends_with_turn(self, control: Control) -> bool:
        """Whether the run ends with the received turn."""
        follows_received = self.says("runner.finish", "received")
        return self.is_final(control) and (not self.is_changed(control) or follows_received)

    def keeps_final_turn(self, control: Control) -> bool:
        """Whether a final turn stays in the state."""
        if self.says("end.turn", "unless_refused"):
            return control.stop != "refusal"
        return self.says("end.turn", "kept")

    def follows_state(self, control: Control) -> bool:
        """Whether the calls that are handled are those of the last message of the state."""
        may = not self.places_on_receipt and self.says("runner.inspects", "state")
        return may and self.is_changed(control)

    def drops_results(self, control: Control) -> bool:
        """Whether the results of this iteration are dropped."""
        may = not self.places_on_receipt and self.says("runner.results", "dropped")
        return may and self.is_changed(control)

    def invalidates(self, change: str) -> bool:
        """Whether a change makes a response that exists stale."""
        return change in DROPPING.get(self.policies["runner.cache"], ())

    # -- the charts

    def facts(self, control: Control) -> frozenset[str]:
        """The facts of the iteration, as its chart names them."""
        facts = {
            "changed": self.is_changed(control),
            "paused": self.is_paused(control),
            "dropped": self.drops_results(control),
        }
        return frozenset(fact for fact, holds in facts.items() if holds)

    def take(self, control: Control, event: str, **changes: Any) -> Taken | None:
        """Where an event leads the runner, or None if its chart refuses it."""
        moved = react(self.charts.runner, control.runner, event, self.facts(control))
        if not isinstance(moved, Moved):
            return None
        return control._replace(runner=moved.state, **changes), (moved.row,)

    def respond(self, taken: Taken, event: str) -> Taken | None:
        """Then an event of the response, or None if its chart refuses it."""
        control, rows = taken
        moved = react(self.charts.response, control.response, event) if control.response else None
        if not isinstance(moved, Moved):
            return None
        return control._replace(response=moved.state), (*rows, moved.row)

    def drop(self, taken: Taken) -> Taken:
        """The response is kept no longer."""
        dropped = self.respond(taken, "drop")
        return (dropped[0]._replace(dropped=True, stale=False), dropped[1]) if dropped else taken

    def end_iteration(self, control: Control, event: str, **changes: Any) -> Taken | None:
        """An event of the runner that ends its iteration, with the response of it."""
        taken = self.take(control, event, **{**OF_AN_ITERATION, **changes})
        if taken is None:
            return None
        ended = self.respond(taken, "forget") or taken
        return (ended[0]._replace(**OF_A_RUN), ended[1]) if ended[0].runner in FOR_GOOD else ended
