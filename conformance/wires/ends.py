"""The ends of a wire: the model and the tools of an application, served by the kit on loopback.

Who is asked is a guest: a schedule that is being played.  A request belongs to the one whose mark it holds.
What belongs to no guest is answered and counted, and is never taken for a gate: a request of an earlier
schedule, or one without the kit's tools, as for the title of a conversation.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final, Protocol, TypeVar

import uvicorn
from mcp import types
from mcp.server.lowlevel import Server
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from runlock.conformance.errors import AdapterError
from runlock.conformance.protocol import Message, Turn
from runlock.conformance.transport.real_time import RealTime
from runlock.conformance.transport.world import ModelFault
from runlock.conformance.wires.model_apis import chat_completions, gemini, messages, responses
from runlock.conformance.wires.model_apis.api import ModelApi, ModelRequest

T = TypeVar("T")
Said = TypeVar("Said", Turn, Message)

APIS: Final[tuple[ModelApi, ...]] = (chat_completions, responses, messages, gemini)
SERVER: Final = "kit"
"""The name of the tool server: an agent may have a tool of its own that is called as one of the kit's."""

ASIDE: Final = Turn(text="ok")
"""What the model says to a request that is not of the schedule."""

SCHEMA: Final = {
    "type": "object",
    "properties": {"k": {"type": "string", "description": "the call"}, "v": {"description": "any value"}},
    "required": ["k"],
    "additionalProperties": True,
}
"""The arguments of every tool."""

CLIENT_LEFT: Final = 499

SHOWN_MAX: Final = 60
"""How many characters of a request that was set aside are shown."""


class Guest(Protocol):
    """The schedule that is being played, as the ends see it."""

    mark: str

    async def model(self, request: ModelRequest) -> Turn:
        """Answer a request to the model; raises ModelFault."""
        ...

    async def tool(self, name: str, args: dict[str, Any]) -> tuple[str, bool]:
        """Run a tool; gives its text, and whether that is an error."""
        ...


class Ends:
    """The servers of one process; `reached` counts the requests to the model, and what was set aside.

    An application may offer its model a tool by a longer name, as `server_write` or `mcp__server__write`:
    `names` has the tool of the kit that each of them is.
    """

    def __init__(self, real: RealTime, tools: Sequence[str], port: int = 0) -> None:
        self.tools = tools
        self._guests: dict[str, Guest] = {}  # by their marks
        self.reached: Counter[str] = Counter()
        self.asides: list[str] = []  # what was set aside since that was asked last
        self.names: dict[str, str] = {}
        self.offered: list[str] = []  # the tools of the newest request to the model
        self._socket = listening_on(port)
        self.port: int = self._socket.getsockname()[1]
        self.real = real
        self._server = uvicorn.Server(uvicorn.Config(self._app(), log_level="critical", lifespan="on"))
        self._serving = asyncio.run_coroutine_threadsafe(
            self._server.serve(sockets=[self._socket]), real.loop
        )

    def wait(self) -> None:
        """Wait until the servers end."""
        self._serving.result()

    def close(self) -> None:
        """Serve no more."""
        self._server.should_exit = self._server.force_exit = True
        with suppress(Exception):
            self._serving.result(timeout=2)
        self._socket.close()

    def _app(self) -> Any:
        server: Server[Any] = Server("kit", on_list_tools=self._listed, on_call_tool=self._called)
        routes = [
            *(Route(api.PATH, partial(self._asked, api), methods=["POST"]) for api in APIS),
            Route("/v1/models", self._models, methods=["GET"]),
        ]
        return server.streamable_http_app(custom_starlette_routes=routes)

    # The model.

    async def _models(self, request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": "kit", "object": "model", "owned_by": "kit"}]})

    async def _asked(self, api: ModelApi, request: Request) -> Response:
        self.reached["model"] += 1
        try:
            body = await request.json()
            asked = api.asked({**body, **request.path_params})
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            self.reached["unreadable"] += 1
            return JSONResponse(api.fault(f"the request cannot be read: {error!r}"), 400)
        self.offered = asked.tools
        try:
            turn = await self._turn(request, body, asked)
        except ModelFault as fault:
            return JSONResponse(api.fault(str(fault)), 400)
        except asyncio.CancelledError:
            return Response(status_code=CLIENT_LEFT)
        if asked.streams:
            return StreamingResponse(api.events(turn), media_type="text/event-stream")
        return JSONResponse(api.whole(turn))

    async def _turn(self, request: Request, body: Any, asked: ModelRequest) -> Turn:
        guest, names = self._guest_of(body), meant(self.tools, asked.tools)
        if guest is None or not names:
            said = _cut(asked.messages[-1].text) if asked.messages else ""
            offering = ", ".join(asked.tools) or "no tool"
            self._set_aside(f"one to the model that offers {offering} and ends with {said!r}")
            return ASIDE
        self.names |= names
        turn = await _unless_left(request, guest.model(_plain(asked, self.plain)))
        return _spelled(turn, {tool: name for name, tool in names.items()})

    def plain(self, name: str) -> str:
        """The tool of the kit that the application calls so; the name itself if there is none."""
        return self.names.get(name, name)

    def taken_asides(self) -> list[str]:
        """What was set aside since this was asked last."""
        taken, self.asides = self.asides, []
        return taken

    def _set_aside(self, what: str) -> None:
        self.reached["aside"] += 1
        self.asides.append(what)

    # The tools.

    async def _listed(self, context: Any, params: Any) -> types.ListToolsResult:
        offered = [types.Tool(name=name, description=name, input_schema=SCHEMA) for name in self.tools]
        return types.ListToolsResult(tools=offered)

    async def _called(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        args = dict(params.arguments or {})
        guest = self._guest_of(args)
        if guest is None or params.name not in self.tools:
            self._set_aside(f"a call of {params.name} with {_cut(json.dumps(args))}")
            return _result("this call is of no schedule that is being played", True)
        return await _unless_over(guest.tool(params.name, args))

    def seat(self, guest: Guest) -> None:
        """What holds the mark of a guest belongs to it from now on."""
        self._guests[guest.mark] = guest

    def unseat(self, guest: Guest) -> None:
        """It is no guest any more, unless another one has taken its place."""
        if self._guests.get(guest.mark) is guest:
            del self._guests[guest.mark]

    def _guest_of(self, content: Any) -> Guest | None:
        text = json.dumps(content)
        return next((guest for mark, guest in list(self._guests.items()) if mark in text), None)


def meant(tools: Sequence[str], offered: Sequence[str]) -> dict[str, str]:
    """By what a model is offered: the tool of the kit that it is, whatever stands before its name."""
    found = {}
    for tool in tools:
        like = [name for name in offered if re.fullmatch(rf".*[_.:/-]{re.escape(tool)}", name)]
        ours = [name for name in like if re.match(rf".*\b{SERVER}|.*_{SERVER}", name)]
        names = ours if len(ours) == 1 else [tool] if tool in offered else like
        if len(names) == 1:  # else none of them is known to be it
            found[names[0]] = tool
    return found


def _plain(asked: ModelRequest, plain: Callable[[str], str]) -> ModelRequest:
    """A request with the names of the kit."""
    messages = [_renamed(one, plain) if one.tool_calls else one for one in asked.messages]
    return replace(asked, messages=messages, tools=[plain(name) for name in asked.tools])


def _spelled(turn: Turn, names: Mapping[str, str]) -> Turn:
    """A turn with the names that the application has."""
    return _renamed(turn, lambda name: names.get(name, name)) if turn.tool_calls else turn


def _renamed(said: Said, rename: Callable[[str], str]) -> Said:
    calls = [one.model_copy(update={"name": rename(one.name)}) for one in said.tool_calls]
    return said.model_copy(update={"tool_calls": calls})


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}…"


class _Alone:
    """A guest to whom every request belongs: the model says `ok`, and the tools do nothing."""

    mark = ""

    async def model(self, request: ModelRequest) -> Turn:
        offered = ", ".join(request.tools) or "no tool"
        print(f"model: {len(request.messages)} messages, offered {offered}", flush=True)
        return ASIDE

    async def tool(self, name: str, args: dict[str, Any]) -> tuple[str, bool]:
        print(f"tool: {name} {json.dumps(args)}", flush=True)
        return "ok", False


def serve_alone(tools: Sequence[str], port: int) -> None:
    """Serve without a schedule, until the process ends."""
    real = RealTime()
    ends = Ends(real, tools, port)
    ends.seat(_Alone())
    try:
        ends.wait()
    finally:
        ends.close()


def _result(text: str, is_error: bool) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=is_error)


async def _unless_over(tool: Awaitable[tuple[str, bool]]) -> types.CallToolResult:
    """The result of a tool, or that its schedule is over: a cancel would end the session of the client."""
    try:
        return _result(*await tool)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():  # the client gave the call up
            raise
        return _result("the schedule of this call is over", True)


async def _unless_left(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Await work for a client, and give it up with a CancelledError if that one hangs up."""
    doing = asyncio.ensure_future(work)
    left = asyncio.ensure_future(_left(request.receive))
    try:
        await asyncio.wait({doing, left}, return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            doing.cancel()
        return await doing
    finally:
        left.cancel()
        doing.cancel()


async def _left(receive: Callable[[], Awaitable[Any]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def listening_on(port: int) -> socket.socket:
    """A socket of loopback that listens; on any free port for 0."""
    # named as TCP, or asyncio would leave each small write waiting for the acknowledgement of the one before
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError as error:
        listening.close()
        raise AdapterError(
            f"The model and the tools cannot be served on port {port}: {error.strerror}.",
            "End what uses it, or name another with `--ends PORT`.",
        ) from error
    listening.listen(128)
    return listening
