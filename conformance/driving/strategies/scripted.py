"""The corpus: short scripted scenarios, one behaviour each, so that every clause has a cheap schedule.

A script says what the kit does, in words that hold for any runtime.  The observations in its file are
those of one reference, for the reader; whether a runtime is right is for the judge, as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from runlock.conformance.driving.session import Session
from runlock.conformance.errors import UsageError
from runlock.conformance.families.lifecycle.messages import METHODS, OUTCOMES_BY_GATE, STIMULI, AnyObservation
from runlock.conformance.families.lifecycle.requirements import needs_of, unmet_policy
from runlock.conformance.judging.applicability import unmet
from runlock.conformance.protocol import Handshake, Scenario
from runlock.conformance.trace.moves import (
    CRASH_AND_RECOVER,
    INSPECT,
    Move,
    moves_of,
)
from runlock.conformance.trace.scenario_file import (
    ENDING,
    Document,
    is_move,
    parse,
    rewritten,
)
from runlock.conformance.trace.trace import Record
from runlock.spec.model import load_spec

DEFAULT_TARGET: Final = "reference:awaken-8"
WITNESSES: Final = "witnesses"
SENT: Final = (*STIMULI, INSPECT)
"""What a script may send."""


@dataclass(frozen=True, slots=True)
class Script:
    """One scenario of the corpus: what it shows, what it starts from, what the kit does, what it needs."""

    name: str
    about: str
    scenario: Scenario
    moves: tuple[Move, ...]
    needs: tuple[str, ...]
    target: str  # whose observations its file holds


@cache
def corpus() -> tuple[Script, ...]:
    """Every script that comes with the kit, by name."""
    return tuple(map(_read, corpus_files()))


def _read(path: Traversable) -> Script:
    return script_of(path.name.removesuffix(ENDING), path.read_text("utf-8"))


def corpus_files(folder: str = "scenarios") -> list[Traversable]:
    """The scenario files that come with the kit, by name."""
    there = (files("runlock.conformance.families.lifecycle") / folder).iterdir()
    return sorted((one for one in there if one.name.endswith(ENDING)), key=lambda one: one.name)


@cache
def witnesses(most: int) -> tuple[Script, ...]:
    """What gave planted faults away, each schedule once and as many as that: it may give away others."""
    scripts: dict[str, Script] = {}
    for path in corpus_files(WITNESSES):
        if len(scripts) == most:
            break
        script = _read(path)
        scripts.setdefault(_schedule_of(script), script)
    return tuple(scripts.values())


def _schedule_of(script: Script) -> str:
    """What is played, whatever it is called."""
    return repr((script.scenario.model_copy(update={"scenario": ""}), script.moves))


def script_of(name: str, text: str) -> Script:
    """The script that a scenario file holds; everything that it sends has to fit the protocol."""
    source = f"{name}{ENDING}"
    document = parse(text, source)
    for entry in document.entries:
        if entry.record is not None:
            _check_record(entry.record, f"{source}:{entry.line}")
    moves = tuple(moves_of(document.trace))
    lines = [entry.line for entry in document.entries if entry.record is not None and is_move(entry.record)]
    for move, line in zip(moves, lines, strict=True):
        _check_outcomes(move, f"{source}:{line}")
    return Script(
        name,
        document.about,
        _scenario(document, name, source),
        moves,
        tuple(dict.fromkeys(needs_of(document))),
        document.target or DEFAULT_TARGET,
    )


def _scenario(document: Document, name: str, source: str) -> Scenario:
    given = list(document.trace.of("scenario"))
    if [one.get("scenario") for one in given] != [name]:
        raise UsageError(
            f"{source} does not hold one scenario of its own name.", f"Write `scenario {name}` in it."
        )
    try:
        return Scenario.model_validate(given[0])
    except ValidationError as error:
        raise _misfit(error, source) from None


def variations(script: Script, handshake: Handshake) -> list[Script]:
    """The script as often as a runtime can be put through it: with each way to crash, where it crashes."""
    ways = [way for way in handshake.control.crash if way != "soft"]
    if not any(move.method == CRASH_AND_RECOVER for move in script.moves):
        return [script]
    return [script, *(replace(script, moves=tuple(_by(way, move) for move in script.moves)) for way in ways)]


def _by(way: str, move: Move) -> Move:
    return Move(CRASH_AND_RECOVER, {"by": way}) if move.method == CRASH_AND_RECOVER else move


# --- what fits the protocol ---------------------------------------------------------------------


def _check_record(record: Record, where: str) -> None:
    stimulus = record.get("stimulus")
    try:
        if "observation" in record:
            _OBSERVATION.validate_python(record["observation"])
        elif stimulus is not None:
            _check_stimulus(stimulus.get("method"), stimulus.get("params"), where)
    except ValidationError as error:
        raise _misfit(error, where) from None


def _check_stimulus(method: Any, params: Any, where: str) -> None:
    if method not in SENT:
        raise UsageError(f"{where}: {method} is no stimulus.", f"There are {', '.join(SENT)}.")
    METHODS[method][0].model_validate(params)
    for part in params["stimuli"] if method == "deliver" else ():
        METHODS[part["method"]][0].model_validate(part["params"])


def _check_outcomes(move: Move, where: str) -> None:
    try:
        for method, params in move.parts():
            if method == "gate.release":
                _outcomes_at(params["gate"], where).validate_python(params["outcome"])
    except ValidationError as error:
        raise _misfit(error, where) from None


_OBSERVATION: Final[TypeAdapter[Any]] = TypeAdapter(AnyObservation)


def _outcomes_at(gate: str, where: str) -> TypeAdapter[Any]:
    on = gate.partition(":")[0]
    if on not in OUTCOMES_BY_GATE:
        names = "`model`, `tool:CALL`, `permission:CALL`, `store.put`"
        raise UsageError(
            f"{where}: no gate is called {gate}.", f"A script names a gate by what waits there: {names}."
        )
    return OUTCOMES_BY_GATE[on]


def _misfit(error: ValidationError, where: str) -> UsageError:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return UsageError(f"{where}: {place or 'params'} is {first.get('input')!r}.", f"{first['msg']}.")


def applicable(script: Script, handshake: Handshake) -> str:
    """Why the script cannot be played on such a runtime, or nothing."""
    policies = load_spec().policies_of(handshake.profile, handshake.policies)
    whys = (unmet_policy(need, policies) or unmet(need, handshake) for need in script.needs)
    return next((why for why in whys if why), "")


# --- playing ------------------------------------------------------------------------------------


def play(script: Script) -> Callable[[Session], None]:
    """A schedule that plays the script, gives the run whatever it still waits for, and closes."""

    def schedule(session: Session) -> None:
        for move in script.moves:
            send(session, move)
        session.drain()
        session.close()

    return schedule


def send(session: Session, move: Move) -> bool:
    """Send a move of a script, unless there is no occasion for it on this runtime.

    A profile that ends a run later than the script expects gets what it waits for before the next run.
    """
    if move.method == "run.start" and _run_is_open(session):
        session.drain()
        if _run_is_open(session):
            return False
    return session.violation is None and _is_timely(session, move) and session.send(move)


def _run_is_open(session: Session) -> bool:
    run = session.state.run
    return run is not None and not (run.is_done and session.state.quiescent)


def _is_timely(session: Session, move: Move) -> bool:
    idle = session.state.quiescent and not session.state.open_gates
    offered = session.handshake
    if move.method == CRASH_AND_RECOVER:
        run = session.state.run
        return run is not None and not run.is_done
    for method, _ in move.parts():
        if method == "decide" and not idle and not offered.decisions.live:
            return False
        if method == "cancel" and idle and "cancel.waiting" not in offered.stimuli:
            return False
    return True


def recorded(document: Document, session: Session) -> Document:
    """The document with what this session shows at each of its moves."""
    answers: list[list[Record]] = []
    for move in moves_of(document.trace):
        before = len(session.trace.records)
        send(session, move)
        answers.append(session.trace.records[before:])
    session.close()
    return rewritten(document, answers, session.trace.records[-1])
