"""A run and its calls moved by hand, one event at a time: what the page that plays charts has to do.

It joins the chart of a run with the chart of a call as the projection says, for the calls of one round, and
no more: no gates, no store, no races.  What it refuses, it refuses with a sentence and a clause.
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

CALL: Final = next(table for table in tables() if table.name == "ToolCall")
FOLLOWS: Final = ("suspend", "resume")
"""Events of a run that nobody sends: the run follows its calls."""

Mixed = Literal["wait", "continue"]
"""Whether a run waits as soon as nothing but decisions is owed, or only when all its calls are suspended."""


@dataclass(frozen=True, slots=True)
class Joint:
    """Where the run and its calls stand."""

    run: str
    calls: tuple[str, ...]

    @property
    def busy(self) -> list[int]:
        """The calls that have work before them, counted from 1."""
        return [number for number, call in enumerate(self.calls, 1) if call in BUSY]


@dataclass(frozen=True, slots=True)
class Played:
    """What an event led to: the rows that were taken and by whom, or why none was."""

    joint: Joint
    rows: tuple[tuple[str, Row], ...] = ()
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Game:
    """A run of some chart, under one answer to a mixed round."""

    run: Table
    mixed: Mixed

    def begin(self, calls: int) -> Joint:
        """The model has asked for so many calls."""
        return Joint(self.run.initial, (CALL.initial,) * calls)

    def events(self, calls: int) -> list[tuple[str, str]]:
        """Everything that can be sent: to whom, and what."""
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
        """Let the run follow its calls."""
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
        """A cancel of the run takes the calls that are live with it."""
        joint, rows = played.joint, list(played.rows)
        for number, call in enumerate(joint.calls, 1):
            answer = react(CALL, call, "cancel")
            if isinstance(answer, Moved):
                rows.append((f"c{number}", answer.row))
                calls = (*joint.calls[: number - 1], answer.state, *joint.calls[number:])
                joint = replace(joint, calls=calls)
        return Played(joint, tuple(rows))
