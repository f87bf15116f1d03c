"""The host of a message loop: its awaits, and what it reports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Literal

from runlock.conformance.families.message_loop.adapter import (
    AnyMessage,
    CheckFault,
    Checkpoint,
    CommitFault,
    ContextFault,
    HookFault,
    JudgeFault,
    ModelFault,
    Prompt,
    PromptFault,
    Request,
    ToolFault,
    ToolRaised,
    Watcher,
)
from runlock.conformance.families.message_loop.host.counts import Counts
from runlock.conformance.families.message_loop.messages import (
    Answer,
    Assertion,
    Delta,
    HookAnswer,
    Outcome,
    Scenario,
    Slices,
    Turn,
    Verdict,
)
from runlock.conformance.protocol import Fault
from runlock.conformance.transport.gates import Gate, GateHost
from runlock.conformance.transport.world import as_json


class KitHost(GateHost):
    """The host of one runtime, with what it counts for the turn at hand."""

    def __init__(self, loop: asyncio.AbstractEventLoop, scenario: Scenario) -> None:
        super().__init__(loop)
        self.past_gates: dict[str, Gate] = {}
        self.stages: tuple[str, ...] = ()  # the stage executions of the turn
        self.counts = Counts()
        self._scenario = scenario

    # Awaited by the runtime.

    def stream(self, request: Request, *, stage: str | None = None) -> AsyncIterator[Delta | Turn]:
        return _Stream(self, self._request(request), stage)

    async def infer(self, request: Request, *, stage: str | None = None) -> Turn:
        async for answer in self.stream(request, stage=stage):
            if isinstance(answer, Turn):
                return answer
        raise ModelFault("the response ended before it was complete")

    async def tool(
        self,
        call: str,
        name: str,
        args: Mapping[str, Any],
        *,
        stage: str | None = None,
        activity: Callable[[Any], None] | None = None,
    ) -> Outcome:
        spec = self._scenario.tool(name)
        shown = {
            **_call(call, name, args),
            "origin": spec.origin if spec is not None else "local",
            "attempt": self.counts.attempt(stage, call),
        }
        answer: Outcome = await self._pass("tool", shown, ToolFault, stage, activity)
        if answer.kind == "raise":
            raise ToolRaised(answer.message or str(answer.content or "the tool raised"))
        return answer

    async def ask(self, interactor: str, prompt: Prompt) -> Answer:
        shown = {
            "prompt": prompt.id,
            "interactor": interactor,
            "ask": prompt.ask,
            **_call(prompt.call, prompt.name, prompt.args),
        }
        answer: Answer = await self._pass("prompt", shown, PromptFault, prompt.stage)
        return answer

    async def hook(
        self, hook: str, data: Mapping[str, Any], *, call: str | None = None, stage: str | None = None
    ) -> HookAnswer:
        spec = self._scenario.hook(hook)
        if spec is None:
            raise LookupError(f"The scenario has no hook {hook}.")
        place = {"at": spec.at, "point": spec.point, "role": spec.kind}
        shown = {"hook": hook, **place, "call": call, "data": as_json(data)}
        answer: HookAnswer = await self._pass("hook", shown, HookFault, stage)
        return answer

    async def judge(
        self, call: str, name: str, args: Mapping[str, Any], *, stage: str
    ) -> Literal["approve", "out"]:
        answer: Verdict = await self._pass("sm", _call(call, name, args), JudgeFault, stage)
        return answer.kind

    async def context(self, provider: str, budget: int, *, stage: str | None = None) -> Sequence[str]:
        shown = {"provider": provider, "budget": budget}
        answer: Slices = await self._pass("context", shown, ContextFault, stage)
        return answer.slices

    async def check(self, stage: str, transcript: Sequence[AnyMessage], cap_hit: bool) -> Assertion:
        attempt = self.counts.pass_of(stage).attempt
        shown = {"transcript": as_json(transcript), "cap_hit": cap_hit, "attempt": attempt}
        answer: Assertion = await self._pass("assert", shown, CheckFault, stage)
        if answer.kind == "retry":
            self.counts.begin_attempt(stage)
        return answer

    async def commit(self, checkpoint: Checkpoint) -> None:
        shown = {
            "trigger": checkpoint.trigger,
            "cause": checkpoint.cause,
            "force": checkpoint.force,
            "state": as_json(checkpoint.state),
        }
        if "store.put" in self._scenario.hold:
            await self._pass("store.put", shown, CommitFault, checkpoint.stage)
        else:
            self._show("checkpoint", {**shown, "stage": checkpoint.stage})

    # Reported by the runtime.

    def event(self, name: str, /, **data: Any) -> None:
        self._publish(name, data, None)

    def message(
        self,
        message: AnyMessage,
        *,
        transcript: Literal["session", "stage"] = "session",
        stage: str | None = None,
    ) -> None:
        self._show("message", {"transcript": transcript, "stage": stage, "message": as_json(message)})

    def observe(self, kind: str, **fields: Any) -> None:
        if "origin" in fields:
            fields["from"] = fields.pop("origin")
        self._show(kind, as_json(fields))

    # Called by the kit.

    def begin(self, run: str, stages: Sequence[str]) -> None:
        """Begin a turn, and reset all counters."""
        self.run, self.stages = run, tuple(stages)
        self.counts = Counts()

    def watcher(self, watchers: Mapping[str, bool]) -> Watcher:
        """The callback for each event: it notifies all watchers, some of which throw."""

        def hear(name: str, data: Mapping[str, Any]) -> None:
            for watcher in watchers:
                self._publish(name, data, watcher)
            if any(watchers.values()):
                raise RuntimeError("this watcher fails at every event")

        return hear

    def _publish(self, name: str, data: Mapping[str, Any], watcher: str | None) -> None:
        stage = data.get("execution") or (self.stages[0] if len(self.stages) == 1 else None)
        self._show("event", {"name": name, "stage": stage, "data": as_json(data), "watcher": watcher})

    def _place(self, on: str, fields: Mapping[str, Any], at: str | None) -> dict[str, Any]:
        return {"step": self.counts.step(at, on, fields), "stage": at}

    def _shut(self, gate: Gate) -> None:
        super()._shut(gate)
        self.past_gates[gate.id] = gate

    def _passed(self, gate: Gate, answer: Any) -> Any:
        self.counts.released(gate.shown["stage"], gate.on, answer)
        if gate.on == "store.put" and not isinstance(answer, Fault):
            kept = ("trigger", "cause", "force", "state", "stage")
            self.append("checkpoint", {key: gate.shown[key] for key in kept})
        return answer

    def _request(self, request: Request) -> dict[str, Any]:
        return {
            "system": request.system,
            "tools": list(request.tools),
            "messages": as_json(request.messages),
            "context": list(request.context),
            "params": as_json(request.params),
        }


class _Stream(AsyncIterator[Delta | Turn]):
    """A streamed response; closing it before its end closes the gate."""

    def __init__(self, host: KitHost, shown: dict[str, Any], stage: str | None) -> None:
        self._host = host
        self._shown = shown
        self._stage = stage
        self._gate: Gate | None = None
        self._over = False

    async def __anext__(self) -> Delta | Turn:
        if self._over:
            raise StopAsyncIteration
        if self._gate is None:
            self._gate = self._host.open("model", self._shown, self._stage)
        try:
            answer = await self._gate.take(ModelFault)
        except BaseException:
            await self.aclose()
            raise
        assert isinstance(answer, (Delta, Turn))
        self._over = isinstance(answer, Turn)
        return answer

    async def aclose(self) -> None:
        """Stop the stream: the runtime does not need the rest."""
        self._over = True
        if self._gate is not None:
            self._host.give_up(self._gate)

    def __del__(self) -> None:
        if self._gate is not None:
            self._host.give_up(self._gate)


def _call(call: str, name: str, args: Any) -> dict[str, Any]:
    return {"call": call, "name": name, "args": as_json(args)}
