"""What a served agent says to its client in the words of each version of the Agent Client Protocol.

Version 1 is spoken by a library.  Version 2, a draft, is put together here from the same sessions.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from itertools import count
from typing import Any, ClassVar, Final

from acp import RequestError, schema

from runlock.conformance.wires.json_rpc import LINE_MAX, Ended, Params, Peer, RpcError
from runlock.conformance.wires.served_world import kept
from runlock.conformance.wires.ui_clients import Json

INFO: Final = {"name": "runlock-served", "version": "1"}
FAILED: Final = "_failed"
"""The stop reason of work that failed, which the protocol has no word for."""


class AnsweringFront:
    """Version 1: the response to a prompt says how it ended, and the library sends it."""

    def __init__(self, client: Any) -> None:
        self.client = client

    async def update(self, session: str, update: Json) -> None:
        """Tell of something."""
        whole = schema.SessionNotification.model_validate({"sessionId": "", "update": update})
        await self.client.session_update(session_id=session, update=whole.update)

    async def ask(self, session: str, call: str, options: Sequence[schema.PermissionOption]) -> str | None:
        """The option that the client chooses, or None if the prompt is cancelled instead."""
        told = schema.ToolCallUpdate(tool_call_id=call)
        answer = await self.client.request_permission(
            session_id=session, tool_call=told, options=list(options)
        )
        return answer.outcome.option_id if isinstance(answer.outcome, schema.AllowedOutcome) else None

    async def move(self, session: str, state: str) -> None:
        """A prompt has no state."""


class ReportingFront:
    """Version 2: a prompt is answered when it is accepted, and updates tell how far its work is."""

    methods: ClassVar[Mapping[str, str]] = {
        "initialize": "initialize",
        "session/new": "new",
        "session/list": "list",
        "session/resume": "resume",
        "session/close": "close",
    }

    def __init__(self, agent: Any, write: Callable[[bytes], None]) -> None:
        self.agent = agent
        self.peer = Peer(self._asked, self._notified)
        self.peer.write = write
        self.folders: dict[str, str] = {}  # of sessions
        self.states: dict[str, str] = {}
        self.messages = count(1)

    async def serve(self, reader: asyncio.StreamReader) -> None:
        """Serve until the client ends its output."""
        await self.peer.read(reader)

    # What the client asks.

    def _asked(self, number: Any, method: str, params: Params) -> None:
        if method == "session/prompt":
            kept(self._prompt(number, params))
        elif method in self.methods:
            kept(self._answer(number, getattr(self, self.methods[method])(params)))
        else:
            self.peer.decline(number, method)

    def _notified(self, method: str, params: Params) -> None:
        if method == "session/cancel" and params.get("sessionId") in self.agent.sessions:
            kept(self.agent.sessions[params["sessionId"]].cancel())

    async def _answer(self, number: Any, work: Coroutine[Any, Any, Json]) -> None:
        try:
            self.peer.answer(number, await work)
        except RequestError as error:
            self.peer.refuse(number, error.code, str(error))

    async def initialize(self, params: Params) -> Json:
        """Greet it."""
        can: Json = {"session": {"mcp": {"http": {}}}}
        return {"protocolVersion": 2, "capabilities": can, "info": INFO, "authMethods": []}

    async def new(self, params: Params) -> Json:
        """Begin a session."""
        name = await self.agent.begin(_tools(params))
        self.folders[name] = params["cwd"]
        return {"sessionId": name}

    async def list(self, params: Params) -> Json:
        """The sessions that are there."""
        chosen = params.get("cwd")
        found = [one for one in self.folders.items() if chosen in (None, one[1])]
        return {"sessions": [{"sessionId": name, "cwd": folder} for name, folder in found]}

    async def resume(self, params: Params) -> Json:
        """Go on with a session of another process."""
        name = params["sessionId"]
        self.folders[name] = params["cwd"]
        await self.agent.resume(name, _tools(params), replays=params.get("replayFrom") is not None)
        return {}

    async def close(self, params: Params) -> Json:
        """Cancel what is under way in a session."""
        session = self.agent.sessions.get(params["sessionId"])
        if session is None:
            raise RequestError.resource_not_found(params["sessionId"])
        await session.close()
        return {}

    # A prompt.

    async def _prompt(self, number: Any, params: Params) -> None:
        name = str(params["sessionId"])
        session = self.agent.sessions.get(name)
        if session is None:
            self.peer.refuse(number, -32002, f"there is no session {name}")
            return
        message, text = f"user-{session.runs + 1}", "".join(one.get("text", "") for one in params["prompt"])
        self.accept(number, message)
        self.report(name, message, params["prompt"])
        await self.move(name, "running")
        try:
            stop = await session.prompt(text)
        except RequestError as error:
            self.end(name, FAILED, error=str(error))
        else:
            self.end(name, stop)

    def accept(self, number: Any, message: str) -> None:
        """Answer a prompt."""
        self.peer.answer(number, {"messageId": message})

    def report(self, session: str, message: str, content: Any) -> None:
        """Tell where the message of the user is."""
        self.tell(session, {"sessionUpdate": "user_message", "messageId": message, "content": content})

    def end(self, session: str, stop: str, **more: Any) -> None:
        """The work is over."""
        self.states[session] = "idle"
        meta = {"_meta": more} if more else {}
        self.tell(session, {"sessionUpdate": "state_update", "state": "idle", "stopReason": stop, **meta})

    # What a session tells.

    async def move(self, session: str, state: str) -> None:
        """Tell how far the work is."""
        if self.states.get(session, "idle") != state:
            self.states[session] = state
            self.tell(session, {"sessionUpdate": "state_update", "state": state})

    async def update(self, session: str, update: Json) -> None:
        """Tell of something, in the words of this version."""
        kind = update["sessionUpdate"]
        if kind == "tool_call":
            update = {**update, "sessionUpdate": "tool_call_update"}
        elif kind == "plan":
            plan = {"type": "items", "planId": "plan", "entries": update["entries"]}
            update = {"sessionUpdate": "plan_update", "plan": plan}
        elif kind.endswith("_chunk"):
            update = {**update, "messageId": self.message(session)}
        self.tell(session, update)

    def message(self, session: str) -> str:
        """An id for a message, which no process has given before."""
        return f"message-{self.agent.sessions[session].runs}-{next(self.messages)}-{id(self):x}"

    async def ask(self, session: str, call: str, options: Sequence[schema.PermissionOption]) -> str | None:
        """The option that the client chooses, or None: an answer that is not known is no approval."""
        asked = {
            "sessionId": session,
            **self.asking(call),
            "options": [one.model_dump(by_alias=True, exclude_none=True) for one in options],
        }
        try:
            answer = await self.peer.request("session/request_permission", asked)
        except (RpcError, Ended):
            return None
        return self.chosen((answer or {}).get("outcome") or {})

    def chosen(self, outcome: Json) -> str | None:
        """The option of an answer; one that is not known has none."""
        return outcome.get("optionId") if outcome.get("outcome") == "selected" else None

    def asking(self, call: str) -> Json:
        """What a permission says of its call."""
        return {"title": "May it run?", "subject": {"type": "tool_call", "toolCall": {"toolCallId": call}}}

    def tell(self, session: str, update: Json) -> None:
        """Send an update."""
        self.peer.notify("session/update", {"sessionId": session, "update": update})


def _tools(params: Params) -> str:
    return str(params["mcpServers"][0]["url"])


def wants_states(line: bytes) -> bool:
    """Whether the first line of a client asks for version 2, or for a later one."""
    try:
        return int(json.loads(line)["params"]["protocolVersion"]) >= 2
    except (ValueError, LookupError, TypeError):
        return False


def put_back(line: bytes, reader: asyncio.StreamReader) -> asyncio.StreamReader:
    """A stream that begins with a line which was read already."""
    found = asyncio.StreamReader(LINE_MAX)
    found.feed_data(line)
    kept(_pass_on(reader, found))
    return found


async def _pass_on(reader: asyncio.StreamReader, to: asyncio.StreamReader) -> None:
    while part := await reader.read(1 << 16):
        to.feed_data(part)
    to.feed_eof()
