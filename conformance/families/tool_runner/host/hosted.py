"""Runs a tool runner in this process: `HostedRunner` implements the protocol (`Sut`) on an adapter object."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import ValidationError

from runlock.conformance.families.tool_runner.adapter import AdapterFactory, Refused
from runlock.conformance.families.tool_runner.host.handshake import effective_handshake, has
from runlock.conformance.families.tool_runner.host.life import (
    Life,
)
from runlock.conformance.families.tool_runner.host.user import Act, Walk
from runlock.conformance.families.tool_runner.messages import (
    METHODS,
    OUTCOMES_BY_GATE,
    RunnerReport,
    RunnerScenario,
)
from runlock.conformance.protocol import (
    DID_NOT_SETTLE,
    ILLEGAL_STIMULUS,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    NO_SUCH_GATE,
    PROTOCOL_VERSION,
    SUT_CRASHED,
    UNSUPPORTED,
    ProtocolError,
)
from runlock.conformance.transport.virtual_loop import DidNotSettle
from runlock.conformance.transport.world import as_json

WIND_UP_TURNS_MAX: Final = 1_000


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
        asked = _parsed(method, params)
        try:
            return self._answer(method, asked)
        except (ProtocolError, KeyboardInterrupt):
            raise
        except DidNotSettle as error:
            raise ProtocolError(DID_NOT_SETTLE, str(error)) from error
        except BaseException as error:  # a crash of the adapter is reported, not propagated
            words = f"The runner or its adapter crashed: {type(error).__name__}: {error}"
            raise ProtocolError(SUT_CRASHED, words, {"trace": traceback.format_exc()}) from error

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
            parts = [(part.method, _parsed(part.method, part.params)) for part in asked.stimuli]
        plans = [PLANS[name](life, one) for name, one in parts]
        for stimulus, hand_over in enumerate(plans):
            hand_over(stimulus)
        return life.report(asked.turns)

    def _initialize(self, asked: Any) -> dict[str, Any]:
        if not asked.protocol.min <= PROTOCOL_VERSION <= asked.protocol.max:
            spoken = f"{asked.protocol.min} to {asked.protocol.max}"
            words = f"The kit speaks protocol {spoken}; this side speaks {PROTOCOL_VERSION}."
            raise ProtocolError(INVALID_PARAMS, words)
        return effective_handshake(self._factory())

    def _open(self, scenario: RunnerScenario) -> dict[str, Any]:
        if self._life is not None:
            raise _illegal(f"Scenario {self._life.scenario.scenario} is open; it must be closed first.")
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
        if not has(life.adapter, "snapshot"):
            raise ProtocolError(UNSUPPORTED, "The adapter has no snapshot.")
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
            raise _illegal("No scenario is open; scenario.open comes first.")
        return self._life


# -- delivery of stimuli: all of a race are validated before any of them is delivered

HandOver = Callable[[int], None]


def _start(life: Life, asked: Any) -> HandOver:
    if life.runs:
        raise _illegal(f"Run {life.runs[0]} was started before; runner.again begins the next one.")
    return lambda stimulus: _walk(life, asked.run, life.adapter.run(asked.input), stimulus)


def _again(life: Life, asked: Any) -> HandOver:
    _must_have(life, "again")
    if life.user.status != "Done" or asked.run in life.runs:
        raise _illegal(f"Run {asked.run} cannot begin: the one before it is not Done, or has that id.")

    def hand_over(stimulus: int) -> None:
        try:
            items = life.adapter.again()
        except Refused as refusal:
            life.user.turn_down(stimulus, refusal.why)
            return
        _walk(life, asked.run, items, stimulus)

    return hand_over


def _walk(life: Life, run: str, items: Any, stimulus: int) -> None:
    walk = Walk(run, items, stimulus)
    undo = life.user.begin(walk)
    life.runs.append(run)
    life.spawn(life.user.iterate(walk, undo))


def _release(life: Life, asked: Any) -> HandOver:
    gate = life.host.open_gates.get(asked.gate)
    if gate is None:
        known = ", ".join(life.host.open_gates) or "none"
        raise ProtocolError(NO_SUCH_GATE, f"Gate {asked.gate} is not open; open are: {known}.")
    try:
        answer = OUTCOMES_BY_GATE[gate.on].validate_python(asked.outcome)
    except ValidationError as error:
        raise ProtocolError(INVALID_PARAMS, f"A {gate.on} gate cannot take this outcome: {error}") from error

    def hand_over(stimulus: int) -> None:
        life.host.release(gate, answer)
        if gate.on == "yield" and life.user.walk is not None:
            life.user.walk.inlet.put_nowait(answer)

    return hand_over


def _cancel(life: Life, asked: Any) -> HandOver:
    _must_have(life, "cancel")

    def hand_over(stimulus: int) -> None:
        if life.user.status == "Running":
            life.user.is_cancelled = True
            life.spawn(life.adapter.cancel())

    return hand_over


def _verb(method: str, arguments: Callable[[Any], tuple[Any, ...]]) -> Callable[[Life, Any], HandOver]:
    def plan(life: Life, asked: Any) -> HandOver:
        _must_have(life, method)
        verb = getattr(life.adapter, method)
        given = arguments(asked)
        return lambda stimulus: life.user.act(Act(method, lambda: verb(*given), stimulus))

    return plan


def _advance(life: Life, asked: Any) -> HandOver:
    return lambda stimulus: life.loop.advance(asked.ms)


def _settle(life: Life, asked: Any) -> HandOver:
    return lambda stimulus: None


PLANS: Final[dict[str, Callable[[Life, Any], HandOver]]] = {
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


def _parsed(method: str, params: Any) -> Any:
    if method not in METHODS:
        raise ProtocolError(METHOD_NOT_FOUND, f"There is no verb {method}; there are {', '.join(METHODS)}.")
    try:
        return METHODS[method][0].model_validate(params)
    except ValidationError as error:
        raise ProtocolError(INVALID_PARAMS, f"{method} cannot take these parameters: {error}") from error


def _illegal(why: str) -> ProtocolError:
    return ProtocolError(ILLEGAL_STIMULUS, why)


def _must_have(life: Life, method: str) -> None:
    if not has(life.adapter, method):
        words = f"The adapter has no {method}, and its handshake does not declare it."
        raise ProtocolError(UNSUPPORTED, words)


def _fields(state: Any) -> dict[str, Any]:
    return {key: getattr(state, key, None) for key in ("messages", "params", "tools")}
