"""What hosts need of the protocol: requests are parsed, stimuli are checked, and what breaks is answered.

Checking a stimulus changes nothing, so that a `deliver` is delivered as a whole or not at all.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from runlock.conformance.errors import AdapterError, RunlockError
from runlock.conformance.protocol import (
    DID_NOT_SETTLE,
    ILLEGAL_STIMULUS,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    NO_SUCH_GATE,
    PROTOCOL_VERSION,
    SUT_CRASHED,
    UNSUPPORTED,
    GateRelease,
    Initialize,
    ProtocolError,
    Wire,
)
from runlock.conformance.transport.exceptions import error_in_words
from runlock.conformance.transport.virtual_loop import DidNotSettle

Delivery = Callable[[int], object]
"""Delivers a planned stimulus; takes its index in its `deliver`."""


def has(adapter: Any, method: str) -> bool:
    """Whether the adapter has an optional method."""
    return callable(getattr(adapter, method, None))


def must_have(adapter: Any, method: str) -> None:
    """Raise -32001 for a method that the adapter lacks and therefore did not declare."""
    if not has(adapter, method):
        words = f"The adapter has no {method}, and its handshake does not declare it."
        raise ProtocolError(UNSUPPORTED, words)


def illegal(why: str) -> ProtocolError:
    """An error of the kit: it sent what it must not send now."""
    return ProtocolError(ILLEGAL_STIMULUS, why)


def parse(methods: Mapping[str, tuple[Any, Any]], method: str, params: Any) -> Any:
    """The parameters of a method, validated by the table of a family."""
    if method not in methods:
        raise ProtocolError(METHOD_NOT_FOUND, f"There is no verb {method}; there are {', '.join(methods)}.")
    try:
        return methods[method][0].model_validate(params)
    except ValidationError as error:
        raise ProtocolError(INVALID_PARAMS, f"{method} cannot take these parameters: {error}") from error


def parse_outcome(outcomes: Mapping[str, Any], on: str, outcome: Any) -> Any:
    """The outcome of a gate, validated by the table of a family."""
    try:
        return outcomes[on].validate_python(outcome)
    except ValidationError as error:
        raise ProtocolError(INVALID_PARAMS, f"A {on} gate cannot take this outcome: {error}") from error


def open_gate(gates: Mapping[str, Any], asked: GateRelease, earlier: Iterable[Wire]) -> Any:
    """The open gate that a stimulus releases; `earlier` are the stimuli before it in the same `deliver`."""
    if any(isinstance(other, GateRelease) and other.gate == asked.gate for other in earlier):
        raise illegal(f"Gate {asked.gate} stands twice in one deliver.")
    if asked.gate not in gates:
        words = f"Gate {asked.gate} is not open; open are: {', '.join(gates) or 'none'}."
        raise ProtocolError(NO_SUCH_GATE, words)
    return gates[asked.gate]


def check_version(asked: Initialize) -> None:
    """Raise if the kit does not speak this version of the protocol."""
    spoken = asked.protocol
    if not spoken.min <= PROTOCOL_VERSION <= spoken.max:
        words = f"The kit speaks protocol {spoken.min} to {spoken.max}; this side speaks {PROTOCOL_VERSION}."
        raise ProtocolError(INVALID_PARAMS, words)


def answer_or_error(answer: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The answer to a request; whatever the runtime or its adapter raises becomes a protocol error."""
    try:
        return answer()
    except (ProtocolError, KeyboardInterrupt):
        raise
    except DidNotSettle as error:
        raise ProtocolError(DID_NOT_SETTLE, str(error)) from error
    except RunlockError:
        raise
    except BaseException as error:
        words = f"The runtime or its adapter crashed: {error_in_words(error)}"
        raise ProtocolError(SUT_CRASHED, words, {"trace": traceback.format_exc()}) from error


def has_handshake(adapter: Any) -> bool:
    """Whether the adapter has a handshake, without reading it, which can raise an exception."""
    return "handshake" in getattr(adapter, "__dict__", {}) or hasattr(type(adapter), "handshake")


def refuse_incomplete(adapter: Any, methods: Collection[str]) -> None:
    """Raise if the adapter has no handshake, or lacks one of the methods that each adapter has."""
    name = type(adapter).__name__
    if not has_handshake(adapter):
        raise AdapterError(
            f"The adapter {name} has no handshake.",
            "It is an attribute or a property that gives a Handshake.",
        )
    missing = [one for one in methods if not has(adapter, one)]
    if missing:
        raise AdapterError(
            f"The adapter {name} has no method {', '.join(missing)}.",
            f"Each adapter has {', '.join(methods)}.",
        )
