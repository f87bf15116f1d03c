"""The notation of scenario files: any JSON value in a form that is easy to read and write by hand.

A string that cannot be mistaken for something else is a bare word, an object is `{key=value key=value}`, a
list is `[value value]`, and JSON itself is accepted too.  A line is a word, values, and `key=value` pairs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_STRING: Final = r'"(?:[^"\\]|\\.)*"'
_WORD: Final = r'[^\s,{}\[\]"=;]+'
_SKIPPED: Final = re.compile(r"[\s,]*")
_KEY: Final = re.compile(rf"({_STRING}|{_WORD})=")
_JSON_KEY: Final = re.compile(rf"({_STRING})\s*:")
_ADDED: Final = re.compile(r"\+(?=[^\s\[{])")
_LEFT: Final = re.compile(rf"-({_STRING}|(?=[^\W\d]){_WORD})(?=[\s,;}}]|$)")
_STRING_TOKEN: Final = re.compile(_STRING)
_WORD_TOKEN: Final = re.compile(_WORD)
_NUMBER: Final = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_BARE: Final = re.compile(r"[^\W\d][\w.:/-]*")
_CONSTANTS: Final = frozenset({"true", "false", "null", "NaN", "Infinity", "-Infinity"})
_NOTHING: Final = object()

DEFINED_MAX: Final = 100_000
"""Values that the definitions named in one line may hold, since a few lines can define any number."""


class Malformed(Exception):
    """Text that is not a scenario: `what` is wrong with it, and what would have been `right`."""

    def __init__(self, what: str, right: str) -> None:
        super().__init__(f"{what} {right}")
        self.what = what
        self.right = right


class Bare(str):
    """A string that was written without quotes, and so may be an abbreviation."""

    __slots__ = ()


@dataclass(slots=True)
class Part:
    """A line, or a part of it between two semicolons."""

    given: list[Any] = field(default_factory=list)  # values without a key
    named: dict[str, Any] = field(default_factory=dict)
    added: set[str] = field(default_factory=set)  # keys of `named` that were written with a plus
    left: list[str] = field(default_factory=list)  # keys that were written with a minus


# --- writing ------------------------------------------------------------------------------------


def encode(value: Any) -> str:
    """The value in this notation."""
    if isinstance(value, str):
        return word(value)
    if isinstance(value, Mapping):
        return f"{{{' '.join(f'{word(key)}={encode(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, list):
        return f"[{' '.join(encode(item) for item in value)}]"
    return json.dumps(value)


def word(text: str) -> str:
    """A string, without quotes if it is unambiguous."""
    return text if _BARE.fullmatch(text) and text not in _CONSTANTS else quoted(text)


def quoted(text: str) -> str:
    """A string in quotes, with escapes for invisible characters."""
    return json.dumps(text, ensure_ascii=not text.isprintable())


def changes(before: Any, after: Any) -> str | None:
    """The change from `before` to `after`, for two objects, or for a list that grew."""
    if isinstance(before, list) and isinstance(after, list):
        grown = after[: len(before)]
        return f"+{encode(after[len(before) :])}" if same(before, grown) and before else None
    if not isinstance(before, dict) or not isinstance(after, dict):
        return None
    gone = [f"-{word(key)}" for key in before if key not in after]
    # in the order of `before`, in which they are read back
    changed = [
        f"{word(key)}={changes(inner, after[key]) or encode(after[key])}"
        for key, inner in before.items()
        if key in after and not same(inner, after[key])
    ]
    new = [f"{word(key)}={encode(inner)}" for key, inner in after.items() if key not in before]
    return f"{{{' '.join(gone + changed + new)}}}"


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; 1, 1.0 and true are three values."""
    return _canonical(one) == _canonical(other)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


# --- reading ------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """The value without information about how it was written."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    return value


class Reader:
    """Reads values from a text; `definitions` are the values that `@name` stands for."""

    def __init__(self, text: str, definitions: Mapping[str, Any]) -> None:
        self.text = text
        self.definitions = definitions
        self.at = 0
        self.left = DEFINED_MAX

    def parts(self) -> list[Part]:
        """The rest of the text, as the parts of a line."""
        parts = [Part()]
        while char := self.peek():
            if char == ";":
                self.at += 1
                parts.append(Part())
            else:
                self._item(parts[-1])
        return parts

    def _item(self, part: Part) -> None:
        added = self._match(_ADDED) is not None
        if key := self._match(_KEY):
            name = _unquoted(key[1])
            _refuse_twice(name, part.named)
            part.named[name] = self.value()
            if added:
                part.added.add(name)
        elif added:
            raise Malformed("A plus stands before something that is no key.", "Write `+key=value`.")
        elif left := self._match(_LEFT):
            part.left.append(_unquoted(left[1]))
        else:
            part.given.append(self.value())

    def value(self, base: Any = _NOTHING) -> Any:
        """The next value; with a `base`, the next change to it."""
        char = self.peek()
        if char == "{":
            return self._object(base if isinstance(base, dict) else None)
        if char == "[":
            return self._list()
        if token := self._match(_STRING_TOKEN):
            return _unquoted(token[0])
        if char == "+" and self.text.startswith("+[", self.at):
            self.at += 1
            return [*_as_list(base), *self._list()]
        if token := self._match(_WORD_TOKEN):
            return self._named(token[0])
        raise self._no_value(char)

    def _no_value(self, char: str) -> Malformed:
        if char == '"':
            return Malformed("A quote is opened that nothing closes.", 'Close it; inside, a quote is `\\"`.')
        found = f"`{char}`" if char else "the end of the line"
        return Malformed(f"A value is missing before {found}.", 'An empty text is `""`, an empty list `[]`.')

    def _named(self, token: str) -> Any:
        if not token.startswith("@"):
            return scalar(token)
        if token[1:] not in self.definitions:
            known = ", ".join(f"@{name}" for name in self.definitions) or "none"
            raise Malformed(f"{token} is not defined.", f"The definitions in this file are: {known}.")
        value = self.definitions[token[1:]]
        self.left -= _counted(value, self.left)
        if self.left < 0:
            raise Malformed(
                f"The definitions in this line hold more than {DEFINED_MAX:,} values.", "No message does."
            )
        return value

    def _object(self, base: dict[str, Any] | None) -> dict[str, Any]:
        self.at += 1
        found: dict[str, Any] = dict(base or {})
        before: set[str] = set()
        while self.peek() != "}":
            if base is not None and (left := self._match(_LEFT)):
                found.pop(_unquoted(left[1]), None)
                continue
            key = self._match(_KEY) or self._match(_JSON_KEY)
            if key is None:
                raise self._unclosed("}", "Inside braces everything is `key=value`.")
            name = _unquoted(key[1])
            _refuse_twice(name, before)
            before.add(name)
            found[name] = self.value(_NOTHING if base is None else base.get(name, _NOTHING))
        self.at += 1
        return found

    def _list(self) -> list[Any]:
        self.at += 1
        found = []
        while (char := self.peek()) != "]":
            if char in ("", "}", ";"):
                raise self._unclosed("]", "A list is `[value value]`.")
            found.append(self.value())
        self.at += 1
        return found

    def _unclosed(self, closing: str, right: str) -> Malformed:
        if not self.peek():
            return Malformed(f"The line ends before its `{closing}`.", right)
        rest = self.text[self.at : self.at + 20]
        return Malformed(f"`{rest}` stands where a key, a value or `{closing}` belongs.", right)

    def peek(self) -> str:
        """The next character that is no blank and no comma, or an empty string."""
        skipped = _SKIPPED.match(self.text, self.at)
        assert skipped is not None  # it matches nothing as well
        self.at = skipped.end()
        return self.text[self.at : self.at + 1]

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self.peek()
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return match


def scalar(token: str) -> Any:
    """The meaning of a word without quotes."""
    if token not in _CONSTANTS and not _NUMBER.fullmatch(token):
        return Bare(token)
    try:
        return json.loads(token)
    except ValueError:  # more digits than Python converts
        raise Malformed(f"`{token[:20]}…` is too long for a number.", "Write it in quotes.") from None


def decode(text: str, definitions: Mapping[str, Any]) -> Any:
    """The only value in the text: any value, or a defined one and its changes."""
    reader = Reader(text, definitions)
    value = reader.value()
    if reader.peek() == "+":
        if not reader.text.startswith("+[", reader.at):  # the plus of an appended list is read with it
            reader.at += 1
        value = reader.value(value)
    if reader.peek():
        raise Malformed(f"`{text[reader.at : reader.at + 20]}` is left over.", "A definition is one value.")
    return value


def _unquoted(token: str) -> str:
    if not token.startswith('"'):
        return token
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        raise Malformed(f"{token} is no JSON string.", "A backslash is written twice.") from None


def _refuse_twice(name: str, known: Any) -> None:
    if name in known:
        raise Malformed(f"`{name}` is given twice.", "Each key has one value.")


def _counted(value: Any, most: int) -> int:
    """The number of values in a value; more than `most` are not counted."""
    waiting, count = [value], 0
    while waiting and count <= most:
        one = waiting.pop()
        count += 1
        waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return count


def _as_list(base: Any) -> list[Any]:
    if isinstance(base, list):
        return base
    raise Malformed("There is no list to which `+[…]` could add.", "Write the list without the plus.")
