"""The handshake: who speaks, what the runtime claims, what it shows, what it can take."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from runlock.conformance.protocol.observations import LISTED
from runlock.conformance.protocol.vocabulary import (
    PROTOCOL_VERSION,
    SPEC_REVISION,
    GateKind,
    HookOutcome,
    PermissionOutcome,
    PhaseName,
    StimulusKind,
    StreamKind,
    ToolOutcome,
)
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


class DecisionSupport(Wire):
    """What the SUT can take in a decision.

    Without `after_error` one would try again what an error ended; without `after_cancel`, what a cancel did.
    """

    live: bool = True
    ids: bool = True
    suspensions: bool = False
    payload: bool = True
    after_error: bool = True
    after_cancel: bool = True


class OfferedOutcomes(Wire):
    """Outcomes that the SUT can take at each gate; a gate that is left out takes all of them."""

    model: list[Literal["turn", "fault"]] = ["turn", "fault"]
    permission: list[PermissionOutcome] = [
        "allow", "block", "suspend", "set_result",
    ]  # fmt: skip
    tool: list[ToolOutcome] = [
        "ok", "warning", "error", "raise", "fault", "pending",
    ]  # fmt: skip
    hook: list[HookOutcome] = [
        "continue", "terminate", "skip_inference", "rewrite",
    ]  # fmt: skip
    store_put: list[Literal["ok", "fault"]] = Field(default=["ok", "fault"], alias="store.put")


MISSPELT: Final = 0.85  # how alike a word and a listed one are, of 1, where the one is a slip for the other


def _not_misspelt(kind: str) -> str:
    """A slip would leave untested what the runtime does show; a kind of its own may be named."""
    meant = [] if kind in LISTED else get_close_matches(kind, LISTED, n=1, cutoff=MISSPELT)
    if meant:
        raise PydanticCustomError("misspelt", "Input should be '{meant}'", {"meant": meant[0]})
    return kind


ShownKind = Annotated[str, AfterValidator(_not_misspelt)]
"""The kind of an observation: a listed one, or one of the runtime's own."""

ALL_STIMULI: Final[list[StimulusKind]] = [
    "decide", "cancel", "cancel.waiting", "run.input", "run.again", "clock.advance", "deliver",
]  # fmt: skip


class Handshake(Wire):
    """The SUT's half of the handshake: who it is, what it claims, what it shows, what it takes."""

    protocol: int = PROTOCOL_VERSION
    implementation: Party
    family: Literal["lifecycle", "tool-runner", "message-loop"] = "lifecycle"
    profile: str = "core"
    policies: JsonObject = Field(default_factory=dict)
    control: Control = Control()
    gates: list[GateKind] = Field(default=["model", "tool"])
    observes: list[ShownKind] = Field(default_factory=list)
    stimuli: list[StimulusKind] = Field(default=ALL_STIMULI)
    outcomes: OfferedOutcomes = OfferedOutcomes()
    tools: list[Literal["allow", "ask", "gate"]] = Field(default=["allow", "ask", "gate"])
    decisions: DecisionSupport = DecisionSupport()
    hooks: list[PhaseName] = Field(default_factory=list)  # where a plugin can be held, at a hook gate
    streams: list[StreamKind] = Field(default=["native"])  # what a watcher can ask for
