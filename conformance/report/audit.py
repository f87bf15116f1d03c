"""The report of an audit: what recorded runs kept and broke, and what their formats show."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from runlock.conformance.audit.result import AuditResult
from runlock.conformance.audit.summary import IDLE
from runlock.conformance.driving.findings import Witness
from runlock.conformance.report import judged, result_json
from runlock.conformance.report.clause_names import file_of, title
from runlock.conformance.report.console import Page
from runlock.conformance.report.text import STYLES, contents, violation
from runlock.conformance.text import cut, plain

OBSERVED: Final = {"held": "held", "broken": "broken"}
NOT_OBSERVABLE: Final = "not observable"
REASON_MAX: Final = 300
SOURCES_SHOWN: Final = 8
PASSED_SHOWN: Final = 3
PLACES_SHOWN: Final = 5
"""Agents, tools and files of a violation that are listed."""


def as_json(audits: Sequence[AuditResult], files: Sequence[Mapping[str, Path]], code: int) -> dict[str, Any]:
    """The audit as one JSON object: that of the first family, with those of the others in `families`."""
    first, *others = [_as_json(one, found, code) for one, found in zip(audits, files, strict=True)]
    return {**first, "families": others}


def _as_json(audit: AuditResult, files: Mapping[str, Path], code: int) -> dict[str, Any]:
    """The result as `check` stores it, and what only an audit has."""
    report = result_json.as_json(audit.result, files, code)
    for clause in report["clauses"]:
        clause["threads_broken"] = audit.broken[clause["id"]]
        clause["observed"] = OBSERVED.get(clause["verdict"], NOT_OBSERVABLE)
    for found in report["violations"]:
        found["threads"] = audit.broken[found["clause"]]
        found["examples"] = list(_examples(audit, found["clause"]))
        found |= {label: dict(where) for label, where in places(audit, found["clause"])}
    report["audit"] = {
        "threads": audit.threads,
        "idle": audit.input.idle,
        "nothing_to_judge": audit.is_idle,
        "read": dict(audit.input.read),
        "without_records": {"files": audit.input.left, "first": list(audit.input.passed_by)},
        "open": audit.open,
        "records": audit.records,
        "unknown": dict(audit.unknown),
        "sources": audit.sources,
    }
    return report


def _examples(audit: AuditResult, clause: str) -> Iterator[dict[str, Any]]:
    for one in audit.examples.get(clause, ()):
        records = [{"file": at.file, "line": at.line, "text": at.text} for at in one.excerpts]
        yield {"thread": one.thread, "because": one.violation.reason, "records": records}


def write(audit: AuditResult, page: Page, files: dict[str, Path], *, is_verbose: bool) -> None:
    """Write the whole report for a person: what was read, what is wrong and where, what could not be seen."""
    result = audit.result
    for label, text in reading(audit):
        page.columns(f"{label:<10}", plain(text))
    _headline(audit, page)
    contents(result, page)
    for witness in result.causes:
        page.line()
        if is_verbose:
            violation(result, witness, page, files.get(witness.clause), "TARGET")
        else:
            _violation(audit, witness, page, files.get(witness.clause))
        _where(audit, witness.clause, page)
    page.line()
    if is_verbose:
        judged.clause_table(result, page)
    else:
        _unseen(audit, page)
    page.line()
    page.headline(word(audit), f": {_verdicts(audit)}", STYLES[result.verdict])


def word(audit: AuditResult) -> str:
    """The verdict in a word, or that there was nothing to judge."""
    return IDLE if audit.is_idle else audit.result.verdict


def reading(audit: AuditResult) -> list[tuple[str, str]]:
    """What was read, what was not, and what there was to judge, in three lines."""
    seen = audit.input
    by_format = ", ".join(f"{name} {files:,}" for name, files in seen.read.items())
    read = f"{many(sum(seen.read.values()), 'file')}{f' ({by_format})' if by_format else ''}"
    passed = (
        f"{many(seen.left, 'file')} without records{_first(seen.passed_by, seen.left)}" if seen.left else ""
    )
    failed = f"{many(seen.failed, 'input')} that could not be judged" if seen.failed else ""
    without = f"; {IDLE} in {many(seen.idle, 'file')}" if seen.idle else ""
    return [
        ("read", f"{read}, {many(audit.records, 'record')}"),
        ("not read", ", ".join(one for one in (failed, passed) if one) or "nothing"),
        ("judged", f"{many(audit.threads, 'thread')}{without}"),
    ]


def _first(names: Sequence[str], number: int) -> str:
    """The first of that many names, in brackets."""
    shown = [plain(name) for name in names[:PASSED_SHOWN]]
    return f" ({', '.join([*shown, *(['…'] if number > len(shown) else [])])})"


def _violation(audit: AuditResult, witness: Witness, page: Page, path: Path | None) -> None:
    """What is wrong, in short; the timeline is in the stored trace."""
    family = audit.result.family
    clause = family.spec.clause(witness.clause)
    page.headline(f"{clause.id} broken", f": {title(family, clause)}, {share(audit, clause.id)}", "red")
    page.labelled("because", plain(audit_reason(audit, witness)))
    page.labelled("clause", f"{clause.sentence}   {file_of(family, clause)}")
    for number, symptom in enumerate(audit.result.symptoms_of(witness)):
        page.labelled("" if number else "also", f"{symptom.clause}: {plain(symptom.reason)}")
    for number, place in enumerate(clause.look_at):
        page.labelled("" if number else "look at", place)
    if path is not None:
        page.block("trace", [f"runlock draw {shlex.quote(str(path))}"])


def audit_reason(audit: AuditResult, witness: Witness) -> str:
    """The reason of the example that is shown."""
    examples = audit.examples.get(witness.clause)
    return examples[0].violation.reason if examples else witness.reason


def share(audit: AuditResult, clause: str) -> str:
    """In how many of how many threads a clause breaks."""
    return f"in {audit.broken[clause]:,} of {many(audit.threads, 'thread')}"


def places(audit: AuditResult, clause: str) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """The agents, tools and files in which a clause breaks, each with its number of threads."""
    for label, field in (("agents", "agent"), ("tools", "tools"), ("files", "file")):
        found = Counter[str]()
        for one, threads in audit.findings.items():
            if one.clause == clause and getattr(one, field):
                found[getattr(one, field)] += threads
        if found:
            yield label, sorted(found.items(), key=lambda one: (-one[1], one[0]))


def _where(audit: AuditResult, clause: str, page: Page) -> None:
    """The agents, tools and files, and one example in the raw records."""
    for label, found in places(audit, clause):
        shown = [f"{plain(name)} ({threads:,})" for name, threads in found[:PLACES_SHOWN]]
        more = [f"and {len(found) - PLACES_SHOWN:,} more"] if len(found) > PLACES_SHOWN else []
        page.labelled(label, ", ".join([*shown, *more]))
    for number, one in enumerate(audit.examples.get(clause, ())):
        page.labelled("" if number else "threads", plain(cut(one.thread, REASON_MAX)))
    for example in audit.examples.get(clause, ())[:1]:
        for number, excerpt in enumerate(example.excerpts):
            page.labelled("" if number else "example", plain(excerpt.place))
            page.labelled("", plain(excerpt.text))


def write_differences(folder: str, different: Sequence[str], page: Page) -> None:
    """Write which files of a folder have another verdict than the one that was accepted."""
    page.headline("accepted", f": {many(len(different), 'file')} of {plain(folder)} differ", "bold")
    for sentence in different:
        page.wrapped(plain(sentence), "red", "  ")


def _unseen(audit: AuditResult, page: Page) -> None:
    """What could not be seen: the grade of each source, and the number of clauses."""
    page.wrapped("could not be seen:", "dim")
    graded = Counter[str]()
    for source in audit.sources:
        graded[_graded(source)] += source["threads"]
    for grade, threads in graded.most_common(SOURCES_SHOWN):
        page.wrapped(f"{many(threads, 'thread')} of {grade}", "dim", "  ")
    if len(graded) > SOURCES_SHOWN:
        page.wrapped(f"and of {many(len(graded) - SOURCES_SHOWN, 'other source')}", "dim", "  ")
    page.wrapped("`--verbose` lists every clause, and why it was not observable", "dim", "  ")


def _headline(audit: AuditResult, page: Page) -> None:
    """Write what could not be judged, and the verdict."""
    result = audit.result
    for trouble in result.troubles:
        page.wrapped(f"could not be judged: {plain(trouble.what)}", "red")
    page.headline(word(audit), f": {_counted(audit)}", STYLES[result.verdict])
    for warning in result.warnings:
        page.wrapped(f"warning: {plain(warning)}", "yellow", "  ")


def _counted(audit: AuditResult) -> str:
    left = f" ({audit.open:,} without a recorded end)" if audit.open else ""
    return f"{many(audit.threads, 'thread')}{left}, {many(audit.records, 'record')}"


def many(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _graded(source: Mapping[str, Any]) -> str:
    """What a source does not show, or not all of it."""
    who = source["implementation"] or {}
    lacking = [f"{part} {shown}" for part, shown in source["grade"].items() if shown != "shown"]
    name = plain(f"{who.get('name', '?')} {who.get('version', '?')}".removesuffix(" ?"))
    read = name if name == source["format"] else f"{name}, format {source['format']}"
    return f"{read}: {', '.join(lacking) or 'everything is shown'}"


def _verdicts(audit: AuditResult) -> str:
    result = audit.result
    unseen = len(result.clauses) - result.count("held") - result.count("broken")
    return f"{result.count('held')} held, {result.count('broken')} broken, {unseen} {NOT_OBSERVABLE}"
