"""What a user of the tool runners of the `anthropic` SDK does, whether they block or not.

Not declared:
- `cancel`: the SDK has no abort signal.
- `fault` of a tool: the SDK turns every exception of a body into an error result, so nothing of a tool can
  break the run.
- Looking at the tools: the SDK does not show its set.  The messages and params are those that
  `set_messages_params` hands to a function; the function raises, so nothing is set.
- The end by a limit is `NaturalEnd`: the iteration ends in the same way.

A user who leaves in the middle of a stream calls `close`, as the SDK documents for one who does not come
back; leaving at any other time is just the end of the `for` loop.
"""

from __future__ import annotations

import logging
import warnings
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, ClassVar

import anthropic

from runlock.conformance.adapters.models.anthropic import Endpoint
from runlock.conformance.adapters.models.anthropic_messages import (
    as_sent,
    params_of,
    piece_of,
    result_seen,
    seen,
    snapshot_of,
)
from runlock.conformance.families.tool_runner.adapter import (
    Delta,
    Handshake,
    Item,
    Message,
    ModelFault,
    RunnerHost,
    RunnerScenario,
    RunnerState,
)
from runlock.conformance.families.tool_runner.messages import RunnerOffer, RunnerOutcomes
from runlock.conformance.protocol import Party

# It logs and warns of the tools that fail and that are not there, which is all in the day's work here.
logging.getLogger("anthropic").setLevel(logging.CRITICAL)
warnings.filterwarnings("ignore", "Tool '.*' not found in tool runner", UserWarning)

CLIENT: Any = {"api_key": "kit", "base_url": "http://kit", "max_retries": 0}


class Looked(Exception):
    """Leaves `set_messages_params` before it sets anything."""


class Runner(ABC):
    """A tool runner of the SDK and its user, whether it blocks or not."""

    stream: ClassVar[list[bool]] = [False]
    read: ClassVar[list[str]] = ["all", "none"]
    options: ClassVar[Mapping[str, Any]] = {}
    policies: ClassVar[Mapping[str, Any]] = {
        # https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-runner: nothing is added to a
        # history that was appended to, so that its user builds the results; the calls of each message run; a
        # turn without calls ends the loop unless the history was changed; a tool that throws gives an error.
        "runner.append": "unless_pushed",
        "runner.inspects": "received",
        "runner.results": "dropped",
        "runner.answered": "skipped",
        "runner.finish": "state",
        "tools.start": "after_resume",
        "tool.raises": "failed_call",
        # The docstrings of `add_tools` and `remove_tools`.
        "tools.added": "at_once",
        "tools.removed": "at_once",
    }
    """What the documentation promises, and not what the code does."""

    def __init__(self) -> None:
        self.handshake = Handshake(
            implementation=Party(
                name=f"anthropic {type(self).__name__}", version=anthropic.__version__, language="python"
            ),
            profile="tool-runner-core",
            policies=dict(self.policies),
            gates=["model", "tool", "yield"],
            stimuli=[
                "runner.push", "runner.set.params", "runner.set.messages", "runner.respond", "runner.tools",
                "runner.again", "deliver", "clock.advance",
            ],
            outcomes=RunnerOutcomes.model_validate(
                {
                    "model": ["turn", "delta", "fault"] if True in self.stream else ["turn", "fault"],
                    "tool": ["ok", "error", "raise"],
                    "yield": ["resume", "break"],
                }
            ),
            stops=["tool_use", "end_turn", "max_tokens", "refusal", "pause_turn", "stop_sequence"],
            runner=RunnerOffer.model_validate(
                {"stream": self.stream, "read": self.read, "max_iterations": True}
            ),
        )  # fmt: skip

    async def open(self, host: RunnerHost, scenario: RunnerScenario) -> None:
        self.host = host
        self.scenario = scenario
        self.endpoint = Endpoint(host)
        self.versions: dict[str, int] = {}
        self.runner: Any = None
        self.newest: Any = None  # what was yielded last
        self.received: Message | None = None
        self.client = self._client()

    def run(self, input: str) -> AsyncIterator[Item]:
        asked = self.scenario.runner
        streams = {"stream": True, **self.options} if asked.stream else {}
        limit = {} if asked.max_iterations is None else {"max_iterations": asked.max_iterations}
        self.runner = self.client.beta.messages.tool_runner(
            model="kit", max_tokens=16, messages=[{"role": "user", "content": input}],
            tools=[self._defined(tool.name) for tool in self.scenario.tools if tool.offered],
            **streams, **limit,
        )  # fmt: skip
        return self.again()

    async def again(self) -> AsyncIterator[Item]:
        """The messages; an error of the API, which reaches the user, is a fault of the endpoint."""
        async with aclosing(self._items()) as items:
            try:
                async for item in items:
                    yield item
            except anthropic.APIError as error:
                raise ModelFault(str(error)) from error

    async def push(self, messages: Sequence[Message]) -> None:
        await self._do(lambda: self.runner.append_messages(*params_of(messages)))

    async def set(self, messages: Sequence[Message] | None, params: Mapping[str, Any] | None) -> None:
        given = {} if messages is None else {"messages": list(params_of(messages))}
        await self._do(
            lambda: self.runner.set_messages_params(lambda now: {**now, **(params or {}), **given})
        )

    async def tools(self, add: Sequence[str], remove: Sequence[str]) -> None:
        def change() -> None:
            self.runner.remove_tools(*remove)
            self.runner.add_tools(*map(self._defined, add))

        await self._do(change)

    async def respond(self) -> Sequence[Message] | None:
        response = await self._respond()
        return None if response is None else [result_seen(block) for block in response["content"]]

    def last(self) -> Message | None:
        """What was yielded last, unless it is a stream that is not whole."""
        message = self.newest
        if message is not None and not hasattr(message, "stop_reason"):
            message = snapshot_of(message)
        if message is not None and message.stop_reason is not None:
            (self.received,) = seen([message.to_dict()])
        return self.received

    def ended(self) -> str:
        return "NaturalEnd"

    def snapshot(self) -> RunnerState:
        shown: dict[str, Any] = {}

        def look(params: Mapping[str, Any]) -> Any:
            shown.update(params)
            raise Looked

        try:
            self.runner.set_messages_params(look)
        except Looked:
            params = {key: value for key, value in shown.items() if key not in ("messages", "model", "tools")}
            return RunnerState(list(seen(as_sent(shown["messages"]))), params)
        raise TypeError("set_messages_params did not call the function that it was given")

    def _defined(self, name: str) -> Any:
        """A definition of a tool; each one of a name is a version of its own."""
        self.versions[name] = version = self.versions.get(name, 0) + 1
        return self._tool(name, version)

    def _shown(self, item: Any) -> Item:
        """An item of the SDK: a message, or a stream."""
        self.last()  # of the stream before it, which is whole by now
        self.newest = item
        return (None, self._pieces(item)) if self.scenario.runner.stream else (self.last(), None)

    async def _pieces(self, stream: Any) -> AsyncIterator[Delta]:
        """The pieces that the kit gave; what the whole turn adds to them belongs to its end."""
        count = 0
        async for event in stream:
            piece = piece_of(event)
            if piece is not None and (count := count + 1) <= self.endpoint.pieces:
                yield piece

    @property
    def _is_under_way(self) -> bool:
        """Whether the model has not completed the newest turn, which can only be a stream."""
        return self.endpoint.newest is not None and self.endpoint.newest.is_under_way

    @abstractmethod
    def _client(self) -> Any: ...

    @abstractmethod
    def _items(self) -> AsyncGenerator[Item, None]: ...

    @abstractmethod
    def _tool(self, name: str, version: int) -> Any: ...

    @abstractmethod
    async def _respond(self) -> Any: ...

    @abstractmethod
    async def _do(self, work: Any) -> None:
        """Call a method of the runner."""

    @abstractmethod
    async def close(self) -> None: ...
