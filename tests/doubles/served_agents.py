"""Agents of the Agent Client Protocol in this process, each with the ends of the kit that it asks."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import wait
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Any

from served_ends import serving_ends

from runlock.conformance.driving.bench import Bench
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.wires.acp import Acp
from runlock.conformance.wires.acp_server import ServedAgent, ServedAs, until_left
from runlock.conformance.wires.acp_wire import AcpWire
from runlock.conformance.wires.address import DATA, Address, exported
from runlock.conformance.wires.ends import Ends


class Pipes:
    """What a started process is to the kit: its two pipes."""

    def __init__(self) -> None:
        reading, writing = os.pipe(), os.pipe()
        self.theirs = os.fdopen(reading[0], "rb", 0), os.fdopen(writing[1], "wb", 0)
        self.stdin, self.stdout = os.fdopen(reading[1], "wb", 0), os.fdopen(writing[0], "rb", 0)

    def wait(self, timeout: float = 0) -> int:
        """Until it has ended."""
        wait([self.running], timeout)
        return 0


class Inside:
    """An agent on the loop of the ends, in the place of a process."""

    def __init__(self, served: ServedAs, ends: Ends) -> None:
        self._served, self._ends = served, ends
        self._folder = tempfile.TemporaryDirectory(prefix="runlock-agent-")
        self.folder = self._folder.name
        self.running: Any = None

    def twin(self) -> Inside:
        """Another one, with the same data."""
        return copy(self)

    def start(self) -> None:
        """Serve on new pipes."""
        self.process = Pipes()
        self.running = asyncio.run_coroutine_threadsafe(self._serve(self.process), self._ends.real.loop)
        self.process.running = self.running

    async def _serve(self, pipes: Pipes) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        read, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipes.theirs[0])
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, pipes.theirs[1])
        writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        agent = ServedAgent(self._served, {**exported(self._ends.port), DATA: self.folder})
        try:
            await until_left(agent, writer, reader)
        finally:
            transport.close()
            read.close()

    def end(self) -> None:
        """As a process that is killed."""
        if self.running is not None:
            self.running.cancel()

    def tail(self) -> str:
        """What it wrote to its log."""
        return "It wrote nothing."


class InsideWire(AcpWire):
    """A wire to an agent in this process."""

    def __init__(self, served: ServedAs, ends: Ends, **settings: Any) -> None:
        self._served = served
        super().__init__(replace(Address("served", "acp"), **settings), ends)

    def launched(self, words: list[str]) -> Any:
        return Inside(self._served, self.ends)

    @property
    def home(self) -> str:
        """It has none."""
        return self.process.folder if self.process is not None else ""


class Agents:
    """Agents of the kit, and a wire to each of them."""

    def __init__(self, agents: Mapping[str, ServedAs], ends: Ends) -> None:
        self._agents = agents
        self.ends = ends
        self._wires: dict[tuple[str, str], InsideWire] = {}

    def wire(self, name: str, **settings: Any) -> InsideWire:
        """The wire to an agent."""
        key = name, str(settings)
        if key not in self._wires:
            self._wires[key] = InsideWire(self._agents[name], self.ends, **settings)
        return self._wires[key]

    def close(self) -> None:
        """End all of them."""
        for wire in self._wires.values():
            wire.close()

    def bench(self, name: str, **settings: Any) -> Bench:
        """What plays schedules on an agent."""
        wire = self.wire(name, **settings)
        return Bench(lambda: Hosted(lambda: Acp(wire)))


@contextmanager
def serving(agents: Mapping[str, ServedAs]) -> Iterator[Agents]:
    """Serve agents in this process."""
    with serving_ends() as ends:
        found = Agents(agents, ends)
        try:
            yield found
        finally:
            found.close()
