"""A runtime under test that is a Python object in this process, with the protocol's verbs as methods.

The object's methods are the verbs with dots as underscores; each takes one dict of parameters and
returns one.  Messages are copied through JSON, as on the pipe, so that neither side can change the
other's data.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final

from runlock.conformance.errors import AdapterError, RunlockError
from runlock.conformance.protocol import UNSUPPORTED, ProtocolError
from runlock.conformance.protocol.framing import NotALine, detached
from runlock.conformance.transport.exceptions import error_in_words

MANDATORY: Final = ("initialize", "scenario.open", "scenario.close", "run.start", "settle")
RELEASE: Final = "gate.release"
"""A method that every runtime with gates must have."""


class InProcess:
    """A `Sut` over an object with the verbs; `again` creates a new object after a kill."""

    def __init__(self, verbs: object, *, again: Callable[[], object] | None = None) -> None:
        self._verbs: object | None = verbs
        self._again = again
        _refuse_incomplete(verbs)

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Call the verb's method; the answer is the adapter's own dict, copied."""
        if self._verbs is None:
            self._live_again()
        verb = getattr(self._verbs, _attribute(method), None)
        if not callable(verb):
            raise ProtocolError(UNSUPPORTED, f"the adapter has no method {_attribute(method)}")
        answer = _answered(method, self._call(method, verb, params))
        if answer.get("gates") and method == "initialize":
            _refuse_incomplete(self._verbs, (RELEASE,))
        return answer

    def kill(self) -> None:
        """Drop the object without clean-up."""
        self._verbs = None

    def close(self) -> None:
        """Drop the object after its `shutdown`."""
        self.kill()

    def _call(self, method: str, verb: Callable[[Any], Any], params: dict[str, Any]) -> Any:
        try:
            return verb(detached(params))
        except (ProtocolError, RunlockError, KeyboardInterrupt):
            raise
        except BaseException as error:  # sys.exit() in an adapter must not end the kit
            raise AdapterError(
                f"The adapter raised {error_in_words(error)} in {_attribute(method)}.",
                "What it turns down comes back in `refused`, and what it cannot do is a ProtocolError.",
            ) from error

    def _live_again(self) -> None:
        if self._again is None:
            raise AdapterError(
                "The adapter object was dropped by a kill and cannot be made again.",
                "Give a factory, so that each life gets a new object.",
            )
        self._verbs = self._again()
        _refuse_incomplete(self._verbs)


def _refuse_incomplete(verbs: object, methods: Sequence[str] = MANDATORY) -> None:
    names = map(_attribute, methods)
    missing = [name for name in names if not callable(getattr(verbs, name, None))]
    if missing:
        raise AdapterError(
            f"{_named(verbs)} has no method {', '.join(missing)}.",
            f"Each verb is a method that takes one dict and returns one, as in "
            f"`def {missing[0]}(self, params: dict) -> dict`.",
        )


def _answered(method: str, answer: Any) -> dict[str, Any]:
    right = f"It answers one dict of JSON values, as the protocol's {method} says."
    if inspect.iscoroutine(answer):
        answer.close()  # or Python warns about it later, far from here
        raise AdapterError(f"The adapter's {_attribute(method)} is a coroutine function.", right)
    if not isinstance(answer, dict):
        raise AdapterError(
            f"The adapter's {_attribute(method)} answered {_indefinite(type(answer).__name__)}.", right
        )
    try:
        copy: dict[str, Any] = detached(answer)
    except NotALine as flaw:
        raise AdapterError(f"The answer of the adapter's {_attribute(method)} {flaw}.", right) from None
    return copy


def _attribute(method: str) -> str:
    return method.replace(".", "_")


def _named(verbs: object) -> str:
    kind = verbs if isinstance(verbs, type) else type(verbs)
    return f"The adapter {kind.__module__}.{kind.__qualname__}"


def _indefinite(noun: str) -> str:
    if noun == "NoneType":
        return "None"
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
