"""A runtime behind a wire, with the ends that it is pointed at: what all wires share."""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Coroutine
from itertools import count
from typing import Any, Final
from uuid import uuid4

from runlock.conformance.transport.real_time import RealTime
from runlock.conformance.wires.address import Address
from runlock.conformance.wires.ends import Ends, Guest
from runlock.conformance.wires.launch import Launched
from runlock.conformance.wires.rest import Pace

CONTACT_SECONDS: Final = 20.0
"""How long the first run of an application may take."""

PROCESS: Final = uuid4().hex[:8]
"""What a server that outlives the kit has not met as the name of a thread; it is shown nowhere."""

THREADS: Final = count(1)


def new_mark() -> str:
    """What nothing else in a request looks like: the name of a thread."""
    return f"~{PROCESS}.{next(THREADS)}~"


class Wiring:
    """The ends of one runtime, and the process of it that the kit started."""

    gone_wrong: tuple[type[Exception], ...] = ()
    """What a trial run may raise that says no."""

    def __init__(self, address: Address, ends: Ends | None, port: int) -> None:
        self.address = address
        self.pace = Pace()
        self._owns_ends = ends is None
        self.ends = ends or Ends(RealTime(), [*address.ask, *address.free], port)
        self.real = self.ends.real
        self.process: Launched | None = None
        atexit.register(self.close)

    def close(self) -> None:
        """End what the kit started."""
        if self.process is not None:
            self.process.end()
        if self._owns_ends:
            self.ends.close()

    async def tried(self, guest: Guest, work: Coroutine[Any, Any, bool]) -> bool:
        """What a run shows with this guest; no, if it goes wrong or does not end."""
        self.ends.seat(guest)
        try:
            return await asyncio.wait_for(work, CONTACT_SECONDS)
        except Exception as error:
            if isinstance(error, (TimeoutError, *self.gone_wrong)):
                return False
            raise
        finally:
            self.ends.unseat(guest)
