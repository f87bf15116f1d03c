"""The table of a family's methods, made from the stimuli that it declares."""

from __future__ import annotations

from collections.abc import Sequence

from runlock.conformance.protocol.handshake import Handshake, Initialize
from runlock.conformance.protocol.reports import Empty, Report
from runlock.conformance.protocol.scenario import Closed, Scenario
from runlock.conformance.protocol.stimuli import Crash, Inspect, Stimulus
from runlock.conformance.protocol.wire import Wire

Methods = dict[str, tuple[type[Wire], type[Wire]]]
"""Each method with the models of its parameters and of its answer."""


def methods_of(
    handshake: type[Handshake],
    scenario: type[Scenario],
    report: type[Report],
    snapshot: type[Wire] | None,
    sent: Sequence[type[Stimulus]],
) -> Methods:
    """The methods of every family, and these stimuli; without `snapshot` a run cannot be inspected."""
    return {
        "initialize": (Initialize, handshake),
        "scenario.open": (scenario, Empty),
        "scenario.close": (Empty, Closed),
        "shutdown": (Empty, Empty),
        **{one.method: (one, Empty if issubclass(one, Crash) else report) for one in sent},
        **({"inspect": (Inspect, snapshot)} if snapshot is not None else {}),
    }
