"""Makes sessions for unit tests: one place knows what a session is made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from judged_records import new_judge
from lifecycle_messages import HANDSHAKE, SCENARIO

from runlock.conformance.driving.session import Session
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.family.family import Family
from runlock.conformance.protocol import Handshake, Scenario
from runlock.conformance.transport.sut import Sut, SutFactory

JUDGES_NOTHING: Final = replace(FAMILY, invariants=(), monitors=())
"""The lifecycle without a check: what is sent and recorded does not depend on a verdict."""

QUIESCENT: Final[Mapping[str, Any]] = {"observations": [], "quiescent": True, "refused": []}


class Answers:
    """A runtime that gives each verb the answers that it was made with, in turn, and then empty ones."""

    def __init__(self, **answers: Sequence[Any]) -> None:
        self.left = {verb.replace("__", "."): [*given] for verb, given in answers.items()}
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.is_killed = False

    @property
    def verbs(self) -> list[str]:
        """The verbs that it was sent."""
        return [verb for verb, _ in self.requests]

    def sent(self, verb: str) -> list[dict[str, Any]]:
        """The parameters with which it was sent a verb."""
        by_verb = defaultdict(list)
        for one, params in self.requests:
            by_verb[one].append(params)
        return by_verb[verb]

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The next answer to the verb; an exception is raised."""
        self.requests.append((method, params))
        answer = self.left[method].pop(0) if self.left.get(method) else {}
        if isinstance(answer, Exception):
            raise answer
        return {**QUIESCENT, **answer}

    def kill(self) -> None:
        """Remember it."""
        self.is_killed = True

    def close(self) -> None:
        """Nothing to give back."""


def new_session(
    sut: Sut,
    handshake: Handshake = HANDSHAKE,
    scenario: Scenario = SCENARIO,
    revive: SutFactory | None = None,
    data: str | None = None,
    family: Family = JUDGES_NOTHING,
) -> Session:
    """A session that has opened its scenario."""
    return Session(
        family,
        sut,
        handshake,
        scenario,
        lambda: new_judge(handshake, scenario, family=family),
        data,
        revive=revive,
    )
