"""One scenario on one runtime: sends moves, records the trace, and lets the judge see everything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from runlock.conformance.driving.session_snapshot import Bookmark, Step
from runlock.conformance.errors import AdapterError, Restless, SutDied
from runlock.conformance.family.family import Family
from runlock.conformance.judging.judge import Judge, Ruling, Violation
from runlock.conformance.protocol import (
    DID_NOT_SETTLE,
    METHOD_NOT_FOUND,
    SUT_CRASHED,
    UNSUPPORTED,
    Closed,
    Handshake,
    ProtocolError,
    Report,
    Scenario,
)
from runlock.conformance.protocol.answers import (
    Gates,
    fitted,
    fitted_report,
    moved_by_itself,
)
from runlock.conformance.text import cut, plain
from runlock.conformance.trace.moves import CRASH_AND_RECOVER, INSPECT, Move, as_seen
from runlock.conformance.trace.trace import Trace
from runlock.conformance.transport.sut import Sut

DRAIN_LIMIT: Final = 60
"""Moves within which a run that is given everything it waits for has to be Done."""

WORDS_LIMIT: Final = 300


class Session:
    """A scenario under way; `data` is the folder in which a runtime that stores for itself keeps its bytes.

    `new_judge` is not asked for one where the session goes on from a bookmark, which has its own.
    """

    def __init__(
        self,
        family: Family,
        sut: Sut,
        handshake: Handshake,
        scenario: Scenario,
        new_judge: Callable[[], Judge],
        data: str | None = None,
        *,
        revive: Callable[[], Sut] | None = None,
    ) -> None:
        self.family = family
        self.sut = sut
        self.revive = revive
        self.handshake = handshake
        self.scenario = scenario
        self._new_judge = new_judge
        self.gates = Gates(handshake.gates)
        self.trace = Trace()
        self.steps: list[Step] = []
        self.sent: list[Move] = []
        self.attempted: list[Move] = []  # the same, and the one whose answer is missing
        self.trace.add("handshake", handshake.as_sent)
        self.trace.add("scenario", scenario.as_sent)
        self._opening = {**scenario.in_full, "data": data}
        self._request("scenario.open", self._opening)

    @cached_property
    def judge(self) -> Judge:
        """Who judges it."""
        return self._new_judge()

    @cached_property
    def state(self) -> Any:
        """What is known of it."""
        return self.judge.state

    @property
    def violation(self) -> Violation | None:
        """The first thing that nothing explains, or nothing."""
        return self.judge.violation

    @property
    def ruling(self) -> Ruling:
        """What the judge has to say by now."""
        return self.judge.ruling

    def play(self, moves: Iterable[Move], behind: Bookmark | None = None) -> None:
        """Send moves until one of them breaks a clause; a move whose gate is not open is left out.

        Moves that begin as those of a bookmark are judged from `behind` it, if the answers are the same too.
        """
        moves = [*moves]
        for move in moves[self._resume(moves, behind) :]:
            if self.violation is not None:
                return
            self.send(move)

    def send(self, move: Move) -> bool:
        """Send one move; false if it could not be sent because a gate that it names is not open."""
        if move.method == CRASH_AND_RECOVER:
            return self._crash(str(move.params.get("by", "soft")))
        if move.method == INSPECT:
            return self._inspect(move)
        self.attempted = [*self.sent, move]
        offered = self.family.admit(move, self.state)
        params = self.family.ground(offered, self.state) if offered is not None else None
        if offered is None or params is None:
            return False
        self._stimulate(offered, offered.method, params)
        return True

    def _stimulate(
        self, move: Move, method: str, params: Mapping[str, Any], answer: Mapping[str, Any] | None = None
    ) -> None:
        """Hand a stimulus over, unless it has its answer already, and have the answer judged."""
        self.sent.append(move)
        is_idle = method == "settle" and self.state.quiescent and self.handshake.control.settles_exactly
        self.trace.add("stimulus", {"method": method, "params": dict(params)})
        self._hear_stimulus(method, params)
        raw = self._request(method, params) if answer is None else answer
        self.steps.append(Step(move, method, params, raw))
        report = fitted_report(self.family.vocabulary, raw, method)
        self.gates.check(method, report)
        for observation in raw.get("observations") or ():
            self.trace.add("observation", observation)
        self.trace.add("report", {"quiescent": report.quiescent, "refused": raw.get("refused") or []})
        self._hear_answer(report)
        if is_idle and self.violation is None and (error := moved_by_itself(report)):
            raise error

    def _hear_stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        self.judge.stimulus(method, params)

    def _hear_answer(self, report: Report) -> None:
        self.judge.answer(report)

    def _inspect(self, move: Move) -> bool:
        """Look at the run, where the runtime lets itself be looked at; what it shows is an observation."""
        run = self.state.run
        if run is None:
            return False
        self.attempted = [*self.sent, move]
        params = {"run": run.id}
        answer = self._look(params, is_quiescent=self.state.quiescent)
        if answer is not None:
            self._stimulate(move, INSPECT, params, answer)
        return answer is not None

    def _look(self, params: Mapping[str, Any], *, is_quiescent: bool) -> dict[str, Any] | None:
        """What a look at a run shows, as a report; nothing where the runtime has no `inspect`."""
        try:
            shown = self.sut.request(INSPECT, dict(params))
        except ProtocolError as error:
            if error.code in (UNSUPPORTED, METHOD_NOT_FOUND):
                return None
            raise _blamed(INSPECT, error) from error
        fitted(self.family.vocabulary.snapshot, shown, f"The answer to {INSPECT}", f"{INSPECT}.answer")
        return {"observations": [as_seen(params, shown)], "quiescent": is_quiescent, "refused": []}

    def _crash(self, wanted: str) -> bool:
        by, params = self._way_to_crash(wanted), self.family.recover(self.state)
        if by is None or params is None:
            return False
        move = Move(CRASH_AND_RECOVER, {"by": by} if by != "soft" else {})
        self.attempted = [*self.sent, move]
        self._note_the_crash(move)
        self._end_the_life(move)
        self._stimulate(move, "recover", params)
        return True

    def _note_the_crash(self, move: Move) -> None:
        self.trace.add("crash", dict(move.params))
        self.gates.begin_a_life()
        self._hear_stimulus("crash", {})

    def _end_the_life(self, move: Move) -> None:
        if move.params.get("by") == "kill":
            self._kill()
        else:
            self._request("crash", {})

    def _way_to_crash(self, wanted: str) -> str | None:
        """The way that was asked for, else one that there is."""
        ways = [way for way in self.handshake.control.crash if way == "soft" or self.revive is not None]
        return wanted if wanted in ways else next(iter(ways), None)

    def _kill(self) -> None:
        """The process is killed and started anew, with the same bytes in its folder and nothing else."""
        assert self.revive is not None  # else it is no way to crash
        self.sut = self.revive()
        self._request("scenario.open", self._opening)

    def _request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return self.sut.request(method, dict(params))
        except ProtocolError as error:
            raise _blamed(method, error) from error

    # -- going on from a bookmark

    def bookmark(self) -> Bookmark | None:
        """What was sent and judged so far; nothing where there is nothing to go on from."""
        if self.violation is not None or not self.steps:
            return None
        records = [record for record in self.trace.records if "end" not in record]
        return Bookmark(self.steps, records, self.judge, self.gates)

    def _resume(self, moves: Sequence[Move], mark: Bookmark | None) -> int:
        """Take the steps of a bookmark, if moves begin so; how many moves were sent by that."""
        if mark is None or mark.moves != moves[: len(mark.moves)]:
            return 0
        answers = []
        for step in mark.steps:
            answers.append(self._take_again(step))
            if answers[-1] != step.answer:
                break
        else:
            self._stand_at(mark)
            return len(answers)
        for step, answer in zip(mark.steps, answers, strict=False):
            self._judge_again(step, answer)
        return len(answers)

    def _take_again(self, step: Step) -> Mapping[str, Any]:
        """What the runtime answers to a step that it was sent before."""
        self.attempted.append(step.move)
        if step.move.method == CRASH_AND_RECOVER:
            self._end_the_life(step.move)
        return self._answer_again(step)

    def _answer_again(self, step: Step) -> Mapping[str, Any]:
        if step.method != INSPECT:
            return self._request(step.method, step.params)
        return self._look(step.params, is_quiescent=step.answer["quiescent"]) or {}

    def _judge_again(self, step: Step, answer: Mapping[str, Any]) -> None:
        if step.move.method == CRASH_AND_RECOVER:
            self._note_the_crash(step.move)
        self._stimulate(step.move, step.method, step.params, answer)

    def _stand_at(self, mark: Bookmark) -> None:
        self.judge, self.gates = mark.read()
        self.state = self.judge.state
        self.steps, self.sent = [*mark.steps], [*mark.moves]
        self.trace = Trace([*mark.records])

    # -- ending

    def drain(self) -> None:
        """Give the run everything that it waits for, until it is Done or breaks a clause."""
        for _ in range(DRAIN_LIMIT):
            run = self.state.run
            if self.violation is not None or run is None or (run.is_done and self.state.quiescent):
                return
            move = Move("settle", {}) if not self.state.quiescent else self.family.drain(self.state)
            if move is None or not self.send(move):
                return

    def end(self) -> None:
        """Nothing more is to come: whatever waited for that is judged now."""
        self.judge.end()

    def close(self) -> None:
        """End the scenario on the runtime."""
        self.end()
        answer = self._request("scenario.close", {})
        closed = fitted(Closed, answer, "The answer to scenario.close", "scenario.close.answer")
        self.trace.add("end", {"leaks": closed.leaks})


def _blamed(method: str, error: ProtocolError) -> AdapterError:
    words = cut(plain(error.message), WORDS_LIMIT).rstrip(".")
    if error.code == SUT_CRASHED:
        return SutDied(f"The runtime crashed at {method}: {words}.")
    if error.code == DID_NOT_SETTLE:
        return Restless(f"The runtime did not settle at {method}: {words}.")
    if error.code == UNSUPPORTED:
        return AdapterError(
            f"The adapter does not support {method}, which its handshake offers: {words}.",
            "Leave it out of the handshake, or answer it.",
        )
    return AdapterError(f"The adapter answered {method} with error {error.code}: {words}.")
