"""What a mutant is: the reference made wrong on purpose, and the clause that must be blamed for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runlock.conformance.families.tool_runner.reference import ReferenceAdapter
from runlock.machines.tool_runner.runtime.runner import Runner


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

    def __call__(self) -> ReferenceAdapter:
        """An adapter of the mutant."""
        return ReferenceAdapter(self.profile, self.policies, self.make, self.declare)
