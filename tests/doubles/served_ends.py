"""The ends of the kit, on a loop of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from runlock.conformance.transport.real_time import RealTime
from runlock.conformance.wires.ends import Ends


@contextmanager
def serving_ends(*tools: str) -> Iterator[Ends]:
    """A model and these tools, `write` and `read` unless named, on any port."""
    ends = Ends(RealTime(), list(tools or ("write", "read")))
    try:
        yield ends
    finally:
        ends.close()
        ends.real.close()
