"""A result as one self-contained page of HTML, without scripts or network access.

Text from a runtime is escaped, with invisible characters shown by their code, and isolated from the writing
direction around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import repeat
from typing import Final

from runlock.conformance.campaign.result import Verdict
from runlock.conformance.report.pictures import NO_PICTURES, Pictures
from runlock.conformance.report.stored_result import (
    Stored,
    StoredChart,
    StoredClause,
    StoredViolation,
    word,
)
from runlock.conformance.text import plain
from runlock.diagrams.render.palette import darkened

STYLE: Final = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --dim: #57606a; --line: #d0d7de;
  --held: #1a7f37; --broken: #cf222e; --undecided: #8a6100; --soft: #f6f8fa;
  --run: #e3e8fa; --wait: #fdf0d0; --good: #dcf1e2; --bad: #fbe0de; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --dim: #9198a1;
  --line: #30363d; --held: #3fb950; --broken: #ff7b72; --undecided: #d29922; --soft: #161b22;
  --run: #2b3146; --wait: #453a1a; --good: #1e3f2b; --bad: #4d2523; } }
body { margin: 0 auto; padding: 1rem; max-width: 62rem; font: 1rem/1.5 system-ui, sans-serif;
  color: var(--ink); background: var(--paper); overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; line-height: 1.3; } h2 { margin-top: 2.5rem; font-size: 1.15rem; }
h3 { font-size: 1rem; } a { color: inherit; }
.held { color: var(--held); } .broken { color: var(--broken); }
.undecided, .untested, .error { color: var(--undecided); } .dim, .not-applicable { color: var(--dim); }
.scroll { overflow-x: auto; } section.violation { border-left: 3px solid var(--broken); padding-left: 1rem; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; overflow-wrap: normal; }
td:first-child { white-space: nowrap; } td:last-child { min-width: 10rem; overflow-wrap: anywhere; }
pre, code { font: .85rem/1.5 ui-monospace, monospace; background: var(--soft); border-radius: 4px; }
pre { padding: .6rem .8rem; white-space: pre-wrap; } code { padding: .1rem .3rem; }
bdi, code { unicode-bidi: isolate; }
details { border-bottom: 1px solid var(--line); padding: .4rem 0; }
summary { cursor: pointer; padding: .3rem 0; } summary b { font-weight: 600; }
td.status { border-radius: 4px; padding-left: .5rem; background: var(--soft); }
td.status + td:not(.status), .moments th:last-child { padding-left: .6rem; }
td.Running, td.Resuming { background: var(--run); }
td.Suspended, td.Waiting { background: var(--wait); } td.Succeeded { background: var(--good); }
td.Failed { background: var(--bad); } tr:target, .moments tr:last-child { outline: 2px solid var(--broken); }
.moments table { margin: 2px; }
@media (max-width: 30rem) { table { font-size: .75rem; } th, td { padding-right: .4rem; }
  td.status { padding-left: .3rem; } td:last-child { min-width: 7rem; }
  section.violation { padding-left: .5rem; } }
meter { width: 6rem; } ol, ul { padding-left: 1.6rem; }
details details { margin-left: 1.2rem; } svg { max-width: none; height: auto; }
"""
DARK: Final = f"@media (prefers-color-scheme: dark) {{\n{darkened()}\n}}"
COLOURED: Final = frozenset({"Running", "Resuming", "Suspended", "Waiting", "Succeeded", "Failed"})
"""The statuses that have a colour of their own in a timeline."""

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
OPEN: Final[tuple[Verdict, ...]] = ("broken", "error")
"""The groups of clauses that are expanded initially."""


def web(result: Stored, pictures: Pictures = NO_PICTURES) -> str:
    """The whole page, findings first; the pictures are SVG that this kit has drawn."""
    heading = f"{word(result.outcome)}: {result.target}"
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(plain(heading))}</title>",
        f"<style>{STYLE}{DARK}</style>",
        "</head>",
        "<body>",
        *_verdict(result),
        *_violations(result, pictures),
        *_questions(result),
        *_charts(result.coverage, pictures),
        *_clauses(result),
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def safe(text: object) -> str:
    """Untrusted text as HTML."""
    return f"<bdi>{escape(plain(text))}</bdi>"


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    ids: Iterable[str] = repeat(""),
    attributes: Iterable[str] = repeat(""),
) -> Iterator[str]:
    """A table whose cells are already escaped, in a container that scrolls on a narrow screen.

    A cell may be a whole `<td>`; `ids` are what the rows are linked to by, `attributes` are escaped as well.
    """
    yield f'<div class="scroll"><table><tr>{"".join(f"<th>{cell}</th>" for cell in head)}</tr>'
    for row, name, more in zip(rows, ids, attributes, strict=False):
        cells = "".join(cell if cell.startswith("<td") else f"<td>{cell}</td>" for cell in row)
        named = f' id="{name}"' if name else ""
        yield f"<tr{named}{f' {more}' if more else ''}>{cells}</tr>"
    yield "</table></div>"


def _link(clause: str) -> str:
    """A clause that leads to its row below; what is no clause id leads nowhere."""
    is_id = re.fullmatch(r"[A-Z]+-[0-9]+", clause)
    return f'<a href="#{clause}">{safe(clause)}</a>' if is_id else safe(clause)


def _status(status: str) -> str:
    """A cell in the colour of its status."""
    named = f" {status}" if status in COLOURED else ""
    return f'<td class="status{named}">{safe(status)}</td>' if status else "<td></td>"


def _verdict(result: Stored) -> Iterator[str]:
    news = f'<span class="{result.outcome}">{word(result.outcome)}</span>'
    yield f"<h1>{news}: {safe(result.target)}</h1>"
    for sentence in result.unexpected:
        yield f'<p class="undecided">{safe(sentence)}</p>'
    for raised in result.exceptions:
        yield f'<p class="broken">Exception, {raised.times} times: {safe(raised.what)}</p>'
    yield f"<p>{safe(result.who)}, profile {safe(result.profile)}, spec {safe(result.spec)}. "
    yield f"{result.played}, {result.stimuli} stimuli.</p>"
    if result.partial:
        yield f'<p class="undecided">Partial: {safe(result.partial)}.</p>'
    for blame, what in dict.fromkeys((one.blame, one.what) for one in result.troubles):
        yield f'<p class="undecided">Could not be judged, blame the {safe(blame)}: {safe(what)}</p>'
    for warning in result.warnings:
        yield f'<p class="undecided">Warning: {safe(warning)}</p>'
    for sentence in result.complaints.values():
        yield f'<p class="broken">{safe(sentence)}</p>'


# --- violations ---------------------------------------------------------------------------------


def _violations(result: Stored, pictures: Pictures) -> Iterator[str]:
    """Each cause, with its consequences folded."""
    causes = [one for one in result.violations if not one.cause]
    if causes:
        yield "<h2>What broke, the most severe first</h2>"
    for cause in causes:
        yield '<section class="violation">'
        yield f"<h3>{_named(result, cause)}</h3>"
        yield from _violation(result, cause, pictures)
        yield from _consequences(result, cause, pictures)
        yield "</section>"


def _consequences(result: Stored, cause: StoredViolation, pictures: Pictures) -> Iterator[str]:
    follows = [one for one in result.violations if one.cause == cause.clause]
    if follows:
        yield f"<details><summary>The same fault also breaks {len(follows)} more</summary>"
    for one in follows:
        yield f"<details><summary>{_named(result, one)}</summary>"
        yield from _violation(result, one, pictures)
        yield "</details>"
    if follows:
        yield "</details>"


def _named(result: Stored, violation: StoredViolation) -> str:
    known = result.title(violation.clause)
    return f'<span class="broken">{_link(violation.clause)}</span>{f": {safe(known)}" if known else ""}'


def _violation(result: Stored, violation: StoredViolation, pictures: Pictures) -> Iterator[str]:
    yield f"<p>{safe(violation.reason)}</p>"
    if severity := result.severity(violation.clause):
        yield f"<p>Severity: {safe(severity)}</p>"
    if violation.clause in result.expected:
        yield f'<p class="dim">Expected: {safe(result.expected[violation.clause])}</p>'
    yield from _witness(result, violation)
    if sequence := pictures.sequences.get(violation.clause):
        yield "<details><summary>The messages as a picture</summary>"
        yield f'<div class="scroll">{sequence}</div></details>'


def _witness(result: Stored, violation: StoredViolation) -> Iterator[str]:
    if violation.adapter:
        yield f"<p><b>{safe(violation.adapter)}</b></p>"
    yield from _timeline(violation)
    yield f"<h4>The witness in {violation.steps} step{'' if violation.steps == 1 else 's'}</h4><ol>"
    yield from (f"<li>{safe(move)}</li>" for move in result.words(violation))
    yield "</ol>"
    if replay := result.replay(violation):
        yield f"<pre>{safe(replay)}</pre>"


def _questions(result: Stored) -> Iterator[str]:
    if result.questions:
        yield "<h2>Questions, the most harmful first</h2>"
    for question in result.questions:
        yield f'<details open><summary class="undecided">{safe(question.question)}</summary>'
        yield f"<p>{safe(question.reason)} ({safe(question.clause)})</p>"
        yield from _witness(result, question)
        yield "</details>"


def _timeline(violation: StoredViolation) -> Iterator[str]:
    """One row for each moment, one column for each call; the last row, where it broke, has a border."""
    calls = list(dict.fromkeys(call for row in violation.timeline for call in row.calls))
    rows = (
        [str(at), *(_status(row.calls.get(call, "")) for call in calls), _status(row.run), safe(row.happened)]
        for at, row in enumerate(violation.timeline)
    )
    if violation.timeline:
        yield '<div class="moments">'
        yield from table(["t", *map(safe, calls), "run", "what happened"], rows)
        yield "</div>"


# --- clauses ------------------------------------------------------------------------------------


def _clauses(result: Stored) -> Iterator[str]:
    yield "<h2>Clauses by verdict</h2>"
    for verdict, members in result.by_verdict.items():
        if members:
            is_open = " open" if verdict in OPEN else ""
            told = f'<b class="{verdict}">{len(members)} {word(verdict)}</b>'
            yield f"<details{is_open}><summary>{told}</summary>"
            yield from table(
                ["clause", "level", "exercised", "what it asks, and why"],
                (_clause(result, one) for one in members),
                (one.id for one in members),
            )
            yield "</details>"


def _clause(result: Stored, clause: StoredClause) -> list[str]:
    thin = ' <span class="dim">(thin)</span>' if clause.thin else ""
    told = ". ".join(text for text in (result.title(clause.id), clause.why) if text)
    return [safe(clause.id), safe(clause.level), f"{clause.exercised}{thin}", safe(told)]


# --- charts -------------------------------------------------------------------------------------


def _charts(charts: Sequence[StoredChart], pictures: Pictures) -> Iterator[str]:
    if not charts:
        return
    yield "<h2>What was taken of the charts</h2>"
    yield from table(["chart", "transitions", "pairs in a row", "refused stimuli sent"], map(_shares, charts))
    for chart in charts:
        if drawn := pictures.charts.get(chart.chart):
            yield f"<details><summary>{safe(chart.chart)}: how often each transition was taken</summary>"
            yield f'<div class="scroll">{drawn}</div></details>'
        yield from _lacking(chart)


def _shares(chart: StoredChart) -> list[str]:
    if chart.why:
        return [safe(chart.chart), f"none: {safe(chart.why)}", "", ""]
    return [
        safe(chart.chart),
        _share([one.taken for one in chart.arrows]),
        _share([one.taken for one in chart.pairs]),
        _share([one.sent for one in chart.refusals]),
    ]


def _share(counts: Sequence[int]) -> str:
    if not counts:
        return ""
    taken, total = sum(map(bool, counts)), len(counts)
    return f'<meter max="{total}" value="{taken}">{taken}</meter> {taken} of {total}'


def _lacking(chart: StoredChart) -> Iterator[str]:
    """What was never exercised, by name."""
    arrows = [f"{one.clause} {one.source} to {one.to}" for one in chart.arrows if not one.taken]
    pairs = [f"{one.first} then {one.then}" for one in chart.pairs if not one.taken]
    refusals = [f"{one.stimulus} when {one.state}" for one in chart.refusals if not one.sent]
    listed = {"transitions never taken": arrows, "never in a row": pairs, "never sent": refusals}
    for what, names in listed.items():
        if names:
            yield f"<details><summary>{safe(chart.chart)}: {len(names)} {what}</summary><ul>"
            yield from (f"<li>{safe(name)}</li>" for name in names)
            yield "</ul></details>"
