"""Stage executions of a driving state machine: single, and in a group with a join."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from runlock.machines.message_loop.charts.executions import ExecutionGroup
from runlock.machines.message_loop.runtime.passes import Passes
from runlock.machines.message_loop.runtime.records import (
    Execution,
    PassRecord,
    Reason,
    StageSpec,
    Token,
    TurnFault,
)
from runlock.machines.message_loop.runtime.scopes import Scope, ScopeStopped, together
from runlock.machines.message_loop.runtime.world import Verdict, WorldFault
from runlock.machines.table import Cursor, compile_chart


class Executions(Passes):
    """Runs stage executions."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pass_count = 0

    def new_pass(
        self, scope: Scope, transcript: list[dict[str, Any]], text: str, execution: Execution | None = None
    ) -> PassRecord:
        """A pass with a new id."""
        self.pass_count += 1
        return PassRecord(f"pass-{self.pass_count}", scope, transcript, execution, input=text)

    def new_execution(self, id: str, name: str, scope: Scope) -> Execution:
        """A stage execution with the tokens that it starts with."""
        spec = self.settings.stages.get(name, StageSpec(""))
        tokens = [Token(tool, uses) for tool, uses in spec.grants]
        execution = Execution(id, name, spec, scope, tokens)
        self.turn.executions[id] = execution
        return execution

    async def run_alone(self, id: str, name: str) -> Reason:
        """Run a single stage execution."""
        return await self.run_execution(self.new_execution(id, name, Scope(self.turn.scope)))

    async def run_execution(self, x: Execution) -> Reason:
        """Run a stage execution to its end: attempts, assertion, exit."""
        self.publish("StageEntered", execution=x.id, stage=x.name)
        try:
            reason = await self.attempts(x)
        except TurnFault as fault:
            x.chart.send("fault")
            reason = Reason("Error", str(fault))
        except ScopeStopped as stopped:
            reason = self.cancelled(x, stopped.cause)
        self.standing = [grant for grant in self.standing if grant.stage != x.id]
        return reason

    def cancelled(self, x: Execution, cause: str) -> Reason:
        """End a stage execution that was cancelled, without Exit."""
        x.chart.send("interrupt")
        self.publish("StageCancelled", execution=x.id)
        return Reason("Cancelled", cause)

    async def attempts(self, x: Execution) -> Reason:
        """Repeat Act and Assert until the assertion accepts or fails."""
        while True:
            reason = await self.act(x)
            if reason is not None:
                return reason
            verdict = await self.ask_assertion(x)
            if verdict.kind == "ok":
                return await self.exit(x, verdict)
            if verdict.kind != "retry":
                return await self.failed(x, verdict)
            x.chart.send("retry")
            x.attempt += 1

    async def act(self, x: Execution) -> Reason | None:
        """Run one attempt; returns the reason if it ends the stage execution."""
        self.renew_transcript(x)
        p = self.new_pass(x.scope, x.transcript, x.spec.body, x)
        reason = await self.run_pass(p)
        if reason is not None and reason.code == "Cancelled":
            raise ScopeStopped(reason.detail or "cancel")
        if reason is not None:
            x.chart.send("fault")
            return reason
        x.cap_hit = p.chart.state == "Bounded"
        x.chart.send("cap" if x.cap_hit else "act_ended")
        self.publish("ActEnded", execution=x.id, capHit=x.cap_hit)
        return None

    def renew_transcript(self, x: Execution) -> None:
        """The transcript of the next attempt."""
        if self.policies["assert.retry"] == "fresh":
            x.transcript = []

    async def ask_assertion(self, x: Execution) -> Verdict:
        """Evaluate the assertion on the final transcript."""
        try:
            verdict = await x.scope.outside(self.world.check(x.id, x.transcript, x.cap_hit))
        except WorldFault as fault:
            raise TurnFault(f"the assertion failed: {fault}") from fault
        self.publish("StageAssertOutcome", execution=x.id, outcome=verdict.kind)
        return verdict

    async def exit(self, x: Execution, verdict: Verdict) -> Reason:
        """Run Exit, which stores the slot."""
        x.chart.send("accept")
        self.slots[x.name] = verdict.slot
        await self.commit_exit(x)
        x.chart.send("exited")
        self.publish("StageExited", execution=x.id)
        return Reason("NaturalEnd")

    async def failed(self, x: Execution, verdict: Verdict) -> Reason:
        """Handle a failed assertion; runs Exit if the policy says so."""
        x.chart.send("reject", {"exits_on_fail": self.policies["exit.on_fail"] == "yes"})
        if self.policies["exit.on_fail"] == "yes":
            await self.commit_exit(x)
            x.chart.send("exited")
            self.publish("StageExited", execution=x.id)
        return Reason("Error", verdict.message or f"the assertion of {x.name} failed")

    async def commit_exit(self, x: Execution) -> None:
        """Store the slots."""
        committing = self.world.commit("StepEnd", "exit", False, self.state(), x.id)
        try:
            await x.scope.outside(committing)
        except WorldFault as fault:
            raise TurnFault(f"the store failed: {fault}") from fault

    # -- groups

    async def run_group(self, siblings: Sequence[tuple[str, str]], join: tuple[str, str] | None) -> Reason:
        """Run the siblings, then the join when the last sibling has exited."""
        group = Cursor(compile_chart(ExecutionGroup))
        reason = await self.fan_out(group, siblings, join)
        if self.turn.scope.cause is not None and reason.code == "NaturalEnd" and join is not None:
            reason = Reason("Cancelled", self.turn.scope.cause)
        if reason.code == "NaturalEnd" and join is not None:
            reason = await self.run_alone(*join)
            if reason.code == "NaturalEnd":
                group.send("join_exited")
        if reason.code != "NaturalEnd":
            group.send("interrupt" if reason.code == "Cancelled" else "fault")
        return reason

    async def fan_out(
        self, group: Cursor, siblings: Sequence[tuple[str, str]], join: tuple[str, str] | None
    ) -> Reason:
        """Run siblings concurrently; the first that fails cancels the others strictly."""
        scope = Scope(self.turn.scope)
        ended: list[Reason] = []

        async def run(sibling: tuple[str, str]) -> None:
            reason = await self.run_execution(self.new_execution(*sibling, Scope(scope)))
            ended.append(reason)
            self.sibling_ended(group, scope, reason, len(ended) == len(siblings), join is not None)

        with suppress(ScopeStopped):
            await together(scope, [run(sibling) for sibling in siblings])
        failures = [reason for reason in ended if reason.code not in ("NaturalEnd", "Cancelled")]
        cancelled = [reason for reason in ended if reason.code == "Cancelled"]
        return (failures or cancelled or [Reason("NaturalEnd")])[0]

    def sibling_ended(
        self, group: Cursor, scope: Scope, reason: Reason, is_last: bool, has_join: bool
    ) -> None:
        """Record the end of a sibling."""
        if reason.code == "NaturalEnd" and scope.cause is None:
            facts = {"has_join"} if has_join else set()
            group.send("last_exited" if is_last else "sibling_exited", facts)
        elif reason.code not in ("NaturalEnd", "Cancelled"):
            scope.stop("sibling", drains=self.policies["cancel.inflight"] == "drain")
