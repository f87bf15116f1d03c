"""The handshake of a runtime of the family message-loop."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from typing import Annotated, Final

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from runlock.conformance.families.message_loop.messages.observations import LISTED
from runlock.conformance.families.message_loop.messages.vocabulary import (
    BOUNDS,
    EVENTS,
    GATES,
    MODES,
    OUTCOMES,
    SCOPES,
    SLOTS,
    STIMULI,
    TURNS,
)
from runlock.conformance.protocol import handshake as shared
from runlock.conformance.protocol.handshake import not_misspelt
from runlock.conformance.protocol.unknown_keys import Declared

SIMILARITY_MIN: Final = 0.6
"""Minimum similarity (of 1) at which an unknown word is taken for a misspelling of a known one."""


def _one_of(words: Collection[str]) -> AfterValidator:
    """A word of a closed vocabulary; the error for an unknown word suggests the nearest known one."""
    known = ", ".join(words)

    def checked(word: str) -> str:
        if word in words:
            return word
        near = get_close_matches(word, words, n=1, cutoff=SIMILARITY_MIN)
        if near:
            raise PydanticCustomError("misspelt", "Input should be '{meant}'", {"meant": near[0]})
        raise PydanticCustomError("unknown_word", "Input should be one of {known}", {"known": known})

    return AfterValidator(checked)


GateName = Annotated[str, _one_of(GATES)]
StimulusName = Annotated[str, _one_of(STIMULI)]
EventName = Annotated[str, _one_of(EVENTS)]
Slot = Annotated[str, _one_of(SLOTS)]
ModeName = Annotated[str, _one_of(MODES)]
ScopeName = Annotated[str, _one_of(SCOPES)]
TurnName = Annotated[str, _one_of(TURNS)]
BoundName = Annotated[str, _one_of(BOUNDS)]
ShownKind = Annotated[str, AfterValidator(lambda kind: not_misspelt(kind, LISTED))]
"""The kind of an observation: a listed one, or an extension of the runtime."""


class OfferedOutcomes(Declared):
    """Outcomes that the SUT accepts at each gate; a gate that is left out accepts all of them."""

    model: list[Annotated[str, _one_of(OUTCOMES["model"])]] = list(OUTCOMES["model"])
    tool: list[Annotated[str, _one_of(OUTCOMES["tool"])]] = list(OUTCOMES["tool"])
    prompt: list[Annotated[str, _one_of(OUTCOMES["prompt"])]] = ["allow", "deny", "defer"]
    hook: list[Annotated[str, _one_of(OUTCOMES["hook"])]] = list(OUTCOMES["hook"])
    sm: list[Annotated[str, _one_of(OUTCOMES["sm"])]] = ["approve", "out"]
    context: list[Annotated[str, _one_of(OUTCOMES["context"])]] = list(OUTCOMES["context"])
    assert_: list[Annotated[str, _one_of(OUTCOMES["assert"])]] = Field(
        default=["ok", "retry", "fail"], alias="assert"
    )
    store_put: list[Annotated[str, _one_of(OUTCOMES["store.put"])]] = Field(
        default=list(OUTCOMES["store.put"]), alias="store.put"
    )

    def at(self, gate: str) -> Collection[str]:
        """The kinds of outcomes that a gate accepts."""
        field = {"assert": "assert_", "store.put": "store_put"}.get(gate, gate)
        kinds: list[str] = getattr(self, field)
        return kinds


class Handshake(shared.Handshake):
    """The SUT's half of the handshake: identity, claims, reported observations, accepted stimuli."""

    family: str = "message-loop"
    profile: str = "message-loop"
    gates: list[GateName] = Field(default=["model", "tool", "prompt"])
    observes: list[ShownKind] = Field(default_factory=list)
    events: list[EventName] = Field(default=list(EVENTS))
    hooks: list[Slot] = Field(default=list(SLOTS))  # matters only with the gate `hook`
    modes: list[ModeName] = Field(default=list(MODES), min_length=1)
    interactors: int = Field(default=1, ge=0)  # how many can be active at once
    grants: list[ScopeName] = Field(default=list(SCOPES))
    turns: list[TurnName] = Field(default=list(TURNS))
    bounds: list[BoundName] = Field(default=list(BOUNDS))
    stimuli: list[StimulusName] = Field(default=list(STIMULI))
    outcomes: OfferedOutcomes = OfferedOutcomes()

    def shows(self, event: str) -> bool:
        """Whether the SUT publishes events of this name."""
        return "event" in self.observes and event in self.events

    def holds(self, slot: str) -> bool:
        """Whether the kit can place a hook at this slot."""
        return "hook" in self.gates and slot in self.hooks

    def takes(self, gate: str, kind: str) -> bool:
        """Whether a gate can be released with an outcome of this kind."""
        return gate in self.gates and kind in self.outcomes.at(gate)
