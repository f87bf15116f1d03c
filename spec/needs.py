"""The words that `needs` of a clause may use, read without the clauses, which an adapter has no use for."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources


def needs_of(family: str) -> Mapping[str, Sequence[str]]:
    """What a clause of the family may need of a runtime: the first word, and the words that may follow it."""
    file = resources.files(__package__) / family.replace("-", "_") / "needs.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))
