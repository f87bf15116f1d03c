"""The result of a check on one thing."""

from __future__ import annotations

from typing import NamedTuple


class Judgement(NamedTuple):
    """The result for a clause; `because` is the reason why it is broken, and empty if it holds."""

    clause: str
    because: str = ""
    is_patient: bool = False  # deferred until the runtime has settled
    always: bool = (
        False  # also counted for a clause that is not judged itself, since one of its policies is open
    )
