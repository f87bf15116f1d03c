"""The report of a campaign for a person: the verdict, a table of the clauses, each violation in detail."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from runlock.conformance.campaign.baseline import Compared
from runlock.conformance.campaign.result import THIN, UNREACHED, ClauseVerdict, Overall, Result, Verdict
from runlock.conformance.driving.findings import Witness
from runlock.conformance.driving.ledger import Ledger
from runlock.conformance.family.family import Family
from runlock.conformance.family.timeline import render
from runlock.conformance.report import coverage
from runlock.conformance.report import search_summary as searched
from runlock.conformance.report.clause_names import file_of, grouped, ranges, title
from runlock.conformance.report.console import NO_BREAK, Page
from runlock.conformance.text import plain
from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.scenario_file import to_text
from runlock.conformance.trace.trace import Trace

STYLES: Final = {"held": "green", "broken": "red", "undecided": "yellow"}
THIN_SHOWN: Final = 8
QUESTIONS: Final = ": this is shown, and no declared policy says whether it is meant; the most harmful first"


def write_report(
    result: Result, page: Page, files: dict[str, Path], replay_target: str, *, is_verbose: bool = False
) -> None:
    """Write the whole report; `files` are the trace files by clause."""
    headline(result, page, files)
    page.line()
    if is_verbose:
        clause_table(result, page)
    else:
        area_table(result, page)
    if result.coverage and is_verbose:
        page.line()
        coverage.section(result, page, is_verbose=True)
    for witness in result.causes:
        page.line()
        violation(result, witness, page, files.get(witness.clause), replay_target)
    questions(result, page, files, replay_target)
    page.line()
    page.headline(result.verdict, f": {counts(result)}", STYLES[result.verdict])
    if not is_verbose:
        page.wrapped(_next(result), "dim", "  ")


def _next(result: Result) -> str:
    """What to do next."""
    everything = "`--verbose` lists every clause and every transition"
    if result.causes:
        first = result.causes[0].clause
        return (
            f"next: `runlock explain {first}` says what it asks for, `--skip {first}` hides it; {everything}"
        )
    if any(clause.why == UNREACHED for clause in result.unexercised):
        return f"next: more `--examples` may reach the rest; {everything}"
    if result.unexercised:
        return f"next: no larger budget is known to reach the rest; {everything}"
    return f"next: what the handshake declares decides what is tested; {everything}"


# --- the verdict --------------------------------------------------------------------------------


def headline(result: Result, page: Page, files: dict[str, Path]) -> None:
    """Write the verdict with its counts, and the reasons if it is not better."""
    for line in (
        *incidents(result.ledger, files),
        *_exceptions(result, files),
        *_troubles(result, files),
    ):
        page.wrapped(line, "red")
    page.headline(result.verdict, f": {plain(result.target)} is {_who(result)}", STYLES[result.verdict])
    played = f"{_many(result.schedules, 'schedule')}, {_stimuli(result.stimuli)}"
    exercised = result.count("held") + result.count("broken")
    page.wrapped(f"{exercised} of {len(result.clauses)} clauses exercised, in {played}", indent="  ")
    page.wrapped(f"{counts(result)}{_causes(result)}", indent="  ")
    for line in searched.lines(result):
        page.wrapped(line, indent="  ")
    if replayed := result.budget.get("replayed"):
        page.wrapped(f"replayed first: {_many(replayed, 'failure')} of the last run", indent="  ")
    if skipped := result.budget.get("skip"):
        page.wrapped(f"not judged, by request: {', '.join(map(plain, skipped))}", indent="  ")
    for line in _shortcomings(result):
        page.wrapped(line, indent="  ")
    for line in result.warnings:
        page.wrapped(f"warning: {plain(line)}", "yellow", "  ")


def incidents(ledger: Ledger, files: Mapping[str, Path] = MappingProxyType({})) -> Iterator[str]:
    """The incidents in one sentence, and then each kind with its first example and one trace."""
    if ledger.headline:
        yield ledger.headline
    for number, one in enumerate(ledger.shown, 1):
        path = files.get(incident_name(number))
        yield f"  {plain(one.sentence)}{f' That is in {path}.' if path is not None else ''}"


def _exceptions(result: Result, files: dict[str, Path]) -> Iterator[str]:
    """The exceptions of the adapter or the runtime, each with one trace that shows it."""
    for number, raised in enumerate(result.raised, 1):
        path = files.get(exception_name(number))
        shown = f", as in {path}" if path is not None else ""
        yield f"exception: {plain(raised.what)}, in {_many(raised.times, 'schedule')}{shown}"


def _troubles(result: Result, files: dict[str, Path]) -> Iterator[str]:
    """The errors of schedules that could not be judged, each sentence once, with one trace."""
    alike: dict[tuple[str, str], list[int]] = {}
    for number, trouble in enumerate(result.troubles, 1):
        alike.setdefault((trouble.blame, trouble.what), []).append(number)
    for (blame, what), numbers in alike.items():
        yield f"{_many(len(numbers), 'schedule')} could not be judged, blame the {blame}: {plain(what)}"
        if (path := files.get(trouble_name(numbers[0]))) is not None:
            yield f"  what led there is in {path}"


def incident_name(number: int) -> str:
    """The file name of the trace of an incident."""
    return f"incident-{number}"


def exception_name(number: int) -> str:
    """The file name of the trace of an exception."""
    return f"exception-{number}"


def trouble_name(number: int) -> str:
    """The file name of the trace of an error."""
    return f"trouble-{number}"


def question_name(number: int) -> str:
    """The file name of the trace of a question."""
    return f"question-{number}"


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
        f"{f', {once} broken once and not again' if (once := result.count('error')) else ''}"
    )


def _causes(result: Result) -> str:
    if len(result.causes) in (0, len(result.witnesses)):
        return ""
    return f"; those that broke have {_many(len(result.causes), 'cause')}"


def _shortcomings(result: Result) -> Iterator[str]:
    if not result.schedules and not result.troubles:
        yield "no schedule was played, and an empty run shows nothing"
    elif result.unexercised and result.schedules:
        names = ", ".join(clause.id for clause in result.unexercised)
        yield f"not reached by any schedule, though the runtime makes it testable: {names}"
    if not result.count("held") and not result.witnesses and result.schedules:
        yield "nothing that was asked for was exercised"
    if result.partial:
        yield f"partial: {plain(result.partial)}{searched.tried_whole(result)}"
    if result.unjudged_policies:
        yield f"declared, and judged by no check: {', '.join(result.unjudged_policies)}"
    if result.questions:
        yield f"{_many(len(result.questions), 'question')} about policies that are not declared, below"
    thin = [clause for clause in result.clauses if clause.is_thin]
    if thin:
        named = ", ".join(f"{clause.id}{NO_BREAK}({clause.exercised})" for clause in thin[:THIN_SHOWN])
        more = f" and {len(thin) - THIN_SHOWN} more" if len(thin) > THIN_SHOWN else ""
        yield f"thin, exercised under {THIN} times: {named}{more}"


def write_compared(file: str, as_of: str, compared: Compared, page: Page, code: int) -> None:
    """Write the result of the comparison with a baseline."""
    page.line()
    for clause, reason in compared.expected.items():
        page.wrapped(f"{clause} is expected: {plain(reason)}", indent="  ")
    for sentence in (*compared.stale.values(), *compared.unseen.values()):
        page.wrapped(plain(sentence), "red" if compared.stale else "yellow", "  ")
    if compared.surprises:
        page.wrapped(f"not expected: {', '.join(compared.surprises)}", "red", "  ")
    word: Overall = "held" if code == 0 else "broken" if code == 1 else "undecided"
    rest = f": {_many(len(compared.expected), 'violation')} expected by {plain(file)}{as_of}"
    page.headline(word, rest, STYLES[word])


# --- the table ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Line:
    """Clauses of one area that share a level, a verdict and its reason."""

    area: str
    level: str
    verdict: str
    clauses: list[ClauseVerdict]
    why: str

    @property
    def text(self) -> str:
        """Which clauses, how often they were exercised, and the reason."""
        numbers = ranges([clause.id for clause in self.clauses])
        return f"{numbers}: {'; '.join(part for part in (_exercised(self.clauses), plain(self.why)) if part)}"


AREA_COUNTS: Final[tuple[Verdict, ...]] = ("held", "broken", "untested")


def area_table(result: Result, page: Page) -> None:
    """Write a line for each area that applies, and then why clauses were not tested."""
    width = max((len(one.id.rpartition("-")[0]) for one in result.clauses), default=0)
    numbers = "".join(f"{verdict:>10}" for verdict in AREA_COUNTS)
    page.columns(f"{'area':<{width}}{numbers}  ", "what its clauses are about", "dim")
    for area, about in result.family.spec.areas.items():
        members = [one for one in result.clauses if one.id.rpartition("-")[0] == area]
        found = {verdict: sum(one.verdict == verdict for one in members) for verdict in AREA_COUNTS}
        if any(found.values()):
            numbers = "".join(f"{many or '':>10}" for many in found.values())
            page.columns(f"{area:<{width}}{numbers}  ", about, "red" if found["broken"] else "")
    untested = list(_untested(result.clauses))
    if untested:
        page.line()
        page.wrapped("not tested:", "dim")
    for line in untested:
        page.wrapped(line, "dim", "  ")


def _untested(clauses: Sequence[ClauseVerdict]) -> Iterator[str]:
    """The reasons why clauses were not tested, each with its clauses."""
    by_reason: dict[str, list[str]] = {}
    for one in clauses:
        if one.verdict == "untested":
            by_reason.setdefault(one.why, []).append(one.id)
    for why, names in by_reason.items():
        yield f"{plain(why)}: {grouped(names)}"


def clause_table(result: Result, page: Page) -> None:
    """Write the table of clauses, each area compact."""
    lines = list(_table_lines(result.clauses))
    area = max((len(line.area) for line in lines), default=0)
    page.columns(_left("area", "level", "verdict", max(area, 4)), "clauses, and why", "dim")
    last = ""
    for line in lines:
        shown = line.area if line.area != last else ""
        left = _left(shown, line.level, line.verdict.replace("-", " "), max(area, 4))
        page.columns(left, line.text, _ROW_STYLES[line.verdict])
        last = line.area


def _left(area: str, level: str, verdict: str, width: int) -> str:
    return f"{area:<{width}}  {level:<6}  {verdict:<14}  "


_ROW_STYLES: Final = {
    "held": "", "broken": "red", "untested": "yellow", "error": "yellow", "not-applicable": "dim",
}  # fmt: skip


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
        yield Line(area, level, verdict, grouped[key], why)


def _exercised(members: list[ClauseVerdict]) -> str:
    numbers = sorted(clause.exercised for clause in members)
    if not numbers[-1]:
        return ""
    if numbers[0] == numbers[-1]:
        return "exercised once" if numbers[0] == 1 else f"exercised {numbers[0]} times"
    return f"exercised {numbers[0]} to {numbers[-1]} times"


# --- a violation --------------------------------------------------------------------------------


def violation(result: Result, witness: Witness, page: Page, path: Path | None, replay_target: str) -> None:
    """Write one violation: the clause and the reason, the steps, where to look, and how to replay it."""
    family = result.family
    clause = family.spec.clause(witness.clause)
    name = plain(result.implementation.get("name", "?"))
    version = plain(result.implementation.get("version", "?"))
    page.headline(f"{clause.id} broken", f" by {name} {version}: {title(family, clause)}", "red")
    page.labelled("because", plain(witness.reason))
    page.labelled("clause", f"{clause.sentence}   {file_of(family, clause)}")
    for number, symptom in enumerate(result.symptoms_of(witness)):
        page.labelled("" if number else "also", f"{symptom.clause}: {plain(symptom.reason)}")
    page.block("timeline", render(family, witness.trace, page.width - 12))
    if lines := scenario_lines(family, witness.trace):
        page.block("scenario", lines)
    page.block("witness", [_many(witness.steps, "step"), *steps(family, witness.moves)])
    for number, place in enumerate(clause.look_at):
        page.labelled("" if number else "look at", place)
    if path is not None:
        page.block("replay", [f"runlock replay {shlex.quote(str(path))} {shlex.quote(replay_target)}"])


def questions(result: Result, page: Page, files: Mapping[str, Path], replay_target: str) -> None:
    """Write what a runtime shows and no declared policy allows or forbids, the most harmful first."""
    if result.questions:
        page.line()
        page.headline("questions", QUESTIONS, STYLES["undecided"])
    for number, one in enumerate(result.questions, 1):
        page.wrapped(plain(one.sentence), "yellow", "  ")
        page.labelled("because", f"{plain(one.witness.reason)} ({one.witness.clause})")
        page.labelled("scenario", plain(scenario_name(one.witness.trace)))
        page.block("witness", steps(result.family, one.witness.moves))
        if (path := files.get(question_name(number))) is not None:
            page.block("replay", [f"runlock replay {shlex.quote(str(path))} {shlex.quote(replay_target)}"])


def scenario_name(trace: Trace) -> str:
    """The name of the scenario of a trace, which is that of the script, if it was one."""
    return next((str(one.get("scenario")) for one in trace.of("scenario")), "?")


def scenario_lines(family: Family, trace: Trace) -> list[str]:
    """The tools, stop conditions and other facts of a scenario, as its file has them; not its name."""
    alone = Trace([record for record in trace.records if "scenario" in record])
    first, *lines = to_text(alone, family.line_formats).strip().splitlines()
    return [*first.split(maxsplit=2)[2:], *(line.strip() for line in lines)]


def steps(family: Family, moves: Sequence[Move]) -> list[str]:
    """The moves of a schedule, numbered."""
    size = len(str(len(moves)))
    return [f"{number:>{size}}  {family.wording.move(move)}" for number, move in enumerate(moves, 1)]
