"""What the spec of the message loop answers to each statement of its source."""

from importlib import resources
from typing import Annotated

from pydantic import Field

from runlock.spec.model import Sentence, Word, read_entries


class StatementAnswer(Word):
    """What became of one statement: where it stands, what it says in own words, and the answer."""

    line: Annotated[int, Field(ge=1)]
    says: Annotated[str, Field(min_length=1)]
    clauses: list[str] = Field(default_factory=list)
    errata: list[str] = Field(default_factory=list)
    explains: Sentence | None = None

    @property
    def binds(self):
        """Whether it binds a runtime."""
        return bool(self.clauses or self.errata)


def load_statements():
    """The statements of the page by their numbers."""
    folder = resources.files("runlock.spec") / "message_loop" / "coverage"
    return dict(read_entries(folder / "message-loop.toml", StatementAnswer))
