"""Short descriptions of the moves and observations of a message loop."""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.message_loop.messages import LISTED, METHODS
from runlock.conformance.families.message_loop.messages.words import released
from runlock.conformance.trace.sentences import Sentences

SENTENCES: Final = Sentences(METHODS, LISTED, {"gate.release": released})
step, shown = SENTENCES.step, SENTENCES.shown
