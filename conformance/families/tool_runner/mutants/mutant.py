"""Mutants of the runner: the reference made wrong on purpose, and the clause that must be blamed for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from runlock.conformance.families.tool_runner.reference import ReferenceAdapter
from runlock.conformance.family.made import Faulty


@dataclass(frozen=True, slots=True)
class Mutant(Faulty):
    """A wrong runner; called without arguments it is an adapter, so that it can be named as a target."""

    profile: str = "tool-runner"

    adapter: ClassVar = ReferenceAdapter
