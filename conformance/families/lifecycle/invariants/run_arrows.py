"""RUN, arrow by arrow: where a run goes when what an arrow names was witnessed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from runlock.conformance.families.lifecycle.invariants.selectors import name_of
from runlock.conformance.families.lifecycle.messages import (
    GateOpened,
    PhaseEntered,
    Reason,
    RunMoved,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import ObservedGate, Run
from runlock.conformance.family.invariant import CheckResults, Invariant, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.family.rule import Occasion, Rule, table


@dataclass(frozen=True)
class Arrow:
    """A run, and where it goes: its next status, phase or gate, or the reason why its segment ends."""

    state: ObservedState
    run: Run
    to: str
    reason: Reason | None = None

    @property
    def status(self) -> str | None:
        """The status of the run so far."""
        return self.run.claimed

    @property
    def ends_as(self) -> str:
        """The reason with which the status comes."""
        return self.reason.code if self.reason is not None else ""

    @property
    def stopped_by(self) -> str:
        """The stop condition that the reason names."""
        stop = self.reason.stop if self.reason is not None else None
        return stop.code if stop is not None else "no condition"

    @property
    def is_out_of_time(self) -> bool:
        """Whether the time that the run has is over."""
        lasted = self.state.now_ms - self.run.began_at_ms
        limits = [one.seconds for one in self.state.scenario.agent.stop if one.kind == "timeout"]
        return any(limit is not None and lasted > limit * 1000 for limit in limits)

    @property
    def waited(self) -> bool:
        """Whether the run waited when the newest stimulus came."""
        return self.run.claims[: self.run.claims_before][-1:] == ["Waiting"]

    @property
    def passes_a_limit(self) -> bool:
        """Whether a limit is certainly passed, after a turn that does not end the run by itself."""
        run, limits = self.run, self.state.scenario.agent.stop
        asked = (run.last_turn or {}).get("tool_calls") and run.turn_alone
        return bool(asked) and not run.is_blocked and any(_is_over(run, one) for one in limits)

    @property
    def block(self) -> ObservedGate | None:
        """The newest gate that blocked a call, if it met no race."""
        gates = [gate for call in self.run.every_call for gate in call.judged if _blocks(gate.outcome)]
        return gates[-1] if gates and gates[-1].alone else None

    @property
    def goes_on(self) -> bool:
        """Whether the run may go on from a wait at once, as what was sent may have decided."""
        return any(method in ("decide", "run.input") for method, _ in self.state.newest)

    @property
    def is_committing(self) -> bool:
        """Whether the store is waited for since the newest stimulus came."""
        gates = self.state.gates_of(self.run)
        return any(gate.on == "store.put" and gate.at == self.state.stimuli for gate in gates)

    def was_cancelled(self, status: str) -> bool:
        """Whether a cancel alone has met the run in this status."""
        was_sent = self.run.cancel_at is not None and self.run.cancel_alone
        return was_sent and self.run.cancel_status == status

    @property
    def ends_a_wait(self) -> bool:
        """Whether the cancel came in a replay, where a run is parked: DECIDE-46 speaks of that."""
        return self.run.cancel_in_replay is not None and self.state.policy("waiting") == "parked"


def moves(state: ObservedState, seen: RunMoved) -> Iterator[Arrow]:
    """The run that moves, if its way in this life is known and the move is one."""
    run = state.runs.get(seen.run or "")
    if run is not None and not run.disturbed_by(CRASH) and run.claimed not in (None, seen.to):
        yield Arrow(state, run, seen.to, seen.reason)


def work(state: ObservedState, seen: PhaseEntered | GateOpened) -> Iterator[Arrow]:
    """The run that shows something."""
    run = state.run_of(seen)
    if run is not None:
        yield Arrow(state, run, name_of(seen))


def undisturbed_ends(state: ObservedState, seen: SegmentEnded) -> Iterator[Arrow]:
    """The run whose segment ends, if nothing from outside has met it."""
    run = state.run_of(seen)
    if run is not None and not run.disturbed_by(CANCEL, FAULT, CRASH, INPUT):
        yield Arrow(state, run, seen.reason.code)


def cancelled_as_created(state: ObservedState, seen: RunMoved | PhaseEntered) -> Iterator[Arrow]:
    """The run, if a cancel has met it before it began, and it has not moved since."""
    run = state.runs.get(seen.run or "")
    if run is None or run.cancel_at is None or run.cancel_status != "Created" or run.disturbed_by(CRASH):
        return
    if run.cancel_met == run.cancel_at and run.claimed == "Created":
        yield Arrow(state, run, name_of(seen))


def at_rest(state: ObservedState) -> Iterator[Arrow]:
    """The newest run, at a quiescent point."""
    if state.run is not None:
        yield Arrow(state, state.run, state.run.claimed or "")


def a_decision_wakes_the_run(state: ObservedState) -> CheckResults:
    """A decision that a suspended call takes moves a waiting run back to Running."""
    run = state.run
    if run is None or not state.alone or state.newest[0][0] != "decide":
        return
    if state.policy("resume") != "partial" or _is_wake_unneeded(state, run):
        return
    before, since = run.claims[: run.claims_before], run.claims[run.claims_before :]
    if before[-1:] != ["Waiting"] or any(gate.on in ("store.put", "hook") for gate in state.gates_of(run)):
        return
    became = since[0] if since else "nothing else"
    for call in run.calls.values():
        for decided in call.decisions:
            if decided.at == state.stimuli and decided.answers is call and not decided.turned_down:
                taken = f"the run waited and call {call.id} took decision {decided.id}"
                why = f"{taken}, yet the run became {became} before it was Running"
                yield held_or(became == "Running", why)


def _is_wake_unneeded(state: ObservedState, run: Run) -> bool:
    """Whether calls were rejected directly while others wait on: no call was at work at any moment."""
    if state.policy("waiting") == "reentered" or state.policy("decision.cancel_path") == "via_resuming":
        return False
    taken = [one for call in run.calls.values() for one in call.decisions if one.at == state.stimuli]
    decided = [one.answers for one in taken]
    waits_on = any(call.claimed in ("Suspended", None) for call in run.calls.values() if call not in decided)
    return waits_on and all(one.action == "cancel" for one in taken)


def _is_over(run: Run, condition: object) -> bool:
    rounds, tokens = getattr(condition, "rounds", None), getattr(condition, "max_total", None)
    return (rounds is not None and run.steps > rounds) or (tokens is not None and run.tokens > tokens)


def _blocks(outcome: object) -> bool:
    return isinstance(outcome, dict) and outcome.get("kind") == "block"


REST, MOVE, DONE = Occasion(at_rest), Occasion(moves, RunMoved), Occasion(moves, RunMoved, ("Done",))
OUTSIDE = (CANCEL, FAULT, CRASH)

# fmt: off
INVARIANTS = table(
    Rank.STATUS,
    Rule("RUN-1", "a run waits once its commit is through", REST, lambda v: not v.is_committing,
         "the run moved to Waiting, yet it is still committing",
         lambda v: v.status == "Waiting" and not v.goes_on
         and "Waiting" in v.run.claims[v.run.claims_before:],
         "a wait", OUTSIDE),
    Invariant("RUN-2", a_decision_wakes_the_run, requires="a decision", excuses=OUTSIDE),
    Rule("RUN-5", "a stop ends the run as Stopped",
         Occasion(undisturbed_ends, SegmentEnded, ("Cancelled", "Error", "Stopped")),
         lambda v: v.to == "Stopped",
         "a stop condition fired and nothing else ended the run, yet it ended as {v.to}",
         lambda v: v.state.scenario.agent.stop and (v.to == "Stopped" or v.passes_a_limit)),
    Rule("RUN-6", "a block ends the run as Blocked", Occasion(undisturbed_ends, SegmentEnded),
         lambda v: v.to == "Blocked",
         "call {v.block.opened.call} was blocked, which ends the run, yet it ended as {v.to}",
         lambda v: v.state.policy("round.block") == "end_run" and v.block, "calls"),
    Rule("RUN-7", "a cancel at work does not wait", MOVE, lambda v: v.to == "Done",
         "the run was cancelled at work, yet it became {v.to}",
         lambda v: v.was_cancelled("Running") and not v.ends_a_wait and not v.run.disturbed_by(FAULT)
         and v.status == "Running" and "cancel.waiting" in v.state.handshake.stimuli, "a cancel"),
    Rule("RUN-9", "a cancel while waiting does not wake", MOVE, lambda v: v.to == "Done",
         "the run was cancelled while it waited, yet it became {v.to}",
         lambda v: v.was_cancelled("Waiting") and v.status == "Waiting", "a cancel"),
    Rule("RUN-10", "only a fault ends a wait in Error", DONE, lambda v: v.run.faulted,
         "nothing broke while the run waited, yet it ended as Error",
         lambda v: v.status == "Waiting" and v.ends_as == "Error", "a wait"),
    Rule("RUN-11", "a created run begins before its phases", Occasion(work, PhaseEntered), None,
         "{v.to} fires, yet the run is still Created", lambda v: v.status == "Created",
         excuses=(CANCEL, CRASH)),
    Rule("RUN-11", "a created run begins before its phases", Occasion(work, GateOpened), None,
         "the model is asked, yet the run is still Created",
         lambda v: v.status == "Created" and v.to == "model", excuses=(CANCEL, CRASH)),
    Rule("RUN-11", "a created run begins by Running", Occasion(moves, RunMoved, ("Running",)), None,
         when=lambda v: v.status == "Created" and not v.run.phases),
    Rule("RUN-12", "a run cancelled as Created never begins", Occasion(cancelled_as_created, RunMoved),
         lambda v: v.to == "Done", "the run was cancelled before it began, yet it became {v.to}",
         lambda v: v.to != "Created"),
    Rule("RUN-12", "a run cancelled as Created never begins", Occasion(cancelled_as_created, PhaseEntered),
         None, "the run was cancelled before it began, yet {v.to} fires"),
    Rule("RUN-13", "a run that is not taken never begins", MOVE, lambda v: v.to == "Done",
         "the store did not take the run, yet it became {v.to}",
         lambda v: v.status == "Created" and v.run.faulted == "store.put" and v.run.fault_alone),
    Rule("RUN-18", "only time stops a wait", DONE,
         lambda v: v.stopped_by == "timeout" and v.is_out_of_time,
         "nothing but time passes in a wait, yet {v.stopped_by} stopped the run in it",
         lambda v: v.status == "Waiting" and v.ends_as == "Stopped"),
    Rule("RUN-18", "a wait without time goes on or stops", REST, None,
         when=lambda v: any(method == "clock.advance" for method, _ in v.state.newest) and v.waited
         and v.is_out_of_time and v.to in ("Waiting", "Done"), requires="a wait"),
)
# fmt: on
