"""What a mutant is: the reference made wrong on purpose, and the clause that must be blamed for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

from runlock.conformance.families.message_loop.reference import ReferenceAdapter
from runlock.machines.message_loop.runtime.loop import MessageLoop

REFERENCE: Final = "runlock.machines.message_loop.runtime"
"""Where the layers of the reference are that a mutant is made of."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong loop: `make` builds it, `clause` has to be blamed, and `says` stands in the reason.

    Called without arguments it is an adapter of the mutant, so that it can be named as a target.
    """

    make: type[MessageLoop]
    clause: str
    says: str
    profile: str = "message-loop"
    policies: Mapping[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()  # clauses that the same fault breaks by nature, on other schedules
    declare: Mapping[str, Any] = field(default_factory=dict)  # fields of the handshake that say otherwise

    @property
    def name(self) -> str:
        """Its class name, which says what it does wrong."""
        return self.make.__name__

    @property
    def fault(self) -> str:
        """What it does wrong, in one sentence."""
        return " ".join((self.make.__doc__ or self.name).partition("\n\n")[0].split())

    def innocent(self) -> Mutant:
        """The mutant without its fault: the reference under the same profile and policies."""
        right = next(layer for layer in self.make.__mro__ if layer.__module__.startswith(REFERENCE))
        return replace(self, make=right)

    def __call__(self) -> ReferenceAdapter:
        """An adapter of the mutant."""
        return ReferenceAdapter(self.profile, self.policies, self.make, self.declare)


UNSEEN: Final[Mapping[str, Any]] = {"observes": ["message", "checkpoint", "run.finished"], "events": []}
"""A handshake without events: what a mutant does is seen at the gates, and not in what it says."""


class Undeclared(MessageLoop):
    """Follows other values of some policies than it declares."""

    follows: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, world: Any, settings: Any, policies: Mapping[str, Any]) -> None:
        super().__init__(world, settings, {**policies, **self.follows})
