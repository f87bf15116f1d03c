"""Mutants of the runtime: the reference made wrong on purpose, and the clause that must be blamed for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from runlock.conformance.families.lifecycle.reference import ReferenceAdapter
from runlock.conformance.families.lifecycle.variants.parts import runtime_with
from runlock.conformance.family.made import Faulty, fault

NO_PROFILE: Final = {"profile": "core", "policies": {}}
"""What a mutant declares that claims the universal core alone."""


@dataclass(frozen=True, slots=True)
class Mutant(Faulty):
    """A wrong runtime; called without arguments it is an adapter, so that it can be named as a target."""

    profile: str = "awaken-8"

    adapter: ClassVar = ReferenceAdapter


def fault_in(place: str, **settled: Any) -> Callable[..., Callable[[type], type]]:
    """What declares a mutant by the one part of it that is wrong: its `producer`, or its `sink`."""

    def declares(clause: str, says: str, **more: Any) -> Callable[[type], type]:
        return lambda part: fault(clause, says, **settled, **more)(runtime_with(place, part))

    return declares
