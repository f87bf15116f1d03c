"""What the state is about: gates, decisions, calls and runs, each with what is known of it.

*Witnessed* facts the kit caused or saw at a gate; *claims* are what the runtime says of itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from runlock.conformance.families.lifecycle.messages import (
    FINAL_CALL_STATUSES,
    GateOpened,
    PhaseEntered,
    Published,
    Reason,
    ResumeEntered,
    SegmentEnded,
    ToolSpec,
    gate_name,
)
from runlock.conformance.protocol import Observation

WORKING_GATES = ("model", "permission", "tool")


@dataclass(eq=False, slots=True)
class Gate:
    """A gate that opened: what it waits for, and what became of it."""

    id: str
    on: str
    run: str
    opened: GateOpened
    life: int
    call: Call | None = None
    at: int = 0  # the stimulus after which it opened
    outcome: Mapping[str, Any] | None = None  # as released
    alone: bool = True  # its release met no race
    gone: str | None = None  # why the SUT gave it up
    ref: str = field(init=False)  # its name in a scenario file: what it waits for, and for which call

    def __post_init__(self) -> None:
        self.ref = gate_name(self.on, self.opened.at, self.opened.call)

    @property
    def is_open(self) -> bool:
        """Whether the SUT still waits at it."""
        return self.outcome is None and self.gone is None


@dataclass(eq=False, slots=True)
class Decided:
    """A decision that was sent, and what is known to have become of it."""

    id: str
    call: str
    action: str
    payload: Any
    suspension: int | None
    at: int  # the stimulus that carried it, counted from 1
    alone: bool  # nothing else was in flight with it
    answers: Call | None = None  # the call that it met, if that certainly waited for it
    repeats: bool = False  # its id was sent before
    stale: bool = False  # its suspension was over, or its call was final, or unknown
    turned_down: bool = False
    unsure: bool = False  # it may have been turned down, or lost in a crash
    disposition: str | None = None
    entries_before: int = 0
    in_suspension: int = 0  # how often the call had been suspended when it came
    early: bool = False  # its call was New or Running, and nothing else was in flight
    at_rest: bool = False  # the run waited, and no gate of it was open
    at_work: bool = False  # the model or a tool was at work
    segment: int = 0  # how many segments of the run had ended when it came
    beside: str | None = None  # a call of the same round that was executing for the first time
    batch: int = 1  # how many decisions came together


@dataclass(eq=False, slots=True)
class Call:
    """One call that the model asked for."""

    id: str
    name: str
    args: Mapping[str, Any]
    run: str
    step: int
    tool: ToolSpec | None
    life: int
    doubled: bool = False  # its id was asked for twice in one turn, or was still live
    raced: bool = False  # the turn that asked for it raced with something else
    claimed: str | None = None
    before_claim: str | None = None
    suspensions: int = 0  # as claimed, else as witnessed
    numbers: list[int] = field(default_factory=list)  # that its suspensions were given, in this life
    entries: list[Gate] = field(default_factory=list)
    judged: list[Gate] = field(default_factory=list)
    decisions: list[Decided] = field(default_factory=list)
    lost_entries: int = 0  # entries of its body before the last crash
    lost_verdicts: int = 0  # and verdicts
    entries_when_suspended: int = 0
    input_at: int | None = None  # the stimulus with new input that met it while it waited
    listed_pending: bool = False  # in `pending` of the newest run.finished
    claims: list[str] = field(default_factory=list)

    @property
    def is_final(self) -> bool:
        """Whether it is over, by its own claim or by what was witnessed."""
        return self.claimed in FINAL_CALL_STATUSES or (self.claimed is None and self.ended_as is not None)

    @property
    def executing(self) -> list[Gate]:
        """The entries of its body that have not answered."""
        return [gate for gate in self.entries if gate.is_open]

    @property
    def last_answer(self) -> Mapping[str, Any] | None:
        """What its body answered last."""
        answers = [gate.outcome for gate in self.entries[self.lost_entries :] if gate.outcome is not None]
        return answers[-1] if answers else None

    @property
    def result(self) -> Mapping[str, Any] | None:
        """The answer of its body that is a result: ok, warning or error."""
        answer = self.last_answer
        return answer if answer is not None and answer["kind"] in ("ok", "warning", "error") else None

    @property
    def ended_as(self) -> str | None:
        """The final status that follows from what was witnessed, if one does."""
        answer = self.last_answer
        if answer is not None and not self.executing:
            return {"ok": "Succeeded", "warning": "Succeeded", "error": "Failed"}.get(answer["kind"])
        verdict = self.last_verdict
        return {"block": "Failed", "set_result": "Succeeded"}.get(verdict or "")

    @property
    def last_verdict(self) -> str | None:
        """What the permission hook answered last."""
        kept = self.judged[self.lost_verdicts :]
        verdicts = [gate.outcome["kind"] for gate in kept if gate.outcome is not None]
        return verdicts[-1] if verdicts else None

    @property
    def waits(self) -> bool:
        """Whether it certainly waits for a decision, as far as is known."""
        if self.claimed is not None:
            return self.claimed == "Suspended"
        if self.executing or self.is_final:
            return False
        return self.listed_pending

    @property
    def may_wait(self) -> bool:
        """Whether it waits for a decision, or may without a word, since what it was asked last held it."""
        if self.claimed is not None or self.waits or self.executing or self.is_final:
            return self.waits
        answer = self.last_answer
        return self.last_verdict == "suspend" if answer is None else answer["kind"] == "pending"

    @property
    def may_have_waited(self) -> bool:
        """Whether it has waited for a decision, or may have done so without a word."""
        if self.claims or self.suspensions:
            return self.suspensions > 0 or "Suspended" in self.claims
        said = {gate.outcome["kind"] for gate in (*self.entries, *self.judged) if gate.outcome is not None}
        asks = self.tool is not None and self.tool.permission == "ask"
        return asks or bool(said & {"pending", "suspend"})

    @property
    def approvals(self) -> list[Decided]:
        """The resume decisions for it that were not turned down, each once."""
        return [d for d in self.decisions if d.action == "resume" and not (d.turned_down or d.repeats)]

    @property
    def rejection(self) -> Decided | None:
        """The cancel decision that it certainly took: none that came behind one that let it go on."""
        approved = {one.in_suspension: one.at for one in reversed(self.approvals)}
        for decided in self.decisions:
            took = decided.action == "cancel" and decided.answers is self and not decided.turned_down
            if took and approved.get(decided.in_suspension, decided.at) >= decided.at:
                return decided
        return None


@dataclass(frozen=True, slots=True)
class Station:
    """A station of the resume gate, the stimulus at which it was reached, and the checkpoints before it."""

    entered: ResumeEntered
    at: int
    checkpoints: int


@dataclass(eq=False, slots=True)
class Audience:
    """Who watches the events of the thread, as far as is known."""

    watcher: str | None = None
    stream: str = "native"
    came: str = "nobody"  # first, in place of another, back to a run that waited, with a decision
    possible: set[str | None] = field(default_factory=lambda: {None})  # who may receive an event by now
    gone: set[str] = field(default_factory=set)  # who watched before
    told: list[Published] = field(default_factory=list)  # what the present watcher received
    answered: bool = False  # whether the last stream that was closed belonged to a request that decided
    activities: list[Any] = field(default_factory=list)  # what tools told since the newest stimulus came

    def comes(self, watcher: str | None, stream: str, came: str, sure: bool) -> None:
        """Somebody takes the place, or with None leaves it; in a race both may be there."""
        if self.watcher is not None:
            self.gone.add(self.watcher)
        self.gone.discard(watcher or "")
        self.possible = {watcher} if sure else {*self.possible, watcher}
        self.watcher, self.stream, self.came, self.told = watcher, stream, came, []

    @property
    def is_sure(self) -> bool:
        """Whether it is certain who watches."""
        return self.possible == {self.watcher}


@dataclass(eq=False, slots=True)
class Run:
    """One run of the thread."""

    id: str
    claimed: str | None = None
    claims: list[str] = field(default_factory=list)
    claims_before: int = 0  # how many of them came before the newest stimulus
    calls: dict[str, Call] = field(default_factory=dict)
    former_calls: list[Call] = field(default_factory=list)
    finished: list[SegmentEnded] = field(default_factory=list)
    steps: int = 0  # inferences that it asked for, in all its lives
    steps_at_least: int = 0  # and as many as it knows of: what a crash took with it counts no more
    steps_at_most: int = 0
    turns_before: int | None = None  # of the model, in the thread that the run took over
    segment_open: bool = True
    stirs: int = 1  # how many segments the stimuli so far may have begun
    cancel_at: int | None = None  # the stimulus that held the cancel
    cancel_alone: bool = False
    cancel_met: int | None = None  # the stimulus that held the cancel, if that met no race
    cancel_status: str = "Running"
    cancel_settled: bool = False  # a quiescent answer came since
    was_sent_cancel: bool = False  # whatever became of it
    faulted: str | None = None  # the gate kind that was released with a fault or a raise
    fault_alone: bool = False
    crashes: int = 0
    had_input: bool = False
    input_at: int | None = None  # the stimulus with the newest input that came alone while it waited
    input_text: str = ""
    cancel_in_replay: Call | None = None  # what was replayed in the wait that the cancel met
    broke_at: Gate | None = None  # the tool or permission gate that broke or blocked the run, and met no race
    paid_for: list[Call] = field(default_factory=list)  # had answered, and a crash must not cost that
    said: str = ""  # the input that it began with
    cut_off: list[Call] = field(default_factory=list)  # had answered in the round that a cancel cut off
    left_to_drain: list[Call] = field(default_factory=list)  # executed for the first time when it came
    turn_alone: bool = True  # the newest turn of the model did not race
    began_alone: bool = True  # whether it met no race when it was asked for
    began_at_ms: int = 0  # when it was asked for
    seen_at_ms: int | None = None  # when it showed something first
    answered_at_ms: int = 0  # when the model or a tool of it answered last
    turned_at_ms: int = 0  # when the model did
    tokens: int = 0
    texts: list[str] = field(default_factory=list)  # what the model said, turn by turn
    phases: list[PhaseEntered] = field(default_factory=list)
    hooks: list[Gate] = field(default_factory=list)  # where a plugin of it was held
    taken_out: set[str] = field(default_factory=set)  # calls of the newest turn that a plugin took out
    left_in: set[str] = field(default_factory=set)  # and those that it left
    segment: list[Observation] = field(default_factory=list)  # what it showed since its last run.finished
    stations: list[Station] = field(default_factory=list)  # of the resume gate, in this segment
    last_turn: Mapping[str, Any] | None = None

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

    def is_replaying(self, call: Call) -> bool:
        """Whether the call is carried through on a decision that came while this segment's run waited."""
        newest = call.decisions[-1] if call.decisions else None
        taken = newest is not None and newest.answers is call and newest.at_rest
        return taken and newest is not None and newest.segment == len(self.finished)

    @property
    def every_call(self) -> Iterator[Call]:
        """Its calls, those whose id a later turn used again first."""
        yield from self.former_calls
        yield from self.calls.values()

    @property
    def is_blocked(self) -> bool:
        """Whether its permission gate blocked a call of it."""
        return any(call.last_verdict == "block" for call in self.every_call)
