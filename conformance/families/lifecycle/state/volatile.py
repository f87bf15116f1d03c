"""What the state knows of a runtime as a whole, and a crash takes away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from runlock.conformance.families.lifecycle.state.calls import Gate
from runlock.conformance.families.lifecycle.state.watchers import Audience


@dataclass(slots=True)
class StateVolatile:
    """The gates at which the runtime waits, and who watches it."""

    open_gates: Sequence[Gate] = ()  # the oldest first
    audience: Audience = field(default_factory=Audience)
