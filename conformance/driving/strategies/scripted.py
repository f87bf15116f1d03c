"""The corpus: short scripted scenarios, one behaviour each, so that every clause has a cheap schedule.

A script lists moves that are valid for any runtime.  Its file holds no observations: the site shows those of
a reference, and the judge decides whether a runtime is right, as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources.abc import Traversable
from typing import Any, Final

from runlock.conformance.driving.session import Session
from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import Family, family_named
from runlock.conformance.family.fitting import check_fits
from runlock.conformance.judging.applicability import unmet
from runlock.conformance.protocol import Handshake, Scenario
from runlock.conformance.trace.document import Document, Entry, is_move, rewritten
from runlock.conformance.trace.moves import CRASH_AND_RECOVER, Move, moves_of, record_of
from runlock.conformance.trace.scenario_file import ENDING, parse
from runlock.conformance.trace.trace import Record
from runlock.conformance.trace.witness_file import Witness, read_witnesses

WITNESSES: Final = "witnesses"
ORDER: Final = "playing_order.txt"


@dataclass(frozen=True, slots=True)
class Script:
    """One scenario of the corpus: its purpose, its start, its moves, and its requirements."""

    name: str
    about: str
    scenario: Any
    moves: tuple[Move, ...]
    needs: tuple[str, ...]
    target: str  # the reference that the site shows it on


def corpus(family: Family) -> tuple[Script, ...]:
    """Every script that comes with a family, by name."""
    return _corpus(family.name)


@cache
def _corpus(family: str) -> tuple[Script, ...]:
    return tuple(_read(family_named(family), path) for path in corpus_files(family_named(family)))


def in_playing_order(family: Family) -> tuple[Script, ...]:
    """The corpus, those scripts first that show most which the ones before them do not.

    The file is derived: CONTRIBUTING.md says how.  A script that it does not name comes last.
    """
    file = family.files / ORDER
    named = file.read_text("utf-8").split() if file.is_file() else []
    known = {one.name: one for one in corpus(family)}
    first = [known.pop(name) for name in named if name in known]
    return (*first, *known.values())


def _read(family: Family, path: Traversable) -> Script:
    return script_of(family, path.name.removesuffix(ENDING), path.read_text("utf-8"))


def corpus_files(family: Family) -> list[Traversable]:
    """The scenario files of a family, by name."""
    there = (family.files / "scenarios").iterdir() if (family.files / "scenarios").is_dir() else ()
    return sorted((one for one in there if one.name.endswith(ENDING)), key=lambda one: one.name)


def witness_files(family: Family) -> Mapping[str, Witness]:
    """The witnesses of a family, by the names of their mutants."""
    return _witness_files(family.name)


@cache
def _witness_files(name: str) -> Mapping[str, Witness]:
    family = family_named(name)
    return read_witnesses(family.files / WITNESSES, family.vocabulary, family.line_formats)


def witnesses(family: Family, most: int) -> tuple[Script, ...]:
    """The schedules of a number of witnesses, each once: one that reveals one fault may reveal others."""
    scripts: dict[str, Script] = {}
    for witness in witness_files(family).values():
        if len(scripts) == most:
            break
        scripts.setdefault(_schedule_of(witness), _script_of_witness(family, witness))
    return tuple(scripts.values())


def _schedule_of(witness: Witness) -> str:
    """The identity of a script without its name."""
    return repr((witness.scenario.model_copy(update={"scenario": ""}), witness.moves))


def _script_of_witness(family: Family, one: Witness) -> Script:
    needs = tuple(dict.fromkeys(family.fitting.needs_of_script(one.document)))
    return Script(one.mutant, one.reason, one.scenario, one.moves, needs, f"mutant:{one.mutant}")


def known_scripts(family: Family) -> Mapping[str, Script]:
    """The corpus, and every witness as a script, by name."""
    return _known_scripts(family.name)


@cache
def _known_scripts(name: str) -> Mapping[str, Script]:
    family = family_named(name)
    shown = (_script_of_witness(family, one) for one in witness_files(family).values())
    return {one.name: one for one in (*corpus(family), *shown)}


def script_of(family: Family, name: str, text: str) -> Script:
    """The script in a scenario file; all of its messages have to fit the protocol."""
    source = f"{name}{ENDING}"
    document = parse(text, family.line_formats, source)
    check_fits(family, document.numbered, source)
    return Script(
        name,
        document.about,
        _scenario(family, document, name, source),
        tuple(moves_of(document.trace, family.line_formats.gate_name)),
        tuple(dict.fromkeys(family.fitting.needs_of_script(document))),
        document.target or f"reference:{family.default_profile}",
    )


def _scenario(family: Family, document: Document, name: str, source: str) -> Scenario:
    given = list(document.trace.of("scenario"))
    if [one.get("scenario") for one in given] != [name]:
        raise UsageError(
            f"{source} does not hold one scenario of its own name.", f"Write `scenario {name}` in it."
        )
    return family.vocabulary.scenario.model_validate(given[0])


def variations(script: Script, handshake: Handshake) -> list[Script]:
    """The variants of a script that a runtime supports: one for each way to crash, if it has a crash."""
    ways = [way for way in handshake.control.crash if way != "soft"]
    if not any(move.method == CRASH_AND_RECOVER for move in script.moves):
        return [script]
    return [script, *(replace(script, moves=tuple(_by(way, move) for move in script.moves)) for way in ways)]


def _by(way: str, move: Move) -> Move:
    return Move(CRASH_AND_RECOVER, {"by": way}) if move.method == CRASH_AND_RECOVER else move


# --- requirements -------------------------------------------------------------------------------


def applicable(family: Family, script: Script, handshake: Handshake) -> str:
    """Why the script cannot be run on such a runtime, or an empty string."""
    policies = family.spec.policies_of(handshake.profile, handshake.policies)
    whys = (_unmet_policy(need, policies) or unmet(family, need, handshake) for need in script.needs)
    return next((why for why in whys if why), "")


def _unmet_policy(need: str, policies: Mapping[str, Any]) -> str:
    """Why a policy contradicts a requirement, or an empty string; an open policy contradicts none."""
    word, _, what = need.partition(" ")
    key, _, value = what.partition("=")
    if word != "policy" or value in policies.get(key, (value,)):
        return ""
    return f"the policy {key} has no {value}"


# --- playing ------------------------------------------------------------------------------------


def play(script: Script) -> Callable[[Session], None]:
    """A schedule that runs the script, ends the run, goes on with the next one, and closes."""

    def schedule(session: Session) -> None:
        for move in script.moves:
            send(session, move)
        session.wind_up()
        session.close()

    return schedule


def send(session: Session, move: Move) -> bool:
    """Send a move of a script, unless it is not enabled on this runtime.

    If the profile ends a run later than the script expects, the run is drained before the next one.
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
    if move.method == CRASH_AND_RECOVER:
        return True  # what there is to recover is for the family to say
    return session.family.fitting.is_timely(move, session.state)


def recorded(document: Document, session: Session) -> Document:
    """The document with the observations of this session at each of its moves."""
    answers: list[list[Record]] = []
    for move in moves_of(document.trace, session.family.line_formats.gate_name):
        before = len(session.trace.records)
        send(session, move)
        answers.append(session.trace.records[before:])
    session.close()
    return rewritten(document, answers, session.trace.records[-1])


def without_answers(family: Family, document: Document) -> Document:
    """The moves and comments of a recording, with a line for the requirements of the moves."""
    moves = moves_of(document.trace, family.line_formats.gate_name)
    entries = [_unanswered(entry, moves) for entry in document.entries if not entry.is_answer]
    needs = tuple(dict.fromkeys(family.fitting.occasions(document.trace.records)))
    return replace(document, entries=[one for one in entries if one is not None], needs=needs)


def _unanswered(entry: Entry, moves: Iterator[Move]) -> Entry | None:
    record = entry.record
    if record is not None and is_move(record):
        return Entry(record_of(next(moves)), entry.comments)
    if record is None or "scenario" in record:
        return entry
    return Entry(None, entry.comments) if entry.comments else None
