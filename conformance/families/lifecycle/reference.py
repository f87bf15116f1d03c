"""The reference runtime behind the hosted interface."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args
from weakref import WeakValueDictionary

from runlock.conformance.families.lifecycle.adapter import (
    Checkpoint,
    Host,
    Refused,
    Segment,
)
from runlock.conformance.families.lifecycle.messages import (
    ALL_STIMULI,
    LISTED,
    Decision,
    DecisionSupport,
    Delta,
    Handshake,
    HookOutcome,
    ModelOutcome,
    OfferedOutcomes,
    PermissionOutcome,
    Reason,
    Scenario,
    ToolFeature,
    ToolOutcome,
)
from runlock.conformance.protocol import Control, Party
from runlock.conformance.transport.world import translated
from runlock.machines.lifecycle.runtime import runtime, state, world
from runlock.machines.lifecycle.runtime.choices import policies_of
from runlock.machines.lifecycle.runtime.store import Store

OBSERVES = [
    "run.status", "call.status", "phase", "message", "checkpoint", "decision", "call.shown",
    "event", "stream.closed", "run.finished", "thread.edited",
]  # fmt: skip


PRODUCES: Final[Mapping[str, Any]] = {"observes": [*OBSERVES, "exchange"]}
"""What the handshake says of a reference that also shows what it would send as a server of AG-UI."""

PROMPTS: Final[Mapping[str, Any]] = {"observes": [*OBSERVES, "prompt"]}
"""What it says of one that shows what it would say as an agent of the Agent Client Protocol."""

STATES: Final[Mapping[str, Any]] = {**PROMPTS, "prompts": 2}
"""The same in version 2 of the protocol."""

MODEL_OUTCOMES: Final[list[ModelOutcome]] = [
    "turn", "fault", "length", "refusal", "pause", "malformed", "delta",
]  # fmt: skip
PERMISSION_OUTCOMES: Final[list[PermissionOutcome]] = ["allow", "block", "suspend", "set_result", "fault"]
TOOL_OUTCOMES: Final[list[ToolOutcome]] = ["ok", "warning", "error", "raise", "fault", "pending", "activity"]


NO_CHANGES: Final[Mapping[str, Any]] = {}


class HostedWorld:
    """The runtime's world, made of the kit's host."""

    def __init__(self, host: Host, handshake: Handshake) -> None:
        self.host = host
        self.handshake = handshake
        self.shown: Collection[str] = handshake.observes
        self.stores = handshake.control.store != "none"

    def observe(self, kind: str, **fields: Any) -> None:
        """Show what the handshake says is shown; other kinds are not promised."""
        if kind in self.shown or kind not in LISTED:
            self.host.observe(kind, **fields)

    async def infer(
        self,
        messages: Sequence[Mapping[str, Any]],
        step: int,
        request: Mapping[str, Any] = NO_CHANGES,
        streams: Callable[[str, world.AskedCall | None], None] | None = None,
    ) -> world.ModelTurn:
        made = {key: value for key, value in request.items() if key in ("system", "params")}
        if "tools" in request:  # a plugin chose them
            made["tools"] = request["tools"]
        with translated():
            return await self.host.infer(messages, step=step, delta=_pieces(streams), **made)

    async def permit(
        self, call: str, name: str, args: Mapping[str, Any], resume: Mapping[str, Any] | None
    ) -> world.Answer:
        with translated():
            return await self.host.permit(call, name, args, resume=resume)

    async def execute(
        self,
        call: str,
        name: str,
        args: Mapping[str, Any],
        resume: Mapping[str, Any] | None,
        tells: Callable[[Any], None] | None = None,
    ) -> world.Answer:
        with translated():
            return await self.host.tool(call, name, args, resume=resume, activity=tells)

    async def consult(self, at: str, data: dict[str, Any], call: str | None, step: int) -> world.PluginAnswer:
        with translated():
            return await self.host.hook(at, data, call=call, step=step)

    async def apply(self, calls: Sequence[str]) -> None:
        with translated():
            await self.host.apply(calls)

    async def commit(self, trigger: str, cause: str, force: bool, state: Mapping[str, Any]) -> None:
        if not self.stores:
            return
        with translated():
            await self.host.commit(Checkpoint(trigger, cause, force, state))

    def within(self, call: str) -> HostedWorld:
        inner = HostedWorld(self.host.within(call), self.handshake)
        inner.stores = False
        return inner

    def refuse(self, why: str, decision: str) -> None:
        self.host.refuse(why, decision)

    def now_ms(self) -> int:
        return round(asyncio.get_running_loop().time() * 1000)


def _pieces(streams: Callable[[str, world.AskedCall | None], None] | None) -> Callable[[Delta], None] | None:
    return None if streams is None else lambda piece: streams(piece.text, piece.tool_call)


class ReferenceAdapter:
    """One life of the reference under a profile; `make` builds the runtime, so that others can be built.

    `declare` are fields of the handshake that say something else than what the runtime does.
    """

    def __init__(
        self,
        profile: str = "awaken-8",
        policies: Mapping[str, Any] | None = None,
        make: Callable[..., runtime.Runtime] = runtime.Runtime,
        declare: Mapping[str, Any] | None = None,
    ) -> None:
        self.policies = policies_of(profile, policies or {})
        self.make = make
        self.handshake = handshake_of(profile, self.policies, declare or {})
        self.held: dict[str, Any] | None = None  # a suspended run, where the caller holds it

    async def open(self, host: Host, scenario: Scenario) -> None:
        tools = {
            tool.name: {
                "permission": tool.permission,
                "resume_mode": tool.resume_mode,
                "parameters": tool.parameters,
                "expires_ms": tool.expires_ms,
                "timeout_ms": tool.timeout_ms,
                "retries": tool.retries or 0,
                "abort": tool.abort,
                "agent": tool.agent and {"tools": tool.agent.tools},
            }
            for tool in scenario.tools
        }
        stop = [condition.model_dump(exclude_none=True) for condition in scenario.agent.stop]
        hooks = [hook.at for hook in scenario.hooks]
        self.runtime = self.make(self.world(host), tools, stop, self.policies, hooks)
        self.runtime.most_messages = scenario.agent.compact_above
        self.runtime.applies = "apply" in scenario.hold
        self.runtime.keys = {key.name: key.persistent for key in scenario.keys}

    def world(self, host: Host) -> HostedWorld:
        """The outside world as this life of the reference meets it."""
        return HostedWorld(host, self.handshake)

    async def start(self, input: str, decisions: Sequence[Decision] = ()) -> Segment:
        return self._ended(await _refusing(self.runtime.start(input, _decisions(decisions))))

    async def decide(self, decisions: Sequence[Decision]) -> Segment | None:
        self.runtime.give_back(self.held)
        return self._maybe(await _refusing(self.runtime.decide(_decisions(decisions))))

    async def cancel(self) -> Segment | None:
        self.runtime.give_back(self.held)
        return self._maybe(await self.runtime.cancel())

    async def input(self, text: str) -> Segment | None:
        self.runtime.give_back(self.held)
        return self._maybe(await _refusing(self.runtime.input(text)))

    async def time_passed(self) -> Segment | None:
        self.runtime.give_back(self.held)
        return self._maybe(await self.runtime.time_passed())

    def revoke(self, tool: str) -> None:
        self.runtime.give_back(self.held)
        self.runtime.revoke(tool)

    def watch(self, watcher: str, stream: str) -> None:
        self.runtime.give_back(self.held)
        self.runtime.watch(watcher, stream)

    def unwatch(self) -> None:
        self.runtime.unwatch()

    async def restore(self, host: Host, scenario: Scenario, checkpoint: Any) -> None:
        await self.open(host, scenario)
        try:
            self.runtime.restore(checkpoint)
        except state.ContradictoryCheckpoint as contradiction:
            raise Refused(str(contradiction)) from contradiction

    async def resume_run(self, run: str) -> Segment | None:
        return self._maybe(await self.runtime.go_on())

    def _maybe(self, segment: runtime.Segment | None) -> Segment | None:
        return None if segment is None else self._ended(segment)

    def _ended(self, segment: runtime.Segment) -> Segment:
        self.held = segment.value
        return Segment(Reason.model_validate(segment.reason.to_wire()), segment.pending)

    def inspect(self, run: str) -> dict[str, Any]:
        return self.runtime.look()


def handshake_of(profile: str, policies: Mapping[str, Any], declare: Mapping[str, Any]) -> Handshake:
    """What the reference says of itself: every policy with its value, everything shown."""
    shown = [*OBSERVES, *(["resume"] if policies["waiting"] == "reentered" else [])]
    shown += ["input.returned"] if policies["input.fate"] == "returned" else []
    fields: dict[str, Any] = {
        "implementation": Party(name="runlock-reference", version="1.0", language="python"),
        "profile": profile,
        "policies": dict(policies),
        "control": Control(settle="exact", crash=["soft"], store="kit", clock="virtual", step="turns"),
        "gates": ["model", "permission", "tool", "hook", "apply", "store.put"],
        "observes": shown,
        "stimuli": [*ALL_STIMULI, "watch", "grant.revoke"],
        "outcomes": OfferedOutcomes(
            model=MODEL_OUTCOMES,
            permission=PERMISSION_OUTCOMES,
            tool=TOOL_OUTCOMES,
            hook=_hook_outcomes(policies),
        ),
        "decisions": DecisionSupport(
            live=True, ids=True, suspensions=True, payload=True, edit=["args", "name"]
        ),
        "hooks": [
            "RunStart",
            "BeforeInference",
            "AfterInference",
            *_hooks_of_calls(policies),
            "AfterToolExecute",
        ],
        "tools": [*get_args(ToolFeature)],
        "edits": ["compaction"],
        "grants": list(policies["grant.scopes"]),
        "state": ["keys"],
        "streams": ["native", "ai-sdk-v6", "ag-ui", "copilotkit"],
    }
    return Handshake(**{**fields, **declare})


def _hook_outcomes(policies: Mapping[str, Any]) -> list[HookOutcome]:
    """A plugin skips an inference where there are eight phases; the nine have no way past the model.

    Only the nine have a phase at which a block comes too late.
    """
    ways: list[HookOutcome] = ["skip_inference"] if policies["phases"] == "eight" else ["block"]
    return ["continue", "terminate", *ways, "rewrite", "fault"]


def _hooks_of_calls(policies: Mapping[str, Any]) -> list[str]:
    """Where a plugin is held before a call runs: in eight phases the permission gate is that place."""
    return ["ToolGate", "BeforeToolExecute"] if policies["phases"] == "nine" else []


async def _refusing(verb: Any) -> Any:
    try:
        return await verb
    except runtime.TurnedDown as refusal:
        raise Refused(str(refusal)) from refusal


def _decisions(decisions: Sequence[Decision]) -> list[state.Decision]:
    return [
        state.Decision(
            d.id, d.call, d.action, d.payload, d.suspension, d.edit.to_wire() if d.edit else None, d.scope
        )
        for d in decisions
    ]


def factory(
    profile: str = "awaken-8",
    policies: Mapping[str, Any] = NO_CHANGES,
    declare: Mapping[str, Any] = NO_CHANGES,
) -> Callable[[], ReferenceAdapter]:
    """Makes the reference's adapters for a profile, with other values of its policies and its handshake."""
    unopened = cache(lambda: ReferenceAdapter(profile, policies, declare=declare))
    return lambda: copy(unopened())  # what a life says of itself is the same in each


# -- with a store of its own

STORE_FILE: Final = "runs.sqlite"
THREAD: Final = "main"  # a scenario has one, and a folder of its own

OWN_STORE: Final[Mapping[str, Any]] = {
    "control": Control(settle="exact", crash=["soft", "kill"], store="own", clock="virtual", step="turns"),
    "gates": ["model", "permission", "tool", "hook"],
}
"""What the handshake says where the kit neither holds the store nor stands in its way."""


class StoringWorld(HostedWorld):
    """The world of a runtime that stores for itself; what is durable is shown when it is."""

    def __init__(self, host: Host, handshake: Handshake, store: Store) -> None:
        super().__init__(host, handshake)
        self.store = store

    async def commit(self, trigger: str, cause: str, force: bool, state: Mapping[str, Any]) -> None:
        self.store.put(THREAD, str(self.host.run), trigger, cause, state)
        self.observe("checkpoint", trigger=trigger, cause=cause, force=force, state=state)


HELD: Final[WeakValueDictionary[Path, Store]] = WeakValueDictionary()
"""The stores that lives in this process have open: a life that crashed here lies about with its own."""


def _taken_over(scenario: Scenario) -> Store:
    """The scenario's store; its owner is dead, and loses it as a killed process does."""
    if scenario.data is None:
        raise Refused(f"scenario {scenario.scenario} names no data folder for the store of the runtime")
    path = Path(scenario.data) / STORE_FILE
    if path in HELD:
        HELD[path].close()
    HELD[path] = store = Store(path)
    return store


class DurableAdapter(ReferenceAdapter):
    """One life of the reference that keeps its checkpoints itself, in the scenario's data folder."""

    store: Store

    def __init__(self, profile: str = "awaken-8", policies: Mapping[str, Any] | None = None) -> None:
        super().__init__(profile, policies, declare=OWN_STORE)

    async def open(self, host: Host, scenario: Scenario) -> None:
        """The thread goes on where the file leaves it; a run of it that is not over is to be recovered."""
        self.store = _taken_over(scenario)
        await super().open(host, scenario)
        kept = self.store.last(THREAD)
        if kept is not None:
            self.runtime.state = state.from_checkpoint(kept)

    def world(self, host: Host) -> StoringWorld:
        return StoringWorld(host, self.handshake, self.store)

    async def restore(self, host: Host, scenario: Scenario, checkpoint: Any) -> None:
        """Nothing is handed over: the checkpoint of the run is in the file, or nowhere."""
        await self.open(host, scenario)
        kept = self.store.last(THREAD, host.run)
        if kept is None:
            raise Refused(f"nothing of run {host.run} was durable")
        self.runtime.restore(kept)

    async def close(self) -> None:
        self.store.close()


def durable(
    profile: str = "awaken-8", policies: Mapping[str, Any] = NO_CHANGES
) -> Callable[[], DurableAdapter]:
    """Makes the adapters of the reference that stores for itself."""
    return lambda: DurableAdapter(profile, policies)
