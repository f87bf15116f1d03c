"""A page for each library of the matrix: its findings in all configurations, and what became of reports."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from runlock.conformance.campaign.runtime import Runtime
from runlock.conformance.campaign.runtimes import as_of, runtimes
from runlock.conformance.report import versions
from runlock.conformance.report.findings import DOCUMENTED, Finding

from .markdown import clauses, folder_of, table, text
from .matrix import history, report
from .questions import every, told


def pages() -> Iterator[tuple[str, str]]:
    """One page for each library that was judged."""
    for name, configurations in judged().items():
        yield f"libraries/{name}.md", _page(name, configurations)


def navigation() -> list[dict[str, str]]:
    """The names of the libraries and their pages."""
    return [{name: f"libraries/{name}.md"} for name in judged()]


@cache
def judged() -> dict[str, list[Runtime]]:
    """The configurations of each library, in the order of the names."""
    with_verdict = {one["name"] for one in report()["runtimes"] if one["verdict"]}
    found: dict[str, list[Runtime]] = {}
    for one in runtimes():
        if one.name in with_verdict:
            found.setdefault(one.library, []).append(one)
    return dict(sorted(found.items()))


def _page(name: str, configurations: list[Runtime]) -> str:
    own = [one for one in every() if one.name.library == name]
    violations = [one for one in own if one.is_violation]
    documented = [one for one in own if one.against == DOCUMENTED]
    listed = "\n".join(
        f"- [{text(one.title)}](../runtimes/{one.name}.md): {_packages(one)}" for one in configurations
    )
    parts = [_about(name, len(violations)), f"It was checked in these configurations:\n\n{listed}"]
    parts += [f"## Findings\n\n{_table(violations)}"] if violations else []
    parts += [_documented(documented)] if documented else []
    return "\n\n".join((f"# {name}", *parts, _dispute(name))) + "\n"


def _packages(one: Runtime) -> str:
    return " ".join(f"`{package}`" for package in one.requirements)


def _about(name: str, number: int) -> str:
    found = f"{number} finding{'' if number == 1 else 's'}" if number else "no finding"
    return (
        f"The kit has {found} of {name}. The versions below were the newest ones on {as_of()}, and reports "
        "of bugs were read then. [How to read the matrix](../how-to-read-the-matrix.md) says what a finding "
        "is, and what it does not say."
    )


def _table(found: list[Finding]) -> str:
    head = ("severity", "what happens", "clauses", "against", "releases", "reported")
    return table(head, [_row(one) for one in found])


def _row(one: Finding) -> tuple[str, ...]:
    against = one.against + "".join(f" ([page]({page}))" for page in one.pages if page.startswith("https:"))
    family = one.lead.family.name
    labels = clauses(", ".join(one.clauses), f"../{folder_of(family)}".rstrip("/"), family)
    shown = told(one, "..").partition("*: ")[2]
    return one.severity, shown, labels, against, _releases(one), _reports(one)


def _releases(one: Finding) -> str:
    """In which releases the program showed it, where earlier ones were tried."""
    seen = versions.seen(history(), one.lead.runtime.environment, one.name.program)
    return (
        f"first seen in {seen.first}, last in {seen.last}, fixed in: {seen.fixed}" if seen is not None else ""
    )


def _reports(one: Finding) -> str:
    """What became of the reports, and what the maintainers said."""
    known = [each.known for each in one.violated if each.known is not None]
    answers = dict.fromkeys(each.maintainers for each in known if each.maintainers)
    return "; ".join([*(one.upstream.values() or ["not reported yet"]), *map(text, answers)])


def _documented(found: list[Finding]) -> str:
    listed = "\n".join(
        f"{told(one, '..')} Page: {', '.join(f'<{page}>' for page in one.pages)}." for one in found
    )
    return (
        "## Documented, and we disagree\n\nThe library says that this is meant. It is no violation, and it "
        f"is in no count.\n\n{listed}"
    )


def _dispute(name: str) -> str:
    return (
        "## How to dispute this\n\nRun the program of a finding, which the section of its configuration "
        f"links to. If it uses {name} wrongly, or if a page documents what it shows, [say so]"
        "(../how-to-read-the-matrix.md#how-to-dispute-a-finding): adapters, programs and verdicts are data, "
        f"and a correction is a small change. `runlock matrix --report {name}` writes a text for each "
        "finding, for those who maintain it."
    )
