"""Runs, and all other records of the state.

*Witnessed* facts the kit caused or saw at a gate; *claims* are what the runtime says of itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runlock.conformance.families.lifecycle.messages import PhaseEntered, Reason, ResumeEntered, SegmentEnded
from runlock.conformance.families.lifecycle.state.calls import (
    WORKING_GATES,
    Decided,
    Form,
    Grant,
    ObservedCall,
    ObservedGate,
    ShownForm,
    is_alike,
)
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT, Disturbance
from runlock.conformance.protocol import Message, Observation

__all__ = [
    "WORKING_GATES",
    "Decided",
    "Form",
    "Grant",
    "ObservedCall",
    "ObservedGate",
    "Run",
    "RunVolatile",
    "ShownForm",
    "Station",
    "ThreadEdit",
    "is_alike",
    "numbers_suspensions",
]


@dataclass(frozen=True, slots=True)
class Station:
    """A station of the resume gate, the stimulus at which it was reached, and the checkpoints before it."""

    entered: ResumeEntered
    at: int
    checkpoints: int


@dataclass(slots=True)
class RunVolatile:
    """What the runtime said of a run, and what it was sent, as far as a crash takes it away."""

    claimed: str | None = None
    claimed_reason: Reason | None = None  # that came with the status
    segment: list[Observation] = field(default_factory=list)  # what it showed since its last run.finished
    faulted: str | None = None  # the gate kind that was released with a fault or a raise
    cancel_at: int | None = None  # the stimulus that held the cancel
    has_expired: bool = False  # the end of a wait cancelled it
    cancel_settled: bool = False  # a quiescent answer came since
    broke_at: ObservedGate | None = (
        None  # the tool or permission gate that broke or blocked the run, and met no race
    )
    stations: list[Station] = field(default_factory=list)  # of the resume gate, in this segment


@dataclass(eq=False, slots=True)
class Run:
    """One run of the thread."""

    id: str
    claims: list[str] = field(default_factory=list)
    claims_before: int = 0  # how many of them came before the newest stimulus
    calls: dict[str, ObservedCall] = field(default_factory=dict)
    former_calls: list[ObservedCall] = field(default_factory=list)
    finished: list[SegmentEnded] = field(default_factory=list)
    steps: int = 0  # inferences that it asked for, in all its lives
    steps_at_least: int = 0  # and as many as it knows of: what a crash took with it counts no more
    steps_at_most: int = 0
    turns_before: int | None = None  # of the model, in the thread that the run took over
    segment_open: bool = True
    stirs: int = 1  # how many segments the stimuli so far may have begun
    cancel_alone: bool = False
    cancel_met: int | None = None  # the stimulus that held the cancel, if that met no race
    cancel_status: str = "Running"
    may_lose_cancel: bool = False  # it races with the answer of a tool, and nothing has settled since
    was_sent_cancel: bool = False  # even if it was refused or lost
    fault_alone: bool = False
    ended_before_fault: int = 0  # how many segments had ended when it came
    crashes: int = 0
    had_input: bool = False
    input_at: int | None = None  # the stimulus with the newest input that came alone while it waited
    input_text: str = ""
    cancel_in_replay: ObservedCall | None = None  # what was replayed in the wait that the cancel met
    paid_for: Mapping[str, Sequence[ObservedCall]] = field(
        default_factory=dict
    )  # by durability: had answered, and a crash must not cost that
    rested_at: int = 0  # the stimulus after which it came to wait last
    told: Mapping[str, Any] | None = None  # a checkpoint made of what it had told when it came to wait
    owed: list[Decided] = field(default_factory=list)  # accepted before the crash, and not acted to the end
    said: str = ""  # the input that it began with
    cut_off: list[ObservedCall] = field(
        default_factory=list
    )  # had answered in the round that a cancel cut off
    left_to_drain: list[ObservedCall] = field(
        default_factory=list
    )  # executed for the first time when it came
    turn_alone: bool = True  # the newest turn of the model did not race, and came before the end
    began_alone: bool = True  # whether it met no race when it was asked for
    began_at_ms: int = 0  # when it was asked for
    seen_at_ms: int | None = None  # when it showed something first
    answered_at_ms: int = 0  # when the model or a tool of it answered last
    turned_at_ms: int = 0  # when the model did
    tokens: int = 0
    texts: list[str] = field(default_factory=list)  # what the model said, turn by turn
    phases: list[PhaseEntered] = field(default_factory=list)
    hooks: list[ObservedGate] = field(default_factory=list)  # where a plugin of it was held
    of_its_stream: set[str] = field(default_factory=set)  # calls that a stream opened, and no turn has
    taken_out: set[str] = field(default_factory=set)  # calls of the newest turn that a plugin took out
    left_in: set[str] = field(default_factory=set)  # and those that it left
    last_turn: Mapping[str, Any] | None = None
    volatile: RunVolatile = field(default_factory=RunVolatile)

    @property
    def claimed(self) -> str | None:
        """The status that the runtime announced last."""
        return self.volatile.claimed

    @property
    def segment(self) -> list[Observation]:
        """What it showed since its last run.finished."""
        return self.volatile.segment

    @property
    def faulted(self) -> str | None:
        """The kind of gate that broke, "raise" or "plugin"; None once a model gate opens again."""
        return self.volatile.faulted

    @property
    def cancel_at(self) -> int | None:
        """The stimulus that held the cancel."""
        return self.volatile.cancel_at

    @property
    def cancel_settled(self) -> bool:
        """Whether a quiescent answer came since the cancel."""
        return self.volatile.cancel_settled

    @property
    def broke_at(self) -> ObservedGate | None:
        """The tool or permission gate that broke or blocked the run, and met no race."""
        return self.volatile.broke_at

    @property
    def stations(self) -> list[Station]:
        """The stations of the resume gate in this segment."""
        return self.volatile.stations

    def this_pass(self) -> list[Station]:
        """The stations of the resume gate since it was entered last."""
        found: list[Station] = []
        for station in reversed(self.stations):
            found.insert(0, station)
            if station.entered.state == "DrainDecisionChannel":
                break
        return found

    def station_before(self, seen: ResumeEntered) -> Station | None:
        """Where the decision of a station stood: each that was drained goes through the gate by itself."""
        stations = self.this_pass()
        if seen.decision is None or not stations:
            return stations[-1] if stations else None
        own = [station for station in stations if station.entered.decision == seen.decision]
        told = any(station.entered.decision is not None for station in stations)
        return own[-1] if own else stations[0] if told else stations[-1]

    def crash(self, whole: Mapping[str, Sequence[ObservedCall]]) -> None:
        """The runtime crashed; these calls had answered for good, by durability."""
        self.paid_for = whole
        self.crashes += 1
        self.volatile = RunVolatile()
        former = {call.id for call in self.former_calls}
        for call in self.calls.values():
            # it may come back as the one before it
            call.duplicate_id = call.duplicate_id or call.id in former
            call.crash()

    def disturbed_by(self, *kinds: Disturbance) -> bool:
        """Whether one of these disturbances has met the run."""
        return (
            (self.cancel_at is not None and CANCEL in kinds)
            or (self.faulted is not None and FAULT in kinds)
            or (self.crashes > 0 and CRASH in kinds)
            or (self.had_input and INPUT in kinds)
        )

    @property
    def ended(self) -> Reason | None:
        """The reason of its end, if it is over by run.finished."""
        if self.finished and self.finished[-1].reason.code != "Suspended" and not self.segment_open:
            return self.finished[-1].reason
        return None

    @property
    def is_done(self) -> bool:
        """Whether it is over, by its claim or by its last run.finished."""
        return self.claimed == "Done" or self.ended is not None

    def is_replaying(self, call: ObservedCall) -> bool:
        """Whether the call is carried through on a decision that came while this segment's run waited."""
        newest = call.decisions[-1] if call.decisions else None
        taken = newest is not None and newest.answers is call and newest.at_rest
        return taken and newest is not None and newest.segment == len(self.finished)

    @property
    def every_call(self) -> Iterator[ObservedCall]:
        """Its calls, those whose id a later turn used again first."""
        yield from self.former_calls
        yield from self.calls.values()

    @property
    def is_blocked(self) -> bool:
        """Whether its permission gate blocked a call of it."""
        return any(call.last_verdict == "block" for call in self.every_call)


def numbers_suspensions(calls: Any) -> bool:
    """Whether the calls of a checkpoint say which of their suspensions they are in."""
    stored = calls.values() if isinstance(calls, Mapping) else ()
    return any(isinstance(one, Mapping) and one.get("suspension") is not None for one in stored)


@dataclass(slots=True)
class ThreadEdit:
    """What stood from a place in the thread on, and what stands there now."""

    at: int
    cut: Sequence[Message]
    instead: Sequence[Message]
    is_declared: bool
    is_seen: bool = False  # whether an inference has come since
    why: str = ""  # as declared: compaction, dropped, skipped, timeout
