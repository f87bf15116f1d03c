"""The Messages API for the `anthropic` SDK, answered by the kit, and its messages in the protocol's words.

It holds message threads as the server does, and refuses a history in which calls and results do not pair, as
"Handle tool calls" documents: https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls.
The kit sees a request before it is refused; the gate of a refused request is given up at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from runlock.conformance.adapters.models.anthropic_messages import Param, Reply, blocks_of, seen, sse
from runlock.conformance.families.tool_runner.adapter import Delta, ModelFault, RunnerHost, Turn

ENVELOPE: Final = ("messages", "model", "stream", "system", "thread", "tools")
"""The fields of a request that are no params in the protocol's words."""


class Refusal(Exception):
    """The API answers with an error."""

    def __init__(self, status: int, kind: str, message: str, **details: str) -> None:
        super().__init__(message)
        self.status = status
        shown = {"type": kind, "message": message, **({"details": details} if details else {})}
        self.body = {"type": "error", "error": shown}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: the history that the model receives, and what is said about it at its gate."""

    history: Sequence[Param]
    shown: Mapping[str, Any]
    """The arguments of `infer` and `stream`."""


class Events:
    """The server-sent events of a turn.  The model goes on whether anybody reads them or not."""

    def __init__(self, pieces: AsyncIterator[Delta | Turn]) -> None:
        self.given: asyncio.Queue[Delta | Turn | ModelFault] = asyncio.Queue()
        self.written: AsyncGenerator[bytes, None]
        self._model = asyncio.get_running_loop().create_task(self._take(pieces))

    @property
    def is_under_way(self) -> bool:
        """Whether the model has not completed its turn."""
        return not self._model.done()

    async def aclose(self) -> None:
        """Give up a turn that is not whole, also if no event was read."""
        self._model.cancel()
        await asyncio.wait({self._model})

    async def _take(self, pieces: AsyncIterator[Delta | Turn]) -> None:
        try:
            async for piece in pieces:
                self.given.put_nowait(piece)
        except ModelFault as fault:
            self.given.put_nowait(fault)


class Endpoint:
    """One account's side of the API: its threads, and the model whose turns are the kit's."""

    def __init__(self, host: RunnerHost) -> None:
        self.host = host
        self.newest: Events | None = None
        self.pieces = 0  # of the newest streamed turn, as the kit gave them and as they were written
        self._threads: dict[str, Sequence[Param]] = {}
        self._paused: set[str] = set()  # the calls of paused turns, which need no result
        self._replies = 0

    async def message(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a request with the whole turn; raises `Refusal`."""
        asked = self._asked(body)
        try:
            turn = await self.host.infer(**asked.shown)
        except ModelFault as fault:
            raise _overloaded(fault) from fault
        reply = Reply(self._next_id())
        for _ in reply.rest(turn):
            pass
        self._keep(asked, reply, turn)
        return reply.whole(turn)

    async def events(self, body: Mapping[str, Any]) -> Events:
        """Answer a request with server-sent events; raises `Refusal` if there is no first piece."""
        asked = self._asked(body)
        self.newest = events = Events(self.host.stream(**asked.shown))
        self.pieces = 0
        try:
            first = await events.given.get()
        except BaseException:
            await events.aclose()
            raise
        if isinstance(first, ModelFault):
            raise _overloaded(first) from first
        events.written = self._written(asked, first, events)
        return events

    async def _written(
        self, asked: Asked, first: Delta | Turn, events: Events
    ) -> AsyncGenerator[bytes, None]:
        reply = Reply(self._next_id())
        yield sse("message_start", message=reply.empty())
        piece: Delta | Turn | ModelFault = first
        while isinstance(piece, Delta):
            self.pieces += 1
            yield b"".join(reply.piece(piece))
            piece = await events.given.get()
        if isinstance(piece, ModelFault):
            yield sse("error", error=_overloaded(piece).body["error"])
            return
        yield b"".join([*reply.rest(piece), *reply.end(piece)])
        self._keep(asked, reply, piece)
        yield sse("message_stop")

    def _asked(self, body: Mapping[str, Any]) -> Asked:
        thread = body.get("thread") or {}
        held: Sequence[Param] = ()
        if thread.get("type") == "continue":
            known = self._threads.get(thread["previous_message_id"])
            if known is None:
                words = "the thread to continue was not found"
                raise Refusal(404, "not_found_error", words, error_code="thread_not_found")
            held = known
        history = [*held, *body["messages"]]
        shown = {
            "messages": list(seen(history)),
            "sent": len(list(seen(body["messages"]))),
            "params": {key: value for key, value in body.items() if key not in ENVELOPE},
            "tools": [tool["name"] for tool in body["tools"]] if "tools" in body else None,
        }
        wrong = next(unpaired(history, self._paused), None)
        if wrong is not None:
            self._show(shown)
            raise Refusal(400, "invalid_request_error", wrong)
        return Asked(history, shown)

    def _show(self, shown: Mapping[str, Any]) -> None:
        """Let the kit see a request that no model receives: its gate opens, and is given up."""
        request: Any = self.host.infer(**shown)
        request.send(None)
        request.close()

    def _keep(self, asked: Asked, reply: Reply, turn: Turn) -> None:
        if turn.stop_reason == "pause_turn":
            self._paused |= {call.id for call in turn.tool_calls}
        self._threads[reply.id] = [*asked.history, {"role": "assistant", "content": reply.blocks}]

    def _next_id(self) -> str:
        self._replies += 1
        return f"msg_{self._replies}"


def _overloaded(fault: ModelFault) -> Refusal:
    return Refusal(529, "overloaded_error", str(fault))


# -- what the API takes


def unpaired(history: Sequence[Param], paused: set[str] = frozenset()) -> Iterator[str]:  # type: ignore[assignment]
    """What is wrong with the calls and results of a history, as the API words it.

    Messages of one role that follow each other are one turn.  The calls of a paused turn need no result.
    """
    turns = [one for one in history if one["role"] != "system"]
    merged = [[*_all(some)] for _, some in groupby(turns, lambda one: one["role"])]
    for place, blocks in enumerate(merged):
        before = merged[place - 1] if place else []
        after = merged[place + 1] if place + 1 < len(merged) else []
        yield from _wrong_calls(place, blocks, after, paused)
        yield from _wrong_results(place, blocks, before)


def _wrong_calls(place: int, blocks: list[Param], after: list[Param], paused: set[str]) -> Iterator[str]:
    calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    answered = {block["tool_use_id"] for block in after if block["type"] == "tool_result"}
    if len(set(calls)) < len(calls):
        yield f"messages.{place}: `tool_use` ids must be unique"
    lost = [call for call in calls if call not in answered and call not in paused]
    if lost:
        yield (
            f"messages.{place}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(lost)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
            "next message."
        )


def _wrong_results(place: int, blocks: list[Param], before: list[Param]) -> Iterator[str]:
    kinds = [block["type"] == "tool_result" for block in blocks]
    results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    asked = {block["id"] for block in before if block["type"] == "tool_use"}
    for call in results:
        if call not in asked:
            yield (
                f"messages.{place}: unexpected `tool_use_id` found in `tool_result` blocks: {call}. Each "
                "`tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
    if len(set(results)) < len(results):
        yield f"messages.{place}: each tool_use must have a single result"
    if sorted(kinds, reverse=True) != kinds:
        yield f"messages.{place}: `tool_result` blocks must come first in the content of their message"


def _all(messages: Iterator[Param]) -> Iterator[Param]:
    for message in messages:
        yield from blocks_of(message["content"])
