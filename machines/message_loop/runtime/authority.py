"""The authority stack of one call: state machine or mode gate, guards, transforms, and what a denial does."""

from __future__ import annotations

from collections.abc import Collection
from copy import deepcopy
from typing import Any, Final

from runlock.machines.message_loop.charts.authority import (
    ModeAuthority,
    ModeAuthorityAfterGuards,
    StageAuthority,
    StageAuthorityAfterGuards,
)
from runlock.machines.message_loop.runtime.hooking import Denied, Occasion
from runlock.machines.message_loop.runtime.prompting import Prompting
from runlock.machines.message_loop.runtime.records import (
    Call,
    PassRecord,
    Round,
    StandingGrant,
    Token,
    TurnFault,
)
from runlock.machines.message_loop.runtime.world import PersonAnswer, WorldFault
from runlock.machines.table import Cursor, compile_chart

CASCADE: Final = "cascade"


class Authority(Prompting):
    """Decides whether calls may run."""

    def authority_of(self, p: PassRecord) -> Cursor:
        """The chart of the authority stack, by whether a stage drives and where guards are placed."""
        guards_first = self.policies["guard.place"] == "before_approval"
        if p.execution is None:
            return Cursor(compile_chart(ModeAuthorityAfterGuards if guards_first else ModeAuthority))
        return Cursor(compile_chart(StageAuthorityAfterGuards if guards_first else StageAuthority))

    async def authorise(self, p: PassRecord, r: Round, call: Call, occasion: Occasion) -> bool:
        """Take a call through the stack; returns whether it may run.  A call that may not gets a result."""
        if not self.is_usable(call):
            self.reject_form(p, call)
            return False
        if self.policies["guard.place"] == "before_approval":
            call.authority.send("show")
        if not await self.ask_side(p, call, occasion, before=True):
            return False
        if not await self.approve(p, r, call):
            return False
        return await self.after_approval(p, r, call, occasion)

    async def after_approval(self, p: PassRecord, r: Round, call: Call, occasion: Occasion) -> bool:
        """Ask the hooks after the approval; a rewritten call may need another approval."""
        approved = call.args
        if not await self.ask_side(p, call, occasion, before=False):
            return False
        if self.policies["rewrite.place"] != "asked_again" or call.args == approved:
            return True
        call.authority.send("rewritten")
        return await self.approve(p, r, call, again=True)

    # -- the form of a call

    def is_usable(self, call: Call) -> bool:
        """Whether the tool exists and the arguments are an object."""
        return isinstance(call.args, dict) and call.name in self.settings.tools

    def reject_form(self, p: PassRecord, call: Call) -> None:
        """Fail a call that cannot run; a malformed call may end the turn."""
        self.fail_unusable(p, call)
        if not isinstance(call.args, dict) and self.policies["call.malformed"] == "end_run":
            raise TurnFault(f"the call {call.id} is malformed")

    def fail_unusable(self, p: PassRecord, call: Call) -> None:
        """Give a call that cannot run an error result."""
        call.authority.send("reject_form")
        is_malformed = not isinstance(call.args, dict)
        why = "the arguments are not valid JSON" if is_malformed else f"there is no tool {call.name}"
        self.settle(p, call, "fail", "error", f"The call was not executed: {why}.")
        self.publish_call("ToolInvocationFailed", p, call, name=call.name)

    # -- hooks around the approval

    def kinds_at_side(self, before: bool) -> Collection[str]:
        """The hook roles that are asked on this side of the approval."""
        guards_before = self.policies["guard.place"] == "before_approval"
        rewrites_before = self.policies["rewrite.place"] == "before_approval"
        kinds = {"guard": guards_before, "transform": rewrites_before, "observer": False}
        return [kind for kind, is_before in kinds.items() if is_before == before]

    async def ask_side(self, p: PassRecord, call: Call, occasion: Occasion, *, before: bool) -> bool:
        """Ask the hooks on one side of the approval; returns False if a guard denies."""
        occasion.data = {"name": call.name, "args": call.args}
        try:
            await self.ask_hooks(p, occasion, "pre", self.kinds_at_side(before))
        except Denied as denied:
            call.authority.send("guard_denies")
            self.deny_call(p, call, "GuardDenied", f"a guard denies it: {denied}")
            return False
        call.args = occasion.data["args"]
        return True

    # -- approval

    async def approve(self, p: PassRecord, r: Round, call: Call, *, again: bool = False) -> bool:
        """Obtain the approval of a call; returns whether it was given."""
        if p.execution is None:
            if not again:
                call.authority.send("judge")
            return await self.approve_by_mode(p, r, call)
        if not again:
            call.authority.send("check")
        return await self.approve_by_stage(p, r, call)

    async def approve_by_mode(self, p: PassRecord, r: Round, call: Call) -> bool:
        """The mode gate: pass the call, or ask."""
        self.publish_call("ToolCallModeInvoked", p, call, mode=self.settings.mode)
        by = "mode" if self.mode_passes(call) else "standing" if self.stands(p, call, "mode") else None
        if by is not None:
            call.authority.send("mode_passes")
            return self.approved(p, call, by)
        if not self.interactors:
            call.authority.send("nobody")
            return self.unanswered(p, r, call)
        call.authority.send("ask")
        answer = await self.prompt(p, r, call, "mode")
        if answer is None or answer.kind == "defer":
            call.authority.send("defer")
            return self.unanswered(p, r, call)
        return self.take_answer(p, r, call, "mode", answer)

    def mode_passes(self, call: Call) -> bool:
        """Whether the mode lets a call pass without a question."""
        mode = self.settings.mode
        return mode == "yolo" or (mode == "allowlist" and call.name in self.settings.allowlist)

    async def approve_by_stage(self, p: PassRecord, r: Round, call: Call) -> bool:
        """The driving stage: its envelope, its tokens, or a grant."""
        event, by = await self.covered_by_stage(p, call)
        if event:
            call.authority.send(event)
            return self.approved(p, call, by)
        if not self.interactors:
            call.authority.send("nobody")
            self.deny_call(p, call, "GrantDenied", "no interactor is active that could grant it")
            return False
        call.authority.send("ask")
        answer = await self.prompt(p, r, call, "grant")
        if answer is None or answer.kind == "defer":
            call.authority.send("defer")
            self.deny_call(p, call, "GrantDenied", "the grant was not given")
            return False
        return self.take_answer(p, r, call, "grant", answer)

    async def covered_by_stage(self, p: PassRecord, call: Call) -> tuple[str, str]:
        """The chart event and the authority by which the stage allows a call, or None."""
        if await self.in_envelope(p, call):
            return "in_envelope", "sm"
        if self.use_token(p, call):
            return "token", "token"
        return ("standing", "standing") if self.stands(p, call, "grant") else ("", "")

    async def in_envelope(self, p: PassRecord, call: Call) -> bool:
        """Whether the state machine approves a call."""
        assert p.execution is not None
        if not self.settings.decides:
            return call.name in p.execution.spec.allowed_tools
        judging = self.world.judge(call.id, call.name, call.args, p.execution.id)
        try:
            return await call.scope.outside(judging) == "approve"
        except WorldFault as fault:
            raise TurnFault(f"the state machine failed: {fault}") from fault

    def use_token(self, p: PassRecord, call: Call) -> bool:
        """Use a matching token of the stage execution, if there is one."""
        if call.token is not None:
            return True
        token = self.fitting_token(p, call)
        if token is None:
            return False
        token.uses -= 1
        call.token = token
        return True

    def fitting_token(self, p: PassRecord, call: Call) -> Token | None:
        """A token for the call's tool that has uses left."""
        assert p.execution is not None
        return next((t for t in p.execution.tokens if t.tool == call.name and t.uses > 0), None)

    # -- what an answer does

    def take_answer(self, p: PassRecord, r: Round, call: Call, ask: str, answer: PersonAnswer) -> bool:
        """Apply an interactor's answer: allow or deny."""
        if answer.kind == "allow":
            call.authority.send("allow")
            self.keep_grant(p, call, ask, answer.scope)
            if ask == "grant" and p.execution is not None:
                self.publish("StageGranted", p, execution=p.execution.id, call=call.id)
            return self.approved(p, call, "interactor" if ask == "mode" else "grant")
        call.authority.send("deny")
        code = "ModeDenied" if ask == "mode" else "GrantDenied"
        self.deny_call(p, call, code, answer.message or "a person denied it")
        self.reach(p, r, call, code)
        return False

    def keep_grant(self, p: PassRecord, call: Call, ask: str, scope: str) -> None:
        """Store an approval whose scope covers later calls."""
        has_stage = scope == "stage" and p.execution is not None
        if scope in self.policies["grant.scopes"] and (scope == "session" or has_stage):
            stage = p.stage if has_stage else None
            self.standing.append(StandingGrant(call, ask, call.name, deepcopy(call.args), scope, stage))

    def stands(self, p: PassRecord, call: Call, ask: str) -> bool:
        """Whether any standing grant covers a call."""
        return any(grant.ask == ask and self.fits(p, call, grant) for grant in self.standing)

    def fits(self, p: PassRecord, call: Call, grant: StandingGrant) -> bool:
        """Whether one standing grant covers a call: a later one, so not its own once that was rewritten."""
        if grant.call is call or grant.tool != call.name:
            return False
        if grant.scope == "stage" and grant.stage != p.stage:
            return False
        if self.policies["grant.match"] == "arguments":
            return bool(grant.args == call.args)
        return bool(self.policies["grant.match"] == "tool")

    def approved(self, p: PassRecord, call: Call, by: str) -> bool:
        """Publish an approval in the audit."""
        self.publish_call("ToolCallApproved", p, call, by=by)
        return True

    def unanswered(self, p: PassRecord, r: Round, call: Call) -> bool:
        """Handle a prompt of the mode gate without an answer: deny the call, or end the turn."""
        self.deny_call(p, call, "Unanswered", "nobody answered whether it may run")
        if self.policies["prompt.unanswered"] == "halt":
            r.halted = f"nobody answered whether {call.id} may run"
            self.cascade(p, r, call)
        return False

    def reach(self, p: PassRecord, r: Round, call: Call, code: str) -> None:
        """Apply a denial by a person to the rest of the round and to the turn, as `reject.reach` declares."""
        policy = self.policies["reject.reach"]
        if policy == "turn":
            r.halted = f"{call.id} was denied"
        if policy in ("round", "turn"):
            self.cascade(p, r, call)

    def cascade(self, p: PassRecord, r: Round, call: Call) -> None:
        """Deny the calls of the round that have not run."""
        for other in r.calls:
            if other is not call and not other.is_settled and not other.is_started:
                other.authority.send("cascade")
                self.deny_call(p, other, "Cascade", f"it was dropped because {call.id} was not approved")
                other.scope.stop(CASCADE)

    def deny_call(self, p: PassRecord, call: Call, code: str, why: str) -> None:
        """Deny a call: it gets an error result, and the audit gives the reason."""
        if call.token is not None and self.policies["grant.spent"] == "execution":
            call.token.uses += 1
            call.token = None
        self.publish_call("ToolCallDenied", p, call, code=code)
        self.settle(p, call, "fail", "error", self.words_of_denial(why))

    def words_of_denial(self, why: str) -> str:
        """The text of the result of a denied call."""
        return "The call was not executed." if self.policies["told"] == "alike" else f"Denied: {why}."

    def settle(self, p: PassRecord, call: Call, event: str, status: str, content: Any) -> None:
        """End a call with a result, which is recorded at the end of the round."""
        call.result = (status, content)
        self.move_call(p, call, event)
