"""Wrong histories: results that dangle, double, go astray or get lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.rounds import Resume
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.state import Call, Message, Reason


@fault("PAIR-1", "the model was shown call")
class SaysNothingOfTheRejected(Runtime):
    """A rejected call leaves no result."""

    def answer(self, call: Call, status: str, content: Any) -> None:
        if content != "rejected":
            super().answer(call, status, content)


@fault("PAIR-1", "the model was shown call")
class LeavesCallsDangling(Runtime):
    """A run that ends early leaves its calls without results; only the next run shows it."""

    def _close_live_calls(self, reason: Reason) -> None:
        for call in self.state.live():
            self.move_call(call, "fail" if call.status == "New" and reason.code != "Cancelled" else "cancel")


@fault("PAIR-1", "the model was shown call", profile="tirea", also=("ROUND-10",))
class SaysNothingOfTheBlocked(Runtime):
    """A blocked call leaves no result while its siblings do."""

    def record(self, calls: Sequence[Call]) -> None:
        for call in calls:
            if call.status == "Failed" and call.name == "gated":
                self.results.pop(call.id, None)
        super().record(calls)


@fault("PAIR-2", "which no turn right before it asked for")
class MisnamesTheRejected(Runtime):
    """The result of a rejected call stands under an id that no one asked for."""

    def append(self, message: Message) -> None:
        if message.get("text") == "rejected":
            message = {**message, "call": f"{message['call']}-rejected"}
        super().append(message)


@fault("PAIR-3", "the model was shown two results for call", profile="tirea", also=("ROUND-3",))
class KeepsThePlaceholder(Runtime):
    """The real result is added after the placeholder that it should replace."""

    def _placeholder(self, call: Call) -> int | None:
        return None


@fault("PAIR-4", "yet the model was not shown that", also=("ROUND-1",))
class ForgetsFinishedSiblings(Runtime):
    """Where a call of the round is suspended, the results of finished calls are not kept."""

    def record(self, calls: Sequence[Call]) -> None:
        statuses = {call.status for call in calls}
        if "Suspended" in statuses and "Failed" not in statuses:
            for call in calls:
                if call.id in self.results:
                    self.results[call.id] = (self.results[call.id][0], "see above")
        super().record(calls)


@fault("ROUND-1", "failed, and the tool of call", also=("PAIR-4", "PHASE-7", "PHASE-8"))
class OneFailureFailsAll(Runtime):
    """When one call fails, the results of its siblings are given up."""

    def record(self, calls: Sequence[Call]) -> None:
        if any(call.status == "Failed" for call in calls) and len(calls) > 1:
            for call in calls:
                if call.id in self.results and call.status == "Succeeded":
                    self.results[call.id] = ("error", "the round failed")
        super().record(calls)


@fault("ROUND-2", "the model was shown the result of call", also=("PAIR-4",))
class MatchesResultsByPosition(Runtime):
    """Results are matched to calls in the order in which they came in."""

    def record(self, calls: Sequence[Call]) -> None:
        held = [call.id for call in calls if call.id in self.results]
        if all(call.status == "Succeeded" for call in calls):
            self.results = dict(zip(held, list(self.results.values()), strict=True))
        super().record(calls)


@fault("ROUND-3", "was asked for twice, and the model was shown two results under it")
class RunsARepeatedIdTwice(Runtime):
    """A call whose id stands twice in one turn gets a result for each."""

    def _take_turn(self, turn: Any) -> list[Call]:
        ids = [asked.id for asked in turn.tool_calls]
        self.repeated = {call for call in ids if ids.count(call) > 1}
        return super()._take_turn(turn)

    def append(self, message: Message) -> None:
        super().append(message)
        if message["role"] == "tool" and message["call"] in getattr(self, "repeated", ()):
            super().append(dict(message))


@fault("PAIR-5", "waits, yet the model was shown nothing in its place", profile="tirea")
class PutsNothingInThePlace(Runtime):
    """Goes on while a call is suspended, with nothing in its place."""

    def needs_placeholder(self, call: Call) -> bool:
        return False


@fault("PAIR-5", "yet its placeholder still stands", profile="tirea")
class KeepsThePlaceholderAlone(Runtime):
    """Drops a result where a placeholder stands already."""

    def answer(self, call: Call, status: str, content: Any) -> None:
        if self._placeholder(call) is None or status == "pending":
            super().answer(call, status, content)


@fault(
    "PAIR-6",
    "yet the model is shown success",
    policies={"round.executor": "sequential"},
    declare={"profile": "core", "policies": {}, "observes": ["message", "run.finished"]},
)
class SharesAnAnswer(Runtime):
    """Of the calls of one tool in a round the first alone is executed; the others are said to be done."""

    async def judge_all(self, calls: Sequence[Call]) -> list[Call]:
        allowed = await super().judge_all(calls)
        first = {call.name: call for call in reversed(allowed)}
        for call in allowed:
            if call is not first[call.name]:
                self.settle(call, "provide", "ok", "see above")
        return [call for call in allowed if call is first[call.name]]


@fault("PAIR-6", 'yet the model was shown ""')
class ForgetsAProvidedResult(Runtime):
    """Takes it from the permission check that a call has its result, and not which."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        kind, content = await super().verdict(call, resume)
        gated = self.tools.get(call.name, {}).get("permission") == "gate"
        return kind, "" if kind == "set_result" and gated else content


@fault("PAIR-6", "answered error, yet the model is shown success")
class PraisesAFailedReplay(Runtime):
    """Calls it a success when a tool answers an error in a replay."""

    def answer(self, call: Call, status: str, content: Any) -> None:
        praised = status == "error" and call.suspension > 0 and call.status == "Failed"
        super().answer(call, "ok" if praised else status, content)


@fault("PAIR-6", "nobody gave call")
class PraisesTheAborted(Runtime):
    """Calls it a success when a tool is taken down; only the next run shows it."""

    def answer(self, call: Call, status: str, content: Any) -> None:
        super().answer(call, "ok" if content == "aborted" else status, content)


@fault(
    "PAIR-4",
    "yet the model was not shown that",
    policies={"cancel.inflight": "drain", "cancel.results": "kept"},
    also=("CANCEL-7", "ROUND-1"),
)
class ForgetsWhatDrained(Runtime):
    """Lets a tool run to its end after a cancel, and then shows the model that it was cancelled."""

    def answer(self, call: Call, status: str, content: Any) -> None:
        drained = self.cancelling and status in ("ok", "error")
        super().answer(call, *(("cancelled", "cancelled") if drained else (status, content)))


@fault(
    "PAIR-7",
    "and it has not run, yet the model is shown error",
    policies={"round.block": "fail_call"},
    declare={"profile": "core", "policies": {}, "observes": ["message", "run.finished"]},
)
class DeniesTheAllowed(Runtime):
    """Blocks a call that its permission gate has just allowed."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        kind, outcome = await super().verdict(call, resume)
        is_judged = self.tools.get(call.name, {}).get("permission") == "gate"
        return ("block", "not now") if kind == "allow" and is_judged else (kind, outcome)
