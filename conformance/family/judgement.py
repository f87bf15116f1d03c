"""What a monitor yields: one thing that was judged."""

from __future__ import annotations

from typing import NamedTuple


class Judgement(NamedTuple):
    """A clause that was judged; `because` says why it is broken, and is empty if it holds."""

    clause: str
    because: str = ""
    is_patient: bool = False  # deferred until the runtime has settled
    always: bool = False  # also counted where the clause is not judged by itself: a policy of it is open
