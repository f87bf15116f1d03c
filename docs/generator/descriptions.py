"""The description of a page for search engines and previews: its first sentences, without markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

LONGEST: Final = 160
"""In characters; search engines cut what is longer."""

NO_TEXT: Final = re.compile(r"\s*(?:[#<|>!?:\-*{]|\d+\.|```|---)")
"""How a block begins that is no paragraph of text."""

MARKUP: Final = (
    (re.compile(r"<[^>]+>|\{[^}]*\}"), ""),
    (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"\\(.)|[`*]"), r"\1"),
    (re.compile(r"\s+"), " "),
)
"""What is replaced in a paragraph, in this order."""


def description(markdown: str) -> str:
    """As many sentences of the first paragraph as fit, or a part of the first; empty without a paragraph."""
    whole = next(_paragraphs(markdown), "")
    if len(whole) <= LONGEST:
        return whole
    cut = whole[:LONGEST]
    end = cut.rfind(". ")
    return cut[: end + 1] if end > 0 else f"{cut.rpartition(' ')[0]}…"


def _paragraphs(markdown: str) -> Iterator[str]:
    """The paragraphs of text, without markup."""
    text = re.sub(r"^```.*?^```$", "", markdown, flags=re.DOTALL | re.MULTILINE)
    blocks = re.split(r"\n\s*\n", text)
    return (_bare(block) for block in blocks if block.strip() and not NO_TEXT.match(block))


def _bare(block: str) -> str:
    for pattern, kept in MARKUP:
        block = pattern.sub(kept, block)
    return block.strip()
