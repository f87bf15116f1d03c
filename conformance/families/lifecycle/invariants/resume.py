"""RESUME: a pass through the resume gate stops at each station, and what it decides is done and kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from runlock.conformance.families.lifecycle.invariants.segment_queries import is_cut_short
from runlock.conformance.families.lifecycle.invariants.selectors import name_of
from runlock.conformance.families.lifecycle.messages import CallMoved, GateOpened, PhaseEntered, ResumeEntered
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import FAULT
from runlock.conformance.families.lifecycle.state.records import Decided, Run
from runlock.conformance.family.rank import Rank
from runlock.conformance.family.rule import Occasion, Rule, table

PASS_ENDS = ("NoDecision", "CommitReplay")
SNAPSHOTS = ("SnapshotIfStateChanged", "CommitReplay")
"""The stations after which the checkpoint of a pass stands: the arrow between them is labelled with it."""


@dataclass(frozen=True)
class Pass:
    """The passes of a segment through the resume gate, and what is about to be shown."""

    state: ObservedState
    run: Run
    seen: ResumeEntered | GateOpened | PhaseEntered

    @property
    def name(self) -> str:
        """The next station, the gate or the phase."""
        return name_of(self.seen)

    @property
    def station(self) -> str | None:
        """The newest station."""
        return self.run.stations[-1].entered.state if self.run.stations else None

    @property
    def has_news(self) -> bool:
        """Whether a decision came since the last pass, or is kept for a call that does not wait yet."""
        last = max((one.at for one in self.run.stations if one.entered.state in PASS_ENDS), default=0)
        sent = self.state.decision_ids.values()
        return any(decided.at > last or decided.disposition == "buffered" for decided in sent)

    @property
    def standing(self) -> Decided | None:
        """A decision that was accepted for a suspension that is open."""
        return next(_standing(self.run), None)

    @property
    def decided(self) -> Decided | None:
        """The decision that the next station is about."""
        if isinstance(self.seen, ResumeEntered) and self.seen.decision is not None:
            return self.state.decision_ids.get(self.seen.decision)
        for station in reversed(self.run.stations):
            if station.entered.state in PASS_ENDS:
                return None
            if station.entered.decision is not None:
                return self.state.decision_ids.get(station.entered.decision)
        return None

    @property
    def replayed(self) -> str | None:
        """The status of the call whose replay is over as the next station is reached."""
        before = self.run.station_before(self.seen) if isinstance(self.seen, ResumeEntered) else None
        call = self.run.calls.get(before.entered.call or "") if before is not None else None
        return call.claimed if call is not None and not call.is_unclear else None

    @property
    def is_committed(self) -> bool:
        """Whether a checkpoint was taken since the newest pass came to its end."""
        last = [station for station in self.run.stations[-2:] if station.entered.state in SNAPSHOTS]
        since = self.state.checkpoints[last[0].checkpoints :]
        return any(checkpoint.trigger == "ToolResultsCommitted" for checkpoint in since)

    @property
    def may_end_here(self) -> bool:
        """Whether no pass may be open here: where decisions wait for the round, no step starts in one."""
        return self.state.policy("decision.window") == "after_round" or self.name == "RunEnd"


def passes(state: ObservedState, seen: ResumeEntered | GateOpened | PhaseEntered) -> Iterator[Pass]:
    """What the run has shown of its passes."""
    run = state.run_of(seen)
    if run is not None:
        yield Pass(state, run, seen)


@dataclass(frozen=True)
class Leaving:
    """A call that leaves its suspension, and the newest station of its decision."""

    call: str
    to: str
    station: str


def leaving(state: ObservedState, seen: CallMoved) -> Iterator[Leaving]:
    """The call, if it was suspended and its decision has come to a station."""
    run = state.run_of(seen)
    if run is not None and seen.origin == "Suspended":
        stations = (one.entered for one in reversed(run.stations) if one.entered.call == seen.call)
        yield from (Leaving(seen.call, seen.to, station.state) for station in islice(stations, 1))


def _standing(run: Run) -> Iterator[Decided]:
    for call in run.calls.values():
        for decided in call.decisions:
            taken = decided.disposition == "accepted" and decided.answers is call
            unused = call.claimed == "Suspended" and call.suspensions == decided.in_suspension
            if taken and unused and not (decided.turned_down or decided.repeats or call.is_unclear):
                yield decided


def _after(station: str, *at: str) -> Occasion[Pass]:
    return Occasion(passes, ResumeEntered, at, (station,))


def leads_to(clause: str, station: str, right: str, sentence: str) -> Rule[Pass]:
    """The rule of one arrow: which station follows another, for any decision."""
    return Rule(
        clause,
        f"{station} leads to {right}",
        _after(station),
        lambda v: v.name == right,
        f"{sentence}, yet {station} led to {{v.name}}",
        lambda v: v.name != station,
    )


def branch(clause: str, action: str, right: str) -> Rule[Pass]:
    """The rule of one branch of the replay: which action takes it."""
    return Rule(
        clause,
        f"a decision to {action} takes {right}",
        _after("Replay"),
        lambda v: v.name == right,
        f"decision {{v.decided.id}} says {action}, yet its replay took the branch {{v.name}}",
        lambda v: v.decided is not None and v.decided.action == action,
        "a decision",
    )


DRAINED = _after("DrainDecisionChannel", "DrainDecisionChannel", "NoDecision")
REPLAYED = _after("ExecuteReplayedTool")

# fmt: off
INVARIANTS = table(
    Rank.PHASE,
    Rule("RESUME-1", "an empty pass ends in NoDecision", DRAINED, lambda v: v.name == "NoDecision",
         "nothing had arrived, yet the pass did not end in NoDecision: the next one began",
         lambda v: not v.has_news),
    # where decisions are collected, one may be held until the others are decided as well
    Rule("RESUME-3", "a decision that meets its call is resolved", _after("DrainDecisionChannel"),
         lambda v: v.name == "ResolveDecision",
         "decision {v.standing.id} meets call {v.standing.call}, which waits for it, "
         "yet the pass went on to {v.name}",
         lambda v: v.state.policy("resume") != "collect" and v.standing, "a decision"),
    Rule("RESUME-2", "a pass that meets no call ends in NoDecision", DRAINED,
         lambda v: v.name == "NoDecision",
         "what had arrived met no call that waits, "
         "yet the pass did not end in NoDecision: the next one began",
         lambda v: v.has_news, "a decision"),
    Rule("RESUME-5", "nothing acts before it is written", Occasion(leaving, CallMoved),
         lambda v: v.station not in ("ResolveDecision", "PersistResumeDecision"),
         "call {v.call} became {v.to} at {v.station}, before the replay of its decision"),
    Rule("RESUME-8", "the cancelling branch enters no tool", _after("ReplayCancel"),
         lambda v: v.name not in ("ExecuteReplayedTool", "ReplayResume"),
         "the decision refuses its call, yet ReplayCancel led to {v.name}", requires="a decision"),
    Rule("RESUME-10", "a replay that is over clears its decision", REPLAYED,
         lambda v: v.name == "ClearResolved",
         "the replayed call is {v.replayed}, yet its replay led to {v.name}",
         lambda v: v.replayed not in (None, "Suspended"), "a decision"),
    Rule("RESUME-11", "a replay that is held records its suspension", REPLAYED,
         lambda v: v.name == "SetNextSuspended",
         "the replayed call is Suspended again, yet its replay led to {v.name}",
         lambda v: v.replayed == "Suspended", "a decision"),
    Rule("RESUME-14", "a resolved pass is committed", _after("CommitReplay"), lambda v: v.is_committed,
         "a pass resolved a decision, yet the next pass began before ToolResultsCommitted",
         lambda v: not v.run.disturbed_by(FAULT) and v.state.observes("checkpoint"), "a decision",
         is_deferred=True),
    Rule("RESUME-14", "a resolved pass is committed before the model is asked",
         Occasion(passes, GateOpened, ("model",)), lambda v: v.is_committed,
         "a pass resolved a decision, yet the model is asked before ToolResultsCommitted",
         lambda v: v.station == "CommitReplay" and v.state.policy("decision.window") != "immediate"
         and v.state.observes("checkpoint"), excuses=(FAULT,), is_deferred=True),
    Rule("RESUME-20", "no pass is left open", Occasion(passes, PhaseEntered, ("StepStart", "RunEnd")),
         lambda v: v.station in PASS_ENDS,
         "{v.name} fires, yet the pass through the resume gate stands at {v.station}",
         lambda v: v.may_end_here and v.station is not None and not is_cut_short(v.state, v.run)),
    leads_to("RESUME-4", "ResolveDecision", "PersistResumeDecision",
             "a resolved decision is written down first"),
    leads_to("RESUME-5", "PersistResumeDecision", "Replay",
             "a decision that is written down is replayed next"),
    branch("RESUME-6", "cancel", "ReplayCancel"),
    branch("RESUME-7", "resume", "ReplayResume"),
    leads_to("RESUME-9", "ReplayResume", "ExecuteReplayedTool", "what is resumed runs again"),
    leads_to("RESUME-12", "SetNextSuspended", "ClearResolved",
             "a decision is cleared once the call waits anew"),
    leads_to("RESUME-13", "ClearResolved", "SnapshotIfStateChanged",
             "a cleared decision leads to a snapshot"),
    leads_to("RESUME-14", "SnapshotIfStateChanged", "CommitReplay", "what was resolved is committed"),
)
# fmt: on
