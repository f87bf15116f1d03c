"""The host of a run: its awaits, and what it shows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from types import EllipsisType
from typing import Any

from runlock.conformance.families.lifecycle.adapter import (
    ApplyFault,
    Checkpoint,
    CommitFault,
    HookFault,
    ModelFault,
    PermissionFault,
    ToolFault,
    ToolRaised,
)
from runlock.conformance.families.lifecycle.host.counts import Counts
from runlock.conformance.families.lifecycle.host.verb import CURRENT
from runlock.conformance.families.lifecycle.messages import (
    Delta,
    HookAnswer,
    Outcome,
    Resumption,
    Scenario,
    Verdict,
)
from runlock.conformance.protocol import Fault, JsonObject, Message, Turn, Wire
from runlock.conformance.transport.gates import Gate, GateHost
from runlock.conformance.transport.world import as_json

Resume = Resumption | Mapping[str, Any] | EllipsisType | None


class KitHost(GateHost):
    """The host of one life of a runtime, with what it counts for the run at hand."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, counts: Counts, scenario: Scenario, moved: Callable[[], None]
    ) -> None:
        super().__init__(loop)
        self._counts = counts
        self._numbers = counts.gates
        self._holds_store = "store.put" in scenario.hold
        self._holds_results = "apply" in scenario.hold
        self.bodies: list[asyncio.Task[Any]] = []  # of tools that ignore their abort
        self._unabortable = {tool.name for tool in scenario.tools if tool.abort == "ignored"}
        self.moved = moved

    @property
    def run(self) -> str | None:  # type: ignore[override]
        return self._counts.run

    def within(self, call: str) -> KitHost:
        return InnerHost(self, call)

    # What the runtime awaits.

    async def infer(
        self,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        step: int | None = None,
        system: str | None = None,
        params: Mapping[str, Any] | None = None,
        tools: Sequence[str] | None = None,
        delta: Callable[[Delta], None] | None = None,
    ) -> Turn:
        self._counts.step = self._counts.step + 1 if step is None else step
        shown = {"messages": [as_json(message) for message in messages]}
        made = {name: as_json(value) for name, value in (("system", system), ("params", params)) if value}
        made |= {} if tools is None else {"tools": [*tools]}
        turn: Turn = await self._pass("model", {**shown, **made}, ModelFault, piece=delta)
        return turn

    async def tool(
        self,
        call: str,
        name: str,
        args: Mapping[str, Any] | str,
        *,
        resume: Resume = ...,
        attempt: int | None = None,
        step: int | None = None,
        activity: Callable[[Any], None] | None = None,
    ) -> Outcome:
        counted = self._counts.attempts.get(call, 0) + 1 if attempt is None else attempt
        self._counts.attempts[call] = counted
        shown = {"call": call, "name": name, "args": as_json(args), "attempt": counted}
        shown["resume"] = self._resume(call, resume)
        passing = self._pass("tool", shown, ToolFault, step, activity)
        answer: Outcome = await (self._stays(passing) if name in self._unabortable else passing)
        if answer.kind == "raise":
            raise ToolRaised(answer.message or str(answer.content or "the tool raised"))
        return answer

    def _stays(self, body: Coroutine[Any, Any, Any]) -> Awaitable[Any]:
        """The body stays at work when its wait is cancelled, and what it answers then reaches no one."""
        self.bodies.append(self._loop.create_task(body))
        return asyncio.shield(self.bodies[-1])

    async def permit(
        self,
        call: str,
        name: str,
        args: Mapping[str, Any] | str,
        *,
        resume: Resume = ...,
        step: int | None = None,
    ) -> Verdict:
        shown = {"call": call, "name": name, "args": as_json(args), "resume": self._resume(call, resume)}
        verdict: Verdict = await self._pass("permission", shown, PermissionFault, step)
        return verdict

    async def hook(
        self, at: str, data: JsonObject, *, call: str | None = None, step: int | None = None
    ) -> HookAnswer:
        shown: dict[str, Any] = {"at": at, "data": as_json(data)}
        shown |= {} if call is None else {"call": call}
        answer: HookAnswer = await self._pass("hook", shown, HookFault, step)
        return answer

    async def apply(self, calls: Sequence[str]) -> None:
        if self._holds_results:
            await self._pass("apply", {"results": [*calls]}, ApplyFault)

    async def commit(self, checkpoint: Checkpoint) -> None:
        shown = {
            "trigger": checkpoint.trigger,
            "cause": checkpoint.cause,
            "force": checkpoint.force,
            "state": as_json(checkpoint.state),
        }
        if self._holds_store:
            await self._pass("store.put", shown, CommitFault)
        else:
            self._show("checkpoint", shown)

    # What the runtime tells.

    def observe(self, kind: str, **fields: Any) -> None:
        if "origin" in fields and kind in {"run.status", "call.status"}:
            fields["from"] = fields.pop("origin")
        shown = as_json(fields)
        if kind == "call.status" and shown.get("to") == "Suspended" and not self.dead:
            self._count_suspension(shown)
        elif kind == "run.status" and shown.get("run", self.run) == self.run and not self.dead:
            self._counts.status = shown.get("to")
        self._show(kind, shown)

    def refuse(self, why: str, decision: str | None = None) -> None:
        if not self.dead:
            verb = CURRENT.get()
            part = {} if decision is None else {"decision": decision}
            self.turn_down(verb.stimulus if verb else 0, why, **part)

    # What the kit does.

    def release(self, gate: Gate, answer: Wire) -> None:
        """A release is too late from the moment of a cancel, though the runtime has not run since."""
        if not gate.is_cancelled:
            super().release(gate, answer)

    def _passed(self, gate: Gate, answer: Any) -> Any:
        if isinstance(answer, Turn):
            gate.counts.asked(answer)
        if gate.on == "store.put" and not isinstance(answer, Fault):
            # Durable from here on, whether or not the runtime lives to see it.
            kept = ("trigger", "cause", "force", "state")
            self.append("checkpoint", {key: gate.shown[key] for key in kept})
        return answer

    def open(self, on: str, fields: dict[str, Any], at: int | None = None) -> Gate:
        gate = super().open(on, fields, at)
        gate.counts = self._counts
        return gate

    def _place(self, on: str, fields: Mapping[str, Any], at: int | None) -> dict[str, Any]:
        return {"step": self._counts.step if at is None else at}

    def _show(self, kind: str, fields: Mapping[str, Any]) -> None:
        if not self.dead:
            self.moved()
            self.append(kind, fields)

    def _resume(self, call: str, given: Resume) -> Any:
        return self._counts.resumes.get(call) if isinstance(given, EllipsisType) else as_json(given)

    def _count_suspension(self, shown: dict[str, Any]) -> None:
        call = str(shown.get("call"))
        known = shown.get("suspension")
        number = known if isinstance(known, int) else self._next_suspension(call, shown)
        self._counts.suspensions[call] = shown["suspension"] = number

    def _next_suspension(self, call: str, shown: Mapping[str, Any]) -> int:
        counted = self._counts.suspensions.get(call, 0)
        if counted and "from" in shown and shown["from"] is None:
            return counted  # announced anew after a crash: it is the suspension that was
        return counted + 1


class InnerHost(KitHost):
    """The outside world of a run within a call: the same gates, under a run id of its own."""

    def __init__(self, around: KitHost, call: str) -> None:
        self._around = around
        self._counts = Counts(run=f"{around.run}/{call}")
        self._loop, self._numbers = around._loop, around._numbers
        self.log, self.refused, self.open_gates = around.log, around.refused, around.open_gates
        self._holds_store = self._holds_results = False
        self._unabortable, self.bodies = around._unabortable, around.bodies

    @property
    def dead(self) -> bool:  # type: ignore[override]
        return self._around.dead

    def moved(self) -> None:
        self._around.moved()

    def _resume(self, call: str, given: Resume) -> Any:
        return self._around._resume(call, given)
