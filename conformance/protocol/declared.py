"""What a message says of itself where it is declared, from which the tables of a family are made.

The line of a scenario file is written as `input {input}`: the word, and the fields that need no name in it.
The words of a report are a template, as in `cancel {run}`, or a function of the fields; `{input!q}` quotes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Any, Final, Literal, get_args

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema

from runlock.conformance.protocol.wire import Wire
from runlock.conformance.text import quoted

Fields = Mapping[str, Any]
Sentence = Callable[[Fields], str]
Words = str | Sentence


@dataclass(frozen=True, slots=True)
class Declared:
    """What a class of messages declares next to its fields; what is empty is derived, or is not needed."""

    line: str = ""
    words: Words = ""
    needs: str = ""  # what a runtime has to offer, in the words of the clauses' needs
    implied: Fields = field(default_factory=dict)  # fields that its line leaves out, with these values
    text: Mapping[str, str] = field(default_factory=dict)  # kind of an outcome: its field that needs no name
    keeps_open: frozenset[str] = frozenset()  # kinds of an outcome after which its gate is still open

    @property
    def sentence(self) -> Sentence | None:
        """The words as a function of the fields."""
        words = self.words
        if not isinstance(words, str):
            return words
        return (lambda fields: filled(words, fields)) if words else None


def filled(template: str, fields: Fields) -> str:
    """The template with these fields."""
    return _TEMPLATES.vformat(template, (), fields)


class _Templates(Formatter):
    """Templates whose fields are looked up as they stand, and quoted with `!q`."""

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        return quoted(value) if conversion == "q" else super().convert_field(value, conversion)


_TEMPLATES: Final = _Templates()


class OneOf:
    """Metadata of a text field that takes only these words, as a `Literal` does."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words = words

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(Literal[self.words])


def kinds_of(model: type[Wire]) -> tuple[str, ...]:
    """The kinds that a message can be of, by its field `kind`."""
    found: tuple[str, ...] = get_args(model.model_fields["kind"].annotation)
    return found
