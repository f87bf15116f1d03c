"""What an invariant is: a clause, and a sentence that yields a reason wherever it does not hold.

An invariant yields once for each thing that it judged: `HELD`, or the reason why not.  What yields
nothing has judged nothing, and its clause was not exercised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from interlock.conformance.account import Account
from interlock.conformance.protocol import Observation

HELD: Final = ""

Judgements = Iterator[str]


@dataclass(frozen=True, slots=True)
class Invariant:
    """A check of one clause.

    With `seeing`, it is asked about each observation of that kind before the account takes it in: may
    this be shown here?  Without, it is asked about the account at every quiescent point.

    A patient check sees consequences: its objection waits until the runtime has settled, so that a clause
    that can name the cause speaks first.
    """

    clause: str
    check: Callable[..., Judgements]
    seeing: type[Observation] | None = None
    is_patient: bool = False

    @property
    def title(self) -> str:
        """The sentence that the name of the check is."""
        return self.check.__name__.replace("_", " ")

    def judge(self, account: Account, seen: Any = None) -> Judgements:
        """Yield HELD or a reason for each thing judged."""
        return self.check(account) if self.seeing is None else self.check(account, seen)
