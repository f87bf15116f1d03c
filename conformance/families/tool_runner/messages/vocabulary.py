"""The closed vocabularies of the family: statuses, stop reasons, gates, stimuli."""

from __future__ import annotations

from typing import Final, Literal

RunnerStatus = Literal["Running", "Done"]
StopReasonName = Literal["tool_use", "end_turn", "max_tokens", "refusal", "pause_turn", "stop_sequence"]
RunnerGateKind = Literal["model", "tool", "yield"]
RunnerStimulus = Literal[
    "runner.push", "runner.set.params", "runner.set.messages", "runner.respond", "runner.tools",
    "runner.again", "cancel", "cancel.yield", "clock.advance", "deliver",
]  # fmt: skip
REQUIRED_GATES: Final = ("model", "tool", "yield")
