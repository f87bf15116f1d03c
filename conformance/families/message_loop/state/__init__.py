"""The observed state of a message loop."""

from runlock.conformance.families.message_loop.state.observed_state import ObservedState

__all__ = ["ObservedState"]
