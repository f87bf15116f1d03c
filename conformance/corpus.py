"""The corpus: short scripted scenarios, one behaviour each, so that every clause has a cheap schedule.

A script says what the kit does, in words that hold for any runtime.  The observations in its file are
those of one reference, for the reader; whether a runtime is right is for the judge, as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from interlock.conformance.exceptions import UsageError
from interlock.conformance.moves import CRASH_AND_RECOVER, Move, moves_of
from interlock.conformance.protocol import METHODS, OUTCOMES_BY_GATE, STIMULI, Handshake, Scenario
from interlock.conformance.scenario import Document, is_move, parse, rewritten
from interlock.conformance.session import Session
from interlock.conformance.shapes import Known
from interlock.conformance.standing import _unmet as unmet
from interlock.conformance.trace import Record
from interlock.spec.model import load_spec

ENDING: Final = ".scenario"
DEFAULT_TARGET: Final = "reference:awaken-8"


@dataclass(frozen=True, slots=True)
class Script:
    """One scenario of the corpus: what it shows, what it starts from, what the kit does, what it needs."""

    name: str
    about: str
    scenario: Scenario
    moves: tuple[Move, ...]
    needs: tuple[str, ...]
    target: str  # whose observations its file holds


def corpus() -> list[Script]:
    """Every script that comes with the kit, by name."""
    return [script_of(path.name.removesuffix(ENDING), path.read_text("utf-8")) for path in corpus_files()]


def corpus_files() -> list[Traversable]:
    """The scenario files that come with the kit, by name."""
    folder = files("interlock.conformance") / "scenarios"
    return sorted((one for one in folder.iterdir() if one.name.endswith(ENDING)), key=lambda one: one.name)


def script_of(name: str, text: str) -> Script:
    """The script that a scenario file holds; everything that it sends has to fit the protocol."""
    source = f"{name}{ENDING}"
    document = parse(text, source)
    moves = tuple(moves_of(document.trace))
    lines = [entry.line for entry in document.entries if entry.record is not None and is_move(entry.record)]
    for move, line in zip(moves, lines, strict=True):
        _check_move(move, f"{source}:{line}")
    return Script(
        name,
        document.about,
        _scenario(document, name, source),
        moves,
        tuple(dict.fromkeys(_needs(document))),
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


# --- what fits the protocol ---------------------------------------------------------------------


def _check_move(move: Move, where: str) -> None:
    if move.method == CRASH_AND_RECOVER:
        return
    if move.method not in STIMULI:
        raise UsageError(f"{where}: {move.method} is no stimulus.", f"There are {', '.join(STIMULI)}.")
    try:
        METHODS[move.method][0].model_validate(move.params)
        for method, params in move.parts():
            METHODS[method][0].model_validate(params)
            if method == "gate.release":
                _outcomes_at(params["gate"], where).validate_python(params["outcome"])
    except ValidationError as error:
        raise _misfit(error, where) from None


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
    return UsageError(f"{where}: {place} is {first.get('input')!r}.", f"{first['msg']}.")


# --- what a script needs ------------------------------------------------------------------------


def applicable(script: Script, handshake: Handshake) -> str:
    """Why the script cannot be played on such a runtime, or nothing."""
    policies = load_spec().policies_of(handshake.profile, handshake.policies)
    whys = (_unmet_policy(need, policies) or unmet(need, handshake) for need in script.needs)
    return next((why for why in whys if why), "")


def _unmet_policy(need: str, policies: Mapping[str, Any]) -> str:
    """Why a policy does not hold what is needed; one that is open may hold it."""
    word, _, what = need.partition(" ")
    key, _, value = what.partition("=")
    if word != "policy" or value in policies.get(key, (value,)):
        return ""
    return f"the policy {key} has no {value}"


def _needs(document: Document) -> Iterator[str]:
    state = _Occasion()
    for entry in document.entries:
        record = entry.record or {}
        if "scenario" in record:
            yield from _scenario_needs(record["scenario"])
        elif is_move(record):
            yield from state.needs(record)
        if record:
            state.learn(record)


def _scenario_needs(scenario: Mapping[str, Any]) -> Iterator[str]:
    for tool in scenario.get("tools", ()):
        yield f"tools {tool.get('permission', 'allow')}"
        mode = tool.get("resume_mode", "replay")
        if mode != "replay":
            yield from ("decisions payload", f"policy decision.modes={mode}")
    for condition in scenario.get("agent", {}).get("stop", ()):
        yield f"policy stop.conditions={condition['kind']}"
    for gate in scenario.get("hold", ()):
        yield f"gate {gate}"


class _Occasion:
    """How things stand at a move: what it takes to send it depends on that."""

    def __init__(self) -> None:
        self.known = Known()
        self.refs: dict[str, str] = {}
        self.ids: set[str] = set()
        self.runs = 0
        self.settled = True
        self.is_done = False

    def learn(self, record: Record) -> None:
        self.known.learn(record)
        self.refs |= self.known.gates
        if "report" in record:
            self.settled = record["report"].get("quiescent", True)
        seen = record.get("observation", {})
        if seen.get("kind") == "run.finished":
            self.is_done = seen["reason"]["code"] != "Suspended"

    def needs(self, record: Record) -> Iterator[str]:
        if "crash" in record:
            yield "control crash=soft"
            return
        move = Move(record["stimulus"]["method"], record["stimulus"]["params"])
        if "turns" in move.params:
            yield "control step=turns"
        races = len(move.parts()) > 1
        if races:
            yield "stimulus deliver"
        for method, params in move.parts():
            yield from self._part(method, params, races)

    def _part(self, method: str, params: Mapping[str, Any], races: bool) -> Iterator[str]:
        busy = races or bool(self.known.gates) or not self.settled
        if method == "run.start":
            self.runs += 1
            self.is_done = False
            if self.runs > 1:
                yield "stimulus run.again"
        elif method == "gate.release":
            yield from self._release(params)
        elif method == "cancel":
            yield "stimulus cancel"
            if not busy and not self.is_done:
                yield "stimulus cancel.waiting"
        elif method in ("run.input", "clock.advance"):
            yield f"stimulus {method}"
            if method == "clock.advance":
                yield "control clock=virtual"
        for decision in params.get("decisions", ()):
            yield from self._decision(decision, busy)

    def _release(self, params: Mapping[str, Any]) -> Iterator[str]:
        on = self.refs.get(params["gate"], params["gate"]).partition(":")[0]
        yield f"gate {on}"
        yield f"outcome {on}.{params['outcome']['kind']}"

    def _decision(self, decision: Mapping[str, Any], busy: bool) -> Iterator[str]:
        yield "stimulus decide"
        if busy:
            yield "decisions live"
        if decision["id"] in self.ids:
            yield "decisions ids"
        self.ids.add(decision["id"])
        if decision.get("payload") is not None:
            yield "decisions payload"
        if decision.get("suspension") is not None:
            yield "decisions suspensions"


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
    run = session.account.run
    return run is not None and not (run.is_done and session.account.quiescent)


def _is_timely(session: Session, move: Move) -> bool:
    idle = session.account.quiescent and not session.account.open_gates
    offered = session.handshake
    if move.method == CRASH_AND_RECOVER:
        run = session.account.run
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
