"""Gates, decisions and calls, each with what is known of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runlock.conformance.families.lifecycle.messages import (
    FINAL_CALL_STATUSES,
    GateOpened,
    ToolSpec,
    gate_name,
)
from runlock.conformance.families.lifecycle.state.wires import Told

WORKING_GATES = ("model", "permission", "tool")


@dataclass(eq=False, slots=True)
class ObservedGate:
    """A gate that opened: what it waits for, and what became of it."""

    id: str
    on: str
    run: str
    opened: GateOpened
    life: int
    call: ObservedCall | None = None
    at: int = 0  # the stimulus after which it opened
    at_ms: int = 0  # and when that was
    deltas: list[Mapping[str, Any]] = field(default_factory=list)  # the pieces of a turn that were streamed
    outcome: Mapping[str, Any] | None = None  # as released
    alone: bool = True  # its release met no race
    answered_at: int = 0  # the stimulus that released it
    answered_ms: int = 0  # and when that was
    gone: str | None = None  # why the SUT gave it up
    gone_ms: int | None = None  # and when that was
    passed_ms: int = 0  # how much time passed in the stimulus that opened it
    ignores_aborts: bool = False  # a body that stays at work when it is aborted
    is_left: bool = False  # the run goes on as if its call were over, and what it answers is late
    of: str = field(init=False)  # the run that is not within a call
    ref: str = field(init=False)  # its name in a scenario file: what it waits for, and for which call

    def __post_init__(self) -> None:
        self.ref = gate_name(vars(self.opened))
        self.of = self.run.partition("/")[0]

    @property
    def ends_at_ms(self) -> int | None:
        """When the time of the body that was entered has passed, if its tool limits that."""
        limit = self.call.tool.timeout_ms if self.call is not None and self.call.tool is not None else None
        return None if limit is None or self.on != "tool" else self.at_ms + limit

    @property
    def may_end_at_ms(self) -> int | None:
        """The same for a body that was entered while time passed, if it was entered at once."""
        return None if self.ends_at_ms is None else self.ends_at_ms - self.passed_ms

    @property
    def has_timed_out(self) -> bool:
        """Whether it was given up when its time had passed."""
        given_up = self.gone is not None and self.gone_ms is not None and self.ends_at_ms is not None
        return given_up and (self.gone_ms or 0) >= (self.may_end_at_ms or 0)

    @property
    def is_broken_stream(self) -> bool:
        """Whether the model broke at it in the middle of a turn."""
        return bool(self.deltas) and self.outcome is not None and self.outcome["kind"] == "fault"

    @property
    def is_open(self) -> bool:
        """Whether the SUT still waits at it."""
        return self.outcome is None and self.gone is None


@dataclass(frozen=True, slots=True)
class Form:
    """The tool and the arguments of a call; an argument that is null may be left out."""

    name: str | None
    args: Any

    def edited(self, edit: Mapping[str, Any]) -> Form:
        """What an edit makes of it."""
        name, args = edit.get("name"), edit.get("args")
        return Form(self.name if name is None else name, self.args if args is None else args)

    def __str__(self) -> str:
        return f"{self.name} {json.dumps(self.args)}"

    def is_like(self, other: Form) -> bool:
        """Whether both are the same tool with the same arguments."""
        return self.name == other.name and is_alike(self.args, other.args)


def stored_status(checkpoint: Any, call: str | None) -> str | None:
    """The status of a call in a checkpoint, if it has one."""
    calls = checkpoint.get("calls") if isinstance(checkpoint, Mapping) else None
    stored = calls.get(call) if isinstance(calls, Mapping) else None
    status = stored.get("status") if isinstance(stored, Mapping) else None
    return status if isinstance(status, str) else None


def is_alike(left: Any, right: Any) -> bool:
    """Whether two sets of arguments are the same, but for those that are null."""
    return _spelled(left) == _spelled(right)


def _spelled(args: Any) -> str:
    given = {k: v for k, v in args.items() if v is not None} if isinstance(args, Mapping) else args
    return json.dumps(given, sort_keys=True)


@dataclass(frozen=True, slots=True)
class ShownForm:
    """What those who decide were shown of a call."""

    form: Form
    at: int  # the stimulus after which they were
    entries: int  # of its body before that
    verdicts: int
    suspension: int


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
    answers: ObservedCall | None = None  # the call that it met, if that certainly waited for it
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
    busy_sibling: str | None = None  # a call of the same round that was executing for the first time
    batch: int = 1  # how many decisions came together
    checkpoints: int | None = None  # how many had been taken when the runtime said that it accepted it
    edit: Mapping[str, Any] | None = None  # what it puts in the place of what was asked for
    is_expiry: bool = False  # no one sent it: the wait of its call had an end
    scope: str | None = None  # how long it stands, if for longer than for its call


@dataclass(slots=True)
class CallVolatile:
    """What the runtime said of a call, and loses in a crash."""

    claimed: str | None = None
    suspensions: int = 0  # as claimed, else as witnessed
    numbers: list[int] = field(default_factory=list)  # that its suspensions were given
    listed_pending: bool = False  # in `pending` of the newest run.finished


@dataclass(eq=False, slots=True)
class ObservedCall:
    """One call that the model asked for."""

    id: str
    name: str
    args: Mapping[str, Any]
    run: str
    step: int
    tool: ToolSpec | None
    life: int
    refused_for: str = ""  # why it has no tool, if the scenario has one of its name: not offered, unfit
    written: str | None = None  # its arguments as the model wrote them, if they do not parse
    in_cut_turn: bool = False  # the turn that asked for it ended for its length
    is_cut: bool = False  # which may have cut it off
    duplicate_id: bool = False  # its id was asked for twice in one turn, or was still live
    raced: bool = False  # the turn that asked for it raced with something else
    before_claim: str | None = None
    entries: list[ObservedGate] = field(default_factory=list)
    judged: list[ObservedGate] = field(default_factory=list)
    decisions: list[Decided] = field(default_factory=list)
    lost_entries: int = 0  # entries of its body before the last crash
    lost_verdicts: int = 0  # and verdicts
    entries_when_suspended: int = 0
    input_at: int | None = None  # the stimulus with new input that met it while it waited
    claims: list[str] = field(default_factory=list)
    claims_stored: int = 0  # how many of them came before the newest checkpoint of its run
    wires: dict[str, Told] = field(default_factory=dict)  # what each stream has told of it
    due_on: str | None = None  # the stream that has to open it, whatever else it says of it
    shown: list[ShownForm] = field(default_factory=list)  # to those who decide
    waits_began: dict[int, int] = field(default_factory=dict)  # when each of its waits did, in ms
    is_renamed: bool = False  # a decision names another tool for it
    asked_at: int = 0  # the stimulus that brought its turn
    is_granted: bool = False  # a standing grant covers it
    may_be_granted: bool = False  # or may, without a word
    volatile: CallVolatile = field(default_factory=CallVolatile)

    @property
    def is_unclear(self) -> bool:
        """Whether it may be another call or tool, be approved by a grant, hold a run, or be broken off."""
        may_be_another = self.duplicate_id or self.is_renamed or self.may_be_granted
        return may_be_another or self.has_agent or self.breaks_off

    @property
    def breaks_off(self) -> bool:
        """Whether its turn ended for its length, or its arguments do not parse."""
        return self.in_cut_turn or self.written is not None

    @property
    def has_agent(self) -> bool:
        """Whether its tool is an agent, so that a run is within it."""
        return self.tool is not None and self.tool.agent is not None

    @property
    def claimed(self) -> str | None:
        """The status that the runtime announced last."""
        return self.volatile.claimed

    @property
    def suspensions(self) -> int:
        """How often it has been suspended."""
        return self.volatile.suspensions

    @property
    def numbers(self) -> list[int]:
        """The numbers that its suspensions were given."""
        return self.volatile.numbers

    @property
    def listed_pending(self) -> bool:
        """Whether the newest run.finished named it as pending."""
        return self.volatile.listed_pending

    def crash(self) -> None:
        """The runtime crashed: what it said of the call is void, and a decision may be lost."""
        self.volatile, self.due_on = CallVolatile(), None
        self.lost_entries, self.lost_verdicts = len(self.entries), len(self.judged)
        for decided in self.decisions:
            decided.unsure, decided.answers = True, None

    @property
    def is_final(self) -> bool:
        """Whether it is over, by its own claim or by what was witnessed."""
        return self.claimed in FINAL_CALL_STATUSES or (self.claimed is None and self.ended_as is not None)

    @property
    def executing(self) -> list[ObservedGate]:
        """The entries of its body that have not answered, and that its run has not left behind."""
        return [gate for gate in self.entries if gate.is_open and not gate.is_left]

    @property
    def executions(self) -> list[ObservedGate]:
        """The entries of its body, but for those that a time limit ended and that may be tried again."""
        return [gate for gate in self.entries if not gate.has_timed_out]

    @property
    def last_answer(self) -> Mapping[str, Any] | None:
        """What its body answered last."""
        kept = (gate for gate in self.entries[self.lost_entries :] if not gate.is_left)
        answers = [gate.outcome for gate in kept if gate.outcome is not None]
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
        asks = self.has_agent or (self.tool is not None and self.tool.permission == "ask")
        return asks or bool(said & {"pending", "suspend"})

    @property
    def has_moved_since_the_crash(self) -> bool:
        """Whether a call that waited in the checkpoint was seen to do anything since."""
        entered = len(self.entries) > self.lost_entries or len(self.judged) > self.lost_verdicts
        return self.claimed not in (None, "Suspended") or entered or bool(self.numbers)

    @property
    def met_at(self) -> int:
        """The stimulus that brought the call last to its permission hook or into its body; 0 if none did."""
        return max((gate.at for gate in (*self.entries, *self.judged)), default=0)

    @property
    def approvals(self) -> list[Decided]:
        """The resume decisions for it that were not turned down, each once."""
        return [d for d in self.decisions if d.action == "resume" and not (d.turned_down or d.repeats)]

    @property
    def edits(self) -> list[Decided]:
        """The approvals that edit it and were not turned down."""
        return [decided for decided in self.approvals if decided.edit]

    @property
    def forms(self) -> list[Form]:
        """As what it may be shown, or run: as the model asked for it, and after each edit."""
        forms = [Form(self.name, dict(self.args))]
        for decided in self.edits:
            forms.append(forms[-1].edited(decided.edit or {}))
        return forms

    def acting_on(self, seen: GateOpened) -> Decided | None:
        """The approval on which the body is entered: the one that the gate names, else the last."""
        named = seen.resume.decision if seen.resume is not None else None
        if named is not None:
            return next((one for one in reversed(self.approvals) if one.id == named), None)
        last = self.approvals[-1] if self.approvals else None
        is_sure = last is not None and last.answers is self and last.entries_before == len(self.entries)
        return last if is_sure else None

    @property
    def decision_in_force(self) -> Decided | None:
        """The newest decision, if it came while the run waited, and certainly for this suspension."""
        newest = self.decisions[-1] if self.decisions else None
        if newest is None or newest.answers is not self or newest.turned_down or not newest.at_rest:
            return None
        return newest if newest.in_suspension == self.suspensions else None

    @property
    def rejection(self) -> Decided | None:
        """The cancel decision that it certainly took: none that came after one that let it go on."""
        approved = {one.in_suspension: one.at for one in reversed(self.approvals)}
        for decided in self.decisions:
            took = decided.action == "cancel" and decided.answers is self and not decided.turned_down
            if took and approved.get(decided.in_suspension, decided.at) >= decided.at:
                return decided
        return None


@dataclass(eq=False, slots=True)
class Grant:
    """A decision that stands for later calls, as far as it says so."""

    decided: Decided
    call: ObservedCall
    scope: str
    life: int
    depth: int
    revoked_at: int | None = None  # the stimulus that revoked it
    is_surely_revoked: bool = False  # that met no race, and no crash before it was stored
    checkpoints: int = 0  # how many there were when it was revoked
