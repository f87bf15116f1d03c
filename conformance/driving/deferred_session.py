"""A session that is judged when it is over: first everything is played, then the judge hears it.

Whoever only gathers can wait for the verdict, and both go faster when neither interrupts the other.
Schedules that are drawn come again; one that was answered as it was before is ruled as it was before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

from runlock.conformance.driving.session import Session
from runlock.conformance.family.family import Family
from runlock.conformance.judging.judge import Judge, Ruling, Violation
from runlock.conformance.protocol import Handshake, Report, Scenario
from runlock.conformance.protocol.answers import written
from runlock.conformance.transport.sut import Sut

Precedents = dict[bytes, Ruling]
"""What was ruled of each trace that was judged on a bench, by its digest."""


class JudgedLater(Session):
    """A scenario under way that nobody judges before its end; `violation` is nothing until then."""

    def __init__(
        self,
        family: Family,
        sut: Sut,
        handshake: Handshake,
        scenario: Scenario,
        new_judge: Callable[[], Judge],
        data: str | None = None,
        *,
        policies: Mapping[str, Any],
        precedents: Precedents,
        revive: Callable[[], Sut] | None = None,
    ) -> None:
        super().__init__(family, sut, handshake, scenario, new_judge, data, revive=revive)
        self.state = family.new_state(handshake, policies, scenario)  # the judge's comes later
        self.precedents = precedents
        self._heard: list[tuple[str, Mapping[str, Any]] | Report] = []
        self._ruling: Ruling | None = None

    @property
    def violation(self) -> Violation | None:
        """The first thing that nothing explains, once it is judged."""
        return self._ruling.violation if self._ruling is not None else None

    @property
    def ruling(self) -> Ruling:
        """What the judge has to say of the whole."""
        self.end()
        assert self._ruling is not None
        return self._ruling

    def bookmark(self) -> None:
        """Nothing: it is not judged yet, so that nobody can go on from here."""

    def _hear_stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        self._heard.append((method, params))
        self.state.stimulus(method, params)

    def _hear_answer(self, report: Report) -> None:
        self._heard.append(report)
        for seen in report.observations:
            self.state.observe(seen)
        self.state.report(report)

    def end(self) -> None:
        """Have it judged, unless the same was; what came behind a violation is left out of the record."""
        if self._ruling is not None:
            return
        digest = blake2b(_written(self.trace.records), digest_size=16).digest()
        ruling = self.precedents.get(digest)
        if ruling is None:
            ruling = self.precedents[digest] = self._judged()
        self._ruling = ruling
        if ruling.violation is not None:
            self._leave_off_behind(ruling.answers)

    def _judged(self) -> Ruling:
        for one in self._heard:
            if isinstance(one, Report):
                self.judge.answer(one)
            else:
                self.judge.stimulus(*one)
        self.judge.end()
        return self.judge.ruling

    def _leave_off_behind(self, answers: int) -> None:
        ends = [index for index, record in enumerate(self.trace.records, 1) if "report" in record]
        del self.trace.records[ends[answers - 1] :]
        del self.sent[answers:], self.steps[answers:]


def _written(records: list[Any]) -> bytes:
    try:
        return written(records)
    except ValueError:  # a text or a number of a kind of its own, such as a member of an enumeration
        return json.dumps(records).encode()
