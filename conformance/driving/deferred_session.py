"""A session that is judged at its end: all moves are sent first, then the whole trace is judged.

Callers that only collect results can judge the whole trace at the end, which is faster.  Generated
schedules repeat; a schedule that got the same answers as before gets the cached rulings.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from runlock.conformance.driving.session import Session
from runlock.conformance.family.family import Family
from runlock.conformance.judging.judge import Judge, Ruling, Violation
from runlock.conformance.protocol import Handshake, Report, Scenario
from runlock.conformance.protocol.answers import written
from runlock.conformance.transport.sut import Sut

CachedRulings = dict[bytes, Ruling]
"""Rulings by trace digest, for the traces that were judged on a bench."""


class DeferredSession(Session):
    """A scenario under way that is judged at its end; `violation` is None until then."""

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
        cached_rulings: CachedRulings,
        revive: Callable[[], Sut] | None = None,
    ) -> None:
        super().__init__(family, sut, handshake, scenario, new_judge, data, revive=revive)
        self.state = family.judging.new_state(
            handshake, policies, scenario
        )  # the judge's digest is computed later
        self.cached_rulings = cached_rulings
        self._heard: list[tuple[str, Mapping[str, Any]] | Report] = []
        self._leaks: Sequence[Any] | None = None  # known once the scenario is closed
        self._ruling: Ruling | None = None

    @property
    def violation(self) -> Violation | None:
        """The first violation, once the trace is judged."""
        return self._ruling.violation if self._ruling is not None else None

    @property
    def ruling(self) -> Ruling:
        """The ruling on the whole trace."""
        self.end()
        assert self._ruling is not None
        return self._ruling

    def snapshot(self) -> None:
        """None: the trace is not judged yet, so no schedule can continue from here."""

    def _hear_stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        self._heard.append((method, params))
        self.state.stimulus(method, params)

    def _hear_answer(self, report: Report) -> None:
        self._heard.append(report)
        for seen in report.observations:
            self.state.observe(self.state.read(seen))
        self.state.report(report)

    def _hear_end(self, leaks: Sequence[Any]) -> None:
        self._leaks = leaks
        self.end()

    def end(self) -> None:
        """Judge the trace, or reuse an equal one; records after a violation are removed."""
        if self._ruling is not None:
            return
        digest = blake2b(_written(self.trace.records), digest_size=16).digest()
        ruling = self.cached_rulings.get(digest)
        if ruling is None:
            ruling = self.cached_rulings[digest] = self._judged()
        self._ruling = ruling
        if ruling.violation is not None:
            self._drop_records_after(ruling.answers)

    def _judged(self) -> Ruling:
        for one in self._heard:
            if isinstance(one, Report):
                self.judge.answer(one)
            else:
                self.judge.stimulus(*one)
        if self._leaks is not None:
            self.judge.closed(self._leaks)
        return self.judge.ruling

    def _drop_records_after(self, answers: int) -> None:
        ends = [index for index, record in enumerate(self.trace.records, 1) if "report" in record]
        # Whether the clock was read is known of the whole schedule, and not of what is left of it.
        ended = [{"end": {"leaks": one["end"]["leaks"]}} for one in self.trace.records if "end" in one]
        self.trace.records[ends[answers - 1] :] = ended
        del self.sent[answers:], self.steps[answers:]


def _written(records: list[Any]) -> bytes:
    try:
        return written(records)
    except ValueError:  # a text or a number of a subclass, such as a member of an enumeration
        return json.dumps(records).encode()
