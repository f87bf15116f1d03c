"""Writes one record of a trace as lines of a scenario file.

A record that no format fits is written as `record KEY={…}`.  Every line is read back before it is kept, so
that this is decided by what the parser makes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from runlock.conformance.trace.definitions import WIDTH, Definitions
from runlock.conformance.trace.line_context import LineContext
from runlock.conformance.trace.line_formats import (
    CALLS,
    CRASH,
    END,
    INDENT,
    REFUSED,
    UNLISTED,
    LineFormat,
    LineFormats,
    ListFormat,
    MemberFormat,
    call_of,
)
from runlock.conformance.trace.parser import read
from runlock.conformance.trace.trace import Record
from runlock.conformance.trace.values import Malformed, encode, quoted, same

Fields = Mapping[str, Any]


def write(record: Record, context: LineContext, definitions: Definitions) -> list[str]:
    """The lines for this record, for a reader who has read the file up to it."""
    lines = _Printer(context, definitions).lines(record)
    if lines is not None:
        try:
            if same(read(lines, context, definitions), record):
                return lines
        except Malformed:
            pass
    key, value = next(iter(record.items()))
    return [f"record {encode(key)}={definitions.text(key, value)}"]


class _Printer:
    """Writes records at one place of a file."""

    def __init__(self, context: LineContext, definitions: Definitions) -> None:
        self.context = context
        self.formats: LineFormats = context.formats
        self.definitions = definitions

    def lines(self, record: Record) -> list[str] | None:
        key, value = next(iter(record.items()))
        if not isinstance(value, dict):
            return None
        printers: Mapping[str, Callable[[dict[str, Any]], list[str] | None]] = {
            "handshake": lambda fields: [self._line(self.formats.handshake, fields)],
            "scenario": self._scenario,
            "stimulus": self._stimulus,
            "observation": self._observation,
            "report": self._report,
            "crash": lambda fields: [self._line(CRASH, fields)],
            "end": lambda fields: [self._line(END, fields)],
        }
        return printers[key](value) if key in printers else None

    # --- stimuli

    def _stimulus(self, value: dict[str, Any]) -> list[str] | None:
        method, params = value.get("method"), value.get("params")
        line = self.formats.stimuli.get(method) if isinstance(method, str) else None
        if line is None or not isinstance(params, dict):
            return None
        if method == "deliver":
            return self._race(line, params)
        if method == "gate.release" and isinstance(params.get("outcome"), dict):
            return [self._release(line, params)]
        if line.items is not None and _are_objects(params.get(line.items.field)):
            return [self._list(line, line.items, params)]
        return [self._line(line, params)]

    def _race(self, line: LineFormat, params: Fields) -> list[str] | None:
        members = params.get("stimuli")
        if not isinstance(members, list) or not all(isinstance(member, dict) for member in members):
            return None
        lines = [self._line(line, _without(params, "stimuli"))]
        for member in members:
            written = self._stimulus(member)
            if written is None or len(written) != 1:
                return None
            lines.append(INDENT + written[0])
        return lines

    def _release(self, line: LineFormat, params: Fields) -> str:
        outcome = dict(params["outcome"])
        kind = outcome.pop("kind", None)
        words = [line.word, self.context.word_for(params.get("gate")), encode(kind)]
        calls = outcome.get(CALLS)
        if kind == "turn" and isinstance(calls, list) and calls and all(map(_short_call, calls)):
            words += [str(_short_call(call)) for call in outcome.pop(CALLS)]
        field = self.formats.outcome_text.get(kind) if isinstance(kind, str) else None
        if field is not None and field in outcome:
            words.append(self._outcome_text(field, outcome.pop(field)))
        words += self._named(self.formats.outcome, outcome)
        return " ".join([*words, *self._named(line, _without(params, "gate", "outcome"))])

    def _outcome_text(self, field: str, value: Any) -> str:
        """A text with a colon is quoted, since it could be a call."""
        is_like_a_call = isinstance(value, str) and ":" in value
        return quoted(value) if is_like_a_call else self.definitions.text(field, value)

    def _list(self, line: LineFormat, items: ListFormat, params: Fields) -> str:
        members = [" ".join(self._words(items.format, item)) for item in params[items.field]]
        rest = _without(params, items.field)
        words = self._words(self.context.implied_in(line), rest)
        return " ".join([f"{line.word} {'; '.join(members)}", *words])

    # --- observations

    def _observation(self, value: dict[str, Any]) -> list[str] | None:
        kind = value.get("kind")
        line = self.formats.observations.get(kind) if isinstance(kind, str) else None
        if line is None:
            return [self._line(UNLISTED, value, open_ended=True)]
        fields = _without(value, "kind")
        if line.is_change:
            return [self._change(line, fields)]
        if line.inner and isinstance(fields.get(line.inner), dict):
            fields |= fields.pop(line.inner)
        elif kind == "gate.open":
            line, fields = self._shortened_gate(line, fields)
        return [self._line(line, fields)]

    def _change(self, line: LineFormat, fields: Fields) -> str:
        rest = _without(fields, "from", "to")
        words = [encode(rest.pop(name)) for name in line.positions if name in rest]
        if "from" not in fields:
            words.append("-from")
        elif fields["from"] is not None:
            words.append(encode(fields["from"]))
        words += ["->", encode(fields.get("to"))]
        bare = self.context.implied_in(replace(line, positions=()))
        return " ".join([line.word, *words, *self._words(bare, rest)])

    def _shortened_gate(self, line: LineFormat, fields: dict[str, Any]) -> tuple[LineFormat, dict[str, Any]]:
        on, call = fields.get("on"), fields.get("call")
        if not isinstance(on, str) or not isinstance(call, str):
            return line, fields
        return self.formats.gate_of_call(call), {**_without(fields, "call"), "on": f"{on}:{call}"}

    # --- scenarios and reports

    def _scenario(self, value: dict[str, Any]) -> list[str]:
        rest, lines = dict(value), []
        for word, member in self.formats.members.items():
            items = _take(rest, member)
            if member.format is not None:
                lines += [self._line(member.format, item) for item in items]
            elif items:
                lines.append(" ".join([word, *map(encode, items)]))
        return [self._line(self.formats.scenario, rest), *(INDENT + line for line in lines)]

    def _report(self, value: dict[str, Any]) -> list[str] | None:
        if value.keys() != {"quiescent", "refused"} or not isinstance(value["refused"], list):
            return None
        if not all(isinstance(refusal, dict) for refusal in value["refused"]):
            return None
        lines = [self._line(REFUSED, refusal) for refusal in value["refused"]]
        if value["quiescent"] is not True:
            lines.append(f"report quiescent={encode(value['quiescent'])}")
        return lines

    # --- fields

    def _line(self, line: LineFormat, fields: Fields, open_ended: bool = False) -> str:
        words = self._words(self.context.implied_in(line), fields, open_ended)
        return " ".join([line.word, *words])

    def _words(self, line: LineFormat, fields: Fields, open_ended: bool = False) -> list[str]:
        rest, words = dict(fields), []
        for name in line.positions:
            if name not in rest:
                break
            words.append(self._field_text(name, rest.pop(name)))
        for name, value in line.implied.items():
            if name not in fields:
                words.append(f"-{name}")
            elif name in rest and same(rest[name], value):
                del rest[name]
        return words + self._named(line, rest, open_ended)

    def _named(self, line: LineFormat, rest: Fields, open_ended: bool = False) -> list[str]:
        listed = line.fields()
        return [
            f"{'' if open_ended or name in listed else '+'}{encode(name)}={self._field_text(name, value)}"
            for name, value in rest.items()
        ]

    def _field_text(self, name: str, value: Any) -> str:
        if name in self.formats.codes:
            return self._code(name, value)
        if name == CALLS and isinstance(value, list):
            text = f"[{' '.join(_short_call(call) or _unmistakable(call) for call in value)}]"
            return text if len(text) <= WIDTH else self.definitions.text(name, value)
        return self.definitions.text(name, value)

    def _code(self, name: str, value: Any) -> str:
        """The value as one word, if a word stands for exactly this value in the field."""
        code = value.get("code") if isinstance(value, dict) else None
        if isinstance(code, str) and same(value, self.formats.codes[name](code)) and encode(code) == code:
            return code
        return quoted(value) if isinstance(value, str) else self.definitions.text(name, value)


def _without(fields: Fields, *names: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in names}


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _take(scenario: dict[str, Any], member: MemberFormat) -> list[Any]:
    """Remove the list that indented lines can hold, and return it; an empty list if they cannot."""
    *outer, last = member.path
    holder = scenario
    for key in outer:  # an outer object stays in its line unless the list is all that it holds
        inner = holder.get(key)
        if not isinstance(inner, dict) or len(inner) != 1:
            return []
        holder = inner
    found = holder.get(last)
    if not _are_objects(found) if member.format is not None else not (isinstance(found, list) and found):
        return []
    del scenario[member.path[0]]
    return list(found or ())


def _unmistakable(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else encode(value)


def _short_call(call: Any) -> str | None:
    """A call as `id:tool`, if it has no argument but its own id."""
    if not isinstance(call, dict) or not isinstance(call.get("id"), str):
        return None
    identifier, name = call["id"], call.get("name")
    if not isinstance(name, str) or ":" in identifier or not same(call, call_of(identifier, name)):
        return None
    short = f"{identifier}:{name}"
    return short if encode(short) == short else None
