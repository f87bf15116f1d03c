"""How decisions reach the reference runtime: what is accepted, kept for later, or turned down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from runlock.machines.lifecycle.runtime.grants import Grants
from runlock.machines.lifecycle.runtime.state import Call, Decision


class Inbox(Grants):
    """Receives decisions; a decision that is turned down has changed nothing."""

    def receive(self, decisions: Sequence[Decision]) -> list[tuple[Decision, str]]:
        """Take a batch in; the answer is what was turned down, each with the reason why."""
        refusals = [(d, why) for d in decisions if (why := self.objection(d) or self.left_out(d, decisions))]
        if refusals and self.policies["decision.batch"] == "atomic":
            why = f"its batch holds decision {refusals[0][0].id}: {refusals[0][1]}"
            refused = dict((decision.id, reason) for decision, reason in refusals)
            refusals = [(decision, refused.get(decision.id, why)) for decision in decisions]
        turned_down = {id(decision) for decision, _ in refusals}
        for decision in decisions:
            if id(decision) in turned_down:
                self.dispose(decision, "refused")
            elif why := self.objection(decision):  # an earlier one of the same batch stands in its way
                refusals.append((decision, why))
                self.dispose(decision, "refused")
            else:
                self.take(decision)
        return refusals

    def objection(self, decision: Decision) -> str | None:
        """Why this decision is refused, or None."""
        if decision.id in self.state.seen_decisions:
            return f"decision {decision.id} was taken before"
        call = self.state.calls.get(decision.call)
        if call is None:
            return f"call {decision.call} is unknown"
        if self.is_coming_down or self.state.status == "Done" or call.is_final:
            return f"call {call.id} is over"
        if not self.is_timely(decision, call):
            return f"call {call.id} does not wait in its suspension {decision.suspension}"
        if decision.call in self.state.decisions:
            return f"call {call.id} is decided already"
        if call.status != "Suspended" and self.policies["decision.early"] == "refuse":
            return f"call {call.id} does not wait for a decision"
        return self.objection_to_edit(decision.edit, call)

    def objection_to_edit(self, edit: dict[str, Any] | None, call: Call) -> str | None:
        """Why a call is not edited so, or None."""
        if edit is None:
            return None
        if call.resume_mode != "replay":
            return f"call {call.id} does not run again on a decision, so that there is nothing to edit"
        renames = edit.get("name") not in (None, call.name)
        if renames and self.policies["edit.tool"] == "refused":
            return f"call {call.id} cannot be edited to another tool"
        return None

    def left_out(self, decision: Decision, batch: Sequence[Decision]) -> str | None:
        """Where a part of the decisions is none: which call waits that the batch does not decide."""
        pending = self.pending()
        if self.policies["resume"] != "all_or_nothing" or decision.call not in pending:
            return None
        decided = {other.call for other in batch if not self.objection(other)} | self.decided()
        left = [call for call in pending if call not in decided]
        return f"call {left[0]} waits as well, and is not decided" if left else None

    def expired(self) -> list[Decision]:
        """What the clock decides: a rejection of each call whose wait is over, unless it is decided."""
        over = [call for waiting, call in self.undecided() if waiting.is_over(call)]
        return [
            Decision(f"expiry-{call.id}-{call.suspension}", call.id, "cancel", None, call.suspension)
            for call in over
        ]

    def undecided(self) -> Iterator[tuple[Inbox, Call]]:
        """The calls that wait and have no decision, with the runtime of the run that they are of."""
        waiting = self.state.in_status("Suspended")
        return ((self, call) for call in waiting if call.id not in self.state.decisions)

    def is_over(self, call: Call) -> bool:
        """Whether the time of a wait has passed."""
        return call.expires_at_ms is not None and self.world.now_ms() >= call.expires_at_ms

    def pending(self) -> list[str]:
        """The calls that wait for a decision."""
        return [call.id for call in self.state.in_status("Suspended")]

    def decided(self) -> set[str]:
        """The calls that have a decision which has not acted."""
        return {*self.state.decisions}

    def _waits(self, call: str) -> bool:
        return self.state.calls[call].status == "Suspended"

    @property
    def is_coming_down(self) -> bool:
        """Whether the run is on its way to its end, so that nothing can be decided any more."""
        return self.ending or self.cancelling or self.failing or self.broken is not None

    def is_timely(self, decision: Decision, call: Call) -> bool:
        """Whether the suspension that it answers is open, or still to come."""
        if decision.suspension is None:
            return True
        open_or_next = call.suspension if call.status == "Suspended" else call.suspension + 1
        return decision.suspension >= open_or_next

    def take(self, decision: Decision) -> None:
        """A decision that nothing stands against: it acts now, later, or not at all."""
        call = self.state.calls[decision.call]
        in_time = call.status == "Suspended" and decision.suspension in (None, call.suspension)
        if not in_time and self.policies["decision.early"] == "ignore":
            self.dispose(decision, "ignored")  # and forgotten: it may come again
            return
        self.state.seen_decisions.append(decision.id)
        if in_time:
            self.accept(decision)
        else:
            self.state.early.append(decision)
            self.dispose(decision, "buffered")

    def accept(self, decision: Decision) -> None:
        """The decision will act on the suspension that is open."""
        self.state.decisions[decision.call] = decision
        self.keep_grant(decision)
        self.dispose(decision, "accepted")

    def dispose(self, decision: Decision, disposition: str) -> None:
        """Say what became of a decision."""
        if disposition == "refused" and decision.id in self.state.seen_decisions:
            disposition = "duplicate"
        self.observe("decision", decision=decision.id, call=decision.call, disposition=disposition)

    def say_call(self, call: Call, target: str, before: str | None) -> None:
        """A call that waits takes the decision that was kept for it; a final one drops what is left."""
        super().say_call(call, target, before)
        if target == "Suspended" or call.is_final:
            self.state.acting.pop(call.id, None)
        if target == "Suspended":
            self._promote(call)
        elif call.is_final:
            self._forget(call)

    def _promote(self, call: Call) -> None:
        for decision in self.state.early:
            if decision.call == call.id and decision.suspension in (None, call.suspension):
                self.state.early.remove(decision)
                self.accept(decision)
                return

    def _forget(self, call: Call) -> None:
        for decision in [d for d in self.state.early if d.call == call.id]:
            self.state.early.remove(decision)
            self.dispose(decision, "ignored")
        self.state.decisions.pop(call.id, None)

    def ready(self) -> list[Decision]:
        """The accepted decisions whose calls wait for them, in order of arrival; by policy all or none."""
        ready = [d for d in self.state.decisions.values() if self._waits(d.call)]
        whole = len(ready) == len(self.state.in_status("Suspended"))
        return ready if whole or self.policies["resume"] == "partial" else []
