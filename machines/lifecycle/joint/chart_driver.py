"""The charts that are joined, and how a joint state is driven through their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from runlock.machines.joint.model import Changed, Move, Test
from runlock.machines.lifecycle.charts.call import ToolCall
from runlock.machines.lifecycle.charts.concurrent_round import Dispatcher
from runlock.machines.lifecycle.charts.resume_tool_call import ResumeToolCall
from runlock.machines.lifecycle.charts.run import Run, RunWithCreated
from runlock.machines.lifecycle.charts.wait_loop import WaitForResumeOrCancel
from runlock.machines.lifecycle.joint.facts import is_over
from runlock.machines.lifecycle.joint.state import Call, Control
from runlock.machines.table import (
    Moved,
    Row,
    Table,
    compile_chart,
    react,
)

__all__ = ["Charts", "Driven", "Policies", "charts_of"]

Policies = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Charts:
    """The charts that are joined, as tables."""

    call: Table
    run: Table
    gate: Table

    @property
    def tables(self) -> tuple[Table, ...]:
        """All of them."""
        return (self.run, self.call, self.gate)


def charts_of(policies: Policies) -> Charts:
    """The charts that a profile joins: its run, its calls, and what takes its decisions in."""
    run = RunWithCreated if policies["run.created"] == "yes" else Run
    if policies["waiting"] == "reentered":
        gate: Table = compile_chart(ResumeToolCall)
    elif policies["decision.window"] == "immediate":
        gate = compile_chart(Dispatcher)
    else:
        gate = compile_chart(WaitForResumeOrCancel)
    return Charts(compile_chart(ToolCall), compile_chart(run), gate)


class Driven:
    """The joint charts under the policies of a profile, within bounds: each event takes a row, or is
    refused."""

    family = "lifecycle"
    owed: Test | None = None

    def __init__(
        self,
        policies: Policies,
        calls: int,
        *,
        resuspensions: int = 1,
        cancels: int = 1,
        crashes: int = 1,
        charts: Charts | None = None,
    ) -> None:
        self.policies, self.calls, self.suspensions = policies, calls, resuspensions + 1
        self.charts = charts or charts_of(policies)
        self.cancels, self.crashes = cancels, crashes
        self.is_reentered = policies["waiting"] == "reentered"
        self.has_dispatcher = not self.is_reentered and self.is_immediate
        self.open_gate = "" if self.is_reentered else self.charts.gate.initial

    @property
    def is_immediate(self) -> bool:
        """Whether a decision acts where it meets the run."""
        return bool(self.policies["decision.window"] == "immediate")

    @property
    def has_triggers(self) -> bool:
        """Whether checkpoints come by what happened, and not by steps."""
        return bool(self.policies["checkpoint.at"] == "triggers")

    @property
    def may_mix(self) -> bool:
        """Whether the model is asked again while a call waits."""
        return bool(self.policies["round.mixed"] == "continue")

    @property
    def asks_again(self) -> bool:
        """Whether the permission of a call is asked once more for its replay."""
        return bool(self.policies["replay.gate"] == "yes")

    @property
    def drains(self) -> bool:
        """Whether a cancel allows executing tools to finish."""
        return bool(self.policies["cancel.inflight"] == "drain")

    def _run(self, control: Control, event: str) -> tuple[str, tuple[Row, ...]] | None:
        moved = react(self.charts.run, control.run, event)
        return (moved.state, (moved.row,)) if isinstance(moved, Moved) else None

    def _gate_moves(self, control: Control, event: str, facts: frozenset[str] = frozenset()) -> Row | None:
        moved = react(self.charts.gate, control.gate or self.charts.gate.initial, event, facts)
        return moved.row if isinstance(moved, Moved) else None

    def _send(self, call: Call, event: str) -> Changed | None:
        """What an event makes of a call; the call keeps its decision until that has acted."""
        moved = react(self.charts.call, call.status, event) if call.status else None
        if not isinstance(moved, Moved):
            return None
        waits = call.waits + (moved.state == "Suspended")
        if waits > self.suspensions:
            return None
        return Changed(self._settled(call._replace(status=moved.state, waits=waits)), (moved.row,))

    def _settled(self, call: Call) -> Call:
        """A call that is over takes no decision; where no gate clears a decision, its outcome does."""
        acted = call.decided in ("acting", "rejecting")
        if is_over(call) and not acted:
            return call._replace(decided="")
        if acted and not self.is_reentered and call.status not in ("Running", "Resuming"):
            return call._replace(decided="")
        return call

    def _stored(self, control: Control, work: str, *, is_kept: bool = True) -> Control:
        """Where the run goes on, with a checkpoint that says so."""
        to = control._replace(work=work)
        return to._replace(kept_run=to.run, kept_work=work) if is_kept else to

    def _advance(
        self, control: Control, event: str, what: str, /, work: str | None = None, **how: Any
    ) -> Iterator[Move]:
        """The gate takes an event without calls, or with the calls that it moves."""
        row = self._gate_moves(control, event, how.pop("facts", frozenset()))
        if row is not None:
            to = control._replace(gate=row.target, work=work or control.work)
            yield Move(what, how.pop("to", to), rows=(*how.pop("rows", ()), row), **how)
