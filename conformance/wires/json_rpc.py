"""JSON-RPC with a process: a message a line.

A request of the other side is answered at any time; also twice, and also one that never was.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

Params = Mapping[str, Any]

LINE_MAX: Final = 1 << 24
UNKNOWN_METHOD: Final = -32601


class RpcError(Exception):
    """The other side answered a request with an error."""

    def __init__(self, error: Any) -> None:
        super().__init__(json.dumps(error))
        self.code = error.get("code") if isinstance(error, Mapping) else None
        self.message = str(error.get("message")) if isinstance(error, Mapping) else str(error)


class Ended(ConnectionError):
    """The other side has ended its output."""


class Peer:
    """One side of a connection.

    `asked` gets the id of a request, its method and its parameters; `notified` a method and parameters;
    `other` what is a line, and no message, or an answer that answers nothing.
    """

    def __init__(
        self,
        asked: Callable[[Any, str, Params], None],
        notified: Callable[[str, Params], None],
        other: Callable[[bytes], None] = lambda line: None,
    ) -> None:
        self._asked, self._notified, self._other = asked, notified, other
        self._ids = itertools.count(1)
        self._open: dict[Any, asyncio.Future[Any]] = {}
        self._arrived: dict[Any, Callable[[Params], None]] = {}  # what each answer is shown to at once
        self.takes_batches = False  # a line may hold several messages, as an array
        self.write: Callable[[bytes], None] = lambda line: None
        self.is_ended = False

    async def read(self, reader: asyncio.StreamReader) -> None:
        """Take messages until the other side ends its output."""
        try:
            while line := await reader.readline():
                self._take_line(line)
        except (ConnectionError, ValueError):  # a line that is longer than any message
            pass
        self.is_ended = True
        for answer in self._open.values():
            if not answer.done():
                answer.set_exception(Ended("the agent ended its output"))
        self._open.clear()

    def _take_line(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        is_batch = self.takes_batches and isinstance(message, list) and bool(message)
        for one in message if is_batch else [message]:
            self._take_one(one, line)

    def _take_one(self, message: Any, line: bytes) -> None:
        if isinstance(message, dict) and ("method" in message or message.get("id") in self._open):
            self._take(message)
        elif line.strip() and not _tells_of_an_error(message):
            self._other(line)

    def _take(self, message: Mapping[str, Any]) -> None:
        params = message.get("params") or {}
        if "method" in message and "id" in message:
            self._asked(message["id"], message["method"], params)
        elif "method" in message:
            self._notified(message["method"], params)
        else:
            self._answered(message)

    def _answered(self, message: Mapping[str, Any]) -> None:
        answer = self._open.pop(message["id"])
        arrived = self._arrived.pop(message["id"], None)
        if arrived is not None:
            arrived(message)
        if answer.done():
            return
        if "error" in message:
            answer.set_exception(RpcError(message["error"]))
        else:
            answer.set_result(message.get("result"))

    def request(
        self, method: str, params: Params, arrived: Callable[[Params], None] | None = None
    ) -> asyncio.Future[Any]:
        """Ask; the future has the answer, an `RpcError`, or `Ended`.

        `arrived` gets the answer before anything that comes after it is read.
        """
        number = next(self._ids)
        if arrived is not None:
            self._arrived[number] = arrived
        self._open[number] = answer = asyncio.get_running_loop().create_future()
        answer.add_done_callback(_seen)  # who asked may have gone
        if self.is_ended:
            answer.set_exception(Ended("the agent has ended its output"))
        else:
            self.send({"id": number, "method": method, "params": params})
        return answer

    def promise(self) -> asyncio.Future[Any]:
        """A future that its owner ends; it fails with `Ended` if the other side ends its output before."""
        made: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        made.add_done_callback(_seen)
        if self.is_ended:
            made.set_exception(Ended("the agent has ended its output"))
        else:
            self._open[made] = made
            made.add_done_callback(lambda done: self._open.pop(done, None))
        return made

    def notify(self, method: str, params: Params) -> None:
        """Say something that has no answer."""
        self.send({"method": method, "params": params})

    def answer(self, number: Any, result: Any) -> None:
        """Answer a request of the other side."""
        self.send({"id": number, "result": result})

    def decline(self, number: Any, method: str) -> None:
        """Answer a request whose method is not known."""
        self.refuse(number, UNKNOWN_METHOD, f"this side has no {method}")

    def refuse(self, number: Any, code: int, message: str) -> None:
        """Answer a request with an error."""
        self.send({"id": number, "error": {"code": code, "message": message}})

    def send(self, message: Params) -> None:
        """Write a message."""
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def _tells_of_an_error(message: Any) -> bool:
    """Whether it is an error of what had no id, as it answers what it could not read."""
    return isinstance(message, dict) and "error" in message and message.get("id", "") is None


def _seen(answer: asyncio.Future[Any]) -> None:
    if not answer.cancelled():
        answer.exception()


def first_line(line: bytes, most: int = 80) -> str:
    """A line as a person reads it in a sentence."""
    text = line.decode("utf-8", "replace").strip()
    return text if len(text) <= most else f"{text[:most]}…"
