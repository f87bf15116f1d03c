"""Short descriptions of the moves and observations of a runner."""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.tool_runner.messages import LISTED, METHODS
from runlock.conformance.families.tool_runner.messages.words import released
from runlock.conformance.trace.sentences import Sentences

SENTENCES: Final = Sentences(METHODS, LISTED, {"gate.release": released, "inspect": lambda params: "inspect"})
step, shown = SENTENCES.step, SENTENCES.shown
