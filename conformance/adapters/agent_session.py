"""A session of an agent that is a process of its own, in any protocol: its model and tools are on loopback.

The model is an endpoint on loopback, and the tools are those of a tool server on loopback.  A tool that is
entered need not say which call it belongs to; then the adapter finds the call by its name and arguments in
the newest response.

A tool of the scenario that is not offered is offered all the same: an agent has no other tools than these.
An agent tells of its calls over one channel, and asks its model and enters tools over another.  So that the
order in which it did these things is kept, a request that came waits for a while for what should have been
told before it.

An API that only marks errors cannot say that a call was cancelled, so an error of a call whose tool was given
up reads `cancelled`; so does its end where the protocol only has `failed`.  A process is replaced after an
allow that lasts, because it may last for the process.  A scenario in which no person can be asked has a
client that answers each permission request as cancelled.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from runlock.conformance.adapters.agent_client import Params
from runlock.conformance.adapters.agent_process import Agent, AgentProcess, process_of
from runlock.conformance.adapters.models.http import Answered, Asked
from runlock.conformance.adapters.models.names import Names
from runlock.conformance.adapters.models.tool_server import ToolServer
from runlock.conformance.families.message_loop.adapter import (
    Answer,
    Delta,
    Handshake,
    LoopHost,
    Prompt,
    Refused,
    Request,
    Scenario,
    Segment,
    ToolRaised,
    TurnStart,
)
from runlock.conformance.families.message_loop.messages import OfferedOutcomes, ToolCall, Turn
from runlock.conformance.protocol import Control, Party
from runlock.conformance.transport.real_time import Bridge


class AgentSession(Agent):
    """One session; a subclass speaks the protocol of an agent, and has its settings."""

    prefix: ClassVar[str]  # before the names of the kit's tools
    modes: ClassVar[Mapping[str, str]]  # its names of the security modes; empty: it starts there
    events: ClassVar[Sequence[str]]
    grants: ClassVar[Sequence[str]] = ("once", "session")
    model: ClassVar[Sequence[str]] = ("delta", "turn")  # the outcomes that its model's API can state
    policies: ClassVar[Mapping[str, Any]] = {}

    @property
    def handshake(self) -> Handshake:
        """What every agent offers, with the name and version that this one gives."""
        name, version = self.called(process_of(type(self)).info)
        return Handshake(
            implementation=Party(name=name, version=version),
            profile="message-loop-core",
            policies=dict(self.policies),
            control=Control(settle="observed", clock="real", step="none"),
            gates=["model", "tool", "prompt"],
            observes=["event", "run.finished"],
            events=list(self.events),
            modes=list(self.modes),
            interactors=1,
            grants=list(self.grants),
            turns=["chat"],
            bounds=[],
            stimuli=["cancel", "run.again", "deliver"],
            outcomes=OfferedOutcomes(
                model=list(self.model), tool=["ok", "error", "raise"], prompt=["allow", "deny"]
            ),
        )

    # What an agent has.

    @classmethod
    @abstractmethod
    def called(cls, info: Params) -> tuple[str, str]:
        """Its name and version, from the answer to the greeting."""

    @abstractmethod
    def request_of(self, asked: Asked) -> Request | None:
        """A request to the model in the protocol's words; None for one that is not of the loop."""

    @abstractmethod
    async def answer_of(self, pieces: AsyncGenerator[Delta | Turn, None]) -> Answered:
        """A response of the model."""

    @abstractmethod
    async def run_turn(self, text: str) -> Segment:
        """Run a turn to its end."""

    @abstractmethod
    def interrupt(self) -> None:
        """Send a cancel of the turn."""

    def answer_aside(self, asked: Asked) -> Answered:
        """Answer a request to the model that is not of the loop."""
        return Answered({}, status=404)

    @abstractmethod
    async def prepare(self) -> None:
        """Bring a new session into the mode of the scenario."""

    # What the kit does.

    async def open(self, host: LoopHost, scenario: Scenario) -> None:
        self.host, self.scenario = host, scenario
        self.process: AgentProcess = process_of(type(self))
        self.bridge = Bridge(self.process.real, asyncio.get_running_loop())
        self.names = Names(self.prefix, [tool.name for tool in scenario.tools])
        self.tools = ToolServer(self.names.tools, self._run_tool)
        self.requests = self.prompts = 0
        self.said = self.published = ""  # the text of the newest response, and what was published of it
        self.round: list[ToolCall] = []  # of the newest response, as far as it has come, as the next four
        self.entered: set[str] = set()
        self.proposed: set[str] = set()
        self.answered: set[str] = set()
        self.settled: set[str] = set()
        self.aborted: set[str] = set()
        self.asking: set[asyncio.Task[Answer]] = set()
        self.in_turn = self.is_asked = self.is_cancelled = self.is_unanswered = False
        await self.bridge.do(self._open())

    async def start(self, turn: TurnStart) -> Segment:
        self.in_turn, self.is_asked, self.is_cancelled = True, False, False
        try:
            return await self.bridge.do(self.run_turn(turn.input or ""))
        finally:
            self.in_turn = False

    async def cancel(self) -> None:
        if not self.in_turn:
            raise Refused("no turn is under way")
        self.bridge.end()
        await self.bridge.do(self._cancel())

    def busy(self) -> bool:
        return hasattr(self, "bridge") and self.bridge.busy()

    async def close(self) -> None:
        await self.bridge.do(self._close())

    async def _open(self) -> None:
        is_listed = self.scenario.mode == "allowlist"
        self.id = await self.process.open(self, self.scenario.allowlist if is_listed else [])
        await self.prepare()

    async def _close(self) -> None:
        if self.in_turn:
            await self._cancel()
        self.tools.close()
        self.process.close()

    async def _cancel(self) -> None:
        self.is_cancelled = True
        self.interrupt()
        for one in self.asking:
            one.cancel()

    # What the agent does.

    async def ask_model(self, asked: Asked) -> Answered:
        """Answer a request to the model."""
        request = self.request_of(asked) if self.in_turn else None
        if request is None:
            return self.answer_aside(asked)
        await self.bridge.until(
            lambda: self.answered <= self.settled and len(self.published) >= len(self.said)
        )
        self.requests, self.is_asked, self.is_unanswered = self.requests + 1, True, False
        self.said, self.published = "", ""
        self.round = []
        for calls in (self.entered, self.proposed, self.answered, self.settled):
            calls.clear()
        return await self.answer_of(self._pieces(request))

    async def _pieces(self, request: Request) -> AsyncGenerator[Delta | Turn, None]:
        async for piece in self.bridge.each(self.host.stream(request)):
            if isinstance(piece, Turn):
                self.said, self.round = piece.text, piece.tool_calls
                yield piece
            elif (whole := piece.whole_call) is not None:
                self.round = [*self.round, whole]
                yield piece
                await self._until_proposed(whole.id)
            else:
                yield piece

    async def _until_proposed(self, call: str) -> None:
        await self.bridge.until(lambda: call in self.proposed)

    async def _run_tool(self, name: str, args: Params, meta: Params) -> tuple[str, bool]:
        call = str(meta.get("callId") or self.call_of(name, args, self.entered))
        await self._until_proposed(call)
        try:
            outcome = await self.bridge.ask(self.host.tool(call, name, args))
        except ToolRaised as error:
            return str(error), True
        except asyncio.CancelledError:
            self.aborted.add(call)
            raise
        finally:
            self.answered.add(call)
        return str(outcome.content), outcome.kind == "error"

    def call_of(self, name: str, args: Any, past: set[str]) -> str:
        """The call of the newest response that is meant: one that is not past, if there is any."""
        fitting = [call.id for call in self.round if call.name == name and call.args == args]
        fresh = [call for call in fitting if call not in past]
        call = next(iter([*fresh, *fitting]), "unknown")
        past.add(call)
        return call

    async def ask_person(self, call: str, name: str, args: Any) -> Answer | None:
        """Ask a person for a permission; None if the turn was cancelled, or the scenario has no person."""
        self.is_unanswered = not self.scenario.interactors
        if self.is_cancelled or self.is_unanswered:
            return None
        self.prompts += 1
        prompt = Prompt(f"p{self.prompts}", "mode", call, name, args)
        question = self.host.ask(self.scenario.interactors[0], prompt)
        answer = await self._unless_cancelled(self.bridge.ask(question))
        if answer is not None and answer.scope == "session":
            self.process.replace()
        return answer

    async def _unless_cancelled(self, question: Coroutine[Any, Any, Answer]) -> Answer | None:
        asking = asyncio.create_task(question)
        self.asking.add(asking)
        try:
            return await asking
        except asyncio.CancelledError:
            return None
        finally:
            self.asking.discard(asking)

    def show(self, name: str, **data: Any) -> None:
        """Publish an event."""
        self.bridge.tell(partial(self.host.event, name, **data))

    def show_proposed(self, call: str) -> None:
        """Publish that the model asked for a call."""
        self.proposed.add(call)
        self.show("ToolInvocationProposed", call=call)

    def show_end(self, name: str, call: str) -> None:
        """Publish the end of a call; one that failed after its tool was given up was cancelled."""
        self.settled.add(call)
        was_aborted = name == "ToolInvocationFailed" and call in self.aborted
        self.show("ToolInvocationCancelled" if was_aborted else name, call=call)

    def show_text(self, text: str) -> None:
        """Publish a piece of a response; before the first request of a turn it is a note of the agent."""
        if self.is_asked:
            self.published += text
            self.show("ProviderTokensStreamed", text=text, request=self.requests)
