"""Which clauses are judged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class Selection:
    """The clauses that match one of `only`, if there are any, and none of `skip`; both hold glob patterns.

    `skip` also silences open policies by name: once a runtime was seen to mix the values of a policy, no
    further clause is blamed for that.
    """

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()

    @property
    def with_skipped(self) -> Selection:
        """The same selection without `skip`: what is skipped may explain other violations."""
        return Selection(self.only)

    def has(self, clause: str) -> bool:
        """Whether a clause is judged."""
        chosen = not self.only or any(fnmatchcase(clause, pattern) for pattern in self.only)
        return chosen and not self.skips(clause)

    def skips(self, name: str) -> bool:
        """Whether a clause, or a policy, is left out by name."""
        return any(fnmatchcase(name, pattern) for pattern in self.skip)

    def without(self, names: Iterable[str]) -> Selection:
        """The same selection without these clauses and policies."""
        return replace(self, skip=(*self.skip, *sorted(names)))


EVERYTHING = Selection()
