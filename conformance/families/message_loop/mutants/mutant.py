"""Mutants of the loop: the reference made wrong on purpose, and the clause that must be blamed for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from runlock.conformance.families.message_loop.reference import ReferenceAdapter
from runlock.conformance.family.made import Faulty
from runlock.machines.message_loop.runtime.loop import MessageLoop


@dataclass(frozen=True, slots=True)
class Mutant(Faulty):
    """A wrong loop; called without arguments it is an adapter, so that it can be named as a target."""

    profile: str = "message-loop"

    adapter: ClassVar = ReferenceAdapter


UNSEEN: Final[Mapping[str, Any]] = {"observes": ["message", "checkpoint", "run.finished"], "events": []}
"""A handshake without events: what a mutant does is seen at the gates, and not in what it says."""


class Undeclared(MessageLoop):
    """OtherPolicies other values of some policies than it declares."""

    follows: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, world: Any, settings: Any, policies: Mapping[str, Any]) -> None:
        super().__init__(world, settings, {**policies, **self.follows})
