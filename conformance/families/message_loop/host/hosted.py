"""Runs a message loop in this process: `Hosted` implements the protocol (`Sut`) on an adapter object."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Coroutine
from typing import Any, Final

from runlock.conformance.families.message_loop.adapter import AdapterFactory
from runlock.conformance.families.message_loop.host.dispatch import plan, plan_all
from runlock.conformance.families.message_loop.host.life import Life
from runlock.conformance.families.message_loop.messages import METHODS, Deliver, Handshake, Scenario
from runlock.conformance.protocol import Empty, Initialize, Inspect, Settle
from runlock.conformance.transport.hosting import (
    answer_or_error,
    check_version,
    has,
    illegal,
    leaks,
    must_have,
    parse,
    refuse_incomplete,
)
from runlock.conformance.transport.world import as_json

LOOP_CONTROL: Final = {"settle": "exact", "clock": "virtual", "step": "turns", "crash": []}
"""Capabilities that every hosted adapter has because it runs on the kit's event loop."""

STIMULI_NEED: Final = {"late": "late", "interactor.gone": "gone", "watch": "watch"}
"""The adapter method that each stimulus needs; without `cancel` the kit cancels the task itself."""


class Hosted:
    """A hosted adapter as the kit's `Sut`."""

    def __init__(self, factory: AdapterFactory) -> None:
        self._factory = factory
        self._lives: list[Life] = []  # of the open scenario, if any
        self._verbs: dict[str, Callable[[Any], dict[str, Any]]] = {
            "initialize": self._initialize,
            "scenario.open": self._open,
            "scenario.close": self._close,
            "shutdown": self._shutdown,
            "settle": self._settle,
            "deliver": self._deliver,
            "inspect": self._inspect,
        }
        weakref.finalize(self, _dispose, self._lives)

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Handle one request of the protocol."""
        asked = parse(METHODS, method, params)
        return answer_or_error(lambda: self._answer(method, asked))

    def kill(self) -> None:
        """Stop immediately, without clean-up."""
        self.close()

    def close(self) -> None:
        """Close the event loop and everything that runs on it."""
        _dispose(self._lives)

    def _answer(self, method: str, asked: Any) -> dict[str, Any]:
        if method in self._verbs:
            return self._verbs[method](asked)
        life = self._living()
        plan(life, method, asked)(0)
        return life.report(asked.turns)

    def _initialize(self, asked: Initialize) -> dict[str, Any]:
        check_version(asked)
        adapter = self._factory()
        refuse_incomplete(adapter, ("open", "start"))
        return effective_handshake(adapter)

    def _open(self, scenario: Scenario) -> dict[str, Any]:
        if self._lives:
            raise illegal("A scenario is open; it must be closed first.")
        life = Life(self._factory(), scenario)
        self._lives.append(life)
        try:
            life.loop.run_until_complete(life.adapter.open(life.host, scenario))
        except BaseException:
            self.close()
            raise
        life.bystanders = frozenset(life.loop.alive())
        return {}

    def _close(self, _: Empty) -> dict[str, Any]:
        life = self._living()
        try:
            return {"leaks": _leaks(life)}
        finally:
            life.wind_up()
            self.close()

    def _shutdown(self, _: Empty) -> dict[str, Any]:
        self.close()
        return {}

    def _settle(self, asked: Settle) -> dict[str, Any]:
        return self._living().report(asked.turns)

    def _deliver(self, asked: Deliver) -> dict[str, Any]:
        life = self._living()
        plans = plan_all(life, [(request.method, request.params) for request in asked.stimuli])
        for stimulus, deliver in enumerate(plans):
            deliver(stimulus)
        return life.report(asked.turns)

    def _inspect(self, _: Inspect) -> dict[str, Any]:
        life = self._living()
        must_have(life.adapter, "inspect")
        seen = life.adapter.inspect()
        shown: dict[str, Any] = as_json(life.loop.run_alone(seen) if isinstance(seen, Coroutine) else seen)
        return shown

    def _living(self) -> Life:
        if not self._lives:
            raise illegal("No scenario is open; scenario.open comes first.")
        return self._lives[-1]


def effective_handshake(adapter: Any) -> dict[str, Any]:
    """The adapter's own handshake, without what its methods lack, plus what the kit's event loop provides."""
    claimed: Handshake = adapter.handshake
    answer = claimed.to_wire()
    answer["protocol"], answer["family"] = claimed.protocol, claimed.family
    store = "kit" if "store.put" in claimed.gates else "none"
    answer["control"] = {**LOOP_CONTROL, "store": store, **claimed.control.to_wire(), "crash": []}
    answer["stimuli"] = [one for one in claimed.stimuli if has(adapter, STIMULI_NEED.get(one, "start"))]
    shown = ["run.finished"] + (["checkpoint"] if "store.put" in claimed.gates else [])
    answer["observes"] = list(dict.fromkeys([*claimed.observes, *shown]))
    return answer


def _dispose(lives: list[Life]) -> None:
    for life in lives:
        life.dispose()
    lives.clear()


def _leaks(life: Life) -> list[dict[str, Any]]:
    """Resources that leak when a session is closed: open gates, running tasks, and a close that fails."""
    found = leaks(life.adapter, life.loop, life.host.open_gates.values(), life.bystanders)
    return [] if life.is_at_work else found
