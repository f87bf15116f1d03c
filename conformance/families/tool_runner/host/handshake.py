"""The effective handshake of a hosted runner: its own, less what it lacks, plus what the kit adds."""

from __future__ import annotations

from typing import Any, Final

from runlock.conformance.families.tool_runner.messages import RunnerHandshake
from runlock.conformance.transport.hosting import has

LOOP_CONTROL: Final = {"settle": "exact", "clock": "virtual", "step": "turns", "store": "none", "crash": []}
"""Capabilities that every hosted adapter has because it runs on the kit's event loop."""

NEEDED_METHODS: Final = {
    "runner.push": "push",
    "runner.set.params": "set",
    "runner.set.messages": "set",
    "runner.respond": "respond",
    "runner.tools": "tools",
    "runner.again": "again",
    "cancel": "cancel",
    "cancel.yield": "cancel",
}
"""The adapter method that each stimulus needs."""


def effective_handshake(adapter: Any) -> dict[str, Any]:
    """The handshake that the kit sends on behalf of the adapter."""
    claimed: RunnerHandshake = adapter.handshake
    answer = claimed.to_wire()
    answer["protocol"], answer["family"] = claimed.protocol, claimed.family
    answer["control"] = {**LOOP_CONTROL, **claimed.control.to_wire()}
    answer["stimuli"] = [one for one in claimed.stimuli if has(adapter, NEEDED_METHODS.get(one, "run"))]
    answer["observes"] = _observes(claimed, answer["stimuli"])
    return answer


def _observes(claimed: RunnerHandshake, stimuli: list[str]) -> list[str]:
    derived = ["run.finished"]
    if "runner.respond" in stimuli:
        derived.append("runner.response")
    if True in claimed.runner.stream and "all" in claimed.runner.read:
        derived.append("event")
    return list(dict.fromkeys([*claimed.observes, *derived]))
