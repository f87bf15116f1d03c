"""Runtimes that differ from the reference in one part: what makes their events, or what takes them."""

from __future__ import annotations

from typing import Any

from runlock.machines.lifecycle.runtime.runtime import Runtime


def runtime_with(place: str, part: type) -> type[Runtime]:
    """The reference with another `producer` or `sink`; it has the name and the docstring of that part."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        Runtime.__init__(self, *args, **kwargs)
        setattr(self, place, part(self.world.observe))

    names = {"__module__": part.__module__, "__doc__": part.__doc__}
    return type(part.__name__, (Runtime,), {**names, "__init__": __init__})
