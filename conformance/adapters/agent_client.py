"""The process of an agent that speaks JSON-RPC over its standard input and output."""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from runlock.conformance.wires.json_rpc import LINE_MAX, Params, Peer, RpcError

AgentError = RpcError

__all__ = ["AgentClient", "AgentError", "Params"]


class AgentClient:
    """One agent process; requests and notifications of the agent go to the two handlers."""

    def __init__(
        self,
        asked: Callable[[str, Params], Coroutine[Any, Any, Params]],
        notified: Callable[[str, Params], None],
    ) -> None:
        self._asked = asked
        self._peer = Peer(self._take, notified)
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, command: Sequence[str], env: Mapping[str, str], folder: Path) -> None:
        """Start the process; what it writes to standard error is not read."""
        self._process = await asyncio.create_subprocess_exec(
            *command, env=env, cwd=folder, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, limit=LINE_MAX,
        )  # fmt: skip
        atexit.register(self.kill)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._peer.write = self._process.stdin.write
        self._keep(self._peer.read(self._process.stdout))

    def kill(self) -> None:
        """End the process."""
        with suppress(ProcessLookupError):
            self._process.kill()

    async def request(self, method: str, params: Params) -> Any:
        """Ask the agent, and wait for its answer."""
        return await self._peer.request(method, params)

    def notify(self, method: str, params: Params) -> None:
        """Tell the agent something that has no answer."""
        self._peer.notify(method, params)

    def _take(self, number: Any, method: str, params: Params) -> None:
        self._keep(self._answer(number, method, params))

    async def _answer(self, number: Any, method: str, params: Params) -> None:
        try:
            self._peer.answer(number, await self._asked(method, params))
        except LookupError:
            self._peer.decline(number, method)

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
