"""An invariant checks one clause at one point of a scenario.

A check yields once for each thing that it judged: `HELD`, or the reason why the clause is broken.  A check
that yields nothing has judged nothing, and its clause was not exercised.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from runlock.conformance.protocol import Observation

HELD: Final = ""
NOTHING: Final = ""
"""The selector value before a run has shown any observation of the kind."""


class Selectors(NamedTuple):
    """The selector value of an observation within its kind, used to skip checks that do not apply."""

    name_of: Callable[[Any], str]  # (observation)
    newest_of: Callable[
        [Any, Any], str
    ]  # (state, observation): the selector value of the run's previous one of the kind


NO_SELECTORS: Final = Selectors(lambda seen: "", lambda state, seen: NOTHING)

Judgements = Iterator[str]


@dataclass(frozen=True, slots=True)
class Invariant:
    """A check of one clause.

    With `seeing`, it is called for each observation of that kind, before the state includes it, and decides
    whether it is allowed here.  `at` restricts it to these selector values, and `after` to those of the run's
    previous observation of the kind.  Without `seeing`, it is called at every quiescent point.  `behind`
    restricts it to scenarios in which one of these features has occurred.

    A patient check sees consequences: its result is deferred until the runtime has settled, so that a check
    that can name the cause is reported first.
    """

    clause: str
    check: Callable[..., Judgements]
    seeing: type[Observation] | None = None
    at: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    requires: str | None = None
    is_patient: bool = False

    @property
    def title(self) -> str:
        """The name of the check as a sentence."""
        return self.check.__name__.replace("_", " ")

    def is_asked(self, name: str, newest: str, features: Collection[str]) -> bool:
        """Whether the check applies to this observation."""
        is_there = (not self.at or name in self.at) and (not self.after or newest in self.after)
        return is_there and (self.requires is None or self.requires in features)

    def judge(self, state: Any, seen: Any = None) -> Judgements:
        """Yield HELD or a reason for each thing judged."""
        return self.check(state) if self.seeing is None else self.check(state, seen)
