"""The page of bug classes: public reports from `docs/bugs.toml`, a witness of each, and the matrix."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from runlock.conformance.family.family import DEFAULT, family_named
from runlock.conformance.report.examples import illegal

from .clauses import timeline
from .evidence import findings
from .markdown import clause, table, text

KEPT: Final = Path(__file__).parent.parent / "bugs.toml"


def pages() -> Iterator[tuple[str, str]]:
    """The one page."""
    data = tomllib.loads(KEPT.read_text("utf-8"))
    number = sum(len(one["reports"]) for one in data["class"])
    classes = "\n".join(map(_class, data["class"]))
    yield (
        "bugs.md",
        f"""# Bugs that agent runtimes share

Agent runtimes are written independently of each other and get the same things wrong. This page sorts {number}
public reports into {len(data["class"])} classes; those that no clause covers yet
stand at the end. For each class it names the clauses that state the rule, shows the shortest known
schedule in which a deliberately wrong reference breaks the first of them, and lists the runtimes in which
the kit sees it today. A report is about the version of its time and may be fixed by now; "today" is the
version and the configuration in the [matrix](matrix.md), where each finding has its own schedule to replay.

{classes}
## Reported, and not covered by a clause

{_reports([one["report"] for one in data["uncovered"]])}
""",
    )


def _class(one: Mapping[str, Any]) -> str:
    """A class of bugs: the rule, the reports, how it looks, and who shows it today."""
    rules = table(("clause", "what it says"), [_rule(name) for name in one["clauses"]])
    return f"""## {one["name"]}

{one["what"]}

{rules}

{_reports(one["reports"])}

{_picture(one["clauses"][0])}

{_today(one["clauses"])}
"""


def _rule(name: str) -> tuple[str, str]:
    return clause(name, ".", family=DEFAULT), text(family_named(DEFAULT).spec.clause(name).sentence)


def _reports(reports: Sequence[Sequence[str]]) -> str:
    rows = [
        (f"[{issue}](https://github.com/{issue.replace('#', '/issues/')})", text(said), f"{state}, {month}")
        for issue, month, state, said in reports
    ]
    return table(("report", "what happened", "state, when read"), rows)


def _picture(name: str) -> str:
    """The timeline of the shortest known schedule that breaks a clause."""
    family = family_named(DEFAULT)
    one = family.spec.clause(name)
    example = illegal(family, one)
    assert example is not None  # a class of bugs leads with a clause that has a mutant
    return f"How it looks: {text(example.because)}.\n\n{timeline(example, one)}"


def _today(clauses: Sequence[str]) -> str:
    """Which runtimes of the matrix break one of the clauses, each cause once."""
    rows = [
        (
            f"[{text(one.runtime['title'])}](runtimes/{one.runtime['name']}.md#{one.clause.lower()})",
            one.runtime["implementation"]["version"],
            clause(one.clause, ".", family=DEFAULT),
            text(one.known.sentence if one.known else ""),
        )
        for one in findings()
        if one.clause in clauses
    ]
    if not rows:
        return "None of the runtimes in the matrix shows it today."
    return f"Seen today in:\n\n{table(('runtime', 'version', 'clause', 'what happens'), rows)}"
