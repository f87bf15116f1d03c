"""The interface of a hosted message loop: the adapter (`LoopAdapter`) and the host given to it (`LoopHost`).

The adapter only translates: whatever the runtime awaits from its environment is awaited on the
host, and the end of a turn is returned as a `Segment`.  Exceptions raised by the host are meant for the
runtime: do not catch them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from runlock.conformance.families.message_loop.messages import (
    Answer,
    Assertion,
    Delta,
    Handshake,
    HookAnswer,
    Message,
    Outcome,
    Reason,
    ReasonCode,
    Scenario,
    Snapshot,
    StageStart,
    Turn,
)
from runlock.conformance.transport.world import ModelFault, Refused, ToolFault, ToolRaised, WorldFault

__all__ = [
    "AdapterFactory", "Answer", "AnyMessage", "Assertion", "CheckFault", "Checkpoint", "CommitFault",
    "ContextFault", "Delta", "Handshake", "HookAnswer", "HookFault", "JudgeFault", "LoopAdapter", "LoopHost",
    "LoopScenario", "LoopSnapshot", "Message", "ModelFault", "Outcome", "Prompt", "PromptFault", "Reason",
    "Refused", "Request", "RequiredAdapter", "Scenario", "Segment", "Snapshot", "StageStart", "ToolFault",
    "ToolRaised", "Turn", "TurnStart", "Watcher", "WorldFault",
]  # fmt: skip

AnyMessage = Message | Mapping[str, Any]
Watcher = Callable[[str, Mapping[str, Any]], None]
"""Callback that receives the name and the data of each published event."""


@dataclass(frozen=True, slots=True)
class Request:
    """A composed request to the model."""

    messages: Sequence[AnyMessage]
    system: str | None = None
    tools: Sequence[str] = ()
    context: Sequence[str] = ()
    params: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question about one call; `ask` says whether the mode gate asks, or the state machine for a grant."""

    id: str
    ask: Literal["mode", "grant"]
    call: str
    name: str
    args: Any
    stage: str | None = None


@dataclass(frozen=True, slots=True)
class TurnStart:
    """What a turn begins with: input, one stage execution, or a group of them with a join."""

    input: str | None = None
    stage: StageStart | None = None
    group: Sequence[StageStart] = ()
    join: StageStart | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """How a turn ended; the reason may be given as its code alone."""

    reason: Reason | ReasonCode

    def __post_init__(self) -> None:
        if isinstance(self.reason, str):
            object.__setattr__(self, "reason", Reason(code=self.reason))

    def to_wire(self) -> dict[str, Any]:
        """The fields of its `run.finished` observation."""
        reason = self.reason if isinstance(self.reason, Reason) else Reason(code=self.reason)
        return {"reason": reason.to_wire(), "pending": []}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What the runtime asks the store to keep, and on which occasion."""

    trigger: str
    cause: str
    state: Mapping[str, Any] = field(default_factory=dict)
    force: bool | None = None
    stage: str | None = None


class PromptFault(WorldFault):
    """The interactor failed; this counts as a deferral."""


class HookFault(WorldFault):
    """The hook failed."""


class JudgeFault(WorldFault):
    """The state machine failed while it judged a call."""


class ContextFault(WorldFault):
    """The context provider failed."""


class CheckFault(WorldFault):
    """The assertion could not be evaluated."""


class CommitFault(WorldFault):
    """The store could not save the checkpoint."""


class LoopHost(Protocol):
    """The environment, controlled by the kit; cancelling one of these coroutines closes its gate."""

    def stream(self, request: Request, *, stage: str | None = None) -> AsyncIterator[Delta | Turn]:
        """Ask the model; the last item is the whole response.  Raises ModelFault."""
        ...

    async def infer(self, request: Request, *, stage: str | None = None) -> Turn:
        """Ask the model, for a runtime that does not stream; raises ModelFault."""
        ...

    async def tool(
        self,
        call: str,
        name: str,
        args: Mapping[str, Any],
        *,
        stage: str | None = None,
        activity: Callable[[Any], None] | None = None,
    ) -> Outcome:
        """Run a tool's body; returns ok or error, raises ToolRaised or ToolFault."""
        ...

    async def ask(self, interactor: str, prompt: Prompt) -> Answer:
        """Ask one interactor; the runtime asks each of them and cancels the rest.  Raises PromptFault."""
        ...

    async def hook(
        self, hook: str, data: Mapping[str, Any], *, call: str | None = None, stage: str | None = None
    ) -> HookAnswer:
        """Call a hook of the scenario; raises HookFault."""
        ...

    async def judge(
        self, call: str, name: str, args: Mapping[str, Any], *, stage: str
    ) -> Literal["approve", "out"]:
        """Ask the state machine to judge a call; raises JudgeFault."""
        ...

    async def context(self, provider: str, budget: int, *, stage: str | None = None) -> Sequence[str]:
        """Ask a context provider for its slices; raises ContextFault."""
        ...

    async def check(self, stage: str, transcript: Sequence[AnyMessage], cap_hit: bool) -> Assertion:
        """Evaluate the assertion of a stage execution on its transcript; raises CheckFault."""
        ...

    async def commit(self, checkpoint: Checkpoint) -> None:
        """Store a checkpoint; raises CommitFault."""
        ...

    def event(self, name: str, /, **data: Any) -> None:
        """Report an event that the runtime publishes."""
        ...

    def message(
        self,
        message: AnyMessage,
        *,
        transcript: Literal["session", "stage"] = "session",
        stage: str | None = None,
    ) -> None:
        """Report a message that was appended to the session history or to a stage transcript."""
        ...

    def observe(self, kind: str, **fields: Any) -> None:
        """Report an observation of another kind, such as `call.status`; `origin` stands for `from`."""
        ...


class RequiredAdapter(Protocol):
    """The methods that every adapter must have."""

    @property
    def handshake(self) -> Handshake: ...

    async def open(self, host: LoopHost, scenario: Scenario) -> None: ...

    async def start(self, turn: TurnStart) -> Segment:
        """Run one turn of the session to its end."""
        ...


class LoopAdapter(RequiredAdapter, Protocol):
    """All methods of an adapter, optional ones included: a missing method is not declared in the handshake.

    Without `cancel`, the kit cancels the task of the turn.
    """

    async def cancel(self) -> None:
        """The user interrupts the turn."""
        ...

    async def gone(self, interactor: str) -> None:
        """An interactor has left and will not answer any more."""
        ...

    async def late(self, on: str, key: str, outcome: Any) -> None:
        """A late answer for a closed gate; `key` is the id of its prompt or call.  Raises Refused."""
        ...

    def watch(self, watcher: Watcher | None) -> None:
        """Send events to this watcher too; it replaces the previous one."""
        ...

    def inspect(self) -> Snapshot: ...

    def busy(self) -> bool:
        """Whether work outside the event loop, such as a thread, is still running."""
        ...

    async def close(self) -> None: ...


LoopScenario = Scenario
LoopSnapshot = Snapshot
AdapterFactory = Callable[[], RequiredAdapter]
"""Makes a fresh adapter object."""
