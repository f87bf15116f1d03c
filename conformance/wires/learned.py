"""What the first runs at an application showed, also in sentences."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runlock.spec.model import load_spec

PROFILES: Final = "ag-ui-"
"""How the names of the profiles begin that stand for a version of the protocol."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What the first runs showed.

    `waits` is how a call that needs an approval waits: as an `interrupt` of its own, in interrupts for the
    round that name no call (`batch`), by a custom event of the older kind (`custom`), as a call without a
    result that the client gives (`result`), or not at all (``).
    """

    waits: str
    answers: tuple[Any, Any]  # what says yes, and what says no
    entered: tuple[str, ...]  # the tools whose bodies were reached
    offered: tuple[str, ...]  # what the model is offered, by the names of the application
    stops: bool  # whether a run ends when its client goes away
    remembers: bool = False  # whether it has the messages of a thread that a request leaves out
    survives: bool = False  # whether a thread goes on after a restart, where the kit can start the runtime
    declares: str = ""  # the version of the protocol that the server says it speaks

    @property
    def profile(self) -> str:
        """The profile of the version that is declared; without one, and for a newer one, the newest."""
        known = [name for name in load_spec("lifecycle").profiles if name.startswith(PROFILES)]
        named = f"{PROFILES}{self.declares}"
        return named if named in known else max(known)

    @property
    def notes(self) -> list[str]:
        """What a person may want to check, in sentences."""
        return list(self._notes())

    def _notes(self) -> Iterator[str]:
        yield f"It is judged as {self.profile}, and says that it speaks {self.declares or 'no version'}."
        yield f"Its model was asked, and is offered {', '.join(self.offered)}."
        yield f"Its tools were reached: {', '.join(self.entered) or 'none before an approval'}."
        yield WAITS[self.waits]
        if self.waits:
            yes, no = (json.dumps(one) for one in self.answers)
            yield f"The answer is {yes} for yes, and {no} for no."
        yield f"A run {'ends' if self.stops else 'goes on'} when its client goes away."
        yield f"A request {'may' if self.remembers else 'may not'} leave out the earlier messages."
        yield f"A thread {'survives' if self.survives else 'is not known to survive'} a restart."


WAITS: Final[Mapping[str, str]] = {
    "interrupt": "A call that waits is an interrupt of its own.",
    "batch": "The calls of a round wait in interrupts that name none.",
    "custom": "The calls of a round wait behind a custom event `on_interrupt`.",
    "result": "A call that waits is one without a result, which the client gives.",
    "": "Nothing waits for an approval.",
}
