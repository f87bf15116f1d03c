"""Runs a tool runner in this process: `HostedRunner` implements the protocol (`Sut`) on an adapter object."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from runlock.conformance.families.tool_runner.host.dispatch import PLANS
from runlock.conformance.families.tool_runner.host.life import Life
from runlock.conformance.families.tool_runner.messages import METHODS
from runlock.conformance.protocol import Inspect
from runlock.conformance.transport.hosted import HostedSut
from runlock.conformance.transport.hosting import must_have


class HostedRunner(HostedSut[Life]):
    """A hosted adapter of a tool runner as the kit's `Sut`."""

    life = Life
    methods = METHODS
    plans = PLANS
    required = ("open", "run", "last", "ended")
    needed = {
        "runner.push": "push",
        "runner.set.params": "set",
        "runner.set.messages": "set",
        "runner.respond": "respond",
        "runner.tools": "tools",
        "runner.again": "again",
        "cancel": "cancel",
        "cancel.yield": "cancel",
    }

    def observed_of(self, claimed: Any, stimuli: Collection[str]) -> list[str]:
        """What the user sees: responses that he asks for, and streams that he reads."""
        shown = ["run.finished"]
        if "runner.respond" in stimuli:
            shown.append("runner.response")
        if True in claimed.runner.stream and "all" in claimed.runner.read:
            shown.append("event")
        return shown

    def look(self, life: Life, asked: Inspect) -> Any:
        """The state of the runner, and what the kit knows of the run."""
        must_have(life.adapter, "snapshot")
        state, host, user = life.adapter.snapshot(), life.host, life.user
        shown = state if isinstance(state, Mapping) else _fields(state)
        run = {"status": user.status, "reason": user.reason, "step": host.step, "iteration": host.iteration}
        return {**run, "calls": {}, **{key: value for key, value in shown.items() if value is not None}}


def _fields(state: Any) -> dict[str, Any]:
    return {key: getattr(state, key, None) for key in ("messages", "params", "tools")}
