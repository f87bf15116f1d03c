"""The handshake and the scenario that unit tests of shared modules use."""

from __future__ import annotations

from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import Handshake, Scenario, ToolSpec
from runlock.conformance.protocol import Party


def handshake(**said: Any) -> Handshake:
    """A runtime that is steered exactly and shows everything, unless it says otherwise."""
    fields = {
        "implementation": {"name": "fake", "version": "1"},
        "control": {
            "settle": "exact",
            "crash": ["soft"],
            "store": "kit",
            "clock": "virtual",
            "step": "turns",
        },
        "observes": ["run.status", "call.status", "message", "checkpoint", "run.finished"],
        "gates": ["model", "tool", "permission"],
        **said,
    }
    return Handshake.model_validate(fields)


HANDSHAKE: Final = handshake()
SCENARIO: Final = Scenario(scenario="s", tools=[ToolSpec(name="write", permission="ask")])
PARTY: Final = Party(name="fake", version="1")
