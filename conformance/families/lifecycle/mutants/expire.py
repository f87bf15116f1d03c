"""Wrong about waits that expire."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from runlock.conformance.family.made import OtherPolicies, fault
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import Call, Decision

RUN: Final = {"expire.end": "run"}


@fault("EXPIRE-1", "had expired, yet it ran")
class ApprovesWhatExpires(Runtime):
    """A call that no one has decided in time counts as approved."""

    def expired(self) -> list[Decision]:
        return [replace(decision, action="resume") for decision in super().expired()]


@fault("EXPIRE-2", "was not turned down")
class SwallowsLateDecisions(Runtime):
    """A decision for a call that is over disappears without a word."""

    def receive(self, decisions: Sequence[Decision]) -> list[tuple[Decision, str]]:
        over = [call for call, held in self.state.calls.items() if held.is_final]
        return super().receive([decision for decision in decisions if decision.call not in over])


@fault("EXPIRE-3", "has expired, yet the call is Suspended", also=("EXPIRE-6",))
class NeverExpires(Runtime):
    """Does not look at the clock."""

    async def time_passed(self) -> Segment | None:
        return None


@fault("EXPIRE-3", "has expired, yet", policies=RUN, also=("EXPIRE-6", "CANCEL-1"))
class EndsTheCallAlone(OtherPolicies, Runtime):
    """Promises to end the run, and ends the call."""

    follows = {"expire.end": "call"}


@fault("EXPIRE-4", "and no one has decided, yet", also=("EXPIRE-5", "EXPIRE-6"))
class ExpiresAllTogether(Runtime):
    """One timer for the run: with the first wait that expires, all do."""

    def is_over(self, call: Call) -> bool:
        return any(Runtime.is_over(self, other) for other in self.state.in_status("Suspended"))


@fault("EXPIRE-5", "and no one has decided, yet", also=("EXPIRE-6",))
class CountsFromTheFirstWait(Runtime):
    """The time of a call is not set anew when it waits again."""

    def ends_at_ms(self, call: Call) -> int | None:
        known = call.expires_at_ms
        return super().ends_at_ms(call) if known is None else known


@fault("EXPIRE-6", "has expired, yet the call is Suspended")
class LosesItsTimers(Runtime):
    """What waits after a crash waits for ever."""

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        for call in self.state.calls.values():
            call.expires_at_ms = None


@fault("EXPIRE-6", "has expired, yet the call is Suspended")
class StartsItsTimersAnew(Runtime):
    """Promises to keep the end of a wait over a crash, and gives it its whole time again."""

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        for call in self.state.calls.values():
            call.expires_at_ms = self.ends_at_ms(call)


@fault("EXPIRE-6", "and no one has decided, yet", policies={"expire.crash": "anew"})
class KeepsItsTimers(OtherPolicies, Runtime):
    """Promises a wait its whole time again after a crash, and keeps the end that it had."""

    follows = {"expire.crash": "kept"}


@fault("EXPIRE-7", "was not shown as accepted")
class ExpiresSilently(Runtime):
    """Does not say that the clock has decided."""

    def dispose(self, decision: Decision, disposition: str) -> None:
        if not decision.by_clock:
            super().dispose(decision, disposition)
