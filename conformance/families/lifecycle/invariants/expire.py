"""EXPIRE: an expired wait ends what expire.end declares, and a later decision is turned down."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from runlock.conformance.families.lifecycle.messages import CallMoved, DecisionTaken, GateOpened, RunMoved
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.expiry import ends_at_ms, expiry_id
from runlock.conformance.families.lifecycle.state.records import Decided, ObservedCall, Run
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank


@check("EXPIRE-1", at=("tool",), rank=Rank.CONSENT)
def an_expired_call_does_not_run(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The body of a call whose wait has expired is not entered."""
    call = state.entering(seen)
    expiry = _expiry_of(call) if call is not None else None
    if call is not None and expiry is not None:
        yield broken(f"the wait of call {call.id} had expired, yet it ran")


@counts("EXPIRE-1", requires="a wait")
def an_expired_call_has_not_run(state: ObservedState) -> CheckResults:
    """Counts the calls whose wait has expired."""
    yield from (HELD for _ in _expired(state))


@check("EXPIRE-2", rank=Rank.LOST, requires="a decision")
def a_late_decision_is_turned_down(state: ObservedState) -> CheckResults:
    """A decision that came after the end of its wait is refused, or said to be ignored."""
    for call in _waited(state):
        late = call.decisions[-1] if call.decisions else None
        if late is None or late.at != state.stimuli or late.is_expiry or not (late.alone and late.stale):
            continue
        if any(one.is_expiry and one.answers is call for one in call.decisions) or _run_has_expired(state):
            said = f"was {late.disposition}" if late.disposition else "was not turned down"
            why = f"the wait of call {call.id} had expired, yet decision {late.id} {said}"
            yield held_or(late.turned_down, why)


@check("EXPIRE-3", rank=Rank.LOST)
def a_run_whose_wait_expired_does_not_go_on(
    state: ObservedState, seen: RunMoved | DecisionTaken
) -> CheckResults:
    """Where an expired wait ends its run, the run does not go on, and the call is not decided."""
    run = state.run_of(seen)
    by_clock = any(method == "cancel" and params.get("by") == "clock" for method, params in state.newest)
    if run is None or not by_clock or run.crashes:
        return
    if isinstance(seen, RunMoved) and seen.to == "Running":
        yield broken(f"a wait of run {run.id} has expired, yet the run became Running")
    elif isinstance(seen, DecisionTaken):
        yield broken(f"a wait of run {run.id} has expired, yet {seen.decision} was {seen.disposition}")


@check("EXPIRE-3", rank=Rank.LOST, requires="a wait")
def an_expired_wait_ends(state: ObservedState) -> CheckResults:
    """The call of an expired wait is Cancelled, or its run is."""
    yield from _ends(state, after_a_crash=False)


@check("EXPIRE-6", rank=Rank.LOST, requires="a crash")
def an_expired_wait_ends_after_a_crash(state: ObservedState) -> CheckResults:
    """As `an_expired_wait_ends`, where a crash has met the wait."""
    yield from _ends(state, after_a_crash=True)


def _ends(state: ObservedState, *, after_a_crash: bool) -> CheckResults:
    run = state.run
    if run is None or bool(run.crashes) is not after_a_crash:
        return
    if _run_has_expired(state):
        yield from _ends_the_run(state, run)
    is_undisturbed = not (run.disturbed_by(CANCEL, FAULT, INPUT) or run.is_done)
    rests = is_undisturbed and not state.gates_of(run)
    for call, _ in _expired(state):
        if call.claimed == "Cancelled":
            yield HELD
        elif rests and not (call.claimed == "Suspended" and _is_held_back(state, run)):
            yield broken(f"the wait of call {call.id} has expired, yet the call is {call.claimed}")


def _ends_the_run(state: ObservedState, run: Run) -> CheckResults:
    """The run is over, unless a tool drains first, or the end is being stored."""
    if run.is_done:
        yield HELD
    elif not {gate.on for gate in state.gates_of(run)} & {"tool", "store.put"}:
        yield broken(f"a wait of run {run.id} has expired, yet the run goes on")


def _is_held_back(state: ObservedState, run: Run) -> bool:
    """Whether what is decided waits for the decisions about other calls."""
    undecided = (call for call in run.calls.values() if call.may_wait and _expiry_of(call) is None)
    return state.policy("resume") != "partial" and any(undecided)


@check("EXPIRE-7", rank=Rank.LOST, requires="a wait")
def an_expiry_is_shown(state: ObservedState) -> CheckResults:
    """The decision of the clock is shown as one that was accepted."""
    if state.observes("decision"):
        for call, expiry in _expired(state):
            is_shown = expiry.disposition == "accepted"
            why = f"the wait of call {call.id} has expired, yet {expiry.id} was not shown as accepted"
            yield held_or(is_shown, why)


Which = Callable[[Run, ObservedCall], bool]


@check("EXPIRE-4", seeing=(CallMoved,), rank=Rank.LOST)
@check("EXPIRE-4", seeing=(DecisionTaken,), rank=Rank.TWICE)
def a_first_wait_is_not_cut_short(state: ObservedState, seen: CallMoved | DecisionTaken) -> CheckResults:
    """Time that passes does not end the first wait of a call before its end."""
    return _cut_short(state, seen, _first)


@check("EXPIRE-5", seeing=(CallMoved,), rank=Rank.LOST)
@check("EXPIRE-5", seeing=(DecisionTaken,), rank=Rank.TWICE)
def a_later_wait_is_not_cut_short(state: ObservedState, seen: CallMoved | DecisionTaken) -> CheckResults:
    """Time that passes does not end a later wait of a call before its own end."""
    return _cut_short(state, seen, _later)


@check("EXPIRE-6", rank=Rank.LOST)
def a_recovered_wait_is_not_cut_short(state: ObservedState, seen: CallMoved | DecisionTaken) -> CheckResults:
    """Time that passes does not end a wait that a crash has met before the end that it has now."""
    return _cut_short(state, seen, _recovered)


def _cut_short(state: ObservedState, seen: CallMoved | DecisionTaken, which: Which) -> CheckResults:
    call = state.call_of(seen) if state.has_expiries else None
    what = _ends_a_wait(call, seen) if call is not None and not call.has_agent else ""
    if call is None or not what or not which(state.runs[call.run], call):
        return
    ends_at = ends_at_ms(call)
    is_early = call.waits and (ends_at is None or ends_at > state.now_ms)
    if is_early and _is_met_by_time_alone(state, call):
        left = "no end" if ends_at is None else f"{ends_at - state.now_ms} ms left"
        yield broken(f"the wait of call {call.id} had {left}, and no one has decided, yet {what}")


def _ends_a_wait(call: ObservedCall, seen: CallMoved | DecisionTaken) -> str:
    """What is shown that ends the wait of a call."""
    if isinstance(seen, CallMoved):
        return f"it became {seen.to}" if seen.to != call.claimed else ""
    return f"{seen.decision} was {seen.disposition}" if seen.decision == expiry_id(call) else ""


@counts("EXPIRE-4", requires="a wait")
def a_first_wait_goes_on(state: ObservedState) -> CheckResults:
    """Counts the first waits that time has not ended."""
    return _goes_on(state, _first)


@counts("EXPIRE-5", requires="a wait")
def a_later_wait_goes_on(state: ObservedState) -> CheckResults:
    """Counts the later waits of a call that time has not ended."""
    return _goes_on(state, _later)


@counts("EXPIRE-6", requires="a crash")
def a_recovered_wait_goes_on(state: ObservedState) -> CheckResults:
    """Counts the waits that a crash has met, and that time has not ended."""
    return _goes_on(state, _recovered)


def _goes_on(state: ObservedState, which: Which) -> CheckResults:
    for call in _waited(state):
        passed = ends_at_ms(call) is not None and state.newest[0][0] == "clock.advance"
        if passed and which(state.runs[call.run], call):
            yield HELD


def _first(run: Run, call: ObservedCall) -> bool:
    return not run.crashes and call.suspensions <= 1


def _later(run: Run, call: ObservedCall) -> bool:
    return not run.crashes and call.suspensions > 1


def _recovered(run: Run, _call: ObservedCall) -> bool:
    return run.crashes > 0


def _is_met_by_time_alone(state: ObservedState, call: ObservedCall) -> bool:
    """Whether nothing but time that passed can have ended the wait of a call."""
    run = state.runs[call.run]
    named = {raw["call"] for _, params in state.newest for raw in params.get("decisions", ())}
    decided = any(one.in_suspension == call.suspensions and not one.turned_down for one in call.decisions)
    elsewhere = bool(state.scenario.agent.stop) or run.disturbed_by(CANCEL, FAULT, INPUT)
    return state.newest[0][0] == "clock.advance" and not (decided or elsewhere or call.id in named)


def _waited(state: ObservedState) -> Iterator[ObservedCall]:
    """The calls of the run whose waits have an end."""
    run = state.run
    for call in run.calls.values() if run is not None and state.has_expiries else ():
        if call.tool is not None and call.tool.expires_ms is not None and not call.is_unclear:
            yield call


def _expired(state: ObservedState) -> Iterator[tuple[ObservedCall, Decided]]:
    """The calls whose wait has certainly expired, each with the decision of the clock."""
    for call in _waited(state):
        expiry = _expiry_of(call)
        if expiry is not None:
            yield call, expiry


def _expiry_of(call: ObservedCall) -> Decided | None:
    met = (one for one in call.decisions if one.is_expiry and one.answers is call)
    return next((one for one in met if one.in_suspension == call.suspensions), None)


def _run_has_expired(state: ObservedState) -> bool:
    return state.run is not None and state.run.volatile.has_expired
