"""The source of every choice of a schedule: one small interface with several implementations."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final, Protocol, TypeVar

T = TypeVar("T")


class Chooser(Protocol):
    """A source of choices; 0 is always the simplest one."""

    def choose(self, count: int) -> int:
        """One of 0 … count - 1."""
        ...


def pick(chooser: Chooser, options: Sequence[T]) -> T:
    """One of the options."""
    return options[chooser.choose(len(options))]


def chance(chooser: Chooser, one_in: int) -> bool:
    """True with a probability of about one in `once_in`; false is the simple choice."""
    return chooser.choose(one_in) == one_in - 1


class Plain:
    """The chooser that always makes the simplest choice."""

    def choose(self, count: int) -> int:
        return 0


PLAIN: Final = Plain()


class Seeded:
    """Pseudo-random choices: the same seed makes the same choices on every machine."""

    def __init__(self, *seed: int) -> None:
        self._random = random.Random(":".join(str(part) for part in seed))

    def choose(self, count: int) -> int:
        return self._random.randrange(count)
