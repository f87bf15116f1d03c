"""Authority faults: calls run without an approval, or an approval is applied to something else."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

from runlock.conformance.families.message_loop.mutants.mutant import Undeclared
from runlock.conformance.family.made import fault
from runlock.machines.message_loop.runtime.hooking import Occasion
from runlock.machines.message_loop.runtime.loop import MessageLoop
from runlock.machines.message_loop.runtime.prompting import OpenPrompt
from runlock.machines.message_loop.runtime.records import (
    Call,
    HookSpec,
    PassRecord,
    Round,
    StandingGrant,
)
from runlock.machines.message_loop.runtime.world import HookAnswer, PersonAnswer, WorldFault

UNAPPROVED = ("AUTH-2", "AUTH-12", "AUTH-15", "AUTH-17", "AUTH-19", "AUTH-21", "AUTH-27")
"""Other clauses that a call without an approval may violate, depending on interactors and earlier grants."""


@fault("GATE-2", "was denied at prompt prompt-")
class RunsWhatWasDenied(MessageLoop):
    """Treats a denial by a person as an approval."""

    def take_answer(self, p: PassRecord, r: Round, call: Call, ask: str, answer: PersonAnswer) -> bool:
        if answer.kind == "deny":
            call.authority.send("allow")
            return True
        return super().take_answer(p, r, call, ask, answer)


@fault("AUTH-2", "before it was approved", also=("AUTH-29",))
class GuardsFirst(Undeclared):
    """Asks guards before the approval, but declares that it asks them after it."""

    follows = {"guard.place": "before_approval"}


@fault("AUTH-3", "yet ToolCallModeInvoked was published in it")
class InvokesTheModeGateInAStage(MessageLoop):
    """Asks the mode gate about calls of a stage execution, which the driving stage judges."""

    async def approve_by_stage(self, p: PassRecord, r: Round, call: Call) -> bool:
        self.publish_call("ToolCallModeInvoked", p, call, mode=self.settings.mode)
        return await super().approve_by_stage(p, r, call)


@fault("AUTH-4", "is inside the envelope")
class AsksInsideTheEnvelope(MessageLoop):
    """Asks for a grant although the stage allows the call."""

    async def in_envelope(self, p: PassRecord, call: Call) -> bool:
        return await super().in_envelope(p, call) and not self.interactors


@fault("AUTH-5", "yet it was settled without asking anybody")
class NeverAsksForAGrant(MessageLoop):
    """Blocks a call outside the envelope without asking anybody for a grant."""

    async def prompt(self, p: PassRecord, r: Round, call: Call, ask: str) -> PersonAnswer | None:
        return await super().prompt(p, r, call, ask) if ask == "mode" else None


@fault("AUTH-6", "were used up by", also=("AUTH-2", "AUTH-29"))
class HasEndlessTokens(MessageLoop):
    """Does not decrement the remaining uses of tokens."""

    def use_token(self, p: PassRecord, call: Call) -> bool:
        assert p.execution is not None
        has_used = super().use_token(p, call)
        return has_used or any(token.tool == call.name for token in p.execution.tokens)

    def approved(self, p: PassRecord, call: Call, by: str) -> bool:
        return (by == "token" and call.token is None) or super().approved(p, call, by)


@fault("GATE-2", "was denied at prompt prompt-")
class LetsTheModeGrant(MessageLoop):
    """In the mode yolo, runs a call whose grant was denied."""

    def take_answer(self, p: PassRecord, r: Round, call: Call, ask: str, answer: PersonAnswer) -> bool:
        if ask == "grant" and answer.kind == "deny" and self.settings.mode == "yolo":
            call.authority.send("allow")
            return self.approved(p, call, "mode")
        return super().take_answer(p, r, call, ask, answer)


@fault("AUTH-8")
class PersonOverrulesGuard(MessageLoop):
    """Ignores a guard's denial of a call that a person has allowed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.allowed: set[str] = set()

    def approved(self, p: PassRecord, call: Call, by: str) -> bool:
        if by in ("interactor", "grant"):
            self.allowed.add(call.id)
        return super().approved(p, call, by)

    def take(self, occasion: Occasion, hook: HookSpec, answer: HookAnswer | WorldFault) -> None:
        denied = not isinstance(answer, WorldFault) and answer.kind == "deny"
        if denied and occasion.call in self.allowed:
            occasion.chart.send("leave")
            return
        super().take(occasion, hook, answer)


@fault("AUTH-9", "was entered, and guard")
class SparesTheGuardOfTheMode(MessageLoop):
    """Does not ask the guards about calls that the mode let pass."""

    spares = False

    async def ask_side(self, p: PassRecord, call: Call, occasion: Occasion, *, before: bool) -> bool:
        self.spares = not before and p.execution is None and self.mode_passes(call)
        return await super().ask_side(p, call, occasion, before=before)

    def kinds_at_side(self, before: bool) -> Collection[str]:
        kinds = super().kinds_at_side(before)
        return [kind for kind in kinds if kind != "guard"] if self.spares else kinds


@fault("AUTH-10", "is open, yet people are asked about call", also=("AUTH-24",))
class PromptsTogether(Undeclared):
    """Opens all prompts of a round together, but declares that they come one at a time."""

    follows = {"prompt.line": "parallel"}


@fault("AUTH-11", "is open, and was not put to")
class AsksOneInteractor(MessageLoop):
    """Asks only the first interactor."""

    def asked_interactors(self) -> list[str]:
        return super().asked_interactors()[:1]


@fault(
    "AUTH-1",
    "was not answered, yet its tool was entered",
    profile="message-loop-core",
    policies={"prompt.line": "parallel"},
)
class AnswersEveryPrompt(MessageLoop):
    """Applies the answer of one prompt to all open prompts."""

    async def ask_one(self, interactor: str, prompt: OpenPrompt) -> None:
        await super().ask_one(interactor, prompt)
        answer = prompt.came.get_nowait()
        for one in self.prompts.values():
            one.came.put_nowait(answer)


@fault("AUTH-13", "the approver of call", also=("ROUND-2",))
class RunsOtherArguments(MessageLoop):
    """Runs a call with an extra argument that the approver was not shown."""

    def begin_call(self, p: PassRecord, call: Call) -> None:
        call.args = {**call.args, "force": True}
        super().begin_call(p, call)


@fault("AUTH-14", also=("AUTH-5", "AUTH-43", "ROUND-1"))
class DenialReachesTheRound(Undeclared):
    """Denies the rest of the round on a denial, but declares that a denial affects only its call."""

    follows = {"reject.reach": "round"}


@fault("AUTH-15", "needs a person's approval; the session grant for call", also=(*UNAPPROVED, "WIRE-5"))
class GrantsEveryTool(MessageLoop):
    """Applies a standing grant for one tool to all tools."""

    def fits(self, p: PassRecord, call: Call, grant: StandingGrant) -> bool:
        return grant.scope == "session" or grant.stage == p.stage

    def approved(self, p: PassRecord, call: Call, by: str) -> bool:
        return by == "standing" or super().approved(p, call, by)


@fault("AUTH-13", "yet t0 runs with", policies={"rewrite.place": "asked_again"}, also=("WIRE-5",))
class GrantsItsOwnRewrite(MessageLoop):
    """Lets a rewritten call pass on the grant that a person gave for it before the rewrite."""

    def fits(self, p: PassRecord, call: Call, grant: StandingGrant) -> bool:
        return (grant.call is call and grant.tool == call.name) or super().fits(p, call, grant)


@fault("AUTH-16", "pass, yet people are asked about call", also=("ROUND-1",))
class AsksForListedTools(MessageLoop):
    """Asks about tools that are on the allowlist."""

    def mode_passes(self, call: Call) -> bool:
        return self.settings.mode == "yolo"


@fault(
    "AUTH-17",
    "needs a person's approval and nobody can be asked, yet its tool was entered",
    also=(*UNAPPROVED, "AUTH-47"),
)
class TakesSilenceForConsent(MessageLoop):
    """Runs a call although no interactor was active to approve it."""

    def unanswered(self, p: PassRecord, r: Round, call: Call) -> bool:
        if call.authority.state == "Denied" and not self.interactors:
            call.authority.state = "Guards"
            return True
        return super().unanswered(p, r, call)


@fault("AUTH-18", "the state machine was asked about call")
class AsksTheStateMachineTwice(MessageLoop):
    """Asks the state machine twice about one call."""

    async def in_envelope(self, p: PassRecord, call: Call) -> bool:
        first = await super().in_envelope(p, call)
        return await super().in_envelope(p, call) if self.settings.decides else first


class Trusting(MessageLoop):
    """Runs trusted calls without asking, and reports no approval of them."""

    def trusts(self, call: Call) -> bool:
        """Whether a call needs no approval."""
        return False

    def mode_passes(self, call: Call) -> bool:
        return self.trusts(call) or super().mode_passes(call)

    def approved(self, p: PassRecord, call: Call, by: str) -> bool:
        is_true = by != "mode" or super().mode_passes(call)
        return super().approved(p, call, by) if is_true else True


@fault(
    "AUTH-1", "needs a person's approval and nothing approved it, yet its tool was entered", also=UNAPPROVED
)
class TrustsOne(Trusting):
    """Lets the first call of a session run without an approval."""

    trusted: str | None = None

    def trusts(self, call: Call) -> bool:
        self.trusted = self.trusted or call.id
        return call.id == self.trusted


@fault(
    "AUTH-19", "needs a person's approval, since no stage drives, yet its tool was entered", also=UNAPPROVED
)
class IdleDriverSilencesTheModeGate(Trusting):
    """Lets every call of a chat turn pass if a state machine is attached."""

    def trusts(self, call: Call) -> bool:
        return bool(self.settings.stages)


@fault("AUTH-20", "made the runtime show message")
class ActsOnLateAnswers(MessageLoop):
    """Appends a late answer to the history."""

    async def late(self, on: str, key: str, outcome: Any) -> None:
        self.history.append({"role": "user", "text": f"late answer to {key}"})
        self.world.message(self.history[-1], "session", None)
        await super().late(on, key, outcome)


@fault(
    "AUTH-21",
    "of a remote tool needs a person's approval and nobody approved it, yet it was entered",
    also=UNAPPROVED,
)
class TrustsRemoteTools(Trusting):
    """Runs remote tools without an approval."""

    def trusts(self, call: Call) -> bool:
        return call.name in self.settings.remote


@fault("AUTH-22", "of the round ran before people were asked about call")
class ApprovesOneByOne(Undeclared):
    """Runs each call after its approval, but declares that all approvals come first."""

    follows = {"prompt.place": "overlapped"}


@fault(
    "AUTH-23", "is asked about, and call", profile="message-loop-core", policies={"prompt.line": "parallel"}
)
class PromptsOneByOne(Undeclared):
    """Opens prompts one after the other, but declares that they are open together."""

    follows = {"prompt.line": "serial"}


@fault("AUTH-24", "waits for prompt", policies={"prompt.siblings": "each"})
class SharesTheLineOfSiblings(Undeclared):
    """Makes siblings wait for each other's prompts, but declares a separate queue for each sibling."""

    follows = {"prompt.siblings": "one"}


@fault("AUTH-25")
class EndsAPromptAtADeferral(Undeclared):
    """Treats the first deferral as the answer, but declares that the others may still answer."""

    follows = {"prompt.defer": "answers"}


@fault("AUTH-26", "which denies the call, yet the turn ended as Blocked")
class HaltsWhereNobodyAnswers(Undeclared):
    """Ends the turn if no one answers, but declares that it denies the call."""

    follows = {"prompt.unanswered": "halt"}


@fault("AUTH-27", "grant of call c1 fits each later call", also=("AUTH-28",))
class ForgetsSessionGrants(MessageLoop):
    """Asks again although a person allowed the tool for the session."""

    def keep_grant(self, p: PassRecord, call: Call, ask: str, scope: str) -> None:
        super().keep_grant(p, call, ask, "once" if scope == "session" else scope)


@fault(
    "AUTH-12",
    "needs a person's approval and was not asked about; only call",
    also=("AUTH-1", *UNAPPROVED, "WIRE-5"),
)
class RemembersEveryAnswer(MessageLoop):
    """Treats an approval of one call as an approval for the whole session."""

    def keep_grant(self, p: PassRecord, call: Call, ask: str, scope: str) -> None:
        super().keep_grant(p, call, ask, "session")

    def approved(self, p: PassRecord, call: Call, by: str) -> bool:
        return by == "standing" or super().approved(p, call, by)


@fault("AUTH-28")
class GrantsOnlyTheSameArguments(Undeclared):
    """Applies a grant only to equal arguments, but declares that it covers every call of its tool."""

    follows = {"grant.match": "arguments"}


@fault("AUTH-29", "the tokens for t1 were used up by c1")
class GivesTokensBack(Undeclared):
    """Restores a token when a guard denies, but declares that an approval spends it."""

    follows = {"grant.spent": "execution"}


@fault("AUTH-30", "late answers are refused, yet the one for gate")
class IgnoresLateAnswers(Undeclared):
    """Ignores a late answer, but declares that it refuses it."""

    follows = {"late.answer": "ignored"}


@fault("AUTH-31", "shows tool with")
class HidesArguments(MessageLoop):
    """Asks about a call without saying which tool it is for."""

    def new_prompt(self, p: PassRecord, call: Call, ask: str) -> OpenPrompt:
        name, call.name = call.name, "tool"
        prompt = super().new_prompt(p, call, ask)
        call.name = name
        return prompt


@fault("AUTH-11", "with allow, yet it still waits for", or_says=("with deny, yet it still waits for",))
class WaitsForTheLastAnswer(MessageLoop):
    """Waits for every interactor, and uses the last answer."""

    async def first_answer(self, call: Call, prompt: OpenPrompt) -> PersonAnswer | None:
        answer: PersonAnswer | None = None
        for _ in prompt.asks:
            answer = await call.scope.outside(prompt.came.get()) or answer
            await asyncio.sleep(0)
        return answer
