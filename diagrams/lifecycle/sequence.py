"""A trace as a sequence diagram in Mermaid text; sequence_svg.py makes a picture of it.

The environment of the runtime has one lifeline for each part: the approver, the model, each call's tool, the
permission check, plugins, and the store.  Statuses are notes on the runtime's own lifeline.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runlock.conformance.families.lifecycle.line_formats import LINE_FORMATS
from runlock.conformance.families.lifecycle.wording import shown, step
from runlock.conformance.text import plain
from runlock.conformance.trace.moves import Move, moves_of
from runlock.conformance.trace.trace import Trace

PERSON: Final = "approver"
RUNTIME: Final = "runtime"
WORLD: Final = {"model": "model", "permission": "permission check", "store.put": "store", "hook": "plugin"}


@dataclass(frozen=True, slots=True)
class Sent:
    """A message from one lifeline to another; `is_answer` if the environment answers a request."""

    source: str
    target: str
    words: str
    is_answer: bool = False


@dataclass(frozen=True, slots=True)
class Noted:
    """A new status of the runtime, or the end of everything."""

    words: str
    is_end: bool = False


Part = Sent | Noted


def sequence(trace: Trace, because: str = "") -> list[Part]:
    """The parts of a trace in order; its violation, if there is one, comes last."""
    parts: list[Part] = []
    moves, gates, became = moves_of(trace, LINE_FORMATS.gate_name), dict[str, str](), list[str]()
    for record in trace.records:
        ((key, value),) = record.items()
        if key in ("stimulus", "crash"):
            if value.get("method") != "recover":
                parts += _sent(next(moves))
        elif key == "observation":
            parts += _asked(value, gates)
            became += _became(value)
        elif key == "report":
            parts += [Noted(", ".join(became))] if became else []
            parts += [
                Sent(RUNTIME, PERSON, f"refuses: {plain(one.get('why', ''))}") for one in _refused(value)
            ]
            became = []
    parts += [Noted(", ".join(became))] if became else []
    return [*parts, Noted(because, is_end=True)] if because else parts


def lines_of(parts: list[Part]) -> list[str]:
    """The participants, from left to right."""
    met = dict.fromkeys(
        name for part in parts if isinstance(part, Sent) for name in (part.source, part.target)
    )
    order = [PERSON, RUNTIME, "model", "permission check", "plugin"]
    tools = [name for name in met if name not in (*order, "store")]
    return [name for name in (*order, *tools, "store") if name in met or name == RUNTIME]


def _sent(move: Move) -> Iterator[Part]:
    if move.method == "crash":
        yield Noted(step(move))
        return
    parts = move.parts()
    for method, params in parts:
        together = " (at once)" if len(parts) > 1 else ""
        gate = str(params.get("gate", "")) if method == "gate.release" else ""
        yield Sent(_line(gate), RUNTIME, f"{step(Move(method, params))}{together}", bool(gate))


def _asked(seen: Mapping[str, Any], gates: dict[str, str]) -> Iterator[Part]:
    """The messages from the runtime; `gates` remembers the lifeline of each gate."""
    if seen.get("kind") == "gate.open":
        line = gates[seen["gate"]] = _line(LINE_FORMATS.gate_name(seen))
        yield Sent(RUNTIME, line, shown(seen))
    elif seen.get("kind") == "gate.closed":
        yield Sent(RUNTIME, gates.get(str(seen.get("gate")), PERSON), "is given up", is_answer=True)
    elif seen.get("kind") == "run.finished":
        yield Sent(RUNTIME, PERSON, shown(seen), is_answer=True)


def _became(seen: Mapping[str, Any]) -> list[str]:
    if seen.get("kind") == "call.status":
        return [plain(f"{seen.get('call')} {seen.get('to')}")]
    return [plain(f"run {seen.get('to')}")] if seen.get("kind") == "run.status" else []


def _refused(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [one for one in report.get("refused") or [] if isinstance(one, Mapping)]


def _line(gate: str) -> str:
    """The lifeline of a gate; without a gate, that of the approver."""
    on, _, of = gate.partition(":")
    if on == "tool":
        return plain(f"tool {of}")
    return WORLD.get(on, plain(on)) if on else PERSON


# --- as text ------------------------------------------------------------------------------------


def mermaid(trace: Trace, because: str = "") -> str:
    """The Mermaid text of a trace."""
    parts = sequence(trace, because)
    names = {name: f"p{number}" for number, name in enumerate(lines_of(parts))}
    lines = [
        "sequenceDiagram",
        *(f"    participant {short} as {_safe(name)}" for name, short in names.items()),
    ]
    lines += [f"    {_said(part, names)}" for part in parts]
    return "\n".join(lines) + "\n"


def _said(part: Part, names: Mapping[str, str]) -> str:
    if isinstance(part, Sent):
        arrow = "-->>" if part.is_answer else "->>"
        return f"{names[part.source]}{arrow}{names[part.target]}: {_safe(part.words)}"
    return f"Note over {names[RUNTIME]}: {_safe(part.words)}"


def _safe(words: str) -> str:
    """The words with Mermaid's special characters replaced."""
    codes = {"#": "#35;", ";": "#59;", "<": "#60;", ">": "#62;", "%": "#37;", "{": "#123;", "}": "#125;"}
    return "".join(codes.get(letter, letter) for letter in words)
