"""What the author of a runner's adapter writes (`RunnerAdapter`), and what the kit gives it (`RunnerHost`).

The adapter translates, and decides nothing: requests and tool bodies go to the host, the user's verbs come
from the kit, and the iteration is the runner's own.  Exceptions of the host belong to the runner: let them
pass.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from runlock.conformance.families.tool_runner.messages import (
    Delta,
    RunnerHandshake,
    RunnerOutcome,
    RunnerScenario,
    RunnerTurn,
)
from runlock.conformance.protocol import Message
from runlock.conformance.transport.world import ModelFault, Refused, ToolFault, ToolRaised, WorldFault

__all__ = [
    "AdapterFactory", "Delta", "Handshake", "Item", "Message", "ModelFault", "Outcome", "Refused",
    "RequiredRunner", "RunnerAdapter", "RunnerHost", "RunnerScenario", "RunnerState", "ToolFault",
    "ToolRaised", "Turn", "WorldFault",
]  # fmt: skip

Handshake = RunnerHandshake
Turn = RunnerTurn
Outcome = RunnerOutcome
Item = tuple[Message | None, AsyncIterator[Delta] | None]
"""What the runner yields: the turn, or null and the pieces of a turn that is not whole yet."""


@dataclass(frozen=True, slots=True)
class RunnerState:
    """The state of the runner, for `inspect`."""

    messages: Sequence[Message | Mapping[str, Any]] | None = None
    params: Mapping[str, Any] | None = None
    tools: Sequence[str] | None = None


class RunnerHost(Protocol):
    """The outside world, in the kit's hands: whatever is awaited here waits at a gate.

    A message is a `Message` or the JSON object of one.
    """

    async def infer(
        self,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        sent: int,
        params: Mapping[str, Any],
        tools: Sequence[str] | None = None,
    ) -> Turn:
        """Send a request and wait for the whole turn; raises ModelFault."""
        ...

    def stream(
        self,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        sent: int,
        params: Mapping[str, Any],
        tools: Sequence[str] | None = None,
    ) -> AsyncIterator[Delta | Turn]:
        """Send a request; gives the pieces as they come, and last the whole turn; raises ModelFault."""
        ...

    async def tool(
        self, call: str | None, name: str, args: Mapping[str, Any], *, version: int = 1
    ) -> Outcome:
        """Enter the body of a tool; gives ok or error, and raises ToolRaised or ToolFault."""
        ...

    def message(self, message: Message | Mapping[str, Any]) -> None:
        """Show that the runner has put a message into its state."""
        ...


class RequiredRunner(Protocol):
    """The least that an adapter has; `RunnerAdapter` says what it may have besides."""

    @property
    def handshake(self) -> Handshake: ...

    async def open(self, host: RunnerHost, scenario: RunnerScenario) -> None: ...

    def run(self, input: str) -> AsyncIterator[Item]:
        """Make the runner with one user message and iterate over it; the end of it is the end of the run."""
        ...

    def last(self) -> Message | None:
        """The last turn that was received."""
        ...

    def ended(self) -> str:
        """Why the iteration ended: NaturalEnd, Stopped, or Cancelled."""
        ...

    async def close(self) -> None: ...


class RunnerAdapter(RequiredRunner, Protocol):
    """All that an adapter may have; a verb that is missing is not declared in the handshake."""

    def again(self) -> AsyncIterator[Item]:
        """Iterate over the same runner again; raises Refused."""
        ...

    async def push(self, messages: Sequence[Message]) -> None: ...

    async def set(self, messages: Sequence[Message] | None, params: Mapping[str, Any] | None) -> None: ...

    async def respond(self) -> Sequence[Message] | None:
        """Make the tool response to the received turn; null if there is nothing to answer."""
        ...

    async def tools(self, add: Sequence[str], remove: Sequence[str]) -> None: ...

    async def cancel(self) -> None:
        """Give the abort signal."""
        ...

    def snapshot(self) -> RunnerState:
        """The messages, the params and the tools of the state."""
        ...

    def busy(self) -> bool:
        """Whether work is under way outside the loop that the loop cannot see."""
        ...


AdapterFactory = Callable[[], RequiredRunner]
"""Makes a fresh adapter object."""
