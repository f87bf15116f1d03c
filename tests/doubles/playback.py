"""Moves a run and its calls by hand, one event at a time: the model of the page that plays charts.

It joins the chart of a run with the charts of the calls of one round, as the projection of the specification
says.  Gates, store and races are left out.  A refusal has a sentence and a clause.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from runlock.machines.catalogue import tables
from runlock.machines.lifecycle.run_status import BUSY, derive_run_status
from runlock.machines.table import (
    Moved,
    Row,
    Table,
    react,
)

CALL: Final = next(table for table in tables("lifecycle") if table.name == "ToolCall")
FOLLOWS: Final = ("suspend", "resume")
"""Events that only the run itself causes, since it follows its calls."""

Mixed = Literal["wait", "continue"]
"""Whether a run waits as soon as only decisions are missing, or only when all its calls are suspended."""


@dataclass(frozen=True, slots=True)
class Joint:
    """The states of the run and its calls."""

    run: str
    calls: tuple[str, ...]

    @property
    def busy(self) -> list[int]:
        """The calls that still have work to do, counted from 1."""
        return [number for number, call in enumerate(self.calls, 1) if call in BUSY]


@dataclass(frozen=True, slots=True)
class Played:
    """The result of an event: the rows that were taken and by which machine, or why there were none."""

    joint: Joint
    rows: tuple[tuple[str, Row], ...] = ()
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Game:
    """A run of some chart, under one value of the policy for a mixed round."""

    run: Table
    mixed: Mixed

    def begin(self, calls: int) -> Joint:
        """The model has asked for a number of calls."""
        return Joint(self.run.initial, (CALL.initial,) * calls)

    def events(self, calls: int) -> list[tuple[str, str]]:
        """Every event that can be sent, with its receiver."""
        own = [("run", event) for event in self.run.events if event not in FOLLOWS]
        return own + [(f"c{number}", event) for number in range(1, calls + 1) for event in CALL.events]

    def play(self, joint: Joint, who: str, event: str) -> Played:
        """Send an event to the run or to a call."""
        return self._run(joint, event) if who == "run" else self._call(joint, int(who[1:]), event)

    # -- calls

    def _call(self, joint: Joint, number: int, event: str) -> Played:
        if joint.run == "Created":
            return Played(joint, refused="a run that is Created has no calls yet; it begins first (RUN-17)")
        if joint.run == "Done":
            return Played(joint, refused="a run that is Done opens no gate, so no call of it moves (RUN-20)")
        answer = react(CALL, joint.calls[number - 1], event)
        if not isinstance(answer, Moved):
            return Played(joint, refused=str(answer))
        calls = (*joint.calls[: number - 1], answer.state, *joint.calls[number:])
        return self._follow(Played(replace(joint, calls=calls), ((f"c{number}", answer.row),)))

    def _follow(self, played: Played) -> Played:
        """Update the run from the states of its calls."""
        joint = played.joint
        waits = derive_run_status(joint.calls) == "Waiting"
        if joint.run == "Running" and waits and (self.mixed == "wait" or set(joint.calls) == {"Suspended"}):
            return self._move(played, "suspend")
        if joint.run == "Waiting" and not waits:
            return self._move(played, "resume")
        return played

    def _move(self, played: Played, event: str) -> Played:
        answer = react(self.run, played.joint.run, event)
        if not isinstance(answer, Moved):
            return replace(played, refused=str(answer))
        return Played(replace(played.joint, run=answer.state), (*played.rows, ("run", answer.row)))

    # -- the run

    def _run(self, joint: Joint, event: str) -> Played:
        if event == "natural_end" and joint.run == "Running":
            if joint.busy:
                live = joint.busy[0]
                here = joint.calls[live - 1]
                return Played(
                    joint, refused=f"call c{live} is {here}, and a run ends when none is live (RUN-3)"
                )
            if "Suspended" in joint.calls:
                return self._move(Played(joint), "suspend")
        played = self._move(Played(joint), event)
        return self._cancel(played) if event == "cancelled" and not played.refused else played

    def _cancel(self, played: Played) -> Played:
        """A cancel of the run also cancels the live calls."""
        joint, rows = played.joint, list(played.rows)
        for number, call in enumerate(joint.calls, 1):
            answer = react(CALL, call, "cancel")
            if isinstance(answer, Moved):
                rows.append((f"c{number}", answer.row))
                calls = (*joint.calls[: number - 1], answer.state, *joint.calls[number:])
                joint = replace(joint, calls=calls)
        return Played(joint, tuple(rows))
