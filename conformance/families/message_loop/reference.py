"""The reference message loop as a hosted adapter."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.families.message_loop import adapter as face
from runlock.conformance.families.message_loop.adapter import (
    Checkpoint,
    LoopHost,
    Prompt,
    Refused,
    Request,
    Segment,
    TurnStart,
)
from runlock.conformance.families.message_loop.messages import (
    BOUNDS,
    EVENTS,
    GATES,
    LISTED,
    MODES,
    OUTCOMES,
    SLOTS,
    STIMULI,
    TURNS,
    Assertion,
    Handshake,
    OfferedOutcomes,
    Scenario,
    Snapshot,
    StageStart,
)
from runlock.conformance.families.message_loop.messages import Reason as WireReason
from runlock.conformance.protocol import Control, Party
from runlock.conformance.transport.world import translated
from runlock.machines.message_loop.runtime import records, world
from runlock.machines.message_loop.runtime.choices import policies_of
from runlock.machines.message_loop.runtime.loop import MessageLoop, Start
from runlock.machines.message_loop.runtime.prompting import LateAnswer

OBSERVES: Final = ["run.status", "call.status", "message", "checkpoint", "event", "run.finished"]
SHOWN_EVENTS: Final = [name for name in EVENTS if name not in ("StageCheckGateResult", "WorkflowExit")]
NO_CHANGES: Final[Mapping[str, Any]] = {}
INTERACTORS: Final = 2


class HostedWorld:
    """The world of the loop, made of the kit's host."""

    def __init__(self, host: LoopHost, handshake: Handshake) -> None:
        self.host = host
        self.shown: Collection[str] = handshake.observes
        self.events: Collection[str] = handshake.events
        self.gates: Collection[str] = handshake.gates
        self.stores = handshake.control.store != "none"

    async def stream(self, request: Mapping[str, Any], stage: str | None) -> AsyncIterator[world.StreamPart]:
        parts = self.host.stream(Request(**request), stage=stage)
        try:
            with translated():
                async for part in parts:
                    yield part
        finally:
            if (close := getattr(parts, "aclose", None)) is not None:
                await close()

    async def tool(
        self, call: str, name: str, args: Mapping[str, Any], stage: str | None
    ) -> world.ToolAnswer:
        with translated():
            return await self.host.tool(call, name, args, stage=stage)

    async def ask(self, interactor: str, prompt: Mapping[str, Any]) -> world.PersonAnswer:
        with translated():
            return await self.host.ask(interactor, Prompt(**prompt))

    async def hook(
        self, hook: str, data: Mapping[str, Any], call: str | None, stage: str | None
    ) -> world.HookAnswer:
        with translated():
            return await self.host.hook(hook, data, call=call, stage=stage)

    async def judge(self, call: str, name: str, args: Mapping[str, Any], stage: str) -> str:
        with translated():
            return await self.host.judge(call, name, args, stage=stage)

    async def context(self, provider: str, budget: int, stage: str | None) -> Sequence[str]:
        with translated():
            return await self.host.context(provider, budget, stage=stage)

    async def check(
        self, stage: str, transcript: Sequence[Mapping[str, Any]], cap_hit: bool
    ) -> world.Verdict:
        if "assert" not in self.gates:
            return Assertion(kind="ok")  # the loop has assertions of its own, which accept everything
        with translated():
            return await self.host.check(stage, transcript, cap_hit)

    async def commit(
        self, trigger: str, cause: str, force: bool, state: Mapping[str, Any], stage: str | None
    ) -> None:
        if self.stores:
            with translated():
                await self.host.commit(Checkpoint(trigger, cause, state, force, stage))

    def event(self, name: str, data: Mapping[str, Any]) -> None:
        if "event" in self.shown and name in self.events:
            self.host.event(name, **data)

    def message(self, message: Mapping[str, Any], transcript: Any, stage: str | None) -> None:
        if "message" in self.shown:
            self.host.message(message, transcript=transcript, stage=stage)

    def status(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Show a status if the handshake says so; a kind of the runtime's own is always shown."""
        if kind in self.shown or kind not in LISTED:
            reason = fields.get("reason")
            self.host.observe(kind, **{**fields, **({"reason": wire_reason(reason)} if reason else {})})


def wire_reason(reason: records.Reason) -> WireReason:
    """A reason as the protocol has it."""
    stop = {"code": reason.stop} if reason.stop is not None else None
    return WireReason.model_validate({"code": reason.code, "detail": reason.detail, "stop": stop})


def settings_of(scenario: Scenario) -> records.Settings:
    """What the loop is set up with in a scenario."""
    driver = scenario.driver
    return records.Settings(
        system=scenario.system,
        tools={tool.name: tool.offered for tool in scenario.tools},
        remote=tuple(tool.name for tool in scenario.tools if tool.origin == "remote"),
        mode=scenario.mode,
        allowlist=tuple(scenario.allowlist),
        interactors=tuple(scenario.interactors),
        hooks=tuple(records.HookSpec(hook.id, hook.at, hook.point, hook.kind) for hook in scenario.hooks),
        context=tuple((provider.id, provider.budget) for provider in scenario.context),
        max_iterations=scenario.bounds.max_iterations,
        decides=driver is not None and driver.decides,
        stages={name: _stage(spec) for name, spec in driver.stages.items()} if driver is not None else {},
    )


def _stage(spec: Any) -> records.StageSpec:
    grants = tuple((token.tool, token.uses) for token in spec.grants)
    return records.StageSpec(spec.body, tuple(spec.allowed_tools), grants, spec.turn_cap, spec.completion)


class ReferenceAdapter:
    """The reference under a profile; `make` builds the loop, so that others can be built.

    `declare` are fields of the handshake that say something else than what the loop does.
    """

    def __init__(
        self,
        profile: str = "message-loop",
        policies: Mapping[str, Any] | None = None,
        make: Callable[..., MessageLoop] = MessageLoop,
        declare: Mapping[str, Any] | None = None,
    ) -> None:
        self.policies = policies_of(profile, policies or {})
        self.make = make
        self.handshake = handshake_of(profile, self.policies, declare or {})

    async def open(self, host: LoopHost, scenario: Scenario) -> None:
        self.loop = self.make(HostedWorld(host, self.handshake), settings_of(scenario), self.policies)

    async def start(self, turn: TurnStart) -> Segment:
        group = [(one.id, one.name) for one in turn.group]
        start = Start(turn.input, _pair(turn.stage), group, _pair(turn.join))
        return Segment(wire_reason(await self.loop.start(start)))

    async def cancel(self) -> None:
        await self.loop.cancel()

    async def gone(self, interactor: str) -> None:
        await self.loop.gone(interactor)

    async def late(self, on: str, key: str, outcome: Any) -> None:
        try:
            await self.loop.late(on, key, outcome)
        except LateAnswer as late:
            raise Refused(str(late)) from late

    def watch(self, watcher: face.Watcher | None) -> None:
        self.loop.watch(watcher and self._of_what_is_published(watcher))

    def _of_what_is_published(self, watcher: face.Watcher) -> face.Watcher:
        """A watcher that gets the events that the handshake names."""
        return lambda name, data: watcher(name, data) if name in self.handshake.events else None

    def inspect(self) -> Snapshot:
        shown = self.loop.look()
        reason = shown["reason"]
        return Snapshot.model_validate({**shown, "reason": wire_reason(reason) if reason else None})


def _pair(stage: StageStart | None) -> tuple[str, str] | None:
    return (stage.id, stage.name) if stage is not None else None


def handshake_of(profile: str, policies: Mapping[str, Any], declare: Mapping[str, Any]) -> Handshake:
    """What the reference says of itself: every policy with its value, everything shown and taken."""
    fields: dict[str, Any] = {
        "implementation": Party(name="runlock-reference", version="1.0", language="python"),
        "profile": profile,
        "policies": dict(policies),
        "control": Control(settle="exact", crash=[], store="kit", clock="virtual", step="turns"),
        "gates": list(GATES),
        "observes": OBSERVES,
        "events": SHOWN_EVENTS,
        "hooks": list(SLOTS),
        "modes": list(MODES),
        "interactors": INTERACTORS,
        "grants": list(policies["grant.scopes"]),
        "turns": list(TURNS),
        "bounds": list(BOUNDS),
        "stimuli": list(STIMULI),
        "outcomes": OfferedOutcomes.model_validate({gate: list(kinds) for gate, kinds in OUTCOMES.items()}),
    }
    return Handshake(**{**fields, **declare})


def factory(
    profile: str = "message-loop",
    policies: Mapping[str, Any] = NO_CHANGES,
    declare: Mapping[str, Any] = NO_CHANGES,
) -> Callable[[], ReferenceAdapter]:
    """Makes adapters of the reference for a profile, with other values of its policies and its handshake."""
    return lambda: ReferenceAdapter(profile, policies, declare=declare)
