"""The interface of an observed state; each family has its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from runlock.conformance.protocol import Observation, Report


class PolicyView(dict[str, Any]):
    """The policies under one hypothesis; `read` holds the keys that a check has read."""

    def __init__(self, policies: Mapping[str, Any]) -> None:
        super().__init__(policies)
        self.read: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a policy, or the default while it is open."""
        self.read.add(key)
        return super().get(key, default)


class OpenGate(Protocol):
    """A gate at which the runtime under test waits."""

    @property
    def id(self) -> str: ...
    @property
    def on(self) -> str: ...
    @property
    def ref(self) -> str:
        """Its name in schedules: `model`, `tool:c1`."""
        ...


class State(Protocol):
    """The observed state of one scenario: computed from what was sent and what the runtime reported."""

    handshake: Any  # the family's own models
    scenario: Any
    policies: Mapping[str, Any]
    stimuli: int  # sent so far
    quiescent: bool
    open_gates: Sequence[Any]  # of OpenGate, oldest first
    run: Any  # the newest run, with `id` and `is_done`; None before the first
    features: frozenset[str]  # the features that have occurred, by which checks are selected

    def policy(self, key: str) -> Any:
        """The value of a policy, or None while it is open."""
        ...

    def under(self, policies: PolicyView) -> Any:
        """The same state with other policies; everything else is shared and must not be changed."""
        ...

    def gate(self, ref: str) -> Any:
        """The open gate of that id or name, the oldest first; None if there is none."""
        ...

    def is_excused(self, kinds: Any, *seen: Observation) -> bool:
        """Whether one of these disturbances has met the run at hand; asked where a check excuses any."""
        ...

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """Process a stimulus of the kit."""
        ...

    def read(self, seen: Observation) -> Observation:
        """An observation as checks, and then `observe`, are given it; called once for each."""
        ...

    def observe(self, seen: Observation) -> None:
        """Process an observation of the runtime."""
        ...

    def report(self, report: Report) -> None:
        """Process the end of an answer; its observations were processed before."""
        ...
