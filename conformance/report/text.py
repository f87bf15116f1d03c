"""The report of a campaign for a person: the verdict, each violation in detail, and what was judged."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from runlock.conformance.campaign.baseline import Compared
from runlock.conformance.campaign.result import Overall, Result
from runlock.conformance.driving.findings import Witness
from runlock.conformance.driving.ledger import Ledger
from runlock.conformance.family.family import Family
from runlock.conformance.family.timeline import render
from runlock.conformance.report import judged
from runlock.conformance.report import search_summary as searched
from runlock.conformance.report.clause_names import file_of, title
from runlock.conformance.report.console import Page
from runlock.conformance.report.next_step import next_step
from runlock.conformance.text import plain
from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.scenario_file import to_text
from runlock.conformance.trace.trace import Trace
from runlock.spec.model import Clause

STYLES: Final = {"held": "green", "broken": "red", "undecided": "yellow"}
QUESTIONS: Final = ": this is shown, and no declared policy says whether it is meant; the most harmful first"


def write_report(
    result: Result, page: Page, files: dict[str, Path], replay_target: str, *, is_verbose: bool = False
) -> None:
    """Write the whole report, findings first; `files` are the trace files by clause."""
    headline(result, page, files)
    contents(result, page)
    for witness in result.causes:
        page.line()
        violation(result, witness, page, files.get(witness.clause), replay_target)
    questions(result, page, files, replay_target)
    page.line()
    judged.summary(result, page, is_verbose=is_verbose)
    page.line()
    page.headline(result.verdict, f": {counts(result)}", STYLES[result.verdict])
    if not is_verbose:
        page.wrapped(next_step(result), "dim", "  ")


# --- the verdict --------------------------------------------------------------------------------


def headline(result: Result, page: Page, files: dict[str, Path]) -> None:
    """Write what went wrong with the run itself, the verdict, and why it is not better."""
    for line in (
        *incidents(result.ledger, files),
        *_exceptions(result, files),
        *_troubles(result, files),
    ):
        page.wrapped(line, "red")
    page.headline(result.verdict, f": {plain(result.target)} is {_who(result)}", STYLES[result.verdict])
    for line in _shortcomings(result):
        page.wrapped(line, indent="  ")


def contents(result: Result, page: Page) -> None:
    """Write each cause in one line, if there are several."""
    if len(result.causes) < 2:
        return
    page.wrapped(f"{len(result.causes)} findings, the most severe first:", indent="  ")
    for cause in result.causes:
        also = len(result.symptoms_of(cause))
        more = f" (and {_many(also, 'consequence')})" if also else ""
        clause = _clause(result, cause)
        words = f"{clause.severity}: {title(result.family, clause)}{more}"
        page.columns(f"  {cause.clause:<11}", words, "red")


def _clause(result: Result, witness: Witness) -> Clause:
    return result.family.spec.clause(witness.clause)


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
    over = result.implementation.get("over")
    spoken = f", over {plain(over)}" if over else ""
    version = plain(result.implementation.get("version", "?"))
    return f"{name} {version}, profile {plain(result.profile)}{spoken}"


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


def _shortcomings(result: Result) -> Iterator[str]:
    if not result.schedules and not result.troubles:
        yield "no schedule was played, and an empty run shows nothing"
    elif result.unexercised and result.schedules and not result.witnesses:
        names = ", ".join(clause.id for clause in result.unexercised)
        yield f"not reached by any schedule, though the runtime makes it testable: {names}"
    if not result.count("held") and not result.witnesses and result.schedules:
        yield "nothing that was asked for was exercised"
    if result.partial:
        yield f"partial: {plain(result.partial)}{searched.tried_whole(result)}"


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


# --- a violation --------------------------------------------------------------------------------


def violation(result: Result, witness: Witness, page: Page, path: Path | None, replay_target: str) -> None:
    """Write one violation: the clause and the reason, the steps, where to look, and how to replay it."""
    family = result.family
    clause = _clause(result, witness)
    name = plain(result.implementation.get("name", "?"))
    version = plain(result.implementation.get("version", "?"))
    page.headline(f"{clause.id} broken", f" by {name} {version}: {title(family, clause)}", "red")
    page.labelled("because", plain(witness.reason))
    page.labelled("severity", clause.severity)
    page.labelled("clause", f"{clause.sentence}   {file_of(family, clause)}")
    for number, symptom in enumerate(result.symptoms_of(witness)):
        page.labelled("" if number else "also", f"{symptom.clause}: {plain(symptom.reason)}")
    if mistake := family.wording.adapter_mistake(witness.trace):
        page.labelled("adapter", plain(mistake))
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
