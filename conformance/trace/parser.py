"""Reads one record of a trace from the lines of a scenario file that describe it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from runlock.conformance.trace.line_context import LineContext
from runlock.conformance.trace.line_fields import filled, is_short_call, long_call
from runlock.conformance.trace.line_formats import (
    CALLS,
    CRASH,
    END,
    RACE,
    REFUSED,
    UNLISTED,
    LineFormat,
    LineFormats,
    ListFormat,
    MemberFormat,
)
from runlock.conformance.trace.trace import KEYS, Record
from runlock.conformance.trace.values import Bare, Malformed, Part, Reader, encode, plain

Definitions = Mapping[str, Any]


def read(lines: Sequence[str], context: LineContext, definitions: Definitions) -> Record:
    """The record in these lines; a report has any number of lines, also none."""
    if not lines:
        return {"report": _report([], context)}
    word, parts = _split(lines[0], definitions)
    if word in ("refused", "report"):
        return {"report": _report([_split(line, definitions) for line in lines], context)}
    record = _record(word, parts, lines[1:], context, definitions)
    return {str(key): plain(value) for key, value in record.items()}


def _split(line: str, definitions: Definitions) -> tuple[str, list[Part]]:
    word, _, rest = line.strip().partition(" ")
    return word, Reader(rest, definitions).parts()


def _record(
    word: str, parts: list[Part], members: Sequence[str], context: LineContext, definitions: Definitions
) -> Record:
    if members and word not in (RACE, "scenario"):
        raise Malformed(
            f"Lines are indented under `{word}`, which has none.", "Only `race` and `scenario` have."
        )
    if word in context.formats.methods:
        return {"stimulus": _stimulus(word, parts, members, context, definitions)}
    part = _only_part(word, parts, context.formats)
    if word == "record":
        return _any_record(part)
    if word == "scenario":
        return {"scenario": _scenario(part, members, context, definitions)}
    if word in ("handshake", "crash", "end"):
        line = {"handshake": context.formats.handshake, "crash": CRASH, "end": END}[word]
        return {word: filled(line, part, context)}
    return {"observation": _observation(word, part, context)}


def _only_part(word: str, parts: list[Part], formats: LineFormats) -> Part:
    if len(parts) > 1:
        raise Malformed(f"A semicolon stands in `{word}`.", formats.semicolons)
    return parts[0]


def unknown(word: str, words: Sequence[str], what: str, formats: LineFormats) -> Malformed:
    """An error that says which word was probably meant."""
    listed = ", ".join(f"`{one}`" for one in sorted(set(words)))
    stimulus = formats.stimuli.get(word)
    meant = [stimulus.word] if stimulus is not None else get_close_matches(word, words, n=1)
    hint = f"Did you mean `{meant[0]}`? " if meant else ""
    return Malformed(f"`{word}` is no {what}.", f"{hint}There are {listed}.")


def _any_record(part: Part) -> Record:
    if len(part.named) != 1 or part.given or part.left:
        raise Malformed("`record` takes one key and its value.", f"The keys are {', '.join(KEYS)}.")
    return part.named


# --- stimuli ------------------------------------------------------------------------------------


def _stimulus(
    word: str, parts: list[Part], members: Sequence[str], context: LineContext, definitions: Definitions
) -> dict[str, Any]:
    method = context.formats.methods[word]
    line = context.formats.stimuli[method]
    if line.items is not None:
        params = _list(line, line.items, parts, context)
    elif method == "gate.release":
        params = _release(line, _only_part(word, parts, context.formats), context)
    else:
        params = filled(line, _only_part(word, parts, context.formats), context)
    if method == "deliver" and (members or "stimuli" not in params):
        params["stimuli"] = [_member_of_race(text, context, definitions) for text in members]
    return {"method": method, "params": params}


def _member_of_race(text: str, context: LineContext, definitions: Definitions) -> dict[str, Any]:
    word, parts = _split(text, definitions)
    words = [one for one in context.formats.methods if one != RACE]
    if word not in words:
        raise unknown(word, words, "stimulus of a race", context.formats)
    return _stimulus(word, parts, (), context, definitions)


def _release(line: LineFormat, part: Part, context: LineContext) -> dict[str, Any]:
    if len(part.given) < 2:
        if part.named.keys() >= {"gate", "outcome"}:
            return filled(line, part, context)
        raise Malformed(
            "`release` names a gate and an outcome.",
            "As in `release tool:c1 ok done` or `release model turn c1:t0`.",
        )
    gate, kind, *said = part.given
    own = ("turns",)
    params = {key: value for key, value in part.named.items() if key in own}
    rest = Part([], {k: v for k, v in part.named.items() if k not in own}, part.added, part.left)
    formats = context.formats
    outcome = {"kind": kind, **_said(kind, said, formats), **filled(formats.outcome, rest, context)}
    return {"gate": context.gate(gate) if isinstance(gate, Bare) else gate, "outcome": outcome, **params}


def _said(kind: Any, said: Sequence[Any], formats: LineFormats) -> dict[str, Any]:
    """The fields of an outcome that stand without a name: a text, and the calls of a turn."""
    if not isinstance(kind, str):
        raise Malformed(f"{encode(kind)} is no kind of outcome.", "As in `release tool:c1 ok done`.")
    calls = [value for value in said if kind == "turn" and is_short_call(value)]
    texts = [value for value in said if not (kind == "turn" and is_short_call(value))]
    field = formats.outcome_text.get(kind)
    if len(texts) > (1 if field else 0):
        raise Malformed(
            f"{encode(texts[-1])} stands after `{kind}` without a name.",
            "A text of several words is written in quotes." if field else "Write `key=value`.",
        )
    outcome: dict[str, Any] = {field: texts[0]} if field and texts else {}
    return {**outcome, CALLS: [long_call(call) for call in calls]} if calls else outcome


def _list(line: LineFormat, items: ListFormat, parts: list[Part], context: LineContext) -> dict[str, Any]:
    """The fields of a line with semicolons: those of the line itself may stand in any part."""
    if len(parts) == 1 and not parts[0].given:
        return filled(line, parts[0], context)
    if not all(part.given for part in parts):
        raise Malformed(f"A {items.noun} is missing at a semicolon.", f"As in `{items.example}`.")
    own = line.fields() - {items.field}
    ours = Part(
        [],
        {key: value for part in parts for key, value in part.named.items() if key in own},
        left=[name for part in parts for name in part.left if name in own],
    )
    members = [filled(items.format, _without(part, own), context) for part in parts]
    return {**filled(line, ours, context), items.field: members}


def _without(part: Part, fields: set[str]) -> Part:
    named = {key: value for key, value in part.named.items() if key not in fields}
    return Part(part.given, named, part.added, [name for name in part.left if name not in fields])


# --- observations -------------------------------------------------------------------------------


def _observation(kind: str, part: Part, context: LineContext) -> dict[str, Any]:
    if kind == "unlisted":
        return filled(UNLISTED, part, context, open_ended=True)
    line = context.formats.observations.get(kind)
    if line is None:
        formats = context.formats
        raise unknown(kind, (*formats.headings, *formats.answers), "word", formats)
    return {"kind": kind, **_observed(line, part, context)}


def _observed(line: LineFormat, part: Part, context: LineContext) -> dict[str, Any]:
    if line.is_change and "->" in part.given:
        return _change(line, part, context)
    if line.word == "gate.open" and len(part.given) > 1 and is_short_call(part.given[1]):
        on, call = part.given[1].split(":", 1)
        shortened = Part([part.given[0], on, *part.given[2:]], part.named, part.added, part.left)
        return {**filled(context.formats.gate_of_call(call), shortened, context), "call": call}
    fields = filled(line, part, context)
    if not line.inner or line.inner in part.named:
        return fields
    own = {*line.own_fields(), *part.added}
    inner = {key: value for key, value in fields.items() if key not in own}
    return {**{key: value for key, value in fields.items() if key in own}, line.inner: inner}


def _change(line: LineFormat, part: Part, context: LineContext) -> dict[str, Any]:
    arrow = part.given.index("->")
    before, after = part.given[:arrow], part.given[arrow + 1 :]
    count = len(line.positions)
    if len(after) != 1 or not count <= len(before) <= count + 1:
        right = " ".join([line.word, *(name.upper() for name in line.positions), "OLD -> NEW"])
        raise Malformed(
            "An arrow stands between two statuses.", f"Write `{right}`; OLD is left out at first."
        )
    origin = before[count] if len(before) > count else None
    rest = Part(before[:count], part.named, part.added, [name for name in part.left if name != "from"])
    moved = {"to": after[0]} if "from" in part.left else {"from": origin, "to": after[0]}
    return {**filled(line, rest, context), **moved}


# --- scenarios and reports ----------------------------------------------------------------------


def _scenario(
    part: Part, members: Sequence[str], context: LineContext, definitions: Definitions
) -> dict[str, Any]:
    scenario = filled(context.formats.scenario, part, context)
    for text in members:
        word, parts = _split(text, definitions)
        member = context.formats.members.get(word)
        if member is None:
            raise unknown(word, tuple(context.formats.members), "part of a scenario", context.formats)
        part = _only_part(word, parts, context.formats)
        new = part.given if member.format is None else [filled(member.format, part, context)]
        _list_at(member, scenario).extend(new)
    return scenario


def _list_at(member: MemberFormat, scenario: dict[str, Any]) -> list[Any]:
    *outer, last = member.path
    holder: Any = scenario
    for key in outer:
        holder = holder.setdefault(key, {}) if isinstance(holder, dict) else None
    found = holder.setdefault(last, []) if isinstance(holder, dict) else None
    if not isinstance(found, list):
        place = ".".join(member.path)
        raise Malformed(f"`{place}` is given, and is no list.", "Leave it to the indented lines.")
    return found


def _report(lines: Sequence[tuple[str, list[Part]]], context: LineContext) -> dict[str, Any]:
    report: dict[str, Any] = {"quiescent": True, "refused": []}
    for word, parts in lines:
        part = _only_part(word, parts, context.formats)
        if word == "refused":
            report["refused"].append(plain(filled(REFUSED, part, context)))
        elif part.given or part.named.keys() != {"quiescent"}:
            raise Malformed(
                "`report` says whether the runtime is quiescent.", "Write `report quiescent=false`."
            )
        else:
            report["quiescent"] = plain(part.named["quiescent"])
    return report
