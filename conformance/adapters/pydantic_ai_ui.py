"""pydantic-ai behind its adapters for user interfaces, AG-UI and Vercel AI, each with a client.

The client holds all the state there is: its messages, made of what it said and of what was streamed to it.
Each request sends them, with its decisions in the form of its protocol, and runs the agent once.  As the
clients of both protocols do, it sends decisions when it has one for each call that waits.

Undeclared: `resume` and `input.waiting`, since the client sees to both and the library is not asked
(docs.ag-ui.com/spec/1.0/basic/patterns/interrupt-resume, and the function of the AI SDK
`lastAssistantMessageIsCompleteWithApprovalResponses`); a crash, since no protocol says what a client sends
again when its stream breaks; results from outside, since tools of the client give them; watchers without a
request, which has its own stream.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence
from copy import deepcopy
from typing import Any, Final

import pydantic_ai as ai
from ag_ui.core import PROTOCOL_VERSION
from pydantic import ValidationError
from pydantic_ai.ui.ag_ui import AGUIAdapter
from pydantic_ai.ui.vercel_ai import VercelAIAdapter
from pydantic_ai.ui.vercel_ai.response_types import DoneChunk

from runlock.conformance.adapter import (
    Decision,
    DecisionSupport,
    Handshake,
    Host,
    InputSupport,
    Party,
    Reason,
    Refused,
    Scenario,
    Segment,
    StreamKind,
)
from runlock.conformance.adapters.pydantic_ai import PydanticAI
from runlock.conformance.wires.ui_clients import AgUiClient, AiSdkClient, Json

LIBRARY: Final = PydanticAI.handshake
RANDOM: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z")
"""What the library makes anew each time: ids of messages, and times of day."""


def _offers(name: str, stream: StreamKind, decisions: DecisionSupport) -> Handshake:
    changed = {
        "implementation": Party(name=name, version=LIBRARY.implementation.version, language="python"),
        "policies": {"state": "caller", "decision.modes": ["replay"]},
        "decisions": decisions,
        "observes": [*LIBRARY.observes, "event", "stream.closed"],
        "stimuli": [*LIBRARY.stimuli, "watch.request"],
        "streams": [stream],
        "inputs": InputSupport(working=False),
    }
    return LIBRARY.model_copy(update=changed)


class WithClient(PydanticAI):
    """One thread of an agent, and the client that holds it; a subclass speaks the protocol of the client."""

    checkpoint: Any = None
    restore: Any = None
    resume_run: Any = None
    client: Any
    error: tuple[str, str]  # the event that tells of an error, and its field with the words

    async def open(self, host: Host, scenario: Scenario) -> None:
        await super().open(host, scenario)
        self.watcher: str | None = None
        self.names: dict[str, str] = {}  # by what is random

    def watch(self, watcher: str, stream: StreamKind) -> None:
        """The stream of the next request has a receiver."""
        self.watcher = watcher

    async def start(self, text: str) -> Segment:
        client = deepcopy(self.client)
        client.request(text)
        return self._segment(client, await self._take(client))

    async def decide(self, decisions: Sequence[Decision]) -> Segment | None:  # type: ignore[override]
        """An error that leaves the messages as they were is a refusal."""
        client = deepcopy(self.client)
        answers = self.answers(client, decisions)
        if answers is None:
            self.client = client
            return None
        client.request()
        before = deepcopy(client.messages)
        error = await self._take(client, answers)
        if error is not None and client.messages == before:
            raise Refused(error)
        return self._segment(client, error)

    def answers(self, client: Any, decisions: Sequence[Decision]) -> Json | None:
        """Note decisions; what the request of the client adds, or None if it waits for more of them."""
        raise NotImplementedError

    def streamed(self, client: Any, more: Json, **run: Any) -> AsyncIterator[Any]:
        """Send a request of the client, and get its events."""
        raise NotImplementedError

    async def _take(self, client: Any, more: Json | None = None) -> str | None:
        """Take in a stream to its end; returns the error that it told of."""
        self.token, self.left = ai.CancellationToken(), None
        run = {"cancellation_token": self.token, "on_complete": self._ran, "on_cancel": self._was_cancelled}
        name, words = self.error
        error: str | None = None
        try:
            stream = self.streamed(client, more or {}, **run)
        except ValidationError as invalid:  # the answer is no stream, but status 422
            return f"422: {invalid.errors()[0]['msg']}"
        async for event in stream:
            data = event.model_dump(mode="json", by_alias=True, exclude_none=True)
            self._report(data)
            client.take(data)
            error = data[words] if data["type"] == name else error
        if self.watcher is not None:
            self.host.observe("stream.closed", watcher=self.watcher)
        self.watcher = None
        return error

    def _report(self, data: Json) -> None:
        """Show an event, with names for what is random, so that the same schedule shows the same."""
        if self.watcher is not None:
            (stream,) = self.handshake.streams
            data = json.loads(RANDOM.sub(self._name, json.dumps(data)))
            self.host.observe("event", stream=stream, name=data["type"], data=data, watcher=self.watcher)

    def _name(self, found: re.Match[str]) -> str:
        return self.names.setdefault(found[0], f"random-{len(self.names) + 1}")

    def _segment(self, client: Any, error: str | None) -> Segment:
        self.client = client
        if error is not None or self.left is None:
            return Segment(Reason(code="Error", detail=error))
        for call in self.left.pending:
            self.show(call, *client.call(call))
        return self.left

    async def _ran(self, done: ai.AgentRunResult[Any]) -> None:
        asked = done.output.approvals if isinstance(done.output, ai.DeferredToolRequests) else []
        self.left = self.ended((call.tool_call_id, call) for call in asked)

    async def _was_cancelled(self, cancelled: ai.RunCancelled) -> None:
        self.left = Segment("Cancelled")

    def _before(self, messages: Sequence[Any]) -> None:
        """What the model is asked is not kept: the client has it."""


class OnAgUi(WithClient):
    """Its client resumes what was interrupted, all at once."""

    handshake = _offers(
        "pydantic-ai, AG-UI",
        "ag-ui",
        DecisionSupport(live=False, ids=False, payload=False, edit=["args"]),
    )
    error = "RUN_ERROR", "message"

    async def open(self, host: Host, scenario: Scenario) -> None:
        await super().open(host, scenario)
        self.client = AgUiClient()

    async def start(self, text: str) -> Segment:
        """What an earlier run left open when it broke is let go."""
        self.client.pending = {}
        return await super().start(text)

    async def input(self, text: str) -> Segment:
        """The client sends no text while an interrupt is open."""
        raise Refused(f"pending interrupts not addressed by resume: {', '.join(self.client.pending)}")

    def answers(self, client: AgUiClient, decisions: Sequence[Decision]) -> Json:
        if {one.call for one in decisions} != client.pending.keys():
            raise Refused(
                f"the interrupts that are open are those of {', '.join(client.pending) or 'no call'}"
            )
        return {"resume": [_resume(client.pending[one.call], one) for one in decisions]}

    def streamed(self, client: AgUiClient, more: Json, **run: Any) -> AsyncIterator[Any]:
        ids = {"threadId": "thread", "runId": f"run-{client.requests}", "protocolVersion": PROTOCOL_VERSION}
        body = {**ids, "messages": client.messages, "tools": [], "context": [], **more}
        asked = AGUIAdapter.build_run_input(json.dumps(body).encode())
        return AGUIAdapter(self.agent, asked).run_stream(**run)


def _resume(interrupt: str, decision: Decision) -> Json:
    payload: Json = {"approved": decision.action == "resume"}
    if decision.edit is not None:
        payload["editedArgs"] = decision.edit.args
    return {"interruptId": interrupt, "status": "resolved", "payload": payload}


class OnVercelAI(WithClient):
    """Its client answers on the parts of the calls that ask for an approval."""

    handshake = _offers(
        "pydantic-ai, Vercel AI",
        "ai-sdk-v6",
        DecisionSupport(live=False, ids=False, payload=False),
    )
    error = "error", "errorText"

    async def open(self, host: Host, scenario: Scenario) -> None:
        await super().open(host, scenario)
        self.client = AiSdkClient()

    input = WithClient.start

    def answers(self, client: AiSdkClient, decisions: Sequence[Decision]) -> Json | None:
        asked = {part["toolCallId"]: part for part in client.approvals()}
        unknown = [one for one in decisions if one.call not in asked]
        if len(unknown) == len(decisions):
            raise Refused("the client asks for no approval of it")
        for one in unknown:
            self.host.refuse("the client asks for no approval of it", one.id)
        for one in decisions:
            if one.call in asked:
                approval = {**asked[one.call]["approval"], "approved": one.action == "resume"}
                asked[one.call].update(state="approval-responded", approval=approval)
        return None if client.approvals() else {}

    def streamed(self, client: AiSdkClient, more: Json, **run: Any) -> AsyncIterator[Any]:
        body = {"trigger": "submit-message", "id": "thread", "messages": client.messages, **more}
        asked = VercelAIAdapter.build_run_input(json.dumps(body).encode())
        chunks = VercelAIAdapter(self.agent, asked, sdk_version=6).run_stream(**run)
        return (one async for one in chunks if not isinstance(one, DoneChunk))  # `[DONE]`, which is no JSON
