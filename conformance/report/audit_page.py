"""The report of an audit as one page of HTML, with filters that need no script.

A filter is a choice of one clause, agent, tool or file; a style rule hides each row that has another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from runlock.conformance.audit.result import AuditResult, Finding
from runlock.conformance.report.audit import audit_reason, reading, share, word
from runlock.conformance.report.clause_names import title
from runlock.conformance.report.html import POLICY, STYLE, safe, table

FIELDS = ("clause", "agent", "tools", "file")
FILTERS = """
fieldset { border: 1px solid var(--line); margin: .5rem 0; max-height: 12rem; overflow: auto; }
label { display: inline-block; margin-right: 1rem; }
"""


def page(audits: Sequence[AuditResult], target: str) -> str:
    """The whole page."""
    rules = "\n".join(_rules(_choices(audits)))
    first = audits[0]
    body = [
        f'<h1><span class="{first.result.verdict}">{word(first)}</span>: {safe(target)}</h1>',
        *(f"<p><b>{label}</b> {safe(text)}</p>" for label, text in reading(first)),
        *(f'<p class="undecided">{safe(trouble.what)}</p>' for trouble in first.result.troubles),
        *_filters(_choices(audits)),
        *_rows(audits),
        *(line for audit in audits for line in _violations(audit, _choices(audits)["clause"])),
        *(line for audit in audits for line in _unseen(audit)),
    ]
    head = [
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(target)}</title><style>{STYLE}{FILTERS}{rules}</style></head><body>",
    ]
    return "\n".join([*head, *body, "</body></html>"]) + "\n"


def _choices(audits: Sequence[AuditResult]) -> dict[str, list[str]]:
    """What each filter offers."""
    found = [one for audit in audits for one in audit.findings]
    return {field: sorted({getattr(one, field) for one in found}) for field in FIELDS}


def _rules(choices: dict[str, list[str]]) -> Iterator[str]:
    for field, values in choices.items():
        for number in range(len(values)):
            others = f"[data-{field}]:not([data-{field}='{number}'])"
            yield f"body:has(#{field}-{number}:checked) {others} {{ display: none; }}"


def _filters(choices: dict[str, list[str]]) -> Iterator[str]:
    for field, values in choices.items():
        if len(values) > 1:
            every = [
                (f"{field}-all", "all", " checked"),
                *((f"{field}-{n}", v, "") for n, v in enumerate(values)),
            ]
            labels = (
                f'<label><input type="radio" name="{field}" id="{id_}"{on}> {safe(text or "none")}</label>'
                for id_, text, on in every
            )
            yield f"<fieldset><legend>{field}</legend>{''.join(labels)}</fieldset>"


def _rows(audits: Sequence[AuditResult]) -> Iterator[str]:
    """A row for each clause, agent, tool and file."""
    choices = _choices(audits)
    found = [(one, many) for audit in audits for one, many in sorted(audit.findings.items())]
    if not found:
        yield "<p>Nothing is broken.</p>"
        return
    yield "<h2>What is broken</h2>"
    rows = [[*(safe(getattr(one, field)) for field in FIELDS), f"{many:,}"] for one, many in found]
    yield from table([*FIELDS, "threads"], rows, attributes=[_attributes(one, choices) for one, _ in found])


def _attributes(finding: Finding, choices: dict[str, list[str]]) -> str:
    """The numbers of what a row has, by which a filter knows it."""
    places = ((field, choices[field].index(getattr(finding, field))) for field in FIELDS)
    return " ".join(f'data-{field}="{number}"' for field, number in places)


def _violations(audit: AuditResult, clauses: Sequence[str]) -> Iterator[str]:
    """Each broken clause with one example of raw records; `clauses` are those that the filter numbers."""
    family = audit.result.family
    for witness in audit.result.witnesses:
        clause = family.spec.clause(witness.clause)
        number = f' data-clause="{clauses.index(clause.id)}"' if clause.id in clauses else ""
        yield f'<section class="violation"{number}><h3>{safe(clause.id)}: {safe(title(family, clause))}, '
        yield f"{safe(share(audit, clause.id))}</h3><p>{safe(audit_reason(audit, witness))}</p>"
        yield f'<p class="dim">{safe(clause.sentence)}</p>'
        for example in audit.examples.get(witness.clause, ())[:1]:
            for excerpt in example.excerpts:
                yield f"<p>{safe(excerpt.place)}</p><pre>{safe(excerpt.text)}</pre>"
        yield "</section>"


def _unseen(audit: AuditResult) -> Iterator[str]:
    """What the sources do not show."""
    yield "<h2>What could not be seen</h2>"
    rows = [
        [safe(source["format"]), safe(part), safe(shown)]
        for source in audit.sources
        for part, shown in source["grade"].items()
        if shown != "shown"
    ]
    yield from table(["format", "part", ""], [list(row) for row in dict.fromkeys(map(tuple, rows))])
