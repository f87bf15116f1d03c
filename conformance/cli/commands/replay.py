"""`runlock replay`: sends the moves of a trace to a runtime, and shows its answers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TextIO

from runlock.conformance.campaign.audit import (
    facts_of,
    the_scene,
)
from runlock.conformance.campaign.rejudging import judged, scenario_of
from runlock.conformance.campaign.served import Reached
from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.ledger import Ledger
from runlock.conformance.driving.session import Session
from runlock.conformance.errors import RunlockError
from runlock.conformance.family.parts import Wording
from runlock.conformance.family.recordings import read_recording
from runlock.conformance.family.timeline import render
from runlock.conformance.report import result_json as machine
from runlock.conformance.report.clause_names import file_of, title
from runlock.conformance.report.console import Page
from runlock.conformance.report.stored_result import SCHEMA
from runlock.conformance.report.text import STYLES, incidents
from runlock.conformance.text import plain
from runlock.conformance.trace.moves import Move, moves_of
from runlock.conformance.trace.trace import Record, Trace


@dataclass(slots=True)
class Replayed:
    """One move of the trace, and its new answer."""

    move: Move
    was_sent: bool = False
    records: list[Record] = field(default_factory=list)

    def of(self, key: str) -> list[Any]:
        """The values of the records with this key."""
        return [record[key] for record in self.records if key in record]

    @property
    def refusals(self) -> list[Mapping[str, Any]]:
        """What was refused."""
        return [one for report in self.of("report") for one in report["refused"]]


@dataclass(slots=True)
class Replay:
    """A whole replay: the clause that the recording breaks, and the new session."""

    recorded: str | None
    session: Session
    steps: list[Replayed]
    ledger: Ledger

    @property
    def broken(self) -> str | None:
        """The clause that broke now."""
        violation = self.session.violation
        return violation.clause if violation is not None else None

    @property
    def verdict(self) -> str:
        """Whether anything broke, and whether something was exercised and no incident happened."""
        if self.broken is not None:
            return "broken"
        return "held" if self.session.judge.exercised and not self.ledger.times else "undecided"

    @property
    def exit_code(self) -> int:
        """0 nothing broke, 1 something did, 3 nothing was exercised, or there was an incident."""
        return {"held": 0, "broken": 1, "undecided": 3}[self.verdict]


def replay(path: Path, reached: Reached, *, is_stepped: bool, as_json: bool) -> int:
    """Run the whole command; the exit code."""
    with results() as stdout:
        scene = the_scene(path, read_recording(path))
        opened = reached.factory()
        recorded = _recorded(path, scene)
        page = Page(stdout)
        bench = Bench(opened)
        wording = bench.family.wording
        if scene.verdict is not None and not as_json:
            page.wrapped(f"recorded: {scene.verdict_in_words}", "red")
        show = (lambda _step, _number: None) if as_json else _showing(wording, page, is_stepped, stdout)
        try:
            scenario = scenario_of(path, scene, bench.family)
            session = bench.session(scenario)
            steps = _play(session, list(moves_of(scene, bench.family.line_formats.gate_name)), show)
            _close(session, bench.ledger)
            bench.probe(scenario)
        finally:
            bench.close()
        replayed = Replay(recorded, session, steps, bench.ledger)
        if as_json:
            page.console.out(json.dumps(_as_json(replayed, path, reached.target), indent=1))
        else:
            _conclude(replayed, page)
        return replayed.exit_code


def _recorded(path: Path, scene: Trace) -> str | None:
    """The clause that the recording breaks; an empty name if it breaks none, None if it cannot be judged."""
    if scene.verdict is not None and scene.verdict.get("clause"):
        return str(scene.verdict["clause"])
    if not any(scene.of("handshake")) or not any(scene.of("report")):
        return None
    violation = judged(path, scene, facts_of(path, scene)).violation
    return violation.clause if violation is not None else ""


def _close(session: Session, ledger: Ledger) -> None:
    """Close the scenario; what fails after a violation is an incident."""
    try:
        session.close()
    except RunlockError as error:
        if session.violation is None:
            raise
        ledger.failed(error)


Show = Callable[[Replayed, int], None]


def _play(session: Session, moves: list[Move], show: Show) -> list[Replayed]:
    steps: list[Replayed] = []
    for number, move in enumerate(moves, 1):
        if session.violation is not None:
            break
        before = len(session.trace.records)
        played = Replayed(move)
        played.was_sent = session.send(move)
        played.records = session.trace.records[before:]
        steps.append(played)
        show(played, number)
    return steps


def _showing(wording: Wording, page: Page, is_stepped: bool, stdout: TextIO) -> Show:
    def show(played: Replayed, number: int) -> None:
        page.line(f"{number:>3}  {wording.move(played.move)}", "bold")
        if not played.was_sent:
            page.line("       left out: what it names does not wait here")
        for observation in played.of("observation"):
            page.columns("       ", wording.observation(observation))
        for refusal in played.refusals:
            page.columns("       ", plain(f"refused: {refusal.get('why', '')}"))
        stdout.flush()
        if is_stepped and sys.stdin.isatty():
            print("     (Enter for the next step) ", end="", file=sys.stderr, flush=True)
            sys.stdin.readline()

    return show


def _conclude(replayed: Replay, page: Page) -> None:
    page.line()
    for line in render(replayed.session.family, replayed.session.trace, page.width):
        page.line(line)
    page.line()
    for line in incidents(replayed.ledger):
        page.wrapped(line, "red")
    violation = replayed.session.violation
    handshake = replayed.session.handshake.implementation
    name = plain(f"{handshake.name} {handshake.version}")
    if violation is None:
        page.headline(
            replayed.verdict,
            f": {name} breaks nothing on these {len(replayed.steps)} steps",
            STYLES[replayed.verdict],
        )
    else:
        family = replayed.session.family
        clause = family.spec.clause(violation.clause)
        page.headline(f"{clause.id} broken", f" by {name}: {title(family, clause)}", "red")
        page.labelled("because", plain(violation.reason))
        page.labelled("clause", f"{clause.sentence}   {file_of(family, clause)}")
    page.wrapped(_compared(replayed), indent="  ")


def _compared(replayed: Replay) -> str:
    left_out = sum(not played.was_sent for played in replayed.steps)
    some = f"; {left_out} of its steps had no occasion here" if left_out else ""
    if replayed.recorded is None:
        return f"the file holds steps alone, and nothing to compare with{some}"
    if not replayed.recorded:
        return f"the recording breaks nothing{some}"
    if replayed.recorded == replayed.broken:
        return f"the recording breaks {replayed.recorded} too{some}"
    return f"the recording breaks {replayed.recorded}, which did not break now{some}"


def _as_json(replayed: Replay, path: Path, target: str) -> dict[str, Any]:
    violation = replayed.session.violation
    return {
        "schema": SCHEMA,
        "flaky": replayed.ledger.headline,
        "incidents": [asdict(replace(one, trace=None)) for one in replayed.ledger.all],
        "target": target,
        "trace": str(path),
        "implementation": replayed.session.handshake.implementation.to_wire(),
        "verdict": replayed.verdict,
        "clause": replayed.broken,
        "because": violation.reason if violation is not None else None,
        "recorded": replayed.recorded or None,
        "steps": [
            {
                **machine.stimulus(played.move),
                "sent": played.was_sent,
                "observations": played.of("observation"),
                "refused": played.refusals,
            }
            for played in replayed.steps
        ],
    }
