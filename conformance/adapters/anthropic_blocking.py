"""The tool runner of `anthropic.Anthropic` behind the hosted interface: its HTTP client ends in the kit.

Not declared: streams that are read, since its user waits for the next piece and cannot act meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import anthropic
import httpx2
from anthropic.lib.tools import beta_tool

from runlock.conformance.adapters.anthropic_user import CLIENT, Runner
from runlock.conformance.adapters.blocking import BlockingThread
from runlock.conformance.adapters.models.anthropic_messages import returned
from runlock.conformance.adapters.models.anthropic_wire import BlockingWire
from runlock.conformance.families.tool_runner.adapter import Item, RunnerHost, RunnerScenario


class BlockingRunner(Runner):
    """Tools are functions, in a thread."""

    stream = [False, True]
    read = ["none"]

    async def open(self, host: RunnerHost, scenario: RunnerScenario) -> None:
        self.thread = BlockingThread(asyncio.get_running_loop())
        await super().open(host, scenario)

    def busy(self) -> bool:
        return hasattr(self, "thread") and self.thread.busy()

    def _client(self) -> Any:
        http = httpx2.Client(transport=BlockingWire(self.endpoint, self.thread), trust_env=False)
        return anthropic.Anthropic(http_client=http, **CLIENT)

    async def _items(self) -> AsyncGenerator[Item, None]:
        items = iter(self.runner)
        try:
            while (item := await self.thread.do(lambda: next(items, None))) is not None:
                yield self._shown(item)
        except GeneratorExit:
            if self._is_under_way:
                await self._do(self.runner.close)
            raise

    def _tool(self, name: str, version: int) -> Any:
        def body(**args: Any) -> Any:
            return returned(self.thread.ask(self.host.tool(None, name, args, version=version)))

        return beta_tool(body, name=name, description=name, input_schema={"type": "object"})

    async def _respond(self) -> Any:
        return await self.thread.do(self.runner.generate_tool_call_response)

    async def _do(self, work: Any) -> None:
        await self.thread.do(work)

    async def close(self) -> None:
        await self.thread.close(None if self.runner is None else self.runner.close)
