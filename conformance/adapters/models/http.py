"""A small HTTP server on loopback: the model endpoint and the tool server of an agent that runs offline.

Each connection serves one request.  A client that hangs up while its answer is being made cancels it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

LINE_MAX: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: its path without the query, and its JSON body."""

    method: str
    path: str
    body: Any


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer: JSON, or server-sent events that are written as they come."""

    body: Any = None
    events: AsyncIterator[bytes] | None = None
    status: int = 200


Handler = Callable[[Asked], Awaitable[Answered]]


class HttpServer:
    """Serves a handler on a free port of loopback."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self.url = ""

    async def start(self) -> None:
        """Listen, and set the URL."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=LINE_MAX)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        """Listen no more."""
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if (asked := await _read(reader)) is None:
                return
            answering = asyncio.create_task(self._answer(asked, writer))
            left = asyncio.create_task(reader.read(1))
            await asyncio.wait({answering, left}, return_when=asyncio.FIRST_COMPLETED)
            left.cancel()
            answering.cancel()  # does nothing to one that is done
            await asyncio.wait({answering})
            if not answering.cancelled():
                answering.result()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        answered = await self._handler(asked)
        if answered.events is None:
            body = b"" if answered.body is None else json.dumps(answered.body).encode()
            writer.write(_head(answered.status, "application/json", len(body)) + body)
        else:
            writer.write(_head(answered.status, "text/event-stream", None))
            async for event in answered.events:
                writer.write(event)
                await writer.drain()
        await writer.drain()


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    """A request, or None if the client left without one."""
    first = (await reader.readline()).decode("latin-1")
    if not first:
        return None
    method, target, _ = first.split(" ", 2)
    headers: dict[str, str] = {}
    while line := (await reader.readline()).decode("latin-1").strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await _body(reader, headers)
    return Asked(method, urlsplit(target).path, json.loads(body) if body else None)


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return await reader.readexactly(int(headers.get("content-length", "0")))
    body = b""
    while size := int((await reader.readline()).split(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body


def _head(status: int, kind: str, length: int | None) -> bytes:
    lines = [f"HTTP/1.1 {status} Answered", f"Content-Type: {kind}", "Connection: close"]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
