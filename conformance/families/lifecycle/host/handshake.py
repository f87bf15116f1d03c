"""What a hosted adapter offers: its own handshake, less what it lacks, plus what the kit's loop gives."""

from __future__ import annotations

import inspect
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import Handshake
from runlock.conformance.transport.hosting import has

LOOP_CONTROL: Final = {"settle": "exact", "clock": "virtual", "step": "turns"}
"""What every adapter has for nothing, since it runs on the kit's loop."""

STIMULI_NEED: Final = {
    "decide": "decide", "cancel.waiting": "cancel", "run.input": "input", "watch": "watch",
    "watch.request": "watch",
}  # fmt: skip
"""The method without which a stimulus is not offered; without `cancel` the kit cancels the task itself."""


def takes_decisions(adapter: Any, method: str) -> bool:
    """Whether `start` or `input` takes decisions with its text."""
    return has(adapter, method) and len(inspect.signature(getattr(adapter, method)).parameters) > 1


def effective_handshake(adapter: Any) -> dict[str, Any]:
    """The handshake that the kit answers in the adapter's name."""
    claimed: Handshake = adapter.handshake
    answer = claimed.to_wire()
    answer["protocol"] = claimed.protocol
    answer["control"] = _control(adapter, claimed)
    answer["stimuli"] = [one for one in claimed.stimuli if has(adapter, STIMULI_NEED.get(one, "start"))]
    answer["observes"] = _observes(claimed)
    return answer


def _control(adapter: Any, claimed: Handshake) -> dict[str, Any]:
    said = claimed.control.to_wire()
    control: dict[str, Any] = {**LOOP_CONTROL, **_store(adapter), **said}
    if not has(adapter, "restore"):
        control["crash"] = []
    return control


def _store(adapter: Any) -> dict[str, Any]:
    keeps = has(adapter, "checkpoint") and has(adapter, "restore")
    return {"store": "own", "crash": ["soft"]} if keeps else {"store": "none", "crash": []}


def _observes(claimed: Handshake) -> list[str]:
    shown = ["run.finished"] + (["checkpoint"] if "store.put" in claimed.gates else [])
    return list(dict.fromkeys([*claimed.observes, *shown]))
