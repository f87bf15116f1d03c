"""Exceptions that an adapter or a runtime raised outside the refusals of the protocol.

An exception breaks no clause by itself, but a run in which there was one is never held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from runlock.conformance.errors import AdapterError
from runlock.conformance.text import cut, plain
from runlock.conformance.trace.trace import Trace

KIND: Final = "adapter.error"
SHOWN: Final = 400

RIGHT: Final = (
    "What a runtime turns down is raised as Refused; what the outside world raised may pass; "
    "nothing else is raised."
)


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception, the verb of the adapter, the stimulus before it, and the number of schedules."""

    error: str
    verb: str
    stimulus: str
    times: int
    trace: Trace

    @property
    def what(self) -> str:
        """The exception in one sentence."""
        return f"the adapter or the runtime raised {self.error}{f' in {self.verb}' if self.verb else ''}"

    def more(self, other: Raised) -> Raised:
        """The same exception, with the schedules of both added up, and the shorter trace."""
        shorter = min(self, other, key=lambda one: len(one.trace.records))
        return Raised(self.error, self.verb, shorter.stimulus, self.times + other.times, shorter.trace)


def exceptions_of(trace: Trace) -> list[Raised]:
    """The exceptions that a trace shows, each once."""
    found: dict[str, Raised] = {}
    for stimulus, error, verb in _shown(trace):
        one = Raised(cut(plain(str(error)), SHOWN), cut(plain(str(verb)), SHOWN), stimulus, 1, trace)
        found.setdefault(one.what, one)
    return list(found.values())


def refuse(raised: Iterable[Raised]) -> None:
    """Raise an `AdapterError` for the first exception, if there is one."""
    for one in raised:
        raise AdapterError(f"{one.what[:1].upper()}{one.what[1:]}.", RIGHT)


def _shown(trace: Trace) -> Iterator[tuple[str, Any, Any]]:
    stimulus = ""
    for record in trace.records:
        if "stimulus" in record:
            stimulus = str(record["stimulus"]["method"])
        elif record.get("observation", {}).get("kind") == KIND:
            yield stimulus, record["observation"].get("error"), record["observation"].get("verb", "")
        elif "end" in record:
            left = [one for one in record["end"].get("leaks") or () if isinstance(one, dict)]
            yield from (("scenario.close", one["raised"], "") for one in left if "raised" in one)
