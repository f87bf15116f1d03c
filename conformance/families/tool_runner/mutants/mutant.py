"""What a mutant is: the reference made wrong on purpose, and the clause that must be blamed for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from runlock.conformance.families.tool_runner.reference import ReferenceAdapter
from runlock.machines.tool_runner.runtime.runner import Runner

REFERENCE: Final = "runlock.machines.tool_runner.runtime"
"""Where the layers of the reference are that a mutant is made of."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong runner: `make` builds it, `clause` has to be blamed, and `says` stands in the reason.

    Called without arguments it is an adapter of the mutant, so that it can be named as a target.
    """

    make: type[Runner]
    clause: str
    says: str = ""
    profile: str = "tool-runner"
    policies: Mapping[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()  # clauses that the same fault breaks by nature
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
