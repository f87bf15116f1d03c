"""JSON-RPC with an agent that is a child process: a message a line."""

from __future__ import annotations

import asyncio
import atexit
import itertools
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

LINE_MAX: Final = 1 << 24

Params = Mapping[str, Any]


class AgentError(Exception):
    """The agent answered a request with an error."""


class AgentClient:
    """One agent process; requests and notifications of the agent go to the two handlers."""

    def __init__(
        self,
        asked: Callable[[str, Params], Coroutine[Any, Any, Params]],
        notified: Callable[[str, Params], None],
    ) -> None:
        self._asked = asked
        self._notified = notified
        self._ids = itertools.count(1)
        self._open: dict[int, asyncio.Future[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, command: Sequence[str], env: Mapping[str, str], folder: Path) -> None:
        """Start the process; what it writes to standard error is not read."""
        self._process = await asyncio.create_subprocess_exec(
            *command, env=env, cwd=folder, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, limit=LINE_MAX,
        )  # fmt: skip
        atexit.register(self.kill)
        self._keep(self._read())

    def kill(self) -> None:
        """End the process."""
        with suppress(ProcessLookupError):
            self._process.kill()

    async def request(self, method: str, params: Params) -> Any:
        """Ask the agent, and wait for its answer."""
        number = next(self._ids)
        self._open[number] = answer = asyncio.get_running_loop().create_future()
        self._write({"id": number, "method": method, "params": params})
        return await answer

    def notify(self, method: str, params: Params) -> None:
        """Tell the agent something that has no answer."""
        self._write({"method": method, "params": params})

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            with suppress(json.JSONDecodeError):  # some agents also log to their standard output
                self._take(json.loads(line))
        for answer in self._open.values():
            answer.set_exception(ConnectionError("the agent ended its output"))
        self._open.clear()

    def _take(self, message: Any) -> None:
        if "method" not in message:
            answer = self._open.pop(message["id"])
            if "error" in message:
                answer.set_exception(AgentError(json.dumps(message["error"])))
            else:
                answer.set_result(message.get("result"))
        elif "id" in message:
            self._keep(self._answer(message))
        else:
            self._notified(message["method"], message["params"])

    async def _answer(self, message: Params) -> None:
        try:
            answer = {"result": await self._asked(message["method"], message["params"])}
        except LookupError as error:
            answer = {"error": {"code": -32601, "message": str(error)}}
        self._write({"id": message["id"], **answer})

    def _write(self, message: Params) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
