"""Texts for reports to the maintainers of a library, ready to paste: one for each finding with a program.

A text has what an issue needs: a title, the version, what was expected and what happens instead, whom it
hurts, and a program that shows it with the public interface of the library, without the kit.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from runlock.conformance.campaign.one_program import file_name, text_of
from runlock.conformance.campaign.runtime import Runtime
from runlock.conformance.report.findings import PROMISE, Finding, findings
from runlock.conformance.report.markdown import block

Object = Mapping[str, Any]
ABOUT: Final = re.compile(
    r"^(?P<bug>.*?)\s+expected: (?P<expected>.*?)\s+it hurts: (?P<hurts>.*?)\s*$", re.DOTALL
)
DOCSTRING: Final = re.compile(r'"""(.*?)"""', re.DOTALL)
CALL: Final = re.compile(r"^ *about\((.*?)\);$", re.DOTALL | re.MULTILINE)
TEXT: Final = re.compile(r'"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`')
TITLE_MAX: Final = 120
REFERS: Final = "As for "
"""A sentence that begins so refers to another one on the page of its runtime."""

LANGUAGES: Final = {".py": "python", ".mjs": "js"}


class About(NamedTuple):
    """What a program says of its bug: the bug, what was expected, and whom it hurts."""

    bug: str
    expected: str
    hurts: str


def about(text: str) -> About:
    """What a program says of its bug, in a docstring or in a call of `about`; LookupError if nothing."""
    for (words,) in (one.groups() for one in DOCSTRING.finditer(text)):
        if found := ABOUT.match(inspect.cleandoc(words)):
            bug, expected, hurts = map(_one_line, found.groups())
            return About(re.split(r" (?:pip|npm) install ", bug)[0], expected, hurts)
    for called in CALL.finditer(text):
        strings = [a or b for a, b in TEXT.findall(called[1])]
        if len(strings) >= 3:
            return About(*(_one_line(one.replace('\\"', '"').replace("\\`", "`")) for one in strings[:3]))
    raise LookupError("The program does not say what it is about.")


def _one_line(words: str) -> str:
    return " ".join(words.split())


def texts(report: Object, known: Sequence[Runtime], name: str, folder: Path) -> Iterator[tuple[str, str]]:
    """The text of each finding of a library or a configuration, with the name of its file."""
    found = [one for one in findings(report, known) if one.is_violation and name in _names(one)]
    for number, one in enumerate(found, 1):
        stem = file_name(one.name.program).rpartition(".")[0]
        yield f"{number:02}-{stem}.md", text(one, folder)


def _names(finding: Finding) -> set[str]:
    return {finding.name.library, *finding.configurations}


def text(finding: Finding, folder: Path) -> str:
    """One report: title, version, expected, actual, the program and how to run it."""
    program = text_of(finding.name.program, folder)
    said = about(program)
    return "\n".join(
        (
            f"# {_title(said.bug)}\n",
            f"**Version**: {_versions(finding)}\n",
            f"**Expected**: {_sentence(said.expected)}{_promise(finding)}\n",
            f"**Actual**: {said.bug if finding.sentence.startswith(REFERS) else finding.sentence}\n",
            f"**Why it matters**: {_sentence(said.hurts)}\n",
            *_program(finding, program),
            *_earlier(finding),
        )
    )


def _title(bug: str) -> str:
    """The first sentence, as long as a title may be."""
    first = re.split(r"(?<=[^.])\. ", bug)[0].rstrip(".")
    return first if len(first) <= TITLE_MAX else f"{first[: TITLE_MAX - 1].rpartition(' ')[0]}…"


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"


def _versions(finding: Finding) -> str:
    """The packages of each environment in which it was seen."""
    seen = {" ".join(one.runtime.requirements) for one in finding.violated}
    return "; ".join(sorted(seen))


def _promise(finding: Finding) -> str:
    if finding.against != PROMISE:
        return ""
    return f" See {', '.join(finding.pages)}."


def _program(finding: Finding, program: str) -> Iterator[str]:
    name = file_name(finding.name.program)
    language = LANGUAGES[Path(name).suffix]
    yield f"This program (`{name}`) shows it with a scripted model. It exits with 1 while the bug is there.\n"
    yield from (*block(program.rstrip().splitlines(), language), "")


def _earlier(finding: Finding) -> Iterator[str]:
    """The reports that are known: a text is then a comment there, and no new report."""
    if finding.upstream:
        yield "Reported before, so this may be a comment there instead:\n"
    yield from (f"- <{address}> ({state})" for address, state in finding.upstream.items())
