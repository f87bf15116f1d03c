"""The process of an agent, with its home folder, its model endpoint and its tool server."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from runlock.conformance.adapters.acp_client import AcpClient, Params
from runlock.conformance.adapters.models.http import Answered, Asked, HttpServer
from runlock.conformance.adapters.real_time import RealTime
from runlock.conformance.errors import AdapterError

if TYPE_CHECKING:
    from runlock.conformance.adapters.acp import AcpAdapter

TOOLS: Final = "/tools/"
CAPABILITIES: Final = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}


class AgentProcess:
    """One process, which serves one session after another."""

    def __init__(self, agent: type[AcpAdapter]) -> None:
        self.agent = agent
        self.real = RealTime()
        self.client = AcpClient(self._asked, self._notified)
        self._folder = tempfile.TemporaryDirectory(prefix="runlock-agent-", ignore_cleanup_errors=True)
        self.home = self._folder.name
        self._session: AcpAdapter | None = None
        self._sessions = 0
        self.starting = asyncio.run_coroutine_threadsafe(self._start(), self.real.loop)

    @property
    def info(self) -> Params:
        """What the agent says of itself; waits until it has started."""
        return self.starting.result()

    def replace(self) -> None:
        """Start a process for the sessions to come: this one remembers something that they must not meet."""
        if PROCESSES[self.agent] is self:
            PROCESSES[self.agent] = AgentProcess(self.agent)

    async def open(self, session: AcpAdapter, folder: str) -> str:
        """Begin a session, whose tools have a path of their own; gives its id."""
        self._session = session
        self._sessions += 1
        server = {"type": "http", "name": "kit", "url": f"{self.endpoint.url}{TOOLS}{self._sessions}"}
        opened = await self.client.request(
            "session/new", {"cwd": folder, "mcpServers": [{**server, "headers": []}]}
        )
        return str(opened["sessionId"])

    def close(self) -> None:
        """Take nothing more for a session."""
        self._session = None
        if PROCESSES[self.agent] is not self:
            self.client.kill()

    async def _start(self) -> Any:
        self.endpoint = HttpServer(self._answer)
        await self.endpoint.start()
        env, files = self.agent.settings(self.home, self.endpoint.url)
        for name, content in files.items():
            path = Path(self.home, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(content), "utf-8")
        whole = {"HOME": self.home, "PATH": _path(), "NO_PROXY": "127.0.0.1", **env}
        await self.client.start(_found(self.agent.command), whole, Path(self.home))
        return await self.client.request(
            "initialize", {"protocolVersion": 1, "clientCapabilities": CAPABILITIES}
        )

    async def _answer(self, asked: Asked) -> Answered:
        session = self._session
        if session is None:
            return Answered({}, status=503)
        if asked.path.startswith(TOOLS):
            if asked.path != f"{TOOLS}{self._sessions}":
                return Answered({}, status=404)
            return await session.tools.answer(asked)
        return await session.ask_model(asked)

    async def _asked(self, method: str, params: Params) -> Params:
        session = self._session
        if method != "session/request_permission":
            raise LookupError(f"the client has no {method}")
        if session is None or params["sessionId"] != session.session:
            return {"outcome": {"outcome": "cancelled"}}
        return await session.permit(params)

    def _notified(self, method: str, params: Params) -> None:
        session = self._session
        is_open = session is not None and params.get("sessionId") == getattr(session, "session", None)
        if session is not None and is_open and method == "session/update":
            session.update(params)


def _path() -> str:
    """Where programs are looked for: first among the packages of this environment."""
    return os.pathsep.join([str(Path(sys.prefix, "node_modules", ".bin")), os.environ.get("PATH", "")])


def _found(command: tuple[str, ...]) -> list[str]:
    program = shutil.which(command[0], path=_path())
    if program is None:
        raise AdapterError(f"There is no `{command[0]}` here.", "Its environment has it: `matrix --install`.")
    return [program, *command[1:]]


PROCESSES: Final[dict[type[AcpAdapter], AgentProcess]] = {}


def process_of(agent: type[AcpAdapter]) -> AgentProcess:
    """The process for the next session of an agent."""
    if agent not in PROCESSES:
        PROCESSES[agent] = AgentProcess(agent)
    return PROCESSES[agent]
