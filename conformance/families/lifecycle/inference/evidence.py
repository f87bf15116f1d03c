"""A sign: an observation that excludes a value of a policy.

Nothing proves a value: it is known once every other value is excluded, and if all are excluded the runtime
mixes two.  A sign is silent wherever a race, a crash, a cancel or a fault may explain the observation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from runlock.conformance.families.lifecycle.invariants.selectors import name_of, newest_of
from runlock.conformance.families.lifecycle.messages import Handshake
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.family.family import family_named
from runlock.conformance.family.invariant import Invariant
from runlock.conformance.family.state import PolicyView
from runlock.conformance.judging.applicability import unmet
from runlock.conformance.protocol import Observation

Excluded = Iterator[tuple[str, str]]
"""Values that are ruled out, each with what was seen."""


@dataclass(slots=True)
class Evidence:
    """What signs look at: the state, and what held just before a cancel."""

    state: ObservedState
    stored: frozenset[str] = frozenset()  # the results that were durable when the cancel came

    def stimulus(self, method: str) -> None:
        """The kit is about to send something."""
        if method == "cancel":
            self.stored = frozenset(self._stored())

    def _stored(self) -> Iterator[str]:
        for checkpoint in self.state.checkpoints:
            messages = (checkpoint.state or {}).get("messages")
            for one in messages if isinstance(messages, list) else ():
                if isinstance(one, dict) and one.get("role") == "tool":
                    yield str(one.get("call"))


def supposing(state: ObservedState, values: Mapping[str, str]) -> ObservedState:
    """The state, read as that of a runtime whose policies have these values."""
    return state.under(PolicyView({**state.policies, **values}))


@dataclass(frozen=True, slots=True)
class Sign:
    """Something that rules values of a policy out; `seeing` is as an invariant has it."""

    policy: str
    values: tuple[str, ...]
    check: Callable[..., Excluded]
    seeing: type[Observation] | None = None
    needs: tuple[str, ...] = ()
    clause: str = ""  # whose check it is
    is_heard: bool = False  # it looks at an answer, which says something without an observation

    def lacks(self, handshake: Handshake) -> list[str]:
        """Why it is never seen on such a runtime."""
        whys = [why for need in self.needs if (why := unmet(family_named("lifecycle"), need, handshake))]
        if self.seeing is None and not self.is_heard and not handshake.control.settles_exactly:
            whys.append("it rests on silence, and the runtime settles as observed")
        return whys


def by_a_clause(
    policy: str,
    values: Sequence[str],
    check: Invariant,
    needs: Sequence[str],
    unless: Callable[[Evidence], bool] = lambda _: False,
) -> Sign:
    """The sign that the check of a clause objects if the policy is supposed to have a value."""

    def seen(evidence: Evidence, *shown: Observation) -> Excluded:
        asked = _is_asked(check, evidence.state, *shown)
        for value in values if asked and not unless(evidence) else ():
            supposed = supposing(evidence.state, {policy: value})
            if reason := check.first_reason(supposed, *shown):
                yield value, reason

    return Sign(policy, tuple(values), seen, check.seeing, tuple(needs), check.clause)


def _is_asked(check: Invariant, state: ObservedState, *shown: Observation) -> bool:
    """Whether the check is about what is shown, or about a quiescent point."""
    name, newest = (name_of(shown[0]), newest_of(state, shown[0])) if shown else ("", "")
    return check.is_asked(name, newest, state.features)
