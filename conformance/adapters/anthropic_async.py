"""The tool runners of `anthropic.AsyncAnthropic` behind the hosted interface: its HTTP client ends here."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import anthropic
import httpx2
from anthropic.lib.tools import beta_async_tool

from runlock.conformance.adapters.anthropic_user import CLIENT, Runner
from runlock.conformance.adapters.models.anthropic_messages import returned
from runlock.conformance.adapters.models.anthropic_wire import AsyncWire
from runlock.conformance.families.tool_runner.adapter import Item


class AsyncRunner(Runner):
    """Tools are coroutines, and turns come whole."""

    def _client(self) -> Any:
        http = httpx2.AsyncClient(transport=AsyncWire(self.endpoint), trust_env=False)
        return anthropic.AsyncAnthropic(http_client=http, **CLIENT)

    async def _items(self) -> AsyncGenerator[Item, None]:
        async with aclosing(aiter(self.runner)) as items:
            try:
                async for item in items:
                    yield self._shown(item)
            except GeneratorExit:
                if self._is_under_way:
                    await self.runner.close()
                raise

    def _tool(self, name: str, version: int) -> Any:
        async def body(**args: Any) -> Any:
            return returned(await self.host.tool(None, name, args, version=version))

        return beta_async_tool(body, name=name, description=name, input_schema={"type": "object"})

    async def _respond(self) -> Any:
        return await self.runner.generate_tool_call_response()

    async def _do(self, work: Any) -> None:
        work()

    async def close(self) -> None:
        if self.runner is not None:
            await self.runner.close()


class AsyncStreamRunner(AsyncRunner):
    """The same runner, which also yields streams."""

    stream = [False, True]


class AsyncEagerRunner(AsyncStreamRunner):
    """The same runner, whose tools run while their turn is read."""

    read = ["all"]
    options = {"run_tools_eagerly": True}
    policies = {**Runner.policies, "tools.start": "streaming"}
