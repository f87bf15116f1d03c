"""The process of an agent, with its home folder, its model endpoint and its tool server."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from runlock.conformance.adapters.agent_client import AgentClient, Params
from runlock.conformance.adapters.models.http import Answered, Asked, HttpServer
from runlock.conformance.adapters.models.tool_server import ToolServer
from runlock.conformance.errors import AdapterError
from runlock.conformance.transport.real_time import Bridge, RealTime

TOOLS: Final = "/tools/"


class Agent(ABC):
    """What a process has to know of its agent; an instance is a session that it serves."""

    command: ClassVar[tuple[str, ...]]
    greeting: ClassVar[Params]  # with which its client begins
    session_key: ClassVar[str]  # the parameter that names a session
    tools: ToolServer
    bridge: Bridge

    @classmethod
    @abstractmethod
    def settings(cls, home: str, url: str) -> tuple[Mapping[str, str], Mapping[str, Any]]:
        """The environment of the process, and the files in its home folder: text, or what is JSON."""

    @classmethod
    @abstractmethod
    async def opened(cls, process: AgentProcess, folder: Path, tools: str, passing: Sequence[str]) -> str:
        """Begin a session in an empty folder, with a tool server; gives its id.

        The tools in `passing` run without a question.
        """

    @abstractmethod
    async def ask_model(self, asked: Asked) -> Answered:
        """Answer a request to the model."""

    @abstractmethod
    async def asked(self, method: str, params: Params) -> Params:
        """Answer a request of the agent; raises LookupError for one that is not known."""

    @abstractmethod
    def notified(self, method: str, params: Params) -> None:
        """Take a notification of the agent."""


class AgentProcess:
    """One process, which serves one session after another."""

    def __init__(self, agent: type[Agent]) -> None:
        self.agent = agent
        self.real = RealTime()
        self.client = AgentClient(self._asked, self._notified)
        self._folder = tempfile.TemporaryDirectory(prefix="runlock-agent-", ignore_cleanup_errors=True)
        self.home = self._folder.name
        self._session: Agent | None = None
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

    async def open(self, session: Agent, passing: Sequence[str]) -> str:
        """Begin a session, with a folder and a path for its tools of its own; gives its id."""
        self._session = session
        self._sessions += 1
        folder = Path(self.home, f"session-{self._sessions}")
        folder.mkdir()
        return await self.agent.opened(self, folder, f"{self.endpoint.url}{TOOLS}{self._sessions}", passing)

    def close(self) -> None:
        """Take nothing more for a session."""
        self._session = None
        if PROCESSES[self.agent] is not self:
            self.client.kill()

    async def _start(self) -> Any:
        self.endpoint = HttpServer(self._answer)
        await self.endpoint.start()
        env, files = self.agent.settings(self.home, self.endpoint.url)
        write_files(Path(self.home), files)
        whole = {"HOME": self.home, "PATH": _path(), "NO_PROXY": "127.0.0.1", **env}
        await self.client.start(_found(self.agent.command), whole, Path(self.home))
        return await self.client.request("initialize", self.agent.greeting)

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
        if session is None or not self._is_of(session, params):
            raise LookupError("the session is over")
        return await session.asked(method, params)

    def _notified(self, method: str, params: Params) -> None:
        session = self._session
        if session is not None and self._is_of(session, params):
            session.bridge.moved()
            session.notified(method, params)

    def _is_of(self, session: Agent, params: Params) -> bool:
        return params.get(self.agent.session_key) == getattr(session, "id", None)


def write_files(folder: Path, files: Mapping[str, Any]) -> None:
    """Write files into a folder: text, or what is JSON."""
    for name, content in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")


def _path() -> str:
    """Where programs are looked for: first among the packages of this environment."""
    return os.pathsep.join([str(Path(sys.prefix, "node_modules", ".bin")), os.environ.get("PATH", "")])


def _found(command: tuple[str, ...]) -> list[str]:
    program = shutil.which(command[0], path=_path())
    if program is None:
        raise AdapterError(f"There is no `{command[0]}` here.", "Its environment has it: `matrix --install`.")
    return [program, *command[1:]]


PROCESSES: Final[dict[type[Agent], AgentProcess]] = {}


def process_of(agent: type[Agent]) -> AgentProcess:
    """The process for the next session of an agent."""
    if agent not in PROCESSES:
        PROCESSES[agent] = AgentProcess(agent)
    return PROCESSES[agent]
