"""A result as Markdown for a pull request: the verdict, a table by area, and each violation.

Text from a runtime is written as code, so that it cannot contain markup, links or mentions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from runlock.conformance.report.stored_result import (
    VERDICTS,
    Stored,
    StoredViolation,
    word,
)
from runlock.conformance.text import plain

SHOWN_MAX: Final = 20
"""Maximum violations with details; a comment on a pull request has limited space."""


def markdown(result: Stored) -> str:
    """The whole text."""
    return (
        "\n".join([*_verdict(result), "", *_areas(result), *_violations(result), *_questions(result)]) + "\n"
    )


def code(text: object) -> str:
    """A text as inline code, between more backticks than it has in a row."""
    shown = plain(text) or " "
    fence = "`" * (_longest_ticks(shown) + 1)
    room = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{room}{shown}{room}{fence}"


def block(lines: Iterable[str], language: str = "text") -> list[str]:
    """Lines as a code block that none of the lines can end."""
    shown = [plain(line) for line in lines]
    fence = "`" * max(3, 1 + max(map(_longest_ticks, shown), default=0))
    return [f"{fence}{language}", *shown, fence]


def _longest_ticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _verdict(result: Stored) -> Iterator[str]:
    for sentence in result.unexpected:
        yield from (f"**incidents**: {code(sentence)}", "")
    for raised in result.exceptions:
        yield from (f"**exception**, {raised.times} times: {code(raised.what)}", "")
    who = f"{code(result.target)} is {code(result.who)}, profile {code(result.profile)}"
    yield f"**{word(result.outcome)}**: {who}"
    yield ""
    counts = ", ".join(f"{number} {word(verdict)}" for verdict, number in result.counts().items() if number)
    yield f"{result.played}, {result.stimuli} stimuli; clauses: {counts or 'none'}."
    if result.partial:
        yield from ("", f"Partial: {code(result.partial)}")
    for what in dict.fromkeys(f"{one.blame}: {one.what}" for one in result.troubles):
        yield from ("", f"Could not be judged, blame the {code(what)}")
    for warning in result.warnings:
        yield from ("", f"Warning: {code(warning)}")
    for clause, reason in result.expected.items():
        yield from ("", f"Expected to break: {code(clause)}, {code(reason)}")
    for sentence in result.complaints.values():
        yield from ("", f"The baseline: {code(sentence)}")


def _areas(result: Stored) -> Iterator[str]:
    yield "| area | " + " | ".join(map(word, VERDICTS)) + " |"
    yield "|---|" + "---:|" * len(VERDICTS)
    for area, members in groupby(result.clauses, lambda clause: clause.area):
        counts = result.counts(list(members)).values()
        yield f"| {_cell(area)} | " + " | ".join(str(number or "") for number in counts) + " |"


def _cell(text: str) -> str:
    """A name in a table; characters other than letters, digits and dashes are escaped."""
    return "".join(char if char.isalnum() or char == "-" else f"&#{ord(char)};" for char in plain(text))


def _violations(result: Stored) -> Iterator[str]:
    news = [one for one in result.violations if one.clause not in result.expected]
    for violation in news[:SHOWN_MAX]:
        yield from _violation(result, violation)
    if more := news[SHOWN_MAX:]:
        yield from ("", f"Broken too: {', '.join(code(one.clause) for one in more)}.")


def _violation(result: Stored, violation: StoredViolation) -> Iterator[str]:
    title = result.title(violation.clause)
    yield from ("", f"### {code(violation.clause)} broken{f': {title}' if title else ''}")
    if severity := result.severity(violation.clause):
        yield from ("", f"severity: {severity}")
    yield from _witness(result, violation)


def _questions(result: Stored) -> Iterator[str]:
    for question in result.questions[:SHOWN_MAX]:
        yield from ("", f"### Not declared: {code(question.policy)}", "", code(question.question))
        yield from _witness(result, question)


def _witness(result: Stored, violation: StoredViolation) -> Iterator[str]:
    yield from ("", f"because {code(violation.reason)}")
    if violation.adapter:
        yield from ("", code(violation.adapter))
    yield from ("", *block(result.steps(violation)))
    if replay := result.replay(violation):
        yield from ("", *block([replay], "sh"))
