"""A page for each question that people have of a runtime: what was exercised, and what broke."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from runlock.conformance.campaign.runtimes import as_of
from runlock.conformance.report.findings import DOCUMENTED, Finding, findings
from runlock.conformance.report.matrix import clauses
from runlock.spec.model import SEVERITIES

from .markdown import table, text
from .matrix import report

Object = Mapping[str, Any]
HEAD: Final = ("configuration", "worst finding", "findings", "held", "broken", "untested", "exercised")
NO_FINDING: Final = len(SEVERITIES)


class Question(NamedTuple):
    """A question, the areas of clauses that are about it, and single clauses of other areas."""

    name: str
    title: str
    asks: str
    areas: frozenset[str]
    clauses: frozenset[str] = frozenset()

    def is_about(self, clause: str) -> bool:
        """Whether a clause belongs to the question."""
        return clause in self.clauses or clause.rpartition("-")[0] in self.areas


def _question(name: str, title: str, asks: str, areas: str, more: str = "") -> Question:
    return Question(name, title, asks, frozenset(areas.split()), frozenset(more.split()))


QUESTIONS: Final = (
    _question(
        "approvals",
        "Approvals",
        "Does a call run only if it was approved, once, as it was shown?",
        "DECIDE GATE GRANT EDIT EXPIRE SHOWN AUTH",
        "CALL-23 DERIVE-8 RUN-14 RUN-20 LOOP-3 NEST-1 NEST-2 RUNNER-15",
    ),
    _question(
        "cancel-and-stop",
        "Cancel and stop",
        "Does a cancel, or a limit, end what runs, and leave a thread that goes on?",
        "CANCEL STOP",
        "CALL-24 RUN-4 RUN-5 RUN-7 RUN-31 RUN-35 RUN-36 RUNNER-4 NEST-3",
    ),
    _question(
        "crash-and-restart",
        "Crash and restart",
        "Is what was done still there after a crash, and is it not done again?",
        "RECOVER KEEP STORE",
        "ONCE-2 NEST-6 SHOWN-5",
    ),
    _question(
        "history",
        "History",
        "Is the model shown what happened, in a form that its API takes?",
        "PAIR INPUT AGAIN THREAD CUT",
        "TURN-11 RUNNER-7 RUNNER-27 RUNNER-28 LOOP-4 NEST-4",
    ),
    _question(
        "parallel-calls",
        "Parallel calls",
        "Do several calls of one turn leave each other alone, each with its own result?",
        "ROUND ONCE",
        "DERIVE-6 RUNNER-22 RUNNER-33 NEST-5 RUN-3",
    ),
    _question(
        "streams",
        "Streams",
        "Is a watcher shown what happened, and does nothing act on half a response?",
        "STREAM WIRE PRODUCER PROMPT",
        "LOOP-17 RUNNER-25 RUNNER-1 RUNNER-2",
    ),
)


def pages() -> Iterator[tuple[str, str]]:
    """One page for each question, and one before them."""
    yield "questions.md", _first()
    for question in QUESTIONS:
        yield f"questions/{question.name}.md", _page(question)


@cache
def every() -> tuple[Finding, ...]:
    """The findings that a program shows, the most severe first."""
    return tuple(one for one in findings(report()) if one.name.program)


def about(question: Question) -> list[Finding]:
    """The findings of a question: those with a clause of it."""
    return [one for one in every() if any(map(question.is_about, one.clauses))]


def _first() -> str:
    """The questions, and how to read their tables."""
    listed = "\n".join(f"- [{one.title}](questions/{one.name}.md): {one.asks}" for one in QUESTIONS)
    return f"""# Compare by question

{listed}

For each question, a table compares the configurations of all libraries, as they were on {as_of()}. First
come those without a finding, then the others by their worst one; what was hardly tested says little, and
stands below what was tested more. *Held*, *broken* and *untested* count clauses; *exercised* says how often
one of them could have broken. [How to read the matrix](how-to-read-the-matrix.md) explains the words.
"""


def _page(question: Question) -> str:
    judged = [one for one in report()["runtimes"] if one["verdict"]]
    rows = sorted((_row(question, one) for one in judged), key=lambda row: row.order)
    found = "\n".join(told(one, "..") for one in about(question)) or "Nothing was found."
    compared = table(HEAD, [row.cells for row in rows])
    return f"# {question.title}\n\n{question.asks}\n\n{compared}\n## What was found\n\n{found}\n"


class Row(NamedTuple):
    """A configuration in the comparison: the cells, and what sorts them."""

    cells: tuple[str, ...]
    order: tuple[bool, int, int, int, str]


def _row(question: Question, runtime: Object) -> Row:
    """What a configuration shows of the question; one that was not exercised at all comes last."""
    broke = {one["clause"] for one in runtime["violations"] if question.is_about(one["clause"])}
    shown = [one for one in about(question) if runtime["name"] in one.configurations and one.is_violation]
    own = [one for one in shown if broke.intersection(one.clauses)]  # another configuration may have more
    held, broken, untested = (_count(question, runtime, word) for word in ("held", "broken", "untested"))
    times = sum(count for name, count in runtime["exercised"].items() if question.is_about(name))
    worst = min((SEVERITIES.index(one.severity) for one in own), default=NO_FINDING)
    words = SEVERITIES[worst] if worst < NO_FINDING else ("none" if times else "not tested")
    name = f"[{text(runtime['title'])}](../runtimes/{runtime['name']}.md)"
    numbers = (str(len(own)), str(held), str(broken), str(untested), f"{times:,}")
    cells = (f"{name} {runtime['implementation']['version']}", words, *numbers)
    return Row(cells, (not times, -worst, -held, -times, runtime["name"]))


def _count(question: Question, runtime: Object, verdict: str) -> int:
    return sum(map(question.is_about, clauses(runtime, verdict)))


def told(one: Finding, root: str) -> str:
    """A finding in a paragraph, with links to the configurations that show it."""
    shown = ", ".join(_link(one, name, root) for name in one.configurations)
    disagree = " Documented, and we disagree." if one.against == DOCUMENTED else ""
    reports = " ".join(f"[{_issue(page)}]({page})" for page in one.upstream)
    return f"- *{one.severity}*: {text(one.sentence)}{disagree} ({shown}) {reports}".rstrip()


def _link(one: Finding, configuration: str, root: str) -> str:
    """A configuration, with a link to the finding on its page."""
    own = [each for each in one.violated if each.runtime.name == configuration]
    anchor = own[0].clause.id.lower()
    return f"[{text(own[0].runtime.title)}]({root}/runtimes/{configuration}.md#{anchor})"


def _issue(page: str) -> str:
    """The short name of a report, as in `langgraph#6624`."""
    *_, repository, _, number = page.split("/")
    return f"{repository}#{number}"
