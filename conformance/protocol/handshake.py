"""The handshake: who speaks, what the runtime claims, what it shows, what it can take."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from typing import Final, Literal

from pydantic import Field
from pydantic_core import PydanticCustomError

from runlock.conformance.protocol.vocabulary import PROTOCOL_VERSION, SPEC_REVISION
from runlock.conformance.protocol.wire import JsonObject, Wire


class VersionRange(Wire):
    """Protocol versions that the kit speaks."""

    min: int = PROTOCOL_VERSION
    max: int = PROTOCOL_VERSION


class Party(Wire):
    """Who speaks."""

    name: str
    version: str
    language: str | None = None


class SpecRevision(Wire):
    """The revision of the clauses that the kit judges by."""

    revision: str = SPEC_REVISION


class Initialize(Wire):
    """The kit's half of the handshake."""

    protocol: VersionRange = VersionRange()
    kit: Party
    spec: SpecRevision = SpecRevision()


class Control(Wire):
    """How far the kit can steer the SUT.  The defaults are the weakest value of each."""

    settle: Literal["exact", "observed"] = "observed"
    crash: list[Literal["soft", "kill"]] = Field(default_factory=list)
    store: Literal["kit", "own", "none"] = "none"
    clock: Literal["virtual", "real"] = "real"
    step: Literal["turns", "none"] = "none"

    @property
    def settles_exactly(self) -> bool:
        """Whether what a quiescent SUT has not shown will not come by itself, so that its silence counts."""
        return self.settle == "exact"


class Handshake(Wire):
    """The SUT's half of the handshake: who it is, what it claims, what it shows; a family adds the rest."""

    protocol: int = PROTOCOL_VERSION
    implementation: Party
    family: str = "lifecycle"
    profile: str
    policies: JsonObject = Field(default_factory=dict)
    control: Control = Control()
    gates: list[str] = Field(default_factory=list)
    observes: list[str] = Field(default_factory=list)
    stimuli: list[str] = Field(default_factory=list)


MISSPELT: Final = 0.85
"""How alike a word and a listed one are, of 1, where the one is a slip for the other."""


def not_misspelt(word: str, listed: Collection[str]) -> str:
    """The word, unless it is a slip for a listed one; a runtime may have kinds of its own."""
    meant = [] if word in listed else get_close_matches(word, listed, n=1, cutoff=MISSPELT)
    if meant:
        raise PydanticCustomError("misspelt", "Input should be '{meant}'", {"meant": meant[0]})
    return word
