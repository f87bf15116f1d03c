"""SEND_REQUEST and STREAM_RESPONSE: sends the request, and receives the response part by part."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from copy import deepcopy
from typing import Any

from runlock.machines.message_loop.runtime.composing import Composing
from runlock.machines.message_loop.runtime.hooking import Denied, Occasion
from runlock.machines.message_loop.runtime.records import PassRecord, Response, TurnFault
from runlock.machines.message_loop.runtime.world import StreamPart, WorldFault


class ResponseStream:
    """An open request: the parts received so far, and those to come."""

    def __init__(self, id: str, parts: AsyncIterator[StreamPart]) -> None:
        self.id = id
        self.parts = parts
        self.arrived = ""  # text as the provider sent it
        self.text = ""  # text as the transforms rewrote it
        self.has_delta = False
        self.is_over = False
        self.first: asyncio.Future[StreamPart] | None = None

    async def open(self) -> None:
        """Send the request without waiting for its answer."""
        self.first = asyncio.ensure_future(self._next())
        await asyncio.sleep(0)

    async def next(self) -> StreamPart:
        """The next part."""
        first, self.first = self.first, None
        return await (first if first is not None else self._next())

    async def _next(self) -> StreamPart:
        return await anext(self.parts)

    async def close(self) -> None:
        """Stop waiting for further parts."""
        if self.first is not None and not self.first.done():
            self.first.cancel()
            await asyncio.wait([self.first])
        closing = getattr(self.parts, "aclose", None)
        if closing is not None:
            await closing()


class Responding(Composing):
    """Sends requests and consumes responses."""

    async def respond(self, p: PassRecord, request: dict[str, Any]) -> Response:
        """Send a request, and return the whole response."""
        async with self.opened(p) as streams:
            stream = await self.send(p, request, streams)
            p.chart.send("stream")
            return await self.consume(p, request, stream, streams)

    @asynccontextmanager
    async def opened(self, p: PassRecord) -> AsyncIterator[list[ResponseStream]]:
        """Close every stream at the end; keep the text of one that ended early if the policy says so."""
        streams: list[ResponseStream] = []
        try:
            yield streams
        finally:
            for stream in streams:
                await stream.close()
            if streams and not streams[-1].is_over:
                self.keep_partial_text(p, streams[-1])

    def keep_partial_text(self, p: PassRecord, stream: ResponseStream) -> None:
        """Append the text of a response that ended early, if the policy says so."""
        if stream.text and self.policies["partial.text"] == "kept":
            self.append(p, {"role": "assistant", "text": stream.text})

    async def send(
        self, p: PassRecord, request: dict[str, Any], streams: list[ResponseStream]
    ) -> ResponseStream:
        """Send a request to the provider."""
        shown = {key: deepcopy(request[key]) for key in ("system", "messages", "tools")}
        occasion = Occasion("SEND_REQUEST", shown, p.scope)
        async with self.stage(p, "SEND_REQUEST"):
            await self.ask_hooks(p, occasion, "pre")
            occasion.chart.send("begin")
            request.update(occasion.data)
            p.scope.heed()
            stream = await self.open_stream(p, request, streams)
            occasion.chart.send("complete")
            occasion.data = {}
            await self.ask_hooks(p, occasion, "post")
            occasion.chart.send("finish")
            return stream

    async def open_stream(
        self, p: PassRecord, request: dict[str, Any], streams: list[ResponseStream]
    ) -> ResponseStream:
        """Open the stream of a request."""
        self.requests += 1
        stream = ResponseStream(f"request-{self.requests}", self.world.stream(request, p.stage))
        streams.append(stream)
        self.publish("ProviderRequestStarted", p, request=stream.id)
        await stream.open()
        return stream

    async def consume(
        self, p: PassRecord, request: dict[str, Any], stream: ResponseStream, streams: list[ResponseStream]
    ) -> Response:
        """Consume a response until it is complete."""
        async with self.stage(p, "STREAM_RESPONSE"):
            while True:
                try:
                    return await self.read(p, stream)
                except WorldFault as fault:
                    self.publish("ProviderRequestFailed", p, request=stream.id, message=str(fault))
                    if self.policies["model.fault"] == "end_run" or stream.has_delta:
                        raise TurnFault(f"the model failed: {fault}") from fault
                finally:
                    await stream.close()
                p.scope.heed()
                p.chart.send("send_again")
                stream = await self.open_stream(p, request, streams)

    async def read(self, p: PassRecord, stream: ResponseStream) -> Response:
        """Read parts until the response is complete; text is published as it arrives."""
        while True:
            part: Any = await p.scope.outside(stream.next())
            if part.kind == "delta":
                stream.has_delta = True
                await self.take_text(p, stream, part.text)
                continue
            await self.take_text(p, stream, part.text[len(stream.arrived) :])
            return await self.complete(p, stream, Response(stream.text, part.tool_calls, part.terminal))

    async def take_text(self, p: PassRecord, stream: ResponseStream, text: str) -> None:
        """Show text to the hooks, and publish it as they rewrote it."""
        stream.arrived += text
        if not text:
            return
        occasion = Occasion("STREAM_RESPONSE", {"text": text}, p.scope)
        try:
            await self.ask_hooks(p, occasion, "pre")
        except Denied as denied:
            self.publish("ProviderRequestFailed", p, request=stream.id, message=f"cut off: {denied}")
            raise
        left = str(occasion.data["text"])
        stream.text += left
        if left:
            self.publish("ProviderTokensStreamed", p, request=stream.id, text=left)

    async def complete(self, p: PassRecord, stream: ResponseStream, response: Response) -> Response:
        """Mark a response as complete, so that it is used."""
        occasion = Occasion("STREAM_RESPONSE", {"text": response.text}, p.scope)
        occasion.chart.send("begin")
        occasion.chart.send("complete")
        self.publish("ProviderRequestCompleted", p, request=stream.id)
        await self.ask_hooks(p, occasion, "post")
        occasion.chart.send("finish")
        p.scope.heed()  # a response that a cancel interrupted gets no round; at most its text is kept
        stream.is_over = True
        return response
