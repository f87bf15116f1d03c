"""What hosted adapters and their hosts share in every family: how the outside world breaks, and copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from typing import Any

from pydantic import BaseModel

from runlock.conformance.protocol.wire import SCALARS, Wire
from runlock.machines import world


class WorldFault(Exception):
    """The outside world broke: an error of the runtime's surroundings, not an answer."""


class ModelFault(WorldFault):
    """The model could not be reached, or broke while it answered."""


class ToolFault(WorldFault):
    """The machinery that runs tools broke; the tool itself did not answer."""


class ToolRaised(Exception):
    """The tool's body threw: raise it, or let it pass, where the runtime would meet the tool's own error."""


class Refused(Exception):
    """The runtime turns a verb down, and nothing has changed.

    Name the `decision` (or several) that is at fault if it is known.  The others of the same verb were
    not taken either; to turn one down and take the others, call `host.refuse`.
    """

    def __init__(self, why: str, decision: str | Sequence[str] | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.decisions = (decision,) if isinstance(decision, str) else tuple(decision or ())


@contextmanager
def translated() -> Iterator[None]:
    """Raise the errors of the kit's host as those that a reference knows."""
    try:
        yield
    except ToolRaised as raised:
        raise world.ToolRaised(str(raised)) from raised
    except WorldFault as fault:
        raise world.WorldFault(str(fault)) from fault


def as_json(value: Any) -> Any:
    """A copy of a value as JSON has it, so that what was seen cannot change afterwards."""
    kind = type(value)
    if kind in SCALARS:
        return value
    # most members are scalars, and asked here they take no call
    if kind is list or isinstance(value, (list, tuple)):
        return [member if type(member) in SCALARS else as_json(member) for member in value]
    if kind is dict or isinstance(value, Mapping):  # an abstract class takes longer to say yes
        return {
            str(key): member if type(member) in SCALARS else as_json(member) for key, member in value.items()
        }
    if isinstance(value, (str, int, float)):  # of a kind of its own, such as a member of an enumeration
        return value
    if isinstance(value, Wire):
        return value.to_wire()
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return as_json(asdict(value))
    if isinstance(value, (set, frozenset)):  # it has no order of its own
        return sorted(map(as_json, value), key=str)
    return str(value)
