"""The closed vocabularies of the family: statuses, stop reasons, gates, stimuli."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from runlock.conformance.protocol.declared import OneOf
from runlock.spec.needs import needs_of

RunnerStatus = Literal["Running", "Done"]
StopReasonName = Literal["tool_use", "end_turn", "max_tokens", "refusal", "pause_turn", "stop_sequence"]
RunnerGateKind = Literal["model", "tool", "yield"]
RunnerStimulus = Annotated[str, OneOf(tuple(needs_of("tool-runner")["stimulus"]))]
REQUIRED_GATES: Final = ("model", "tool", "yield")
