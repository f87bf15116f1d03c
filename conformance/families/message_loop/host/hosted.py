"""Runs a message loop in this process: `Hosted` implements the protocol (`Sut`) on an adapter object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runlock.conformance.families.message_loop.host.dispatch import PLANS
from runlock.conformance.families.message_loop.host.life import Life
from runlock.conformance.families.message_loop.messages import METHODS
from runlock.conformance.protocol import Inspect
from runlock.conformance.transport.hosted import LOOP_CONTROL, HostedSut
from runlock.conformance.transport.hosting import must_have


class Hosted(HostedSut[Life]):
    """A hosted adapter as the kit's `Sut`."""

    life = Life
    methods = METHODS
    plans = PLANS
    needed = {"late": "late", "interactor.gone": "gone", "watch": "watch"}
    # Without `cancel` the kit cancels the task itself.
    shown_by = {"store.put": "checkpoint"}
    occupied = "A scenario"

    def control_of(self, adapter: Any, claimed: Mapping[str, Any]) -> dict[str, Any]:
        """The kit's loop, and its store where the adapter has a gate for it."""
        store = "kit" if "store.put" in adapter.handshake.gates else "none"
        return {**LOOP_CONTROL, "crash": [], "store": store, **claimed} | {"crash": []}

    def look(self, life: Life, asked: Inspect) -> Any:
        """The snapshot of the session."""
        must_have(life.adapter, "inspect")
        return life.adapter.inspect()
