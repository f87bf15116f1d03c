"""What the kit knows: every gate, call, decision and claim of a scenario, folded from its trace.

`state` is the knowledge and how it is asked for; `sent` takes in each stimulus and `shown` each kind of
observation, with `decisions` and `watchers` for what comes from both sides.
"""

from runlock.conformance.families.lifecycle.state.observed_state import Feature, ObservedState, once

__all__ = ["Feature", "ObservedState", "once"]
