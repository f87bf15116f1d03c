"""The interface of a hosted tool runner: the adapter (`RunnerAdapter`) and its host (`RunnerHost`).

The adapter only translates: requests and tool bodies go to the host, the methods that the user calls come
from the kit, and the iteration is the runner's own.  Exceptions of the host are meant for the runner: do
not catch them.
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
"""What the runner yields: the turn, or None and the pieces of a turn that is still streaming."""


@dataclass(frozen=True, slots=True)
class RunnerState:
    """The state of the runner, for `inspect`."""

    messages: Sequence[Message | Mapping[str, Any]] | None = None
    params: Mapping[str, Any] | None = None
    tools: Sequence[str] | None = None


class RunnerHost(Protocol):
    """The environment, controlled by the kit: each of these awaits opens a gate.

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
        """Send a request; yields the pieces as they arrive, then the whole turn; raises ModelFault."""
        ...

    async def tool(
        self, call: str | None, name: str, args: Mapping[str, Any], *, version: int = 1
    ) -> Outcome:
        """Run the body of a tool; returns ok or error, raises ToolRaised or ToolFault."""
        ...

    def message(self, message: Message | Mapping[str, Any]) -> None:
        """Report that the runner has put a message into its state."""
        ...

    def status(self, to: str) -> None:
        """Report that the run is now `Running` or `Done`; the observation `run.status`."""
        ...


class RequiredRunner(Protocol):
    """The methods that every adapter must have; `RunnerAdapter` adds the optional ones."""

    @property
    def handshake(self) -> Handshake: ...

    async def open(self, host: RunnerHost, scenario: RunnerScenario) -> None: ...

    def run(self, input: str) -> AsyncIterator[Item]:
        """Create the runner with one user message and iterate over it; the run ends with the iterator."""
        ...

    def last(self) -> Message | None:
        """The last turn that was received."""
        ...

    def ended(self) -> str:
        """Why the iteration ended: NaturalEnd, Stopped, or Cancelled."""
        ...

    async def close(self) -> None: ...


class RunnerAdapter(RequiredRunner, Protocol):
    """All methods of an adapter, also the optional ones; the handshake does not declare missing methods."""

    def again(self) -> AsyncIterator[Item]:
        """Iterate over the same runner again; raises Refused."""
        ...

    async def push(self, messages: Sequence[Message]) -> None: ...

    async def set(self, messages: Sequence[Message] | None, params: Mapping[str, Any] | None) -> None: ...

    async def respond(self) -> Sequence[Message] | None:
        """Make the tool response to the received turn; None if there is nothing to answer."""
        ...

    async def tools(self, add: Sequence[str], remove: Sequence[str]) -> None: ...

    async def cancel(self) -> None:
        """Give the abort signal."""
        ...

    def snapshot(self) -> RunnerState:
        """The messages, the params and the tools of the state."""
        ...

    def busy(self) -> bool:
        """Whether work outside the event loop, such as a thread, is still running."""
        ...


AdapterFactory = Callable[[], RequiredRunner]
"""Makes a fresh adapter object."""
