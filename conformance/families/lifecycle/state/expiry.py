"""Waits that have an end: when it comes, and what the decision is called that the clock then makes."""

from __future__ import annotations

from runlock.conformance.families.lifecycle.state.records import ObservedCall


def ends_at_ms(call: ObservedCall) -> int | None:
    """When the wait of a call ends; None if it does not wait, or has no end."""
    began = call.waits_began.get(call.suspensions) if call.waits else None
    lasts = call.tool.expires_ms if call.tool is not None else None
    return None if began is None or lasts is None else began + lasts


def expiry_id(call: ObservedCall) -> str:
    """The id of the decision that the clock makes about the wait that is open."""
    return f"expiry-{call.id}-{call.suspensions}"
