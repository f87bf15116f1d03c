"""Moves and observations of the family lifecycle in short readable words."""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.lifecycle.messages import LISTED, METHODS
from runlock.conformance.families.lifecycle.messages.words import other, released
from runlock.conformance.trace.sentences import Sentences

SPELLED: Final = {
    "ag ui": "AG-UI",
    "ai sdk": "AI SDK",
    "copilotkit": "CopilotKit",
    "max rounds": "max_rounds",
}
"""Words of titles as their owners spell them."""

SENTENCES: Final = Sentences(METHODS, LISTED, {"gate.release": released}, race=("race: ", " | "), other=other)
step, shown = SENTENCES.step, SENTENCES.shown
