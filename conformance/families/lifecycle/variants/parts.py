"""What variants and mutants are made of: the reference with another part, and a body that stays at work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from runlock.machines.lifecycle.runtime.runtime import Runtime


def runtime_with(place: str, part: type) -> type[Runtime]:
    """The reference with another `producer` or `sink`; it has the name and the docstring of that part."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        Runtime.__init__(self, *args, **kwargs)
        setattr(self, place, part(self.world.observe))

    names = {"__module__": part.__module__, "__doc__": part.__doc__}
    return type(part.__name__, (Runtime,), {**names, "__init__": __init__})


async def shielded(body: Awaitable[Any]) -> Any:
    """Wait for a body that stays at work when the wait is cancelled."""
    return await asyncio.shield(body)
