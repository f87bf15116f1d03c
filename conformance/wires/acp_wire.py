"""An agent of the Agent Client Protocol that the kit has started, with the ends that it is pointed at."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

from runlock.conformance.errors import AdapterError
from runlock.conformance.wires import wiring
from runlock.conformance.wires.acp_client import SPOKEN, Agent, Session
from runlock.conformance.wires.acp_contact import Ask, Learned, Loaded, Undecided
from runlock.conformance.wires.acp_version import Version
from runlock.conformance.wires.address import Address, exported
from runlock.conformance.wires.ends import SERVER, Ends
from runlock.conformance.wires.json_rpc import Ended, RpcError
from runlock.conformance.wires.launch import Launched
from runlock.conformance.wires.recipes import recipe_of
from runlock.conformance.wires.ui_clients import Json
from runlock.conformance.wires.wiring import Wiring, new_mark

T = TypeVar("T")

LEAVING_SECONDS: Final = 2.0
"""How long an agent may take to end when its client has closed the pipe."""

GREETING_SECONDS: Final = 60.0
"""How long an agent may take until it answers `initialize`, and to begin a session."""


class AcpWire(Wiring):
    """One process of an agent for all schedules, a session for each of them, and what it is known to do."""

    gone_wrong = (RpcError, Ended, AdapterError)

    def __init__(self, address: Address, ends: Ends | None = None) -> None:
        super().__init__(address, ends, 0)
        self._folders = 0
        self._free: list[str] = []  # folders of sessions that are not played any more
        self.other: Agent | None = None  # another process, which loads sessions of the first
        self._there: set[Session] = set()  # those that it has loaded, and that are played
        self._starting = asyncio.Lock()
        try:
            self.agent = self._agent()
            self.real.run(self._until_greeted())
            self.learned: Learned = self.real.run(self._first_contact())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        for agent in (getattr(self, "agent", None), self.other):
            if agent is not None and self.real.loop.is_running():
                self.real.run(agent.stop())
        if self.other is not None:
            self.other.process.end()
        super().close()

    def _agent(self) -> Agent:
        self.recipe = recipe_of(self.address.recipe)
        if self.recipe.login:
            raise AdapterError(f"It cannot be driven without a login: {self.recipe.login}")
        words = self.recipe.words(self.address.url)
        self.exported = exported(self.ends.port)
        self.process = self.launched(words)
        return Agent(self.process, " ".join(words), self.version)

    @property
    def version(self) -> Version:
        """The version of the protocol that it is greeted with: the first one, unless another is asked for."""
        return SPOKEN[int(self.address.protocol or self.recipe.protocol or 1)]

    def launched(self, words: list[str]) -> Launched:
        """The process of a command, which is not started yet."""
        return Launched(words, {}, names="`acp:`", speaks=True, environment=self._environment)

    def _environment(self, folder: str) -> dict[str, str]:
        """The environment in a folder, which is its home from now on."""
        home = str(Path(folder, "home"))
        Path(home).mkdir(exist_ok=True)
        self.home = home
        self.recipe.write(home, home, self.exported)
        return self.recipe.environment_at(home, self.exported)

    async def _until_greeted(self) -> None:
        await self._within(self.agent.start(), "has not answered `initialize`")

    async def _within(self, work: Coroutine[Any, Any, T], what: str) -> T:
        try:
            return await asyncio.wait_for(work, GREETING_SECONDS)
        except TimeoutError:
            wrote = f" It wrote `{self.agent.garbage}`." if self.agent.garbage else ""
            raise AdapterError(
                f"`{self.agent.says}` {what} within {GREETING_SECONDS:.0f} seconds.{wrote}",
                "An agent reads and writes JSON-RPC, a message a line; many need an argument like `--acp`.",
            ) from None

    def new_mark(self) -> str:
        """The name of a thread."""
        return new_mark()

    @property
    def servers(self) -> list[Json]:
        """The tool server of the kit: over HTTP where the agent says that it can, or over a pipe."""
        url = self.exported["RUNLOCK_MCP_URL"]
        if self.agent.offers.http:
            return [{"type": "http", "name": SERVER, "url": url, "headers": []}]
        args = ["-m", "runlock.conformance.wires.mcp_pipe", url]
        paths = [{"name": "PYTHONPATH", "value": ":".join(path for path in sys.path if path)}]
        server = {"name": SERVER, "command": sys.executable, "args": args, "env": paths}
        return [self.agent.version.piped(server)]

    async def session(self) -> Session:
        """A session in a folder that is free, of a process that is started again if it has ended.

        Some agents keep all that they load for a folder.
        """
        async with self._starting:
            if not self.agent.is_alive:
                await self._restart()
        folder = self._free.pop() if self._free else self._new_folder()
        return await self._within(self.agent.new(folder, self.servers), "has not begun a session")

    def _new_folder(self) -> str:
        assert self.process is not None
        self._folders += 1
        folder = Path(self.process.folder, f"workspace-{self._folders}")
        folder.mkdir()
        self.recipe.write(str(folder), self.home, self.exported)
        return str(folder)

    async def load(self, session: Session) -> None:
        """Have another process load a session, which goes on there; raises `RpcError` if it is refused.

        If that process has the session already, and no other one, its client closes the pipe and comes back.
        """
        async with self._starting:
            if self.other is not None and self._there == {session}:
                await self._hang_up(self.other)
            if self.other is None or not self.other.is_alive:
                self.other = await self._another()
            self._there.add(session)
        await self._within(self.other.load(session, self.servers), "has not loaded a session")

    def has_alone(self, session: Session) -> bool:
        """Whether a process has loaded this session, and no other that is played: its pipe can be closed."""
        return self.other is not None and session.agent is self.other and self._there == {session}

    async def hang_up(self, session: Session) -> None:
        """Close the pipe of the process that has this session alone, whatever is under way there."""
        async with self._starting:
            if self.has_alone(session) and self.other is not None:
                await self._hang_up(self.other)

    def leave(self, session: Session) -> None:
        """A session is not played any more."""
        self._there.discard(session)
        self._free.append(session.folder)

    async def _another(self) -> Agent:
        assert self.process is not None
        found = Agent(self.process.twin(), self.agent.says, self.agent.version)
        await self._within(found.start(), "has not answered `initialize`")
        return found

    async def _hang_up(self, agent: Agent) -> None:
        """Close the pipe of a process, which ends by itself or is ended."""
        self.other = None
        await agent.stop()
        with suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(agent.process.process.wait, LEAVING_SECONDS)
        agent.process.end()

    async def _restart(self) -> None:
        assert self.process is not None
        self.process.end()
        await self.agent.stop()
        await self._until_greeted()

    # What the first runs show.

    async def _first_contact(self) -> Learned:
        session = await self.session()
        contact = Ask(self.address, self.ends, new_mark(), session)
        self.ends.seat(contact)
        try:
            await asyncio.wait_for(contact.run(), wiring.CONTACT_SECONDS)
        except TimeoutError:
            raise AdapterError(
                f"The first prompt to `{self.agent.says}` did not end within "
                f"{wiring.CONTACT_SECONDS:.0f} seconds.",
                contact.so_far(),
            ) from None
        except (RpcError, Ended) as error:
            raise AdapterError(
                f"The first prompt to `{self.agent.says}` failed: {error}.",
                f"{contact.so_far()} {self._last_words()}",
            ) from error
        finally:
            self.ends.unseat(contact)
        contact.refuse_unwired()
        takes_unknown = await self._takes_unknown() if contact.session.permissions else None
        loads = self.agent.offers.loads and await self._loads(contact)
        return replace(contact.learned(self.agent, loads), takes_unknown=takes_unknown)

    def _last_words(self) -> str:
        assert self.process is not None
        return self.process.tail()

    async def _takes_unknown(self) -> bool | None:
        """Whether an answer that the agent does not know is an approval, where it may have one."""
        if not self.version.has_open_outcomes:
            return None
        undecided = Undecided([*self.address.ask, *self.address.free][0], new_mark())
        await self.tried(undecided, undecided.prompt(await self.session()))
        return undecided.is_approval

    async def _loads(self, contact: Ask) -> bool:
        """Whether a session goes on after the kit has ended the process and started it again."""
        await self._restart()
        loaded = Loaded(contact.mark)
        return await self.tried(loaded, loaded.goes_on(self.agent, contact.session, self.servers))
