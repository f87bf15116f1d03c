"""Wrong decisions and approvals: lost, doubled, misrouted, changed on the way, or not asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from runlock.conformance.family.made import OtherPolicies, fault
from runlock.machines.lifecycle.runtime.rounds import Resume
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import Call, Decision
from runlock.machines.lifecycle.runtime.world import WorldFault


@fault(
    "DECIDE-1",
    "may be executed",
    also=(
        "DECIDE-2",
        "EDIT-3",
    ),
)
class ReplaysAPendingAnswer(Runtime):
    """A replay whose tool answers pending is replayed at once, on the same decision."""

    async def replay(self, call: Call, decision: Decision) -> None:
        await super().replay(call, decision)
        if call.status == "Suspended":
            self.move_call(call, "resume")
            await super().replay(call, decision)


@fault("DECIDE-2", "had been taken before, yet")
class ForgetsDecisionIds(Runtime):
    """Takes a decision again when it is delivered again."""

    def take(self, decision: Decision) -> None:
        super().take(decision)
        self.state.seen_decisions.clear()


@fault("DECIDE-3", "which is unknown, yet", also=("DECIDE-5", "RUN-10"))
class DiesOfAnUnknownCall(Runtime):
    """A decision for a call that no one knows ends a run that waits."""

    async def decide(self, decisions: Sequence[Decision]) -> Any:
        unknown = [d for d in decisions if d.call not in self.state.calls]
        if unknown and self.state.status == "Waiting" and not self.active:
            return await self.segment(self._die())
        return await super().decide(decisions)

    async def _die(self) -> Any:
        raise WorldFault("no such call")


@fault("DECIDE-3", "was for suspension 1 of call")
class KnowsTheLastSuspensionAlone(Runtime):
    """Lets a decision for a suspension before the last one act on the one that is open."""

    def objection(self, decision: Decision) -> str | None:
        call = self.state.calls.get(decision.call)
        if call is not None and decision.suspension in range(1, call.suspension - 1):
            decision.suspension = None
        return super().objection(decision)


@fault("DECIDE-3", "which is over, yet")
class RunsAgainOnALateDecision(Runtime):
    """A decision for a suspension that is over is taken for the next one."""

    def is_timely(self, decision: Decision, call: Call) -> bool:
        return True

    def take(self, decision: Decision) -> None:
        super().take(replace(decision, suspension=None))


@fault("DECIDE-4", "took decision", also=("GATE-2", "DECIDE-42"))
class LosesTheSecondOfABatch(Runtime):
    """Of a batch of decisions only the first acts."""

    def receive(self, decisions: Sequence[Decision]) -> list[tuple[Decision, str]]:
        refusals = super().receive(decisions)
        for decision in list(decisions)[1:]:
            self.state.decisions.pop(decision.call, None)
        return refusals


@fault("DECIDE-4", "took decision")
class LosesWhatComesDuringACommit(Runtime):
    """A decision that comes while the suspended state is being stored is forgotten."""

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        await super().commit(trigger, cause, **rest)
        if cause == "suspend":
            self.state.decisions.clear()


@fault("DECIDE-4", "took decision")
class DropsWhatCameEarly(Runtime):
    """Says that it keeps an early decision, and does not."""

    def _promote(self, call: Call) -> None:
        self.state.early = [d for d in self.state.early if d.call != call.id]


@fault("DECIDE-4", "which waits in it, yet the call waits still", profile="tirea")
class ForgetsStoredDecisions(Runtime):
    """Goes on from a checkpoint without the decisions in it."""

    def restore(self, state: dict[str, Any]) -> None:
        super().restore({**state, "decisions": {}})


@fault("DECIDE-5", "names call", also=("CALL-7", "CALL-8", "DECIDE-4", "NEST-2"))
class ApprovesTheFirst(Runtime):
    """A decision goes to the call that waits longest, whatever its name."""

    def take(self, decision: Decision) -> None:
        waiting = [c for c in self.state.in_status("Suspended") if c.id not in self.state.decisions]
        super().take(replace(decision, call=waiting[0].id) if waiting else decision)


@fault("DECIDE-6", "null")
class ForgetsFalse(Runtime):
    """A payload that is false, 0 or empty counts as none."""

    def take(self, decision: Decision) -> None:
        super().take(replace(decision, payload=decision.payload or None))


@fault("DECIDE-6", "yet its replay got")
class KeepsTheFirstPayload(Runtime):
    """A call that waits again is replayed with what its first decision gave."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.given: dict[str, Any] = {}

    async def replay(self, call: Call, decision: Decision) -> None:
        first = self.given.setdefault(call.id, decision.payload)
        await super().replay(call, replace(decision, payload=first))


@fault("DECIDE-7", "yet it ran with")
class DropsArguments(Runtime):
    """A call that no one had to approve runs without its arguments."""

    def arguments(self, call: Call, resume: Resume) -> dict[str, Any]:
        return {"k": call.id} if resume is None else super().arguments(call, resume)


@fault("DECIDE-21", "yet it ran with", also=("SHOWN-3",))
class ReplaysWithoutArguments(Runtime):
    """A replay runs without the arguments that were approved."""

    def arguments(self, call: Call, resume: Resume) -> dict[str, Any]:
        if resume is not None and call.resume_mode == "replay":
            return {"k": call.id}
        return super().arguments(call, resume)


@fault("DECIDE-21", "yet it Succeeded without")
class SucceedsUnexecuted(Runtime):
    """Takes an approval for a result."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        if resume is not None and call.resume_mode == "replay":
            return "set_result", "approved"
        return await super().verdict(call, resume)


@fault(
    "DECIDE-4",
    "yet it did not run, and the model is shown a result",
    policies={"round.block": "fail_call"},
    declare={
        "profile": "core",
        "policies": {"decision.modes": ["replay"]},
        "observes": ["message", "run.finished"],
    },
)
class DeniesTheApproved(Runtime):
    """Judges an approved call once more, and fails it without a word to the one who approved it."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        if resume is not None and call.resume_mode == "replay":
            return "block", "no approval was needed"
        return await super().verdict(call, resume)


@fault("DECIDE-17", "for its arguments, yet it ran with")
class KeepsTheModelsArguments(Runtime):
    """Runs a call with what the model gave where the decision is to be the arguments."""

    def arguments(self, call: Call, resume: Resume) -> dict[str, Any]:
        return call.args if resume is not None and resume["payload"] else super().arguments(call, resume)


@fault("DECIDE-17", "for its arguments, yet it ran with", also=("DECIDE-6",))
class RunsWithTheFirstArguments(Runtime):
    """A call that waits again runs with the arguments that its first decision gave."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.given: dict[str, dict[str, Any]] = {}

    def arguments(self, call: Call, resume: Resume) -> dict[str, Any]:
        decided = super().arguments(call, resume)
        is_meant = resume is not None and call.resume_mode == "pass_to_tool"
        return self.given.setdefault(call.id, decided) if is_meant else decided


@fault("DECIDE-3", "waits anew in suspension 1, as it was before", also=("EDIT-3",))
class NumbersEachWaitAlike(Runtime):
    """Counts the suspensions of a call anew each time that it resumes."""

    def say_call(self, call: Call, target: str, before: str | None) -> None:
        if before == "Resuming":
            call.suspension = 0
        super().say_call(call, target, before)


@fault("DECIDE-18", "yet the model was shown")
class AnswersForWhoeverDecided(Runtime):
    """Shows the model a result of its own where the decision is to be the result."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        kind, content = await super().verdict(call, resume)
        answered = kind == "set_result" and resume is not None and bool(resume["payload"])
        return kind, "as you like" if answered else content


@fault("DECIDE-8", "is to be the result of call")
class ExecutesTheAnswered(Runtime):
    """A call whose decision is its result is executed all the same."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        if resume is not None and call.resume_mode == "use_as_result":
            return "allow", None
        return await super().verdict(call, resume)


@fault("GATE-1", "needs approval and nobody approved it, yet it was executed", also=("GATE-3",))
class DoesNotAskTheThird(Runtime):
    """The third call of a round is executed without the approval that it needs."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        kind, content = await super().verdict(call, resume)
        third = [c.id for c in self.state.last_round()].index(call.id) == 2
        return ("allow", None) if kind == "suspend" and third else (kind, content)


@fault("CALL-7", "nobody decided about call c1, yet it is Resuming")
class KeepsAnEarlyDecisionForTheNextCall(Runtime):
    """A decision that was kept for a call which never waited acts on a later call of the same id."""

    def _forget(self, call: Call) -> None:
        early = list(self.state.early)
        super()._forget(call)
        self.state.early = early


@fault(
    "GATE-1",
    "needs approval and nobody approved it, yet it was executed",
    policies={"input.waiting": "supersede", "resume": "collect"},
)
class KeepsTheDecisionOfASupersededCall(Runtime):
    """A decision for a call that new input set aside acts on a later call of the same id."""

    def _forget(self, call: Call) -> None:
        decided = self.state.decisions.get(call.id)
        super()._forget(call)
        if decided is not None:
            self.state.decisions[call.id] = decided


@fault("DECIDE-4", "took decision", profile="tirea")
class ForgetsWhatWasDecidedDuringACommit(Runtime):
    """A decision that comes while the checkpoint of a suspension is written does not wake the run."""

    async def _suspend(self) -> Segment:
        self.shut = True
        try:
            return await super()._suspend()
        finally:
            self.shut = False

    def ready(self) -> list[Decision]:
        return [] if getattr(self, "shut", False) else super().ready()


@fault("GATE-2", "was cancelled by decision", also=("GATE-1", "DECIDE-7", "DECIDE-1"))
class RunsTheRejected(Runtime):
    """A rejected call is replayed like an approved one."""

    def _prepare(self, decision: Decision) -> bool:
        return super()._prepare(replace(decision, action="resume"))


@fault("GATE-2", "was cancelled by decision")
class RunsTheRejectedAmongApproved(Runtime):
    """A rejection that comes in one batch with an approval is taken for an approval."""

    async def _replay_batch(self, batch: Sequence[Decision]) -> None:
        approving = any(decision.action == "resume" for decision in batch)
        await super()._replay_batch([replace(d, action="resume") for d in batch] if approving else batch)


@fault("GATE-3", "has not answered, yet it was executed")
class DoesNotAskTheGate(Runtime):
    """Only the first call of a round passes the permission gate."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        first = self.state.last_round()[0] is call
        gated = self.tools.get(call.name, {}).get("permission") == "gate"
        return ("allow", None) if gated and not first else await super().verdict(call, resume)


@fault("GATE-4", "was approved by decision")
class AsksTwice(Runtime):
    """Suspends an approved call once more before it runs."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        kind, content = await super().verdict(call, resume)
        again = kind == "allow" and resume is not None and call.suspension == 1
        return ("suspend", None) if again else (kind, content)


@fault("GATE-6", "a replay is judged again, yet call")
class ReplaysUnjudged(OtherPolicies, Runtime):
    """Does not ask the permission gate on a replay, though it says so."""

    follows = {"replay.gate": "no"}


@fault("GATE-6", "was asked once more", policies={"replay.gate": "no"})
class JudgesReplays(OtherPolicies, Runtime):
    """Asks the permission gate on a replay, though it says that it does not."""

    follows = {"replay.gate": "yes"}


@fault("GATE-5", "the permission gate blocked call", also=("GRANT-3", "ROUND-7", "ROUND-21", "DECIDE-47"))
class RunsTheBlocked(Runtime):
    """A blocked call is executed."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        kind, content = await super().verdict(call, resume)
        return ("allow", None) if kind == "block" else (kind, content)


@fault(
    "ONCE-1", "had answered ok, yet it was executed again", also=("DECIDE-8", "GATE-3", "CALL-20", "ONCE-2")
)
class RerunsFinishedSiblings(Runtime):
    """A resume of one call executes the finished calls of its round again."""

    async def replay(self, call: Call, decision: Decision) -> None:
        for sibling in [c for c in self.state.last_round() if c.status == "Succeeded"]:
            await self.outside(self.world.execute(sibling.id, sibling.name, sibling.args, None))
        await super().replay(call, decision)


@fault("ONCE-3", "is executing, yet it was entered once more")
class EntersTwice(Runtime):
    """A replay is started twice, side by side."""

    async def execute(self, call: Call, resume: Resume) -> None:
        if resume is not None and len(self.state.calls) > 1:
            other = self.outside(self.world.execute(call.id, call.name, call.args, resume))
            await self.together([super().execute(call, resume), other])
        else:
            await super().execute(call, resume)


@fault("ONCE-2", "in the checkpoint, yet it was executed after recovery")
class RerunsAfterACrash(Runtime):
    """A recovered run executes the calls again that have succeeded."""

    async def go_on(self) -> Segment | None:
        for call in self.state.in_status("Succeeded") if self.state.status == "Running" else ():
            await self.outside(self.world.execute(call.id, call.name, call.args, None))
        return await super().go_on()


@fault("ONCE-2", "in the checkpoint, yet it was executed after recovery")
class RerunsDuringAWait(Runtime):
    """A run that waited at a crash executes what succeeded in a round of three once more, once decided."""

    lost = False

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.lost = self.state.status == "Waiting" and len(self.state.last_round()) > 2

    async def _steps(self) -> Segment:
        again = [call for call in self.state.last_round() if self.lost and call.status == "Succeeded"]
        self.lost = False
        for call in again:
            await self.outside(self.world.execute(call.id, call.name, call.args, None))
        return await super()._steps()


@fault("GATE-7", "blocked call", policies={"round.block": "fail_call"}, also=("ROUND-6",))
class AsksAgainWhetherItIsBlocked(Runtime):
    """Asks the permission hook once more about each blocked call when another one is resumed."""

    blocked: tuple[Call, ...] = ()

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        kind, content = await super().verdict(call, resume)
        self.blocked += (call,) if kind == "block" else ()
        return kind, content

    async def _resume(self) -> Segment:
        for call in self.blocked:
            await self.outside(self.world.permit(call.id, call.name, call.args, None))
        return await super()._resume()
