"""A page for each real runtime of the matrix: what it breaks, what it holds, and what was not tested."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from runlock.conformance.campaign.one_program import file_name
from runlock.conformance.campaign.runtimes import runtimes
from runlock.conformance.family.family import DEFAULT, Family, family_named
from runlock.conformance.report import traces, undeclared
from runlock.conformance.report.clause_names import grouped, title
from runlock.conformance.report.examples import illegal
from runlock.conformance.report.matrix import clauses, counts, section
from runlock.conformance.trace.trace import Trace
from runlock.diagrams.charts.playable import fragment, packed

from .markdown import clause, folder_of, played, script_of, text
from .matrix import KEPT, history, report

PROGRAM: Final = re.compile(r"Without the kit: `docs/standalone/([\w.]+(?: \w+)?)`\.")
AS_ARGUMENT: Final = re.compile(r"(?<=python )docs/standalone/([\w.]+(?: \w+)?)$", re.MULTILINE)
AS_INPUT: Final = re.compile(r"(?<= -)((?: \w+)?) < docs/standalone/([\w.]+)$", re.MULTILINE)
ADAPTER: Final = re.compile(r"`conformance/adapters/([\w./-]+)`")
FILE: Final = re.compile(r"\]\(witnesses/")
REPLAY: Final = re.compile(r"^The \[file\]\(\.\./witnesses/[\w-]+/([A-Z]+-\d+)\.", re.MULTILINE)
SAVED: Final = re.compile(r"^The \[file\]\((.*)\) replays it:(\s+```sh\srunlock replay )\S+/", re.MULTILINE)
CONSEQUENCE: Final = re.compile(r"\[([A-Z]+-\d+)\]\((\.\./witnesses/[^)]+)\): (.*)")
"""Where a section names the program without the kit, the adapter, a counterexample and a consequence."""

Object = Mapping[str, Any]


def pages() -> Iterator[tuple[str, str]]:
    """One page for each runtime, in the order of the matrix."""
    for one in report()["runtimes"]:
        yield f"runtimes/{one['name']}.md", _page(one)


def _page(found: Object) -> str:
    _, _, rest = "\n".join(section(found, history())).partition("\n")
    page = f"# {text(found['title'])}\n\n"
    if found["verdict"] is None:
        return page + rest
    family = family_named(found.get("family", DEFAULT))
    about, _, broken = _linked(found, family, rest).partition("### ")
    broken = f"## Broken\n\n### {broken}" if broken else ""
    parts = (
        about, _summary(found), broken, _deviations(found["name"]), _held(found, family), _not_tested(found)
    )  # fmt: skip
    return page + "\n\n".join(parts)


def _summary(found: Object) -> str:
    held, broken, violations, documented, untested = counts(found)
    causes = f" (findings: {violations}; documented, and we disagree: {documented})" if broken else ""
    install = f" `runlock matrix --install {found['name']}` creates the environment that its violations need."
    return (
        f"Clauses held: {held}, broken: {broken}{causes}, untested: {untested}. [How to read the matrix]"
        "(../how-to-read-the-matrix.md) says what these words mean; [the matrix](../matrix.md) has all "
        f"runtimes.{install if broken else ''}"
    )


def _linked(found: Object, family: Family, page: str) -> str:
    """The section with links to files, programs, clauses and the playground, and shorter anchors."""
    page = page.replace(f'<a id="{found["name"]}-', '<a id="')
    page = FILE.sub("](../witnesses/", page)
    page = REPLAY.sub(lambda one: _playground(found["name"], family.name, one[1]) + one[0], page)
    page = SAVED.sub(r"Save [the file](\1) to replay it:\2", page)
    page = PROGRAM.sub(lambda one: _without_the_kit(file_name(one[1])), page)
    page = AS_ARGUMENT.sub(lambda one: file_name(one[1]), page)
    page = AS_INPUT.sub(lambda one: f" < {file_name(one[2] + one[1])}", page)
    page = ADAPTER.sub(r"[`conformance/adapters/\1`](../adapters/\1.txt)", page)
    page = CONSEQUENCE.sub(lambda one: f"{_clause(family, one[1])}: {one[3]} ([steps]({one[2]}))", page)
    return re.sub(r"(?<=^### )[A-Z]+-\d+", lambda one: _clause(family, one[0]), page, flags=re.MULTILINE)


def _without_the_kit(file: str) -> str:
    return f"Without the kit: save [`{file}`](../standalone/{file}.txt), and run it."


def _clause(family: Family, name: str) -> str:
    return clause(name, f"../{folder_of(family.name)}".rstrip("/"), family.name)


def _playground(runtime: str, family: str, name: str) -> str:
    """A sentence that leads to the playground, which shows what the runtime did."""
    if (runtime, name) in own_traces():
        link = played(f"runtime={runtime}&clause={name}", "..", "playground")
        return f"The {link} shows what it did, step by step.\n\n"
    return _of_a_mutant(family, name)


@cache
def own_traces() -> Mapping[tuple[str, str], Trace]:
    """What the runtimes did, by runtime and clause."""
    stored = traces.known(KEPT.with_name(traces.FILE))
    return {(runtime, name): trace for runtime, name, trace in traces.shown(report(), stored)}


def files() -> Iterator[tuple[str, str]]:
    """For each runtime, what the playground loads to play what it did."""
    for one in report()["runtimes"]:
        because = {found["clause"]: found["because"] for found in one.get("violations", ())}
        own = {
            name: {"trace": packed(trace), "because": f"{name}: {because[name]}", "title": one["title"]}
            for (runtime, name), trace in own_traces().items()
            if runtime == one["name"]
        }
        yield f"assets/traces/{one['name']}.js", script_of("TRACES", one["name"], own)


@cache
def _of_a_mutant(family: str, name: str) -> str:
    """A sentence that leads to the playground, which shows a mutant that breaks the same clause."""
    wrong = illegal(family_named(family), family_named(family).spec.clauses[name])
    if wrong is None or family != DEFAULT:
        return ""
    link = played(fragment(wrong.trace, f"{name}: {wrong.because}"), "..", "playground")
    return f"The {link} shows a mutant of the reference that breaks the same clause, step by step.\n\n"


def _deviations(name: str) -> str:
    """What the adapter decides, normalises or changes of the defaults, each with its reason."""
    runtime = next(one for one in runtimes() if one.name == name)
    listed = "\n".join(f"- {text(what)} {text(why)}" for what, why in runtime.deviations.items())
    return (
        "## What the adapter decides\n\nAn adapter passes on what it is given. These are its own decisions, "
        f"each with the reason for which a user of the library would do the same:\n\n{listed}"
    )


def _held(found: Object, family: Family) -> str:
    """A line for each clause that holds, which the page of the clause leads to."""
    held = clauses(found, "held")
    lines = (
        f'- <a id="{name.lower()}"></a>{_clause(family, name)} {text(title(family, one))}: '
        f"exercised {_times(found['exercised'][name], found.get('counted_up_to'))}"
        for name, one in family.spec.clauses.items()
        if name in held
    )
    return "## Held\n\n<div data-search-exclude markdown>\n\n" + "\n".join(lines) + "\n\n</div>"


def _times(number: int, most: int | None) -> str:
    more = " or more" if number == most else ""
    return "once" if number == 1 else f"{number:,} times{more}"


ABSENT: Final = (
    "The library or the protocol does not have what these clauses are about, so they do not apply:"
)
OTHER: Final = "These were not tested, or do not apply under what the adapter declares:"


def _not_tested(found: Object) -> str:
    """The reasons why clauses were not tested, with the clauses, and why the adapter does not declare it."""
    reasons = [
        (why, names)
        for verdict in ("untested", "not-applicable")
        for why, names in found["clauses"].get(verdict, {}).items()
    ]
    lists = [
        f"{head}\n\n" + "\n".join(_reason(found, why, names) for why, names in some)
        for head, absent in ((ABSENT, True), (OTHER, False))
        if (some := [(why, names) for why, names in reasons if undeclared.is_absent(found, why) is absent])
    ]
    shown = "\n\n".join(lists)
    return f"## Not tested {{ #not-tested }}\n\n<div data-search-exclude markdown>\n\n{shown}\n\n</div>\n"


def _reason(found: Object, why: str, names: list[str]) -> str:
    return f"- {text(why)}: {grouped(names)}. {text(undeclared.sentence(found, why))}".rstrip()
