"""The report of a campaign for a person: the verdict, a table of the clauses, each violation at length."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from interlock.conformance.report.clauses import file_of, ranges, title
from interlock.conformance.report.page import Page
from interlock.conformance.result import THIN, ClauseVerdict, Result, Witness
from interlock.conformance.wording import plain, step
from interlock.diagrams.timeline import render
from interlock.spec.model import load_spec

STYLES = {"held": "green", "broken": "red", "undecided": "yellow"}
THIN_SHOWN = 8


def write_report(result: Result, page: Page, files: dict[str, Path], replay_target: str) -> None:
    """Write the whole report; `files` are the trace files by clause."""
    clause_table(result, page)
    for witness in result.witnesses:
        page.line()
        violation(result, witness, page, files.get(witness.clause), replay_target)
    page.line()
    headline(result, page, files)


# --- the verdict --------------------------------------------------------------------------------


def headline(result: Result, page: Page, files: dict[str, Path]) -> None:
    """Write the verdict with its counts, and what keeps it from being more."""
    page.headline(result.verdict, f": {plain(result.target)} is {_who(result)}", STYLES[result.verdict])
    page.wrapped(f"{_many(result.schedules, 'schedule')}, {_stimuli(result.stimuli)}; {counts(result)}", indent="  ")
    for line in _shortcomings(result):
        page.wrapped(line, indent="  ")
    for number, trouble in enumerate(result.troubles, 1):
        page.wrapped(f"could not be judged, blame {trouble.blame}: {plain(trouble.what)}", "yellow", "  ")
        if (path := files.get(trouble_name(number))) is not None:
            page.line(f"    the trace that led there: {path}")


def trouble_name(number: int) -> str:
    """Under which name the trace of a trouble is filed."""
    return f"trouble-{number}"


def _who(result: Result) -> str:
    name = plain(result.implementation.get("name", "?"))
    return f"{name} {plain(result.implementation.get('version', '?'))}, profile {plain(result.profile)}"


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _stimuli(number: int) -> str:
    return f"{number} {'stimulus' if number == 1 else 'stimuli'}"


def counts(result: Result) -> str:
    """How many clauses have each verdict."""
    return (
        f"{result.count('held')} held, {result.count('broken')} broken, "
        f"{result.count('untested')} untested, {result.count('not-applicable')} not applicable"
    )


def _shortcomings(result: Result) -> Iterator[str]:
    if not result.schedules:
        yield "undecided because no schedule was played: an empty run shows nothing"
    elif result.unexercised:
        names = ", ".join(clause.id for clause in result.unexercised)
        yield f"not reached by any schedule, though the runtime makes it testable: {names}"
    if not result.count("held") and not result.witnesses and result.schedules:
        yield "nothing that was asked for was exercised"
    if result.partial:
        yield f"partial: {plain(result.partial)}"
    thin = [clause for clause in result.clauses if clause.is_thin]
    if thin:
        named = ", ".join(f"{clause.id} ({clause.exercised})" for clause in thin[:THIN_SHOWN])
        more = f" and {len(thin) - THIN_SHOWN} more" if len(thin) > THIN_SHOWN else ""
        yield f"thin, exercised under {THIN} times: {named}{more}"


# --- the table ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Line:
    """Clauses of one area that share a level, a verdict and its reason."""

    area: str
    ids: list[str]
    level: str
    verdict: str
    why: str
    exercised: str

    @property
    def cells(self) -> list[str]:
        """What stands in the columns before the reason."""
        return [self.area, ranges(self.ids), self.level, self.verdict.replace("-", " "), self.exercised]


def clause_table(result: Result, page: Page) -> None:
    """Write the table of clauses, each area compact."""
    lines = list(_table_lines(result.clauses))
    head = ["area", "clauses", "level", "verdict", "exercised"]
    widths = [max(len(cells[at]) for cells in [head, *(line.cells for line in lines)]) for at in range(len(head))]
    widths[1] = min(widths[1], 24)
    page.line("  ".join([*(word.ljust(size) for word, size in zip(head, widths, strict=True)), "why"]), "dim")
    last = ""
    for line in lines:
        _write_line(line, widths, page, line.area != last)
        last = line.area


def _write_line(line: Line, widths: list[int], page: Page, is_first: bool) -> None:
    cells = line.cells if is_first else ["", *line.cells[1:]]
    left = "  ".join(cell.ljust(size) for cell, size in zip(cells, widths, strict=True))
    style = {"broken": "red", "untested": "yellow", "error": "yellow", "not-applicable": "dim"}.get(line.verdict, "")
    hanging = " " * min(len(left) + 2, page.width // 2)
    for number, text in enumerate(page.filled(f"{left}  {plain(line.why)}", hanging)):
        page.line(text.rstrip(), style if number == 0 else "dim" if style == "dim" else style)


def _table_lines(clauses: Sequence[ClauseVerdict]) -> Iterator[Line]:
    grouped: dict[tuple[str, ...], list[ClauseVerdict]] = {}
    for clause in clauses:
        area = clause.id.rpartition("-")[0]
        alone = clause.id if clause.verdict == "broken" else ""
        grouped.setdefault((area, alone, clause.verdict, clause.level, clause.why), []).append(clause)
    order = {"broken": 0, "error": 1, "held": 2, "untested": 3, "not-applicable": 4}
    areas = list(dict.fromkeys(key[0] for key in grouped))
    for key in sorted(grouped, key=lambda key: (areas.index(key[0]), order[key[2]])):
        area, _, verdict, level, why = key
        members = grouped[key]
        yield Line(area, [one.id for one in members], level, verdict, why, _exercised(members))


def _exercised(members: list[ClauseVerdict]) -> str:
    numbers = sorted(clause.exercised for clause in members)
    if not numbers[-1]:
        return ""
    return str(numbers[0]) if numbers[0] == numbers[-1] else f"{numbers[0]} to {numbers[-1]}"


# --- a violation --------------------------------------------------------------------------------


def violation(result: Result, witness: Witness, page: Page, path: Path | None, replay_target: str) -> None:
    """Write one violation: what broke, why, what is asked, how it came to it, where to look, how to see it again."""
    clause = load_spec().clause(witness.clause)
    name = plain(result.implementation.get("name", "?"))
    version = plain(result.implementation.get("version", "?"))
    page.headline(f"{clause.id} broken", f" by {name} {version}: {title(clause)}", "red")
    page.labelled("because", plain(witness.because))
    page.labelled("clause", f"{clause.sentence}   {file_of(clause)}")
    page.block("timeline", "", render(witness.trace, page.width - 12))
    page.block("witness", _many(witness.steps, "step"), steps(witness))
    for number, place in enumerate(clause.look_at):
        page.labelled("" if number else "look at", place)
    if path is not None:
        page.block("replay", f"interlock replay {quoted_word(str(path))} {quoted_word(replay_target)}", [])


def steps(witness: Witness) -> list[str]:
    """The moves of a witness, numbered."""
    size = len(str(witness.steps))
    return [f"{number:>{size}}  {step(move)}" for number, move in enumerate(witness.moves, 1)]


def quoted_word(word: str) -> str:
    """A word as a shell takes it."""
    return shlex.quote(word)
