"""Transports for the HTTP client of the `anthropic` SDK, with the endpoint in place of a network."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Final

import httpx2

from runlock.conformance.adapters.blocking import BlockingThread
from runlock.conformance.adapters.models.anthropic import Endpoint, Events, Refusal

SSE: Final = {"content-type": "text/event-stream"}


class AsyncWire(httpx2.AsyncBaseTransport):
    """Sends requests to the endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(await request.aread())
        try:
            if body.get("stream"):
                return httpx2.Response(200, headers=SSE, stream=AsyncEvents(await self.endpoint.events(body)))
            return httpx2.Response(200, json=await self.endpoint.message(body))
        except Refusal as refusal:
            return httpx2.Response(refusal.status, json=refusal.body)


class AsyncEvents(httpx2.AsyncByteStream):
    """The events of a turn; closing it gives the turn up."""

    def __init__(self, events: Events) -> None:
        self.events = events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for event in self.events.written:
            yield event

    async def aclose(self) -> None:
        await self.events.aclose()


class BlockingWire(httpx2.BaseTransport):
    """Sends requests to the endpoint, and blocks until they are answered."""

    def __init__(self, endpoint: Endpoint, thread: BlockingThread) -> None:
        self.endpoint = endpoint
        self.thread = thread

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.read())
        try:
            if body.get("stream"):
                events = self.thread.ask(self.endpoint.events(body))
                return httpx2.Response(200, headers=SSE, stream=BlockingEvents(events, self.thread))
            return httpx2.Response(200, json=self.thread.ask(self.endpoint.message(body)))
        except Refusal as refusal:
            return httpx2.Response(refusal.status, json=refusal.body)


class BlockingEvents(httpx2.SyncByteStream):
    """The events of a turn; closing it gives the turn up."""

    def __init__(self, events: Events, thread: BlockingThread) -> None:
        self.events = events
        self.thread = thread

    def __iter__(self) -> Iterator[bytes]:
        while (event := self.thread.ask(_next(self.events.written))) is not None:
            yield event

    def close(self) -> None:
        self.thread.ask(self.events.aclose())


async def _next(events: AsyncGenerator[bytes, None]) -> bytes | None:
    return await anext(events, None)
