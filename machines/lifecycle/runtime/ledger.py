"""The state changes of a run: every status, message and checkpoint of the reference goes through here.

A status changes only by a row of a chart, and each change is reported when it happens.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from runlock.machines.lifecycle.runtime.producer import Producer
from runlock.machines.lifecycle.runtime.sink import EventSink
from runlock.machines.lifecycle.runtime.state import (
    CALL_TABLE,
    Call,
    Message,
    Reason,
    RunState,
    run_table,
)
from runlock.machines.lifecycle.runtime.world import PluginAnswer, World
from runlock.machines.table import (
    IllegalTransition,
    Refused,
    Table,
    react,
)

T = TypeVar("T")

PENDING_TEXT = "waiting for a decision"


class RunCancelled(Exception):
    """The cancel signal reached the run while it waited for the outside world."""


class PluginEnded(Exception):
    """A plugin asked for the end of the run."""


class Ledger(ABC):
    """State, policies and world of one thread, with the moves that keep them in step.

    `tools` maps a name to {"permission", "resume_mode", "parameters"}; `stop` are stop conditions;
    `policies` has a value for every policy that the runtime reads; at the phases of `hooks` there is a
    plugin.
    """

    def __init__(
        self,
        world: World,
        tools: Mapping[str, Mapping[str, Any]],
        stop: Sequence[Mapping[str, Any]],
        policies: Mapping[str, Any],
        hooks: Collection[str] = (),
    ) -> None:
        self.world = world
        self.hooks = hooks
        self.sink = EventSink(world.observe)
        self.producer = Producer(world.observe)
        self.tools = tools
        self.stop = stop
        self.policies = policies
        self.applies = False  # whether applying results is a step of its own, which may fail
        self.keys: Mapping[str, bool] = {}  # of plugin state, and whether each is persistent
        self.state = RunState()
        self.cancelling = False
        self.ending = False
        self.failing = False  # one of the calls that run together broke, and takes the run down
        self.broken: BaseException | None = None  # what failed outside the loop

    # -- statuses

    def move_run(self, event: str, reason: Reason | None = None) -> None:
        """Move the run along its chart and say so."""
        table = run_table(self.policies["run.created"] == "yes")
        target = _target(table, self.state.status or table.initial, event)
        self.say_run(target, reason)

    def say_run(self, target: str, reason: Reason | None = None) -> None:
        """Put the run into a status and observe it; only entering a life uses this without a row."""
        before, self.state.status, self.state.reason = self.state.status, target, reason
        self.observe("run.status", **{"from": before}, to=target, reason=reason and reason.to_wire())

    def move_call(self, call: Call, event: str) -> None:
        """Move a call along its chart and say so."""
        self.say_call(call, _target(CALL_TABLE, call.status, event), before=call.status)

    def say_call(self, call: Call, target: str, before: str | None) -> None:
        """Put a call into a status and observe it; only entering a life uses this without a row."""
        call.status = target
        if target == "Suspended" and before is not None:
            call.suspension += 1
            call.expires_at_ms = self.ends_at_ms(call)
        fields = {"suspension": call.suspension} if target == "Suspended" else {}
        self.observe("call.status", call=call.id, **{"from": before}, to=target, **fields)
        if target == "Suspended" and before is not None:
            self.show(call)
        if before is not None and (target == "Suspended" or call.is_final):
            self.publish("call.pending" if target == "Suspended" else "call.finished", call=call.id)

    def ends_at_ms(self, call: Call) -> int | None:
        """When a wait of the call that begins now ends, if its tool gives it an end."""
        lasts = self.tools.get(call.name, {}).get("expires_ms")
        return None if lasts is None else self.world.now_ms() + lasts

    def show(self, call: Call) -> None:
        """Show a call that waits to those who decide, as it stands."""
        call.waits_as = None
        self.say_shown(call)

    def say_shown(self, call: Call) -> None:
        """Tell those who decide which call waits."""
        self.observe("call.shown", call=call.id, name=call.name, args=call.args)

    # -- messages

    def append(self, message: Message) -> None:
        """Add a message to the thread and say so."""
        self.state.messages.append(message)
        self.observe("message", message=message)
        self.producer.said(message)

    def answer(self, call: Call, status: str, content: Any) -> None:
        """Give a call its visible result; it supersedes the placeholder that stands for it."""
        text = content if isinstance(content, str) else json.dumps(content)
        message = {"role": "tool", "call": call.id, "status": status, "text": text}
        call.committed = status != "pending"
        place = self._placeholder(call)
        if place is None:
            self.append(message)
        else:
            self.state.messages[place] = message
            self.observe("message", message=message)
        if call.committed:
            self.publish("call.answered", call=call.id, status=status, text=text)

    def _placeholder(self, call: Call) -> int | None:
        for index in range(len(self.state.messages) - 1, -1, -1):
            standing = self.state.messages[index]
            if standing.get("call") == call.id and standing["status"] == "pending":
                return index
            if any(asked["id"] == call.id for asked in standing.get("tool_calls", ())):
                return None
        return None

    # -- checkpoints

    async def commit(
        self,
        trigger: str,
        cause: str,
        *,
        force: bool = False,
        ending: tuple[str, Reason | None] | None = None,
    ) -> None:
        """Make the state durable; `ending` is the status and reason that the run is about to take."""
        await self.world.commit(trigger, cause, force, self.to_store(ending))

    def to_store(self, ending: tuple[str, Reason | None] | None) -> dict[str, Any]:
        """What a checkpoint holds now."""
        state = self.state.to_checkpoint(self.transient)
        state |= {"keys": self.persistent} if self.keys else {}
        if ending is not None:
            status, reason = ending
            state["run"] |= {"status": status, "reason": reason and reason.to_wire()}
        return state

    @property
    def persistent(self) -> dict[str, Any]:
        """The registered keys that every checkpoint holds."""
        return {name: value for name, value in self.state.setup.items() if self.keys.get(name, False)}

    @property
    def transient(self) -> frozenset[str]:
        """The registered keys that no checkpoint holds."""
        return frozenset(name for name, is_kept in self.keys.items() if not is_kept)

    def look(self) -> dict[str, Any]:
        """What a look at the run shows: its status and reason, its steps, its calls and the thread."""
        held = self.state
        return {
            "status": held.status,
            "reason": held.reason and held.reason.to_wire(),
            "step": held.step,
            "calls": {call.id: {"status": call.status} for call in held.calls.values()},
            "messages": held.messages,
        }

    # -- saying and waiting

    def observe(self, kind: str, **fields: Any) -> None:
        """Report an observation of this run."""
        self.world.observe(kind, **fields)

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        """A phase fires."""
        fields: dict[str, Any] = {"step": self.state.step}
        if call is not None:
            fields["call"] = call.id
        if verdict is not None:
            fields["verdict"] = verdict
        self.observe("phase", phase=phase, **fields)
        if phase in ("StepStart", "StepEnd"):
            self.producer.step(begins=phase == "StepStart")

    # -- watchers and plugins

    def publish(self, name: str, **data: Any) -> None:
        """An event for the watcher of the run."""
        self.sink.publish(name, data)
        self.producer.told(name, data)

    async def consult(self, at: str, call: Call | None = None, **shown: Any) -> dict[str, Any]:
        """What a plugin leaves of what it is shown at a phase; raises `PluginEnded`."""
        data = {**shown, "state": self.state.setup}
        if at not in self.hooks:
            return data
        named = call.id if call is not None else None
        answer = await self.outside(self.world.consult(at, data, named, self.state.step))
        return self.left_by(at, answer, data)

    def left_by(self, at: str, answer: PluginAnswer, data: dict[str, Any]) -> dict[str, Any]:
        """What a plugin left of what it was shown; raises `PluginEnded`."""
        if answer.kind in ("terminate", "skip_inference"):
            raise PluginEnded(f"a plugin asked to {answer.kind.replace('_', ' ')} at {at}")
        return {**data, **(answer.data or {})} if answer.kind == "rewrite" else data

    @abstractmethod
    def heed(self) -> None:
        """Begin nothing once the run is cancelled, or something of it broke."""

    @abstractmethod
    async def outside(self, waiting: Coroutine[Any, Any, T], drains: bool = False) -> T:
        """Wait for the model, the permission hook or a tool, unless the run is cancelled."""


def _target(table: Table, state: str, event: str) -> str:
    answer = react(table, state, event)
    if isinstance(answer, Refused):
        raise IllegalTransition(answer)
    return answer.row.target
