"""Runs a tool runner in this process: `HostedRunner` implements the protocol (`Sut`) on an adapter object."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.families.tool_runner.adapter import AdapterFactory, Refused
from runlock.conformance.families.tool_runner.host.handshake import effective_handshake
from runlock.conformance.families.tool_runner.host.life import Life
from runlock.conformance.families.tool_runner.host.user import Act, Walk
from runlock.conformance.families.tool_runner.messages import (
    METHODS,
    OUTCOMES_BY_GATE,
    RunnerReport,
    RunnerScenario,
)
from runlock.conformance.protocol import Wire
from runlock.conformance.transport.hosting import (
    Delivery,
    answer_or_error,
    check_version,
    illegal,
    must_have,
    open_gate,
    parse,
    parse_outcome,
    refuse_incomplete,
)
from runlock.conformance.transport.world import as_json


class HostedRunner:
    """A hosted adapter of a tool runner as the kit's `Sut`."""

    def __init__(self, factory: AdapterFactory) -> None:
        self._factory = factory
        self._life: Life | None = None
        self._verbs: dict[str, Callable[[Any], dict[str, Any]]] = {
            "initialize": self._initialize,
            "scenario.open": self._open,
            "scenario.close": self._close,
            "shutdown": self._shutdown,
            "inspect": self._inspect,
        }

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Handle one request of the protocol."""
        asked = parse(METHODS, method, params)
        return answer_or_error(lambda: self._answer(method, asked))

    def kill(self) -> None:
        """Stop immediately, without clean-up."""
        if self._life is not None:
            self._life.drop()
            self._life = None

    def close(self) -> None:
        """Close the event loop and everything that runs on it."""
        self.kill()

    def _answer(self, method: str, asked: Any) -> dict[str, Any]:
        if method in self._verbs:
            return self._verbs[method](asked)
        life = self._living()
        parts = [(method, asked)]
        if method == "deliver":
            parts = [(part.method, parse(METHODS, part.method, part.params)) for part in asked.stimuli]
        plans = []
        for at, (name, one) in enumerate(parts):
            plans.append(PLANS[name](life, one, [earlier for _, earlier in parts[:at]]))
        for stimulus, deliver in enumerate(plans):
            deliver(stimulus)
        return life.report(asked.turns)

    def _initialize(self, asked: Any) -> dict[str, Any]:
        check_version(asked)
        adapter = self._factory()
        refuse_incomplete(adapter, ("open", "run", "last", "ended"))
        return effective_handshake(adapter)

    def _open(self, scenario: RunnerScenario) -> dict[str, Any]:
        if self._life is not None:
            raise illegal(f"Scenario {self._life.scenario.scenario} is open; it must be closed first.")
        self._life = Life(self._factory(), scenario)
        try:
            self._life.open()
        except BaseException:
            self.close()
            raise
        return {}

    def _close(self, _: Any) -> dict[str, Any]:
        life = self._living()
        try:
            return {"leaks": life.leaks()}
        finally:
            self._life = None
            life.end()

    def _shutdown(self, _: Any) -> dict[str, Any]:
        self.close()
        return {}

    def _inspect(self, _: Any) -> dict[str, Any]:
        life = self._living()
        must_have(life.adapter, "snapshot")
        state, host, user = life.adapter.snapshot(), life.host, life.user
        shown = state if isinstance(state, Mapping) else _fields(state)
        run = {"status": user.status, "reason": user.reason, "step": host.step, "iteration": host.iteration}
        return {
            **run,
            "calls": {},
            **{key: as_json(value) for key, value in shown.items() if value is not None},
        }

    def _living(self) -> Life:
        if self._life is None:
            raise illegal("No scenario is open; scenario.open comes first.")
        return self._life


# All stimuli of a race are validated before any of them is delivered.  `earlier` are the
# stimuli before one in the same `deliver`.

Plan = Callable[[Life, Any, Sequence[Wire]], Delivery]


def _start(life: Life, asked: Any, earlier: Sequence[Wire]) -> Delivery:
    if life.runs:
        raise illegal(f"Run {life.runs[0]} was started before; runner.again begins the next one.")
    return lambda stimulus: _walk(life, asked.run, life.adapter.run(asked.input), stimulus)


def _again(life: Life, asked: Any, earlier: Sequence[Wire]) -> Delivery:
    must_have(life.adapter, "again")
    if life.user.status != "Done" or asked.run in life.runs:
        raise illegal(f"Run {asked.run} cannot begin: the one before it is not Done, or has that id.")

    def deliver(stimulus: int) -> None:
        try:
            items = life.adapter.again()
        except Refused as refusal:
            life.user.turn_down(stimulus, refusal.why)
            return
        _walk(life, asked.run, items, stimulus)

    return deliver


def _walk(life: Life, run: str, items: Any, stimulus: int) -> None:
    walk = Walk(run, items, stimulus)
    undo = life.user.begin(walk)
    life.runs.append(run)
    life.spawn(life.user.iterate(walk, undo))


def _release(life: Life, asked: Any, earlier: Sequence[Wire]) -> Delivery:
    gate = open_gate(life.host.open_gates, asked, earlier)
    answer = parse_outcome(OUTCOMES_BY_GATE, gate.on, asked.outcome)

    def deliver(stimulus: int) -> None:
        life.host.release(gate, answer)
        if gate.on == "yield" and life.user.walk is not None:
            life.user.walk.inlet.put_nowait(answer)

    return deliver


def _cancel(life: Life, asked: Any, earlier: Sequence[Wire]) -> Delivery:
    must_have(life.adapter, "cancel")

    def deliver(stimulus: int) -> None:
        if life.user.status == "Running":
            life.user.is_cancelled = True
            life.spawn(life.adapter.cancel())

    return deliver


def _verb(method: str, arguments: Callable[[Any], tuple[Any, ...]]) -> Plan:
    def plan(life: Life, asked: Any, earlier: Sequence[Wire]) -> Delivery:
        must_have(life.adapter, method)
        verb = getattr(life.adapter, method)
        given = arguments(asked)
        return lambda stimulus: life.user.act(Act(method, lambda: verb(*given), stimulus))

    return plan


def _advance(life: Life, asked: Any, earlier: Sequence[Wire]) -> Delivery:
    return lambda stimulus: life.loop.advance(asked.ms)


def _settle(life: Life, asked: Any, earlier: Sequence[Wire]) -> Delivery:
    return lambda stimulus: None


PLANS: Final[dict[str, Plan]] = {
    "run.start": _start,
    "runner.again": _again,
    "gate.release": _release,
    "cancel": _cancel,
    "runner.push": _verb("push", lambda asked: (asked.messages,)),
    "runner.set": _verb("set", lambda asked: (asked.messages, asked.params)),
    "runner.respond": _verb("respond", lambda asked: ()),
    "runner.tools": _verb("tools", lambda asked: (asked.add, asked.remove)),
    "clock.advance": _advance,
    "settle": _settle,
}
assert PLANS.keys() >= {name for name, (_, answer) in METHODS.items() if answer is RunnerReport} - {"deliver"}


def _fields(state: Any) -> dict[str, Any]:
    return {key: getattr(state, key, None) for key in ("messages", "params", "tools")}
