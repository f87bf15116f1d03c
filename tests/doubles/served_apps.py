"""ASGI applications on loopback, each in a thread of its own, with the ends of the kit that they ask."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import uvicorn
from served_ends import serving_ends

from runlock.conformance.driving.bench import Bench
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.transport.real_time import RealTime
from runlock.conformance.wires.address import Address, exported
from runlock.conformance.wires.ag_ui import AgUi
from runlock.conformance.wires.ag_ui_server import Served, app_of
from runlock.conformance.wires.ends import Ends, listening_on
from runlock.conformance.wires.wire import Wire


@contextmanager
def served(app: Any) -> Iterator[str]:
    """Serve an application; gives its URL."""
    real, listening = RealTime(), listening_on(0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
    running = asyncio.run_coroutine_threadsafe(server.serve(sockets=[listening]), real.loop)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = server.force_exit = True
        running.result(timeout=5)
        real.close()


class Site:
    """Applications of the kit at one server, and a wire to each of them."""

    def __init__(self, url: str, ends: Ends) -> None:
        self.url = url
        self.ends = ends
        self._wires: dict[str, Wire] = {}

    def wire(self, name: str, **settings: Any) -> Wire:
        """The wire to an application."""
        if name not in self._wires:
            self._wires[name] = Wire(replace(Address(f"{self.url}/{name}"), **settings), self.ends)
        return self._wires[name]

    def bench(self, name: str, **settings: Any) -> Bench:
        """What plays schedules on an application."""
        wire = self.wire(name, **settings)
        return Bench(lambda: Hosted(lambda: AgUi(wire)))


@contextmanager
def site(applications: Mapping[str, Served]) -> Iterator[Site]:
    """Serve applications, each at a path of its name."""
    with serving_ends() as ends:
        app = app_of({f"/{name}": one for name, one in applications.items()}, exported(ends.port))
        with served(app) as url:
            yield Site(url, ends)
