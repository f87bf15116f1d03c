"""Sentences that name what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def known_words(word: object, known: Iterable[str]) -> str:
    """List the known words, the most similar one first."""
    names = list(known)
    close = get_close_matches(str(word), names, n=1)
    listed = f"nown: {', '.join(names) or 'none'}."
    return f"did you mean {close[0]!r}? K{listed}" if close else f"k{listed}"
