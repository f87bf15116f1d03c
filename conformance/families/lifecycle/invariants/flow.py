"""FLOW: a segment passes its stations in order, from RunStart to its forced last checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runlock.conformance.families.lifecycle.invariants.segment_queries import (
    Followed,
    Segment,
    asked_for,
    asked_for_nothing,
    followed,
    has_fired,
    is_among,
    may_be_a_replay,
    may_hold_back,
    requires,
    stored,
)
from runlock.conformance.families.lifecycle.messages import (
    FINAL_CALL_STATUSES,
    CallMoved,
    Checkpointed,
    GateOpened,
    PhaseEntered,
    ResumeEntered,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import INPUT
from runlock.conformance.families.lifecycle.state.records import ObservedCall
from runlock.conformance.family.rank import Rank
from runlock.conformance.family.rule import Occasion, Rule, table
from runlock.conformance.protocol import Observation

PHASES = (
    "RunStart", "StepStart", "BeforeInference", "AfterInference", "ToolGate", "BeforeToolExecute",
    "AfterToolExecute", "StepEnd", "RunEnd",
)  # fmt: skip
RESOLVED = ("ReplayResume", "ReplayCancel")


@dataclass(frozen=True)
class Flow(Segment):
    """A segment, and where in its flow it stands."""

    # --- the start of a segment

    @property
    def is_at_its_start(self) -> bool:
        """Whether the segment has started no step, and nothing cuts it short."""
        return not (self.is_cut or self.fired("StepStart"))

    @property
    def said(self) -> str:
        """The beginning of the input with which the run began, if nothing was said to it since."""
        return "" if self.run.disturbed_by(INPUT) else self.run.said[:40]

    @property
    def texts(self) -> list[str] | None:
        """What the user says in the thread of a checkpoint, if it has one."""
        kept = self.seen.state if isinstance(self.seen, Checkpointed) else None
        thread = kept.get("messages") if isinstance(kept, dict) else None
        if not isinstance(thread, list):
            return None
        said = [one.get("text") for one in thread if isinstance(one, dict) and one.get("role") == "user"]
        return [text for text in said if isinstance(text, str)]

    @property
    def replayed(self) -> int:
        """Where the newest decision of the segment was resolved, or -1."""
        at = (n for n, one in enumerate(self.run.segment) if _resolves(one))
        return max(at, default=-1)

    @property
    def suspended_again(self) -> str:
        """The call that the first replay of the segment suspended, unless it was decided once more."""
        call = _suspended(_first_replay(self.run.segment))
        known = self.run.calls.get(call)
        return call if known is None or known.claimed == "Suspended" else ""

    # --- the loop

    @property
    def newest(self) -> Checkpointed | None:
        """The newest checkpoint since the newest step started."""
        shown = self.shown("StepStart")
        kept = shown[stored(shown)] if stored(shown) >= 0 else None
        return kept if isinstance(kept, Checkpointed) else None

    def newest_is(self, trigger: str, cause: str = "") -> bool:
        """Whether that checkpoint has this trigger, and this cause."""
        newest = self.newest
        return newest is not None and newest.trigger == trigger and cause in ("", newest.cause)

    @property
    def has_looked_since_stored(self) -> bool:
        """Whether the resume gate was passed since the newest checkpoint of the segment."""
        return _gate(self.run.segment[stored(self.run.segment) :])

    @property
    def has_looked(self) -> bool:
        """Whether the resume gate was passed on the way to the next step."""
        if self.newest_is("ToolResultsCommitted", "run_start"):
            return self.has_looked_since_stored
        return _gate(requires(self.run, "StepEnd", "StepStart"))

    @property
    def is_another_clause(self) -> bool:
        """Whether FLOW-2 or FLOW-21 says that the gate has to be passed here."""
        newest = self.newest
        return newest is not None and (newest.trigger == "UserMessage" or newest.cause == "round")

    @property
    def last_may_be_a_replay(self) -> bool:
        """Whether the newest phase may be that of a replay that came between two phases of a step."""
        is_concurrent = self.state.policy("decision.window") != "after_round"
        return is_concurrent and may_be_a_replay(self.run, self.run.phases[-1])

    @property
    def since_asked(self) -> Sequence[Observation]:
        """What the segment has shown since the model was asked last."""
        shown = self.shown()
        asked = next((at for at in range(len(shown), 0, -1) if _asks(shown[at - 1])), 0)
        return shown[asked:]

    @property
    def is_answered(self) -> bool:
        """Whether the model has answered in this segment, and no phase was shown since it was asked."""
        gate = self.state.last_model_gate
        if gate is None or gate.run != self.run.id or gate.outcome is None or gate.outcome["kind"] != "turn":
            return False
        return is_among(gate.opened, self.run.segment) and not has_fired(self.since_asked, *PHASES)

    @property
    def missing(self) -> str:
        """The phase of the newest turn that was not shown."""
        shown = self.since_asked
        return next((one for one in ("AfterInference", "StepEnd") if not has_fired(shown, one)), "")

    @property
    def may_have_news(self) -> bool:
        """Whether a decision may have brought something since the model was asked."""
        shows = self.state.observes("call.status") or self.state.observes("resume")
        hidden = not shows and any(call.decisions for call in self.run.calls.values())
        return hidden or any(map(_is_news, self.since_asked))

    # --- a round

    @property
    def round(self) -> list[ObservedCall]:
        """The calls of the newest turn."""
        return asked_for(self.run)

    @property
    def has_no_round(self) -> bool:
        """Whether the turn asked for calls, and none of their phases was shown."""
        begun = self.fired("BeforeToolExecute", "AfterToolExecute", since="AfterInference")
        return bool(self.round) and not begun

    @property
    def asked(self) -> str:
        """The first call that the turn asked for."""
        return self.round[0].id

    @property
    def busy(self) -> str:
        """The first call that is executing by itself."""
        calls = self.run.calls.values()
        return next((call.id for call in calls if call.executing and not call.decisions), "")

    @property
    def is_after_a_round(self) -> bool:
        """Whether the segment goes on or ends after a round whose calls show what became of them."""
        if self.is_cut or not (
            self.declares("round.mixed", "continue") and self.state.observes("call.status")
        ):
            return False
        in_this_segment = self.fired("AfterInference") and self.run.turn_alone
        return in_this_segment and self.stored("ToolResultsCommitted", since="StepStart")

    @property
    def all_wait(self) -> bool:
        """Whether each call of the newest step is Suspended."""
        step = self.run.steps
        return {call.claimed for call in self.run.calls.values() if call.step == step} == {"Suspended"}

    @property
    def over(self) -> ObservedCall | None:
        """A call of the round that is over; what ran after a wait may be judged without those before it."""
        over = [call for call in self.round if call.claimed in FINAL_CALL_STATUSES]
        held_back = may_hold_back(self.state)
        return next((call for call in over if not (held_back and call.suspensions)), None)

    @property
    def how(self) -> str:
        """What became of that call."""
        status = self.over.claimed if self.over is not None else None
        return f"{status}" if status in ("Succeeded", "Failed") else f"is {status}"


def flows(state: ObservedState, seen: Followed) -> Iterator[Flow]:
    """The segment, if it can be followed."""
    run = followed(state, seen)
    if run is not None:
        yield Flow(state, run, seen)


# --- reading what was shown ---------------------------------------------------------------------


def _gate(shown: Sequence[Observation]) -> bool:
    return any(isinstance(seen, ResumeEntered) for seen in shown)


def _asks(seen: Observation) -> bool:
    return isinstance(seen, GateOpened) and seen.on == "model"


def _resolves(seen: Observation) -> bool:
    return isinstance(seen, ResumeEntered) and seen.state in RESOLVED


def _is_news(seen: Observation) -> bool:
    return _resolves(seen) or (isinstance(seen, CallMoved) and seen.to in FINAL_CALL_STATUSES)


def _first_replay(shown: Sequence[Observation]) -> Sequence[Observation]:
    """What was shown until the resume gate was left for the first time."""
    for at, seen in enumerate(shown):
        if isinstance(seen, ResumeEntered) and seen.state in ("NoDecision", "CommitReplay"):
            return shown[:at]
    return shown


def _suspended(shown: Sequence[Observation]) -> str:
    """The first call that was suspended in what was shown."""
    for seen in shown:
        if isinstance(seen, CallMoved) and seen.to == "Suspended":
            return seen.call
        if isinstance(seen, ResumeEntered) and seen.state == "SetNextSuspended":
            return seen.call or ""
    return ""


# --- the rules ----------------------------------------------------------------------------------

ANY_PHASE = Occasion(flows, PhaseEntered)
ANY_CHECKPOINT = Occasion(flows, Checkpointed)
MODEL = Occasion(flows, GateOpened, ("model",))
END = Occasion(flows, SegmentEnded)
STEP = Occasion(flows, PhaseEntered, ("StepStart",))
INFERENCE = Occasion(flows, PhaseEntered, ("BeforeInference",))
RUN_END = Occasion(flows, PhaseEntered, ("RunEnd",))
STEP_OR_END = Occasion(flows, PhaseEntered, ("StepStart", "RunEnd"))
STEP_TOOL_OR_END = Occasion(flows, PhaseEntered, ("StepStart", "BeforeToolExecute", "RunEnd"))
TURN = Occasion(flows, Checkpointed, ("AssistantTurnCommitted",))
RESULTS = Occasion(flows, Checkpointed, ("ToolResultsCommitted",))

# fmt: off
INVARIANTS = table(
    Rank.PHASE,
    # the start of a segment; only a cancel ends a run without entering it again
    Rule("FLOW-1", "a segment begins with RunStart", ANY_PHASE, lambda v: v.name == "RunStart",
         "the segment begins with {v.name}, not with RunStart", lambda v: not (v.fired(*PHASES) or v.is_cut)),
    Rule("FLOW-1", "the input is committed first", STEP, lambda v: v.stored("UserMessage", since="RunStart"),
         "the first step starts, yet the input has not been committed after RunStart",
         lambda v: not (v.run.finished or v.fired("StepStart"))),
    Rule("FLOW-1", "the committed input is in the thread", ANY_CHECKPOINT,
         lambda v: any(v.run.said in text for text in v.texts or ()),
         "the input {v.said!r} is committed, yet its checkpoint does not hold it",
         lambda v: v.name == "UserMessage" and v.said and v.texts is not None and not v.run.finished),
    Rule("FLOW-2", "an input looks for decisions", STEP, lambda v: v.has_looked_since_stored,
         "the first step starts, yet nobody has looked for decisions before it",
         lambda v: not v.is_cut and v.newest_is("UserMessage")),
    Rule("FLOW-3", "a replay at the start is committed", STEP_OR_END,
         lambda v: stored(v.run.segment, "ToolResultsCommitted") > v.replayed,
         "{v.name} fires, yet the replay at the start of the segment has not been committed",
         lambda v: v.is_at_its_start and v.replayed >= 0, "a decision"),
    Rule("FLOW-4", "a start without replay stores once", STEP, None,
         when=lambda v: v.is_at_its_start and v.replayed < 0),
    Rule("FLOW-5", "a replay that ends the wait leads on", STEP_OR_END, lambda v: v.name == "StepStart",
         "the replay at the start suspended nothing, yet the segment ends without asking the model",
         lambda v: v.is_at_its_start and v.replayed >= 0 and not _suspended(v.run.segment), "a decision"),
    Rule("FLOW-6", "a new suspension at the start ends the segment", STEP_OR_END,
         lambda v: v.name == "RunEnd",
         "call {v.suspended_again} was suspended again by the replay at the start, yet a step starts",
         lambda v: v.is_at_its_start and v.suspended_again, "a wait"),

    # the loop
    Rule("FLOW-7", "every turn passes the gate", STEP, lambda v: v.has_looked,
         "a step starts, yet the resume gate was not passed on the way to it",
         lambda v: not v.is_cut and (v.has_looked or not v.is_another_clause)),
    Rule("FLOW-8", "a step starts with StepStart", INFERENCE, lambda v: v.last == "StepStart",
         "BeforeInference fires after {v.last}, not after StepStart",
         lambda v: v.run.phases and not v.last_may_be_a_replay),
    Rule("FLOW-10", "a step asks the model", MODEL, None,
         when=lambda v: v.fired("BeforeInference") and not v.is_cut),
    Rule("FLOW-10", "a step asks the model", RUN_END, None,
         "RunEnd fires, yet the last step of the segment has not asked the model",
         lambda v: v.fired("BeforeInference") and not (v.is_cut or v.has_asked("BeforeInference"))),
    Rule("FLOW-13", "an answer is followed by AfterInference", ANY_PHASE,
         lambda v: v.name == "AfterInference",
         "the model has answered, yet {v.name} fires before AfterInference",
         lambda v: v.is_answered and v.name != "RunEnd" and not v.is_a_replay),
    Rule("FLOW-13", "an answer is followed by AfterInference", TURN, None,
         "the answer of the model is committed, yet AfterInference has not fired for it",
         lambda v: v.is_answered),
    Rule("FLOW-14", "a turn is committed after its step", TURN, lambda v: not v.missing,
         "the turn is committed, yet {v.missing} of its step has not fired"),
    Rule("FLOW-14", "no turn is left uncommitted", RUN_END,
         lambda v: v.stored("AssistantTurnCommitted", since="AfterInference"),
         "the segment ends, yet the last answer of the model was not committed",
         lambda v: not v.is_cut and v.fired("AfterInference")),
    Rule("FLOW-16", "a turn without calls is the last", STEP, None,
         "the model asked for no calls and nothing was decided, yet another step starts",
         lambda v: v.fired("AfterInference") and asked_for_nothing(v.run)
         and not (v.may_have_news or v.is_cut)),
    Rule("FLOW-16", "a turn without calls ended the segment", END, None,
         when=lambda v: asked_for_nothing(v.run) and not v.is_cut),

    # a round
    Rule("FLOW-17", "a turn with calls has its round", STEP_TOOL_OR_END,
         lambda v: v.name == "BeforeToolExecute",
         "the model asked for call {v.asked}, yet {v.name} fires before any round",
         lambda v: v.fired("AfterInference") and not v.is_cut and v.has_no_round, "calls"),
    Rule("FLOW-20", "a round is committed whole", RESULTS, lambda v: not v.busy,
         "the round is committed, yet call {v.busy} is still executing", lambda v: v.cause == "round"),
    Rule("FLOW-20", "a round is committed before a wait", RUN_END,
         lambda v: v.stored("ToolResultsCommitted", since="AfterInference"),
         "the segment ends after a round, yet the round was not committed",
         lambda v: not v.is_cut and v.round and v.fired("AfterInference")),
    Rule("FLOW-21", "a committed round passes the gate", STEP_OR_END,
         lambda v: v.has_looked_since_stored,
         "the round is committed, yet {v.name} fires with no look for decisions",
         lambda v: not v.is_cut and v.newest_is("ToolResultsCommitted", "round"), "calls"),
    Rule("FLOW-22", "a round that waits ends the segment", STEP_OR_END, lambda v: v.name == "RunEnd",
         "every call of the round is Suspended, yet another step starts",
         lambda v: v.is_after_a_round and v.all_wait, "a wait"),
    Rule("FLOW-23", "a round with an outcome leads on", STEP_OR_END, lambda v: v.name == "StepStart",
         "call {v.over.id} of the round {v.how}, yet the segment ends",
         lambda v: v.is_after_a_round and v.over, "calls"),
) + table(
    Rank.CHECKPOINT,
    Rule("FLOW-4", "nothing replayed is committed", RESULTS, None,
         "the segment has replayed nothing, yet ToolResultsCommitted is stored before its first step",
         lambda v: v.replayed < 0 and not v.fired("StepStart", "BeforeToolExecute", "AfterToolExecute")),
)
# fmt: on
