"""A runtime in this process behind the protocol's verbs: `Hosted` is the `Sut` over a hosted adapter.

It keeps the scenario and the lives that the runtime has in it, one after each crash, and answers every
verb.  An answer that is an error has changed nothing, except where the runtime itself broke.
"""

from __future__ import annotations

import atexit
import weakref
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Final

from runlock.conformance.families.lifecycle.adapter import AdapterFactory, Refused
from runlock.conformance.families.lifecycle.host.dispatch import plan, plan_all
from runlock.conformance.families.lifecycle.host.handshake import effective_handshake
from runlock.conformance.families.lifecycle.host.kit_host import Counts
from runlock.conformance.families.lifecycle.host.life import Life, Verb
from runlock.conformance.families.lifecycle.messages import METHODS, Deliver, Scenario
from runlock.conformance.protocol import Crash, Empty, Initialize, Inspect, Recover, Settle
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

KILLED: Final[deque[Life]] = deque()
"""Lives that were killed: kept for a while, since collecting them would run their clean-up."""
KILLED_MAX: Final = 64

NOTHING: Final = object()
"""What is durable when nothing is; None may be what a runtime with a store of its own is restored from."""


class Hosted:
    """A hosted adapter as the kit's `Sut`."""

    def __init__(self, factory: AdapterFactory) -> None:
        self._factory = factory
        self._scenario: Scenario | None = None
        self._life: Life | None = None
        self._lives: list[Life] = []  # the living one, if any, and those that crashed
        self._kept: Any = NOTHING
        self._asking = 0
        self._verbs: dict[str, Callable[[Any], dict[str, Any]]] = {
            "initialize": self._initialize,
            "scenario.open": self._open,
            "scenario.close": self._close,
            "shutdown": self._shutdown,
            "settle": self._settle,
            "deliver": self._deliver,
            "crash": self._crash,
            "recover": self._recover,
            "inspect": self._inspect,
        }
        # A dropped SUT takes its lives with it; left to the collector, their clean-up would run.
        weakref.finalize(self, _bury, self._lives)

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """One verb of the protocol, and its answer."""
        asked = parse(METHODS, method, params)
        return answer_or_error(lambda: self._answer(method, asked))

    def _answer(self, method: str, asked: Any) -> dict[str, Any]:
        if method in self._verbs:
            return self._verbs[method](asked)
        life = self._living()
        plan(life, method, asked)(0)
        return life.report(asked.turns)

    def kill(self) -> None:
        """End it at once; its clean-up does not run while anyone looks."""
        if not KILLED:
            atexit.register(_bury, KILLED)
        for life in self._lives:
            life.die()
        KILLED.extend(self._lives)
        while len(KILLED) > KILLED_MAX:
            KILLED.popleft().bury()
        self._forget_all()

    def close(self) -> None:
        """Give back the loops and whatever stands on them."""
        _bury(self._lives)
        self._forget_all()

    def _initialize(self, asked: Initialize) -> dict[str, Any]:
        check_version(asked)
        adapter = self._factory()
        refuse_incomplete(adapter, ("open", "start"))
        return effective_handshake(adapter)

    def _open(self, scenario: Scenario) -> dict[str, Any]:
        if self._scenario is not None:
            raise illegal(f"Scenario {self._scenario.scenario} is open; it must be closed first.")
        self._kept = NOTHING
        life = self._live(scenario, Counts())
        self._scenario = scenario
        try:
            life.loop.run_until_complete(life.adapter.open(life.host, scenario))
        except BaseException:
            self.close()
            raise
        life.bystanders = frozenset(life.loop.alive())
        return {}

    def _close(self, _: Empty) -> dict[str, Any]:
        self._opened()
        try:
            return {"leaks": _leaks(self._life) if self._life is not None else []}
        finally:
            if self._life is not None and not self._life.host.dead:
                self._life.wind_up()
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

    def _crash(self, _: Crash) -> dict[str, Any]:
        life = self._living()
        must_have(life.adapter, "restore")
        life.host.dead = True  # from here on nothing that it does can reach the world
        self._asking = sum(
            gate.on == "model" and gate.asked == life.counts.asked for gate in life.host.open_gates.values()
        )
        if has(life.adapter, "checkpoint"):
            kept = life.loop.run_alone(life.adapter.checkpoint())
            self._kept = NOTHING if kept is None else kept
        life.die()
        self._life = None
        return {}

    def _recover(self, asked: Recover) -> dict[str, Any]:
        scenario = self._opened()
        counts = self._counts_to_recover(asked.run)
        life = self._live(scenario, counts)
        must_have(life.adapter, "restore")
        life.loop.advance(asked.now_ms or 0)
        counts.recovered(asked.run, asked.store, self._asking)
        verb = Verb("recover", asked.run, undo=lambda: _forget(counts))
        life.begin(verb, self._restoring(life, verb, self._durable(life, asked.store)))
        return life.report(asked.turns)

    def _counts_to_recover(self, run: str) -> Counts:
        """A life that has run nothing yet may be the one after a kill; any other did not crash."""
        counts = self._lives[-1].counts
        if self._life is not None:
            if counts.run is not None or counts.past:
                raise illegal("Nothing crashed, so there is nothing to recover from.")
            self._life.die()
        if counts.run not in {None, run}:
            raise illegal(f"There is no run {run}; the run at hand was {counts.run}.")
        return counts

    def _durable(self, life: Life, store: Any) -> Any:
        if store is not None:
            return store
        if life.adapter.handshake.control.store == "kit":
            return NOTHING
        return self._kept if has(life.adapter, "checkpoint") else None

    async def _restoring(self, life: Life, verb: Verb, durable: Any) -> Any:
        try:
            if durable is NOTHING:
                raise Refused("nothing was durable")
            await life.adapter.restore(life.host, life.scenario, durable)
        except Exception:
            # The run never was: the runtime is as new, and can start another.
            life.adapter = self._factory()
            await life.adapter.open(life.host, life.scenario)
            raise
        verb.touched = True
        return await life.adapter.resume_run(verb.run) if has(life.adapter, "resume_run") else None

    def _inspect(self, asked: Inspect) -> dict[str, Any]:
        life = self._living()
        must_have(life.adapter, "inspect")
        seen = life.adapter.inspect(asked.run)
        shown: dict[str, Any] = as_json(life.loop.run_alone(seen) if isinstance(seen, Coroutine) else seen)
        return shown

    def _opened(self) -> Scenario:
        if self._scenario is None:
            raise illegal("No scenario is open; scenario.open comes first.")
        return self._scenario

    def _living(self) -> Life:
        self._opened()
        if self._life is None:
            raise illegal("The runtime crashed; recover comes first.")
        return self._life

    def _live(self, scenario: Scenario, counts: Counts) -> Life:
        self._life = life = Life(self._factory(), scenario, counts)
        self._lives.append(life)
        return life

    def _forget_all(self) -> None:
        self._life, self._scenario = None, None
        self._lives.clear()


def _forget(counts: Counts) -> None:
    counts.begin(None)


def _bury(lives: Iterable[Life]) -> None:
    for life in lives:
        life.bury()


def _leaks(life: Life) -> list[dict[str, Any]]:
    """What a thread still holds when its run is Done."""
    found = leaks(life.adapter, life.loop, life.host.open_gates.values(), life.bystanders)
    return found if life.counts.status in {None, "Done"} else []
