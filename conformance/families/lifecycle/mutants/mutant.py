"""Mutants of the runtime: the reference made wrong on purpose, and the clause that must be blamed for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from runlock.conformance.families.lifecycle.reference import ReferenceAdapter
from runlock.conformance.family.made import Faulty

NO_PROFILE: Final = {"profile": "core", "policies": {}}
"""What a mutant declares that claims the universal core alone."""


@dataclass(frozen=True, slots=True)
class Mutant(Faulty):
    """A wrong runtime; called without arguments it is an adapter, so that it can be named as a target."""

    profile: str = "awaken-8"

    adapter: ClassVar = ReferenceAdapter
