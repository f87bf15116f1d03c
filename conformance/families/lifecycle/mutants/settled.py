"""Wrong in what the second revision settles: ends of waits, stale decisions, crashes while nothing runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.state import Call, Decision, Reason


@fault("CALL-26", "while that of other calls is New", also=("SHOWN-1",))
class ReportsTheSecondCallLate(Runtime):
    """Of a turn with several calls, the second one is reported only when something happens to it."""

    late: str | None = None

    def say_call(self, call: Call, target: str, before: str | None) -> None:
        news = [one for one in self.state.calls.values() if one.step == call.step]
        if target == "New" and before is None and len(news) == 2:
            call.status, self.late = target, call.id
            return
        first = call.id == self.late
        self.late = None if first else self.late
        super().say_call(call, target, None if first else before)


@fault("CANCEL-8", "by one", also=("RUN-27",))
class LeavesOneWaitOfTwo(Runtime):
    """Of two calls that wait when the run is cancelled, the second one is left as it is."""

    def move_call(self, call: Call, event: str) -> None:
        is_second = call.id == max(self.state.calls, default="") and len(self.state.calls) > 1
        if not (self.ending and self.cancelling and is_second and call.status == "Suspended"):
            super().move_call(call, event)


@fault(
    "CALL-6",
    "was given up for the cancel, yet it is Running",
    policies={"end.live": "left", "cancel.inflight": "abort"},
)
class LeavesTheAbortedRunning(Runtime):
    """A call whose tool was given up for a cancel stays Running, as other calls are left."""

    def _is_aborted(self, call: Call, reason: Reason) -> bool:
        return False


@fault("DECIDE-9", "is still executing, yet call", policies={"round.executor": "parallel"}, also=("CALL-22",))
class ResumesDuringTheRound(Runtime):
    """A decided call is reported as resuming while its sibling still executes."""

    def accept(self, decision: Decision) -> None:
        super().accept(decision)
        if self.state.in_status("Running"):
            self.observe("call.status", call=decision.call, **{"from": "Suspended"}, to="Resuming")


@fault("DECIDE-12", "for a wait that is over")
class RefusesTheGoodWithTheStale(Runtime):
    """A decision for a call that is over takes the others of its batch down."""

    def receive(self, decisions: Sequence[Decision]) -> list[tuple[Decision, str]]:
        known = [self.state.calls.get(decision.call) for decision in decisions]
        if not any(call is not None and call.is_final for call in known):
            return super().receive(decisions)
        for decision in decisions:
            self.dispose(decision, "refused")
        return [(decision, "a decision of the batch came too late") for decision in decisions]


@fault("RUN-3", "waits for a decision, yet the run ended as NaturalEnd", profile="tirea")
class EndsWhileACallWaits(Runtime):
    """A turn that asks for no tool ends the run, though a call of an earlier turn still waits."""

    def must_wait(self) -> bool:
        return super().must_wait() and not self.state.turn_was_last


@fault("ONCE-2", "the checkpoint holds the result of call", policies={"durability": "call"})
class BelievesTheStatesAlone(Runtime):
    """A finished call is stored by its message alone, and after a crash it is taken for new."""

    def to_store(self, ending: tuple[str, Reason | None] | None) -> dict[str, Any]:
        state = super().to_store(ending)
        left = {name: call for name, call in state["calls"].items() if call["status"] != "Succeeded"}
        return {**state, "calls": left}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        turns = [message for message in state["messages"] if message.get("tool_calls")]
        for asked in turns[-1]["tool_calls"] if turns else ():
            if asked["id"] not in self.state.calls:
                step = self.state.step
                self.state.calls[asked["id"]] = Call(asked["id"], asked["name"], asked["args"], step=step)


@fault("RECOVER-1", "the checkpoint says that the run is Done, yet it starts as Running")
class GoesOnAfterItsEnd(Runtime):
    """A run that is over begins again when the runtime comes back from a crash."""

    def restore(self, state: dict[str, Any]) -> None:
        over = state["run"]["status"] == "Done"
        run = {**state["run"], "status": "Running", "reason": None} if over else state["run"]
        super().restore({**state, "run": run})
