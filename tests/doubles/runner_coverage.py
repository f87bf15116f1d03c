"""What the spec of tool runners answers to each statement of its source."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Annotated, Final

from pydantic import Field

from runlock.spec.model import Sentence, Word, read_entries

SOURCE: Final = "tool-runner"


class RunnerAnswer(Word):
    """A statement in our words, where it stands, and what became of it."""

    line: Annotated[int, Field(ge=1)]
    says: Sentence
    clauses: list[str] = Field(default_factory=list)
    errata: list[str] = Field(default_factory=list)
    explains: Sentence | None = None

    @property
    def binds(self) -> bool:
        """Whether a clause or an erratum answers it."""
        return bool(self.clauses or self.errata)


def runner_coverage() -> Mapping[str, RunnerAnswer]:
    """The answers, by the number of the statement."""
    folder = resources.files("runlock.spec") / "tool_runner" / "coverage"
    return dict(read_entries(folder / f"{SOURCE}.toml", RunnerAnswer))
