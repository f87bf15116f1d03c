"""The handshake of a runtime of the family lifecycle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, model_validator

from runlock.conformance.families.lifecycle.messages.observations import LISTED
from runlock.conformance.families.lifecycle.messages.vocabulary import (
    STIMULUS_KINDS,
    GateKind,
    HookOutcome,
    ModelOutcome,
    PermissionOutcome,
    PhaseName,
    ScopeName,
    StimulusKind,
    StreamKind,
    ToolFeature,
    ToolOutcome,
)
from runlock.conformance.protocol import handshake as shared
from runlock.conformance.protocol.handshake import not_misspelt
from runlock.conformance.protocol.unknown_keys import Declared


class DecisionSupport(Declared):
    """What the SUT can take in a decision.

    Without `after_error` one would try again what an error ended; without `after_cancel`, what a cancel did.
    With `abandon` a request for it can be given up, which rejects its call; with `elsewhere` a decision can
    come on another thread, or in a run that followed.
    """

    live: bool = True  # also while a segment is at work; else only while the run waits
    ids: bool = True  # one that is delivered twice is recognized by its id
    suspensions: bool = False  # it can name the suspension of its call that it answers
    payload: bool = True  # it can bring an answer for the call
    edit: list[Literal["args", "name"]] = []  # what an approval can change of its call
    after_error: bool = True  # a call that an error ended can be decided again
    after_cancel: bool = True  # a call that a cancel ended can be decided again
    abandon: bool = False  # a request for a decision can be given up, which rejects its call
    elsewhere: bool = False  # a decision can come on another thread, or in a later run


class InputSupport(Declared):
    """When the SUT takes `run.input`: also while it is at work, or only while it waits.

    With `newest` a request may leave out the messages of the thread that the SUT has already, and with
    `loaded` a run may come from a client that has loaded the thread.
    """

    working: bool = True  # also while a segment is at work
    newest: bool = False  # a request may leave out the messages that the runtime has already
    loaded: bool = False  # a run may come from a client that has loaded the thread


class OfferedOutcomes(Declared):
    """Outcomes that the SUT can take at each gate; a gate that is left out takes all of them."""

    model: list[ModelOutcome] = ["turn", "fault"]
    permission: list[PermissionOutcome] = [
        "allow", "block", "suspend", "set_result",
    ]  # fmt: skip
    tool: list[ToolOutcome] = [
        "ok", "warning", "error", "raise", "fault", "pending",
    ]  # fmt: skip
    hook: list[HookOutcome] = [
        "continue", "terminate", "skip_inference", "rewrite",
    ]  # fmt: skip
    apply: list[Literal["ok", "fault"]] = ["ok", "fault"]
    store_put: list[Literal["ok", "fault"]] = Field(default=["ok", "fault"], alias="store.put")


ShownKind = Annotated[str, AfterValidator(lambda kind: not_misspelt(kind, LISTED))]
"""The kind of an observation: a listed one, or one of the runtime's own."""

ALL_STIMULI: Final = [one for one in STIMULUS_KINDS if not one.startswith(("watch", "grant"))]
"""What a runtime takes whose handshake names no stimuli."""


SCOPES: Final = "grant.scopes"
"""The policy that `grants` of a handshake says as well."""


class Handshake(shared.Handshake):
    """The SUT's half of the handshake: who it is, what it claims, what it shows, what it takes."""

    family: Literal["lifecycle"] = "lifecycle"
    profile: str = "core"  # the published set of policies that the runtime claims
    # What the runtime awaits of the outside world, and the kit holds.
    gates: list[GateKind] = Field(default=["model", "tool"])  # type: ignore[assignment]
    observes: list[ShownKind] = Field(default_factory=list)  # what `host.observe` shows
    stimuli: list[StimulusKind] = Field(default=ALL_STIMULI)  # what the kit may send
    outcomes: OfferedOutcomes = OfferedOutcomes()  # what the outside world may answer
    tools: list[ToolFeature] = Field(default=["allow", "ask", "gate"])  # what a tool can be
    decisions: DecisionSupport = DecisionSupport()  # what a decision can be
    inputs: InputSupport = InputSupport()  # when new input is taken
    grants: list[ScopeName] = Field(default_factory=list)  # how long an approval may last
    edits: list[Literal["compaction"]] = Field(default_factory=list)  # that a scenario asks for by a bound
    hooks: list[PhaseName] = Field(default_factory=list)  # where a plugin can be held, at a hook gate
    history: list[Literal["status"]] = ["status"]  # what a result has that its model is shown
    state: list[Literal["keys"]] = Field(default_factory=list)  # keys that a scenario registers
    streams: list[StreamKind] = Field(default=["native"])  # what a watcher can ask for
    prompts: Literal[1, 2] = 1  # the version of the Agent Client Protocol that its prompts are of

    @model_validator(mode="before")
    @classmethod
    def _says_its_scopes_once(cls, said: Any) -> Any:
        """How long an approval lasts is an ability and a policy: who says one of them says the other."""
        if not isinstance(said, Mapping):
            return said
        policies = said.get("policies") or {}
        scopes = said.get("grants") or (policies.get(SCOPES) if isinstance(policies, Mapping) else None)
        if not scopes or not isinstance(policies, Mapping):
            return said
        return {**said, "grants": said.get("grants", scopes), "policies": {SCOPES: scopes, **policies}}

    def takes_at(self, gate: str, kind: str) -> bool:
        """Whether a gate can be released with an outcome; who says what follows a cut-off turn takes one."""
        offered: list[str] = getattr(self.outcomes, gate.replace(".", "_"))
        return kind in offered or (f"{gate}.{kind}" == "model.length" and "turn.cut" in self.policies)

    def is_watched(self, by: str) -> bool:
        """Whether someone can watch by `watch`, or by `watch.request`, and has a stream to ask for."""
        return by in self.stimuli and bool(self.streams)
