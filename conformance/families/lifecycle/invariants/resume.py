"""RESUME: a pass through the resume gate stops at each station, and what it decides is done and kept."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.conformance.families.lifecycle.invariants.segment_queries import is_cut_short
from runlock.conformance.families.lifecycle.messages import CallMoved, GateOpened, PhaseEntered, ResumeEntered
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import FAULT
from runlock.conformance.families.lifecycle.state.records import Decided, Run
from runlock.conformance.family.invariant import HELD, CheckResults, Invariant, broken, check, ranked
from runlock.conformance.family.rank import Rank

PASS_ENDS = ("NoDecision", "CommitReplay")
SNAPSHOTS = ("SnapshotIfStateChanged", "CommitReplay")
"""The stations after which the checkpoint of a pass stands: the arrow between them is labelled with it."""


def _at(state: ObservedState, seen: ResumeEntered, station: str) -> Run | None:
    """The run, if the decision that is about to move stands at that station of its pass."""
    run = state.run_of(seen)
    before = run.station_before(seen) if run is not None else None
    return run if before is not None and before.entered.state == station else None


def _station(run: Run) -> str | None:
    return run.stations[-1].entered.state if run.stations else None


def _decision(state: ObservedState, run: Run, seen: ResumeEntered) -> Decided | None:
    """The decision that a station is about."""
    if seen.decision is not None:
        return state.decision_ids.get(seen.decision)
    for station in reversed(run.stations):
        if station.entered.state in PASS_ENDS:
            return None
        if station.entered.decision is not None:
            return state.decision_ids.get(station.entered.decision)
    return None


def _arrived(state: ObservedState, run: Run) -> bool:
    """Whether a decision came since the last pass, or is kept for a call that does not wait yet."""
    last = max((one.at for one in run.stations if one.entered.state in PASS_ENDS), default=0)
    sent = state.decision_ids.values()
    return any(decided.at > last or decided.disposition == "buffered" for decided in sent)


@check(
    "RESUME-1", at=("DrainDecisionChannel", "NoDecision"), after=("DrainDecisionChannel",), rank=Rank.PHASE
)
def an_empty_pass_ends_in_NoDecision(state: ObservedState, seen: ResumeEntered) -> CheckResults:
    """A pass that finds no decision ends in NoDecision."""
    run = _at(state, seen, "DrainDecisionChannel")
    if run is not None and not _arrived(state, run):
        yield from _ends(seen, "nothing had arrived")


@check("RESUME-3", after=("DrainDecisionChannel",), rank=Rank.PHASE, requires="a decision")
def a_decision_that_meets_its_call_is_resolved(state: ObservedState, seen: ResumeEntered) -> CheckResults:
    """A decision that meets its suspended call is resolved."""
    run = _at(state, seen, "DrainDecisionChannel")
    if state.policy("resume") == "collect":  # it may be held until the others are decided as well
        return
    for decided in _standing(run) if run is not None else ():
        right = seen.state == "ResolveDecision"
        yield (
            HELD
            if right
            else (
                broken(
                    f"decision {decided.id} meets call {decided.call}, which waits for it, "
                    f"yet the pass went on to {seen.state}"
                )
            )
        )
        return


def _standing(run: Run) -> Iterator[Decided]:
    """The decisions that were accepted for a suspension that is open."""
    for call in run.calls.values():
        for decided in call.decisions:
            taken = decided.disposition == "accepted" and decided.answers is call
            unused = call.claimed == "Suspended" and call.suspensions == decided.in_suspension
            if taken and unused and not (decided.turned_down or decided.repeats or call.is_unclear):
                yield decided


def leads_to(clause: str, station: str, right: str, sentence: str) -> Invariant:
    """The check of one arrow: which station follows another, for any decision."""

    def follows(state: ObservedState, seen: ResumeEntered) -> CheckResults:
        if _at(state, seen, station) is not None and seen.state != station:
            yield HELD if seen.state == right else broken(f"{sentence}, yet {station} led to {seen.state}")

    follows.__name__ = f"{station}_leads_to_{right}"
    follows.__doc__ = f"{sentence[0].upper()}{sentence[1:]}."
    return Invariant(clause, follows, ResumeEntered, after=(station,))


def branch(clause: str, action: str, right: str) -> Invariant:
    """The check of one branch of the replay: which action takes it."""

    def takes(state: ObservedState, seen: ResumeEntered) -> CheckResults:
        run = _at(state, seen, "Replay")
        decided = _decision(state, run, seen) if run is not None else None
        if decided is not None and decided.action == action:
            why = f"decision {decided.id} says {action}, yet its replay took the branch {seen.state}"
            yield HELD if seen.state == right else broken(why)

    takes.__name__ = f"a_decision_to_{action}_takes_{right}"
    takes.__doc__ = f"A decision to {action} takes the branch {right}."
    return Invariant(clause, takes, ResumeEntered, after=("Replay",), requires="a decision")


@check(
    "RESUME-2",
    at=("DrainDecisionChannel", "NoDecision"),
    after=("DrainDecisionChannel",),
    rank=Rank.PHASE,
    requires="a decision",
)
def a_pass_that_meets_no_call_ends_in_NoDecision(state: ObservedState, seen: ResumeEntered) -> CheckResults:
    """A pass whose decisions meet no suspended call ends in NoDecision."""
    run = _at(state, seen, "DrainDecisionChannel")
    if run is not None and _arrived(state, run):
        yield from _ends(seen, "what had arrived met no call that waits")


def _ends(seen: ResumeEntered, why: str) -> CheckResults:
    if seen.state == "DrainDecisionChannel":
        yield broken(f"{why}, yet the pass did not end in NoDecision: the next one began")
    elif seen.state == "NoDecision":
        yield HELD


@check("RESUME-5", rank=Rank.PHASE)
def nothing_acts_before_it_is_written(state: ObservedState, seen: CallMoved) -> CheckResults:
    """The replay of a decision starts after the decision was written down."""
    run = state.run_of(seen)
    if run is None or seen.origin != "Suspended" or not run.stations:
        return
    station = next((one.entered for one in reversed(run.stations) if one.entered.call == seen.call), None)
    if station is not None and station.state in ("ResolveDecision", "PersistResumeDecision"):
        yield broken(
            f"call {seen.call} became {seen.to} at {station.state}, before the replay of its decision"
        )
    elif station is not None:
        yield HELD


@check("RESUME-8", after=("ReplayCancel",), rank=Rank.PHASE, requires="a decision")
def the_cancelling_branch_enters_no_tool(state: ObservedState, seen: ResumeEntered) -> CheckResults:
    """The cancelling branch enters no tool."""
    if _at(state, seen, "ReplayCancel") is not None:
        entered = seen.state in ("ExecuteReplayedTool", "ReplayResume")
        yield (
            HELD
            if not entered
            else broken(f"the decision refuses its call, yet ReplayCancel led to {seen.state}")
        )


@check("RESUME-10", after=("ExecuteReplayedTool",), rank=Rank.PHASE, requires="a decision")
def a_replay_that_is_over_clears_its_decision(state: ObservedState, seen: ResumeEntered) -> CheckResults:
    """A replay whose outcome is not Suspended clears its decision at once."""
    claimed = _replayed(state, seen)
    if claimed not in (None, "Suspended"):
        right = seen.state == "ClearResolved"
        yield HELD if right else broken(f"the replayed call is {claimed}, yet its replay led to {seen.state}")


@check("RESUME-11", after=("ExecuteReplayedTool",), rank=Rank.PHASE, requires="a decision")
def a_replay_that_is_held_records_its_suspension(state: ObservedState, seen: ResumeEntered) -> CheckResults:
    """A replay whose outcome is Suspended records the new suspension first."""
    if _replayed(state, seen) == "Suspended":
        right = seen.state == "SetNextSuspended"
        yield (
            HELD
            if right
            else broken(f"the replayed call is Suspended again, yet its replay led to {seen.state}")
        )


def _replayed(state: ObservedState, seen: ResumeEntered) -> str | None:
    """The status of the call whose replay is over as the next station is reached."""
    run = _at(state, seen, "ExecuteReplayedTool")
    before = run.station_before(seen) if run is not None else None
    call = run.calls.get(before.entered.call or "") if run is not None and before is not None else None
    return call.claimed if call is not None and not call.is_unclear else None


@check("RESUME-14", after=("CommitReplay",), rank=Rank.PHASE, is_deferred=True, requires="a decision")
def a_resolved_pass_is_committed(state: ObservedState, seen: ResumeEntered) -> CheckResults:
    """A pass that resolved a decision has its checkpoint before the next pass begins."""
    run = _at(state, seen, "CommitReplay")
    if run is not None and not run.disturbed_by(FAULT) and state.observes("checkpoint"):
        yield from _committed(state, run, "the next pass began")


@check("RESUME-14", at=("model",), rank=Rank.PHASE, is_deferred=True, excuses=(FAULT,))
def a_resolved_pass_is_committed_before_the_model_is_asked(
    state: ObservedState, seen: GateOpened
) -> CheckResults:
    """A pass that resolved a decision has its checkpoint before the model is asked in the same segment."""
    run = state.run_of(seen)
    if run is None or _station(run) != "CommitReplay":
        return
    if state.policy("decision.window") != "immediate" and state.observes("checkpoint"):
        yield from _committed(state, run, "the model is asked")


@check("RESUME-20", at=("StepStart", "RunEnd"), rank=Rank.PHASE)
def no_pass_is_left_open(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """A segment does not end, and where decisions wait for the round no step starts, within a pass."""
    run = state.run_of(seen)
    waits = state.policy("decision.window") == "after_round"
    if run is None or seen.phase not in (("RunEnd", "StepStart") if waits else ("RunEnd",)):
        return
    station = _station(run)
    if station is not None and not is_cut_short(state, run):
        over = station in PASS_ENDS
        yield (
            HELD
            if over
            else broken(f"{seen.phase} fires, yet the pass through the resume gate stands at {station}")
        )


def _committed(state: ObservedState, run: Run, what: str) -> CheckResults:
    last = [station for station in run.stations[-2:] if station.entered.state in SNAPSHOTS]
    since = state.checkpoints[last[0].checkpoints :]
    kept = any(checkpoint.trigger == "ToolResultsCommitted" for checkpoint in since)
    yield HELD if kept else broken(f"a pass resolved a decision, yet {what} before ToolResultsCommitted")


INVARIANTS = ranked(
    Rank.PHASE,
    leads_to(
        "RESUME-4", "ResolveDecision", "PersistResumeDecision", "a resolved decision is written down first"
    ),
    leads_to(
        "RESUME-5", "PersistResumeDecision", "Replay", "a decision that is written down is replayed next"
    ),
    branch("RESUME-6", "cancel", "ReplayCancel"),
    branch("RESUME-7", "resume", "ReplayResume"),
    leads_to("RESUME-9", "ReplayResume", "ExecuteReplayedTool", "what is resumed runs again"),
    leads_to(
        "RESUME-12", "SetNextSuspended", "ClearResolved", "a decision is cleared once the call waits anew"
    ),
    leads_to(
        "RESUME-13", "ClearResolved", "SnapshotIfStateChanged", "a cleared decision leads to a snapshot"
    ),
    leads_to("RESUME-14", "SnapshotIfStateChanged", "CommitReplay", "what was resolved is committed"),
)
