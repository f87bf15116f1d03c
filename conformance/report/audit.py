"""The report of an audit: what recorded runs kept and broke, and what their formats show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from runlock.conformance.audit.result import AuditResult
from runlock.conformance.report import judged, result_json
from runlock.conformance.report.console import Page
from runlock.conformance.report.text import STYLES, contents, violation
from runlock.conformance.text import cut, plain

OBSERVED: Final = {"held": "held", "broken": "broken"}
NOT_OBSERVABLE: Final = "not observable"
REASON_MAX: Final = 300
SOURCES_SHOWN: Final = 8


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
    report["audit"] = {
        "threads": audit.threads,
        "open": audit.open,
        "records": audit.records,
        "unknown": dict(audit.unknown),
        "sources": audit.sources,
    }
    return report


def _examples(audit: AuditResult, clause: str) -> Iterator[dict[str, str]]:
    for one in audit.examples.get(clause, ()):
        yield {"thread": one.thread, "because": one.violation.reason}


def write(audit: AuditResult, page: Page, files: dict[str, Path], *, is_verbose: bool) -> None:
    """Write the whole report for a person."""
    result = audit.result
    _headline(audit, page)
    contents(result, page)
    for witness in result.causes:
        page.line()
        violation(result, witness, page, files.get(witness.clause), "TARGET")
        for number, one in enumerate(audit.examples.get(witness.clause, ())):
            page.labelled("" if number else "threads", plain(cut(one.thread, REASON_MAX)))
    page.line()
    judged.summary(result, page, is_verbose=is_verbose, unseen=NOT_OBSERVABLE)
    page.line()
    page.headline(result.verdict, f": {_verdicts(audit)}", STYLES[result.verdict])


def _headline(audit: AuditResult, page: Page) -> None:
    """Write the verdict, what could not be judged, and what each source shows."""
    result = audit.result
    for trouble in result.troubles:
        page.wrapped(f"could not be judged: {plain(trouble.what)}", "red")
    page.headline(result.verdict, f": {_counted(audit)}", STYLES[result.verdict])
    graded = Counter[str]()
    for source in audit.sources:
        graded[_graded(source)] += source["threads"]
    for grade, threads in graded.most_common(SOURCES_SHOWN):
        page.wrapped(f"{_many(threads, 'thread')} of {grade}", indent="  ")
    if len(graded) > SOURCES_SHOWN:
        page.wrapped(f"and of {_many(len(graded) - SOURCES_SHOWN, 'other source')}", indent="  ")


def _counted(audit: AuditResult) -> str:
    left = f", of which {audit.open} end early" if audit.open else ""
    return f"{_many(audit.threads, 'thread')}{left}, {_many(audit.records, 'record')}"


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _graded(source: Mapping[str, Any]) -> str:
    who = source["implementation"] or {}
    grade = ", ".join(f"{part} {shown}" for part, shown in source["grade"].items())
    name = plain(f"{who.get('name', '?')} {who.get('version', '?')}")
    return f"{name}, format {source['format']}: {grade}"


def _verdicts(audit: AuditResult) -> str:
    result = audit.result
    unseen = len(result.clauses) - result.count("held") - result.count("broken")
    return f"{result.count('held')} held, {result.count('broken')} broken, {unseen} {NOT_OBSERVABLE}"
