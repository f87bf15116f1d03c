"""One scenario on one runtime: sends moves, records the trace, and passes every observation to the judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from runlock.conformance.driving.session_snapshot import SessionSnapshot, Step
from runlock.conformance.errors import AdapterError, Restless, SutDied
from runlock.conformance.family.chooser import PLAIN
from runlock.conformance.family.family import Family
from runlock.conformance.family.parts import Actions
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
    refuse_flood,
)
from runlock.conformance.text import cut, plain
from runlock.conformance.trace.moves import CRASH_AND_RECOVER, INSPECT, Move, as_seen
from runlock.conformance.trace.trace import Trace
from runlock.conformance.transport.sut import Sut

DRAIN_LIMIT: Final = 60
"""Maximum moves to drain a run; a run that needs more does not terminate."""

WORDS_LIMIT: Final = 300


class Session:
    """A scenario under way; `data` is the folder in which a runtime with its own store keeps its data.

    `new_judge` is not called if the session continues from a snapshot, which has its own judge.
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
        self.asides: list[str] = []  # requests of the runtime that belonged to no scenario
        self.observed = 0  # how many observations the answers held
        self.before: Trace | None = None  # of a snapshot to which the answers were others now
        self.attempted: list[Move] = []  # the stimulus without an answer, if there is one
        self.trace.add("handshake", handshake.as_sent)
        self.trace.add("scenario", scenario.as_sent)
        self._opening = {**scenario.in_full, "data": data}
        self._request("scenario.open", self._opening)

    @cached_property
    def judge(self) -> Judge:
        """The judge of the scenario."""
        return self._new_judge()

    @cached_property
    def state(self) -> Any:
        """The observed state."""
        return self.judge.state

    @property
    def violation(self) -> Violation | None:
        """The first violation, or None."""
        return self.judge.violation

    @property
    def ruling(self) -> Ruling:
        """The current ruling."""
        return self.judge.ruling

    def play(self, moves: Iterable[Move], snapshot: SessionSnapshot | None = None) -> None:
        """Send moves until one of them breaks a clause; skip a move whose gate is not open.

        Moves that begin like those of a snapshot are judged after its prefix if the answers are the same too.
        """
        moves = [*moves]
        for move in moves[self._resume(moves, snapshot) :]:
            if self.violation is not None:
                return
            self.send(move)

    def send(self, move: Move) -> bool:
        """Send one move; false if a gate that it names is not open."""
        if move.method == CRASH_AND_RECOVER:
            return self._crash(str(move.params.get("by", "soft")))
        if move.method == INSPECT:
            return self._inspect(move)
        self.attempted = [*self.sent, move]
        offered = self.family.driving.admit(move, self.state)
        params = self.family.driving.ground(offered, self.state) if offered is not None else None
        if offered is None or params is None:
            return False
        self._stimulate(offered, offered.method, params)
        return True

    def _stimulate(
        self, move: Move, method: str, params: Mapping[str, Any], answer: Mapping[str, Any] | None = None
    ) -> None:
        """Send a stimulus, unless it has its answer already, and judge the answer."""
        self.sent.append(move)
        is_idle = method == "settle" and self.state.quiescent and self.handshake.control.settles_exactly
        self.trace.add("stimulus", {"method": method, "params": dict(params)})
        self._hear_stimulus(method, params)
        raw = self._request(method, params) if answer is None else answer
        self.steps.append(Step(move, method, params, raw))
        self.observed = refuse_flood(method, raw, self.observed)
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
        """Inspect the run if the runtime supports it; the result is an observation."""
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
        """The answer to `inspect` as a report; None if the runtime has no `inspect`."""
        try:
            shown = self.sut.request(INSPECT, dict(params))
        except ProtocolError as error:
            if error.code in (UNSUPPORTED, METHOD_NOT_FOUND):
                return None
            raise _blamed(INSPECT, error) from error
        fitted(self.family.vocabulary.snapshot, shown, f"The answer to {INSPECT}", f"{INSPECT}.answer")
        return {"observations": [as_seen(params, shown)], "quiescent": is_quiescent, "refused": []}

    def _crash(self, wanted: str) -> bool:
        by, params = self._way_to_crash(wanted), self.family.driving.recover(self.state)
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
        """The requested kind of crash, or else one that the runtime supports."""
        ways = [way for way in self.handshake.control.crash if way == "soft" or self.revive is not None]
        return wanted if wanted in ways else next(iter(ways), None)

    def _kill(self) -> None:
        """Kill the process and restart it with the same data folder and nothing else."""
        assert self.revive is not None  # otherwise it cannot be used as a crash
        self.sut = self.revive()
        self._request("scenario.open", self._opening)

    def _request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return self.sut.request(method, dict(params))
        except ProtocolError as error:
            raise _blamed(method, error) from error

    # -- continuing from a snapshot

    def snapshot(self) -> SessionSnapshot | None:
        """A snapshot of what was sent and judged so far; None if no schedule can continue from here."""
        if self.violation is not None or not self.steps:
            return None
        records = [record for record in self.trace.records if "end" not in record]
        return SessionSnapshot(self.steps, records, self.judge, self.gates)

    def _resume(self, moves: Sequence[Move], mark: SessionSnapshot | None) -> int:
        """Take the steps of a snapshot if moves begin with them; returns the number of moves that they
        cover."""
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
        self.before = Trace([*mark.records])
        for step, answer in zip(mark.steps, answers, strict=False):
            self._judge_again(step, answer)
        return len(answers)

    def _take_again(self, step: Step) -> Mapping[str, Any]:
        """The answer of the runtime to a step that was sent to it before."""
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

    def _stand_at(self, mark: SessionSnapshot) -> None:
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
            move = Move("settle", {}) if not self.state.quiescent else self.family.driving.drain(self.state)
            if move is None or not self.send(move):
                return

    def wind_up(self) -> None:
        """Drain the run, and begin one more on the thread, which shows what the end of the last one left."""
        self.drain()
        move = self._next_start() if self.sent and self.violation is None else None
        if move is not None and self.send(move):
            self.drain()

    def _next_start(self) -> Move | None:
        """The simplest start of a run that the runtime takes now, under ids that are new."""
        sent = [params for move in self.sent for _, params in move.parts()]
        used = {params[key] for params in sent for key in ("run", "watcher") if key in params}
        actions = self.family.actions
        context, start = actions.new_context(self.state), actions.table[Actions.start]
        tries = (start(context, PLAIN) for _ in range(len(used) + 1))
        return next((one for one in tries if one is None or used.isdisjoint(_ids_of(one))), None)

    def end(self) -> None:
        """Judge what was not judged yet; here each answer was judged when it came."""

    def close(self) -> None:
        """End the scenario on the runtime."""
        answer = self._request("scenario.close", {})
        closed = fitted(Closed, answer, "The answer to scenario.close", "scenario.close.answer")
        self.asides = closed.asides
        unread = {} if closed.clock is None else {"clock": closed.clock}
        self.trace.add("end", {"leaks": closed.leaks, **unread})
        self._hear_end(closed.leaks)

    def _hear_end(self, leaks: Sequence[Any]) -> None:
        self.end()
        self.judge.closed(leaks)


def _ids_of(start: Move) -> list[Any]:
    return [start.params[key] for key in ("run", "watcher") if key in start.params]


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
