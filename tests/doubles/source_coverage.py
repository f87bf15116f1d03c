"""What the spec answers to each sentence, arrow and row of its sources, and how a source is cut into those.

The sources are not part of the project.  The map holds, for each ordinal of a source, where it stands, a
digest of its words, and what it became: clauses, errata, or the reason why it binds no one.  Of the pages of
AG-UI, which mark what is normative by the words of BCP 14, the sentences with such a word are the ordinals.
The pages of ACP say some of it in plain words, and in the definitions of fields and values; these count too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import pairwise
from typing import Annotated, Final

from pydantic import Field

from runlock.spec.model import (
    Sentence,
    Spec,
    Word,
    read_entries,
)

__all__ = [
    "ACP",
    "ACP_SOURCES",
    "PAGES",
    "PAGE_REVISIONS",
    "SOURCES",
    "Answer",
    "Coverage",
    "Digested",
    "Ordinal",
    "Statement",
    "cut",
    "dangling",
    "differences",
    "load_coverage",
    "normative",
    "read_coverage",
    "statements_of",
]

SOURCES: Final = {
    "tirea": "tirea-run-lifecycle.txt",
    "awaken-8": "awaken-run-lifecycle-8-phases.txt",
    "awaken-9": "awaken-run-lifecycle-9-phases-zh.txt",
}
"""The sources of the lifecycle family, and the file that holds each one's text."""

PAGES: Final = ("lifecycle", "tool-calls", "interrupts", "streaming", "events")
"""The pages of AG-UI that have a map."""

PAGE_REVISIONS: Final = ("1.1", "1.0")
"""Their revisions, which say the same: the map is of the first, and the text of each fits it."""

ACP_PAGES: Final = (
    "prompt-turn",
    "tool-calls",
    "session-setup",
    "cancellation",
    "elicitation",
    "transports",
)
"""The pages of version 1 of ACP that have a map, as they stood at commit b7f00054 of 22 August 2026."""

ACP_2_PAGES: Final = (
    "prompt-lifecycle",
    "tool-calls",
    "session-setup",
    "cancellation",
    "elicitation",
    "transports",
    "initialization",
)
"""Those of version 2, a draft, at the same commit."""

ACP_SOURCES: Final = (
    *(f"acp-1-{page}" for page in ACP_PAGES),
    *(f"acp-2-{page}" for page in ACP_2_PAGES),
)

BCP_14: Final = re.compile(r"\b(?:MUST|SHOULD|MAY|REQUIRED|OPTIONAL)\b")
"""The words that make a sentence normative."""

ACP: Final = re.compile(BCP_14.pattern + r"|\bmust\b|^<(?:Param|Response)Field")
"""What makes a sentence of a page of ACP normative: the same words, or that it defines a field or value."""

MARKUP: Final = re.compile(r"\]\([^)]*\)|[\[\]*]")
"""Where links lead, and how words are set: no part of a sentence."""

CHROME: Final = re.compile(
    r"^\s*(?:Section titled “[^”]*”|(?:Keyboard shortcuts|Press .* (?:chapters|book|help)|See Also)\s*$)"
)
"""What a documentation site puts around a text, or in front of it."""

ARROW: Final = re.compile(r"(?:--)?\+?-->")
LABELS: Final = re.compile(r"\s*/\s*|\s+or\s+")
BREAK: Final = re.compile(
    r"(?<=[^\d][.])\s+(?=[A-Z])"  # a sentence begins
    r"|(?<=。)|(?<=;)\s+"  # a sentence or a statement ends
    r"|(?<=\S})(?=[^\W\d_])|(?=pub enum )"  # a declaration is over, or begins
    r"|(?=[A-Z][a-z]+, //)"  # a member with a comment
    r"|(?=t\d\s+[A-Z])"  # a row of a timeline
    r"|(?<=[\u4e00-\u9fff])(?=[A-Z][A-Za-z]+:(?!:))"  # a term that is explained
    r"|(?<=[^>]\s)(?=[A-Z][a-z]\w*\?? ->)"  # a case and what follows from it
    r"|(?<=\s)(?=[A-Z][a-z]+ mode:)"  # a way of execution
)


@dataclass(frozen=True, slots=True)
class Ordinal:
    """One sentence, arrow or row: the `number`th on its line, with whitespace as single spaces."""

    line: int
    number: int
    text: str

    @property
    def key(self) -> str:
        """Where it stands: 24.2 is the second on line 24."""
        return f"{self.line}.{self.number}"

    @property
    def digest(self) -> str:
        """What tells its words from others without repeating them."""
        return sha256(self.text.encode()).hexdigest()[:12]


def cut(text: str) -> Iterator[Ordinal]:
    """Cut a source into its ordinals, in order; page furniture and bare punctuation are none."""
    for line, words in enumerate(text.splitlines(), start=1):
        for number, piece in enumerate(_pieces(CHROME.sub("", words)), start=1):
            yield Ordinal(line, number, piece)


def _pieces(words: str) -> Iterator[str]:
    for sentence in BREAK.split(words):
        for arrow in _arrows(sentence):
            piece = " ".join(arrow.split())
            if re.search(r"\w", piece):
                yield piece


def _arrows(sentence: str) -> Iterator[str]:
    """Cut a drawing before each arrow but the first; one arrow with several labels is as many arrows."""
    starts = [arrow.start() for arrow in ARROW.finditer(sentence)]
    if len(starts) == 1 and ": " in sentence[starts[0] :]:
        ends, _, labels = sentence.partition(": ")
        yield from (f"{ends}: {label}" for label in LABELS.split(labels))
        return
    edges = [0, *starts[1:], len(sentence)]
    yield from (sentence[a:b] for a, b in pairwise(edges))


def normative(page: str, says: re.Pattern[str] = BCP_14) -> Iterator[Ordinal]:
    """Cut a page, whose sentences run over several lines, into those that are normative.

    A sentence stands where its first word does; `says` is what it has in it.
    """
    on_line: Counter[int] = Counter()
    for sentence in _sentences(page):
        line, text = sentence[0][0], MARKUP.sub("", " ".join(word for _, word in sentence))
        if says.search(text):
            on_line[line] += 1
            yield Ordinal(line, on_line[line], text)


def _sentences(page: str) -> Iterator[list[tuple[int, str]]]:
    """The words of each sentence with their lines; a blank line, an item or a heading begins a new one."""
    sentence: list[tuple[int, str]] = []
    for line, text in enumerate(page.splitlines(), start=1):
        if sentence and re.match(r"\s*($|- |#|```|<)", text):
            yield sentence
            sentence = []
        for word in text.removeprefix("- ").split():
            if sentence and sentence[-1][1].endswith((".", ";")) and re.match(r"[`*\[]*[A-Z]", word):
                yield sentence
                sentence = []
            sentence.append((line, word))
    if sentence:
        yield sentence


class Answer(Word):
    """What became of one ordinal: clauses and errata, or the reason why it binds no one."""

    clauses: list[str] = Field(default_factory=list)
    errata: list[str] = Field(default_factory=list)
    explains: Sentence | None = None

    @property
    def binds(self) -> bool:
        """Whether it binds a runtime."""
        return bool(self.clauses or self.errata)


class Digested(Answer):
    """The answer to an ordinal of a source that is not repeated here."""

    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]


class Statement(Answer):
    """The answer to a statement: where it stands, and what it says in our words."""

    line: Annotated[int, Field(ge=1)]
    says: Sentence


Coverage = Mapping[str, Mapping[str, Digested]]
"""The answers of each source, by the place of the ordinal."""


@cache
def load_coverage() -> Coverage:
    """Read the map that this package carries, once."""
    return read_coverage(resources.files("runlock.spec") / "lifecycle" / "coverage")


def read_coverage(folder: Traversable) -> Coverage:
    """Read a map from a folder with one file a source, or a page."""
    pages = [f"ag-ui-{PAGE_REVISIONS[0]}-{page}" for page in PAGES]
    sources = (*SOURCES, *pages, *ACP_SOURCES)
    return {source: dict(read_entries(folder / f"{source}.toml", Digested)) for source in sources}


@cache
def statements_of(family: str, source: str) -> Mapping[str, Statement]:
    """The answers to the statements of a source, by their numbers; `family` is its folder in the spec."""
    folder = resources.files("runlock.spec") / family / "coverage"
    return dict(read_entries(folder / f"{source}.toml", Statement))


def dangling(coverage: Coverage, spec: Spec) -> Iterator[str]:
    """Say which answers name what is not there, and which say nothing or too much."""
    for source, answers in coverage.items():
        for place, answer in answers.items():
            for name in answer.clauses:
                if name not in spec.clauses:
                    yield f"{source} {place}: names {name}, which is no clause."
            for name in answer.errata:
                if name not in spec.errata:
                    yield f"{source} {place}: names {name}, which is no erratum."
            if answer.binds == (answer.explains is not None):
                yield f"{source} {place}: is answered by clauses and errata, or else explains and says why."


def differences(of: Iterable[Ordinal], answers: Mapping[str, Digested]) -> Iterator[str]:
    """Say where a source and its answers part: what is not answered, not there, or there in other words."""
    ordinals = {ordinal.key: ordinal for ordinal in of}
    for place, ordinal in ordinals.items():
        if place not in answers:
            yield f"{place}: nothing answers it; its digest is {ordinal.digest}."
        elif answers[place].digest != ordinal.digest:
            yield f"{place}: was read in other words; its digest is now {ordinal.digest}."
    for place in answers:
        if place not in ordinals:
            yield f"{place}: is answered, yet the source has nothing there."
