"""The host that the kit gives to an adapter: each await of the environment becomes a gate.

A gate opens when the runtime begins to wait, and ends in `release` by the kit or in `gate.closed` by the
runtime, never in both.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
    WorldFault,
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
from runlock.conformance.protocol import Fault, Wire
from runlock.conformance.transport.world import as_json


class Gate:
    """One await of the environment; a model gate may pass on several outcomes before it closes."""

    __slots__ = ("activity", "answers", "id", "on", "shown")

    def __init__(self, gate: str, on: str, shown: dict[str, Any]) -> None:
        self.id = gate
        self.on = on
        self.shown = shown
        self.answers: asyncio.Queue[Wire] = asyncio.Queue()
        self.activity: Callable[[Any], None] | None = None

    @property
    def key(self) -> str:
        """The key that a late answer names: the id of the prompt, or of the call."""
        return str(self.shown.get("prompt") or self.shown.get("call") or self.id)


class KitHost:
    """The host of one runtime; it does nothing once the scenario is closed."""

    def __init__(self, loop: asyncio.AbstractEventLoop, scenario: Scenario) -> None:
        self.log: list[dict[str, Any]] = []
        self.open_gates: dict[str, Gate] = {}
        self.past_gates: dict[str, Gate] = {}
        self.dead = False
        self.run: str | None = None
        self.stages: tuple[str, ...] = ()  # the stage executions of the turn
        self.counts = Counts()
        self._loop = loop
        self._scenario = scenario
        self._gates = 0

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
        with self._opened("tool", shown, stage) as gate:
            gate.activity = activity
            answer = await self._answer(gate, ToolFault)
        assert isinstance(answer, Outcome)
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
        answer: Answer = await self._pass("prompt", shown, prompt.stage, PromptFault)
        return answer

    async def hook(
        self, hook: str, data: Mapping[str, Any], *, call: str | None = None, stage: str | None = None
    ) -> HookAnswer:
        spec = self._scenario.hook(hook)
        if spec is None:
            raise LookupError(f"The scenario has no hook {hook}.")
        place = {"at": spec.at, "point": spec.point, "role": spec.kind}
        shown = {"hook": hook, **place, "call": call, "data": as_json(data)}
        answer: HookAnswer = await self._pass("hook", shown, stage, HookFault)
        return answer

    async def judge(
        self, call: str, name: str, args: Mapping[str, Any], *, stage: str
    ) -> Literal["approve", "out"]:
        answer: Verdict = await self._pass("sm", _call(call, name, args), stage, JudgeFault)
        return answer.kind

    async def context(self, provider: str, budget: int, *, stage: str | None = None) -> Sequence[str]:
        answer: Slices = await self._pass(
            "context", {"provider": provider, "budget": budget}, stage, ContextFault
        )
        return answer.slices

    async def check(self, stage: str, transcript: Sequence[AnyMessage], cap_hit: bool) -> Assertion:
        attempt = self.counts.pass_of(stage).attempt
        shown = {"transcript": as_json(transcript), "cap_hit": cap_hit, "attempt": attempt}
        answer: Assertion = await self._pass("assert", shown, stage, CheckFault)
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
            await self._pass("store.put", shown, checkpoint.stage, CommitFault)
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

    def release(self, gate: Gate, answer: Wire) -> None:
        """Release a gate; has no effect if the runtime has already closed it."""
        if gate.id not in self.open_gates:
            return
        if isinstance(answer, Outcome) and answer.kind == "activity":
            if gate.activity is not None:
                self._loop.call_soon(gate.activity, answer.content)
            return
        if isinstance(answer, Delta):
            gate.answers.put_nowait(answer)
            return
        self.past_gates[gate.id] = self.open_gates.pop(gate.id)
        self.counts.released(gate.shown.get("stage"), gate.on, answer)
        if gate.on == "store.put" and not isinstance(answer, Fault):
            kept = ("trigger", "cause", "force", "state", "stage")
            self.append("checkpoint", {key: gate.shown[key] for key in kept})
        gate.answers.put_nowait(answer)

    def watcher(self, watchers: Mapping[str, bool]) -> Watcher:
        """The callback for each event: it notifies all watchers, some of which throw."""

        def hear(name: str, data: Mapping[str, Any]) -> None:
            for watcher in watchers:
                self._publish(name, data, watcher)
            if any(watchers.values()):
                raise RuntimeError("this watcher fails at every event")

        return hear

    def append(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Record an observation for the current turn."""
        self.log.append({"kind": kind, "run": self.run, **fields})

    def _publish(self, name: str, data: Mapping[str, Any], watcher: str | None) -> None:
        stage = data.get("execution") or (self.stages[0] if len(self.stages) == 1 else None)
        self._show("event", {"name": name, "stage": stage, "data": as_json(data), "watcher": watcher})

    def _show(self, kind: str, fields: Mapping[str, Any]) -> None:
        if not self.dead:
            self.append(kind, fields)

    def _request(self, request: Request) -> dict[str, Any]:
        return {
            "system": request.system,
            "tools": list(request.tools),
            "messages": as_json(request.messages),
            "context": list(request.context),
            "params": as_json(request.params),
        }

    async def _pass(self, on: str, fields: dict[str, Any], stage: str | None, fault: type[WorldFault]) -> Any:
        with self._opened(on, fields, stage) as gate:
            return await self._answer(gate, fault)

    async def _answer(self, gate: Gate, fault: type[WorldFault]) -> Wire:
        answer = await gate.answers.get()
        if isinstance(answer, Fault):
            raise fault(answer.message)
        return answer

    @contextmanager
    def _opened(self, on: str, fields: dict[str, Any], stage: str | None) -> Iterator[Gate]:
        gate = self.open(on, fields, stage)
        try:
            yield gate
        finally:
            self.give_up(gate)

    def open(self, on: str, fields: dict[str, Any], stage: str | None) -> Gate:
        """Open a gate: the runtime begins to wait."""
        if self.dead:
            raise asyncio.CancelledError("the scenario is over")
        self._gates += 1
        step = self.counts.step(stage, on, fields)
        shown = {"gate": f"g{self._gates}", "on": on, "step": step, "stage": stage, **fields}
        gate = Gate(shown["gate"], on, shown)
        self.open_gates[gate.id] = gate
        self._show("gate.open", shown)
        return gate

    def give_up(self, gate: Gate) -> None:
        """Close a gate: the runtime no longer waits for it."""
        if self.open_gates.pop(gate.id, None) is not None:
            self.past_gates[gate.id] = gate
            self._show("gate.closed", {"gate": gate.id, "because": "the runtime stopped waiting for it"})


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
            answer = await self._gate.answers.get()
        except BaseException:
            await self.aclose()
            raise
        self._over = not isinstance(answer, Delta)
        if isinstance(answer, Fault):
            raise ModelFault(answer.message)
        assert isinstance(answer, (Delta, Turn))
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
