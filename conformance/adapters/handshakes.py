"""What the agent libraries have in common: a decision says yes or no to a call, and begins a new segment."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

from pydantic import JsonValue

from interlock.conformance.protocol import DecisionSupport, Handshake, OfferedOutcomes, Party, ToolOutcome


def yes_or_no(
    name: str,
    package: str,
    *,
    tool: list[ToolOutcome],
    policies: Mapping[str, JsonValue],
    after_error: bool = True,
    after_cancel: bool = True,
) -> Handshake:
    """The handshake of such a library: `tool` is what a tool may do, the rest is as in the protocol."""
    return Handshake(
        implementation=Party(name=name, version=version(package), language="python"),
        policies=dict(policies),
        gates=["model", "tool"],
        stimuli=["decide", "cancel", "run.again", "run.input", "clock.advance", "deliver"],
        outcomes=OfferedOutcomes(tool=tool),
        tools=["allow", "ask"],
        decisions=DecisionSupport(
            live=False,
            ids=False,
            suspensions=False,
            payload=False,
            after_error=after_error,
            after_cancel=after_cancel,
        ),
    )
