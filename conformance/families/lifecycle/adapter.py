"""What the author of an asynchronous runtime writes (`HostedAdapter`), and what the kit gives it (`Host`).

The adapter translates, and decides nothing: what the runtime awaits of the outside world goes to the
host, and how a stretch of work ended comes back as a `Segment`.  Exceptions that the host raises belong
to the runtime: let them pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any, Final, Protocol

from runlock.conformance.families.lifecycle.messages import (
    Decision,
    Delta,
    Handshake,
    HookAnswer,
    Outcome,
    Reason,
    ReasonCode,
    Resumption,
    Scenario,
    Snapshot,
    StreamKind,
    Verdict,
)
from runlock.conformance.protocol import JsonObject, Message, Turn
from runlock.conformance.transport.world import ModelFault, Refused, ToolFault, ToolRaised, WorldFault

__all__ = [
    "AdapterFactory", "ApplyFault", "Checkpoint", "CommitFault", "HookFault", "Host", "HostedAdapter",
    "ModelFault", "PermissionFault", "Refused", "RequiredAdapter", "Segment", "ToolFault", "ToolRaised",
    "WorldFault",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Segment:
    """How a segment of a run ended; a plain code will do as its reason.

    `pending` are the ids of the calls that wait for a decision: with reason Suspended the run waits,
    with any other it is Done.
    """

    reason: Reason | ReasonCode  # NaturalEnd, Suspended, Cancelled, Error, …
    pending: Sequence[str] = ()  # ids of calls

    def __post_init__(self) -> None:
        if isinstance(self.reason, str):
            object.__setattr__(self, "reason", Reason(code=self.reason))
        object.__setattr__(self, "pending", tuple(self.pending))

    def to_wire(self) -> dict[str, Any]:
        """The fields of its `run.finished` observation."""
        reason = self.reason if isinstance(self.reason, Reason) else Reason(code=self.reason)
        return {"reason": reason.to_wire(), "pending": list(self.pending)}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What the runtime asks the store to keep, and on which occasion."""

    trigger: str  # the occasion
    cause: str | None = None  # what happened just before
    force: bool | None = None  # whether it is written though nothing changed
    state: Mapping[str, Any] | None = None  # what is kept


class PermissionFault(WorldFault):
    """The permission hook broke."""


class HookFault(WorldFault):
    """The plugin broke."""


class ApplyFault(WorldFault):
    """Results could not be applied to the state."""


class CommitFault(WorldFault):
    """The store did not take the checkpoint."""


class Host(Protocol):
    """The outside world, in the kit's hands: whatever is awaited here waits at a gate.

    A message is a `Message` or the JSON object of one.  What is keyword-only is optional: a runtime that
    knows better than the kit's own count says so there; `...` leaves `resume` to the kit.
    """

    @property
    def run(self) -> str | None:
        """The run at hand, by the kit's name: what a runtime with a store of its own files it under."""
        ...

    def within(self, call: str) -> Host:
        """The outside world of the run within a call, where the call is one of an agent."""
        ...

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
        """Ask the model, with whatever plugins made of the request; raises ModelFault.

        `tools` names those that the model is offered; left out, it is offered all of the scenario.
        `delta` is called with each piece of a turn that is streamed; the turn has all of it.
        """
        ...

    async def tool(
        self,
        call: str,
        name: str,
        args: Mapping[str, Any] | str,
        *,
        resume: Resumption | Mapping[str, Any] | EllipsisType | None = ...,
        attempt: int | None = None,
        step: int | None = None,
        activity: Callable[[Any], None] | None = None,
    ) -> Outcome:
        """Enter a tool's body; gives ok, warning, error or pending, and raises ToolRaised or ToolFault.

        `activity` is called with whatever the tool tells while it is at work.
        """
        ...

    async def permit(
        self,
        call: str,
        name: str,
        args: Mapping[str, Any] | str,
        *,
        resume: Resumption | Mapping[str, Any] | EllipsisType | None = ...,
        step: int | None = None,
    ) -> Verdict:
        """Ask the permission hook; raises PermissionFault."""
        ...

    async def hook(
        self, at: str, data: JsonObject, *, call: str | None = None, step: int | None = None
    ) -> HookAnswer:
        """Let the plugin act at a phase of `scenario.hooks`; `data` is what it may look at, or rewrite.

        At BeforeInference: `system`, `params`, `tools`; at AfterInference: `tool_calls`; at AfterToolExecute:
        `status` and `content`; everywhere `state`, which RunStart alone may set.  Raises HookFault.
        """
        ...

    async def apply(self, calls: Sequence[str]) -> None:
        """Apply the results of these calls to the state; raises ApplyFault.  A scenario may hold it."""
        ...

    async def commit(self, checkpoint: Checkpoint) -> None:
        """Make a state durable; raises CommitFault."""
        ...

    def observe(self, kind: str, **fields: Any) -> None:
        """Show what the runtime itself says happened.

        `origin` is the field `from`, which Python reserves: the status before, and None for the first one.
        """
        ...

    def refuse(self, why: str, decision: str | None = None) -> None:
        """Turn down one decision of the verb under way, by its id, and go on with the others."""
        ...


class RequiredAdapter(Protocol):
    """The least that an adapter has; `HostedAdapter` says what it may have besides."""

    @property
    def handshake(self) -> Handshake:
        """What the runtime supports, and what the adapter shows of it."""
        ...

    async def open(self, host: Host, scenario: Scenario) -> None:
        """Make the runtime ready for a scenario, with its tools; called once, before everything else."""
        ...

    async def start(self, input: str) -> Segment:
        """Begin a run, on the thread that the runs before it left behind."""
        ...

    async def decide(self, decisions: Sequence[Decision]) -> Segment | None:
        """Take decisions; None if a segment that is under way has them now."""
        ...


class HostedAdapter(RequiredAdapter, Protocol):
    """All that an adapter may have: what is missing here is not declared in the handshake.

    `start` and `input` may take `decisions` as a second parameter.  A `watch` that stands in the same
    request as a decision is called first, and in the same step.
    """

    async def cancel(self) -> Segment | None:
        """Signal a cancel; a Segment only where no other verb would return one, as on a waiting run."""
        ...

    async def input(self, text: str) -> Segment | None:
        """New input; None if a segment that is under way has it now, and Refused if it takes none."""
        ...

    async def checkpoint(self) -> Any:
        """What would survive a crash now; no side effect."""
        ...

    async def restore(self, host: Host, scenario: Scenario, checkpoint: Any) -> None:
        """Take the place of `open` on a new adapter object, after a crash."""
        ...

    async def resume_run(self, run: str) -> Segment | None:
        """After `restore`, go on with a run that was Running when it crashed; None if it waits."""
        ...

    async def time_passed(self) -> Segment | None:
        """The clock was advanced: end the waits whose time has passed; a Segment as `decide` gives one."""
        ...

    def revoke(self, tool: str) -> None:
        """The standing grants for a tool are revoked."""
        ...

    def watch(self, watcher: str, stream: StreamKind) -> None:
        """A watcher receives the events from now on, and replaces the one before."""
        ...

    def unwatch(self) -> None:
        """The watcher's stream is cut from outside."""
        ...

    def leave_out(self) -> None:
        """The next request of the client leaves out the messages that the runtime has already."""
        ...

    def load(self) -> None:
        """The next run comes from a client that has loaded the thread, which may be in another process."""
        ...

    def inspect(self, run: str) -> Snapshot | Mapping[str, Any]:
        """The run as it is now; no side effect."""
        ...

    def busy(self) -> bool:
        """Whether work is under way outside the loop that the loop cannot see."""
        ...

    async def close(self) -> None:
        """The scenario is over: end what is still at work."""
        ...


TAKEN_BY: Final = {
    "run.start": "start", "decide": "decide", "cancel": "cancel", "run.input": "input", "recover": "restore",
    "clock.advance": "time_passed", "grant.revoke": "revoke", "watch": "watch", "unwatch": "unwatch",
}  # fmt: skip
"""The method that takes a stimulus."""

AdapterFactory = Callable[[], RequiredAdapter]
"""Makes a fresh adapter object, one for every life of the runtime."""
