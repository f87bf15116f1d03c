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
    """What names an observation among those of its kind, so that fewer checks need to be asked."""

    name_of: Callable[[Any], str]  # (observation)
    newest_of: Callable[
        [Any, Any], str
    ]  # (state, observation): the name of the run's previous one of the kind


NO_SELECTORS: Final = Selectors(lambda seen: "", lambda state, seen: NOTHING)

Judgements = Iterator[str]


@dataclass(frozen=True, slots=True)
class Invariant:
    """A check of one clause.

    With `seeing`, it is asked about each observation of that kind before the state takes it in: may
    this be shown here?  With `at`, only about those that bear one of these names, since it judges no other;
    with `after`, only where the one of its kind that the run showed before bore one of these.  Without
    `seeing`, it is asked about the state at every quiescent point.  With `behind`, only once the scenario
    has come to that.

    A patient check sees consequences: its objection waits until the runtime has settled, so that a clause
    that can name the cause speaks first.
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
        """The sentence that the name of the check is."""
        return self.check.__name__.replace("_", " ")

    def is_asked(self, name: str, newest: str, features: Collection[str]) -> bool:
        """Whether it is asked about what bears this name, after that one, in a scenario that came to this."""
        is_there = (not self.at or name in self.at) and (not self.after or newest in self.after)
        return is_there and (self.requires is None or self.requires in features)

    def judge(self, state: Any, seen: Any = None) -> Judgements:
        """Yield HELD or a reason for each thing judged."""
        return self.check(state) if self.seeing is None else self.check(state, seen)
