"""What the author of an asynchronous message loop writes (`LoopAdapter`), and gets (`LoopHost`).

The adapter translates, and decides nothing: what the runtime awaits of the outside world goes to the
host, and how a turn ended comes back as a `Segment`.  Exceptions that the host raises belong to the
runtime: let them pass.
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
"""Takes the name and the data of an event that is published."""


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
    """How a turn ended; a plain code will do as its reason."""

    reason: Reason | ReasonCode

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
    """The interactor broke; this counts as a deferral."""


class HookFault(WorldFault):
    """The hook broke."""


class JudgeFault(WorldFault):
    """The state machine broke while it judged a call."""


class ContextFault(WorldFault):
    """The context provider broke."""


class CheckFault(WorldFault):
    """The assertion broke."""


class CommitFault(WorldFault):
    """The store did not take the checkpoint."""


class LoopHost(Protocol):
    """The outside world, in the kit's hands; a coroutine that is cancelled closes its gate."""

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
        """Enter a tool's body; gives ok or error, raises ToolRaised or ToolFault."""
        ...

    async def ask(self, interactor: str, prompt: Prompt) -> Answer:
        """Ask one interactor; the runtime fans out, and drops the rest.  Raises PromptFault."""
        ...

    async def hook(
        self, hook: str, data: Mapping[str, Any], *, call: str | None = None, stage: str | None = None
    ) -> HookAnswer:
        """Let a hook of the scenario act; raises HookFault."""
        ...

    async def judge(
        self, call: str, name: str, args: Mapping[str, Any], *, stage: str
    ) -> Literal["approve", "out"]:
        """Let the state machine judge a call; raises JudgeFault."""
        ...

    async def context(self, provider: str, budget: int, *, stage: str | None = None) -> Sequence[str]:
        """Ask a context provider for its slices; raises ContextFault."""
        ...

    async def check(self, stage: str, transcript: Sequence[AnyMessage], cap_hit: bool) -> Assertion:
        """Let the assertion of a stage execution look at its transcript; raises CheckFault."""
        ...

    async def commit(self, checkpoint: Checkpoint) -> None:
        """Make a state durable; raises CommitFault."""
        ...

    def event(self, name: str, /, **data: Any) -> None:
        """Show an event that the runtime publishes."""
        ...

    def message(
        self,
        message: AnyMessage,
        *,
        transcript: Literal["session", "stage"] = "session",
        stage: str | None = None,
    ) -> None:
        """Show a message that joined the session history or a stage transcript."""
        ...

    def observe(self, kind: str, **fields: Any) -> None:
        """Show an observation of another kind, such as `call.status`; `origin` stands for `from`."""
        ...


class RequiredAdapter(Protocol):
    """The least that an adapter has."""

    @property
    def handshake(self) -> Handshake: ...

    async def open(self, host: LoopHost, scenario: Scenario) -> None: ...

    async def start(self, turn: TurnStart) -> Segment:
        """Run one turn of the session to its end."""
        ...


class LoopAdapter(RequiredAdapter, Protocol):
    """All that an adapter may have: what is missing here is not declared in the handshake.

    Without `cancel` the kit cancels the task of the turn.
    """

    async def cancel(self) -> None:
        """The user interrupts the turn."""
        ...

    async def gone(self, interactor: str) -> None:
        """An interactor answers nothing any more."""
        ...

    async def late(self, on: str, key: str, outcome: Any) -> None:
        """An answer for a gate that was given up; `key` is a prompt's id or a call's.  Raises Refused."""
        ...

    def watch(self, watcher: Watcher | None) -> None:
        """Events go to this watcher as well from now on, in the place of the one before."""
        ...

    def inspect(self) -> Snapshot: ...

    def busy(self) -> bool:
        """Whether work is under way outside the loop that the loop cannot see."""
        ...

    async def close(self) -> None: ...


LoopScenario = Scenario
LoopSnapshot = Snapshot
AdapterFactory = Callable[[], RequiredAdapter]
"""Makes a fresh adapter object."""
