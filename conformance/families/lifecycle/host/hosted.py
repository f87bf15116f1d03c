"""A runtime in this process behind the protocol's verbs; it has several lives, one after each crash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runlock.conformance.families.lifecycle.adapter import AdapterFactory, Refused
from runlock.conformance.families.lifecycle.host.counts import Counts
from runlock.conformance.families.lifecycle.host.dispatch import PLANS
from runlock.conformance.families.lifecycle.host.life import Life
from runlock.conformance.families.lifecycle.host.verb import Verb
from runlock.conformance.families.lifecycle.messages import METHODS, Scenario
from runlock.conformance.protocol import Crash, Recover
from runlock.conformance.transport.hosted import LOOP_CONTROL, HostedSut
from runlock.conformance.transport.hosting import has, illegal, must_have

NOTHING: Final = object()
"""What is durable when nothing is; None may be what a runtime with a store of its own is restored from."""


class Hosted(HostedSut[Life]):
    """A hosted adapter as the kit's `Sut`."""

    methods = METHODS
    plans = PLANS
    needed = {
        "decide": "decide", "cancel.waiting": "cancel", "run.input": "input", "watch": "watch",
        "watch.request": "watch", "grant.revoke": "revoke",
    }  # fmt: skip
    # Without `cancel` the kit cancels the task itself.
    shown_by = {"store.put": "checkpoint"}

    def __init__(self, factory: AdapterFactory) -> None:
        super().__init__(factory)
        self._kept: Any = NOTHING
        self._asking = 0
        self._verbs |= {"crash": self._crash, "recover": self._recover}

    def begin_life(self, scenario: Scenario) -> Life:
        """The first life of a scenario."""
        self._kept = NOTHING
        return Life(self.factory(), scenario, Counts())

    def control_of(self, adapter: Any, claimed: Mapping[str, Any]) -> dict[str, Any]:
        """The kit's loop, and the crashes that an adapter with a checkpoint comes back from."""
        keeps = has(adapter, "checkpoint") and has(adapter, "restore")
        store = {"store": "own", "crash": ["soft"]} if keeps else {"store": "none", "crash": []}
        control = {**LOOP_CONTROL, **store, **claimed}
        return control if has(adapter, "restore") else {**control, "crash": []}

    def _crash(self, _: Crash) -> dict[str, Any]:
        life = self._living()
        must_have(life.adapter, "restore")
        life.host.dead = True  # from here on nothing that it does can reach the world
        self._asking = sum(
            gate.on == "model" and gate.counts is life.counts for gate in life.host.open_gates.values()
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
        life = self._live(Life(self.factory(), scenario, counts))
        must_have(life.adapter, "restore")
        life.loop.advance(asked.now_ms or 0)
        counts.recovered(asked.run, asked.store, self._asking)
        verb = Verb("recover", asked.run, undo=lambda: counts.begin(None))
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
            life.adapter = self.factory()
            await life.adapter.open(life.host, life.scenario)
            raise
        verb.touched = True
        return await life.adapter.resume_run(verb.run) if has(life.adapter, "resume_run") else None
