"""The handshake: the two parties, and what the runtime claims, reports and accepts."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from typing import Final, Literal

from pydantic import Field
from pydantic_core import PydanticCustomError

from runlock.conformance.protocol.unknown_keys import Declared
from runlock.conformance.protocol.wire import JsonObject, Wire

PROTOCOL_VERSION: Final = 1
SPEC_REVISION: Final = "1.3"


class VersionRange(Wire):
    """Protocol versions that the kit speaks."""

    min: int = PROTOCOL_VERSION
    max: int = PROTOCOL_VERSION


class Party(Declared):
    """A party of the conversation."""

    name: str
    version: str
    language: str | None = None  # that it is written in
    over: str | None = None  # the protocol by which it is reached, and its version


class SpecRevision(Wire):
    """The revision of the clauses that the kit uses."""

    revision: str = SPEC_REVISION


class Initialize(Wire):
    """The kit's half of the handshake."""

    protocol: VersionRange = VersionRange()
    kit: Party
    spec: SpecRevision = SpecRevision()


class Control(Declared):
    """How far the kit can control the SUT.  The defaults are the weakest value of each."""

    settle: Literal["exact", "observed"] = "observed"  # how it is known that nothing happens any more
    crash: list[Literal["soft", "kill"]] = Field(default_factory=list)  # an object, or its process, is gone
    told: Literal["kept", "lost"] = "lost"  # in a crash: what a client was told when a run came to wait
    uncrashed: str = ""  # why it cannot be crashed, where more is known of that
    store: Literal["kit", "own", "none"] = "none"  # who keeps checkpoints
    clock: Literal["virtual", "real"] = "real"  # whether the kit advances it
    step: Literal["turns", "none"] = "none"  # whether the kit can stop it between two turns of its loop

    @property
    def settles_exactly(self) -> bool:
        """Whether a quiescent SUT does nothing more until the next stimulus, so that its silence is
        evidence."""
        return self.settle == "exact"


class Handshake(Declared):
    """The SUT's half of the handshake: its identity, claims and observations; a family adds the rest."""

    protocol: int = PROTOCOL_VERSION  # the version that the adapter speaks
    implementation: Party  # the name and version of the runtime
    family: str = "lifecycle"
    profile: str
    policies: JsonObject = Field(default_factory=dict)  # the value of each policy that is declared
    control: Control = Control()  # filled in for a Python adapter; what it declares itself wins
    notes: list[str] = Field(default_factory=list)  # what a person may want to check, in sentences
    gates: list[str] = Field(default_factory=list)
    observes: list[str] = Field(default_factory=list)
    stimuli: list[str] = Field(default_factory=list)


MISSPELT: Final = 0.85
"""The similarity, of 1, from which a word counts as a misspelling of a listed one."""


def not_misspelt(word: str, listed: Collection[str]) -> str:
    """The word, unless it is a misspelling of a listed one; a runtime may have kinds of its own."""
    meant = [] if word in listed else get_close_matches(word, listed, n=1, cutoff=MISSPELT)
    if meant:
        raise PydanticCustomError("misspelt", "Input should be '{meant}'", {"meant": meant[0]})
    return word
