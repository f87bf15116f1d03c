"""The graph of an exploration: as DOT where it can be looked at, and as JSON whatever its size.

A node is a joint state, an edge a move; an edge carries the clauses of the arrows that it takes, and their
sentences where a pointer rests on it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, TextIO

from interlock.machines.explore.search import Search, State
from interlock.machines.explore.terms import Call, Control, Move
from interlock.spec.model import load_spec

__all__ = ["STATES_MAX", "TooLarge", "write_dot", "write_graph"]

STATES_MAX: Final = 2_000
"""More states than this make no picture that anybody can read."""


class TooLarge(Exception):
    """A graph that is too large to be drawn."""


Edge = tuple[int, int, str, tuple[str, ...]]


def edges(search: Search) -> Iterator[Edge]:
    """Every edge: where it starts and ends, in words, and the clauses of its arrows."""
    numbers = {state: number for number, state in enumerate(search.everything())}
    for state, number in numbers.items():
        for move, call, after in search.after(state):
            if after in numbers:
                yield number, numbers[after], move.what, clauses(search, state, move, call)


def clauses(search: Search, state: State, move: Move, call: int | None) -> tuple[str, ...]:
    """The clauses of the arrows that a move takes in a state."""
    change = move.one if call is not None else move.each
    rows = list(move.rows)
    for number in (call,) if call is not None else search.unpack(state.calls):
        changed = change(search.calls[number]) if change is not None else None
        rows += changed.rows if changed is not None else ()
    return tuple(dict.fromkeys(row.clause for row in rows))


# --- DOT ----------------------------------------------------------------------------------------


def write_dot(search: Search, name: str, file: TextIO) -> None:
    """Write the graph as DOT, edges with several moves once for each."""
    if search.states > STATES_MAX:
        raise TooLarge(
            f"{search.states:,} states make no picture that anybody can read; {STATES_MAX:,} are the most."
        )
    file.write(f"digraph {_quoted(name)} {{\n")
    file.write(
        '  rankdir=LR;\n  node [shape=box, style="rounded,filled", fillcolor=white, fontname=Helvetica];\n'
    )
    file.write("  edge [fontname=Helvetica, fontsize=10];\n")
    for number, state in enumerate(search.everything()):
        file.write(f"  s{number} [{_node(search, state)}];\n")
    for start, end, what, ids in edges(search):
        file.write(f"  s{start} -> s{end} [{_edge(what, ids)}];\n")
    file.write("}\n")


COLOURS: Final = {"Waiting": "#fdf1cf", "Done": "#e3efe3", "Created": "#e6ecf5"}


def _node(search: Search, state: State) -> str:
    control = search.controls[state.control]
    calls = "\n".join(_call(search.calls[number]) for number in search.unpack(state.calls))
    colour = COLOURS.get(control.run, "white")
    label = "\n".join([_title(control), calls])
    return f'label={_quoted(label)}, fillcolor="{colour}", tooltip={_quoted(_all(control))}'


def _title(control: Control) -> str:
    at = control.gate or control.work
    return control.run if at in ("calls", "done") else f"{control.run}: {at}"


def _call(call: Call) -> str:
    """A call as the picture names it; two that differ only in what is durable look alike."""
    waits = call.waits - (call.status == "Suspended")
    again = f", {waits} {'wait' if waits == 1 else 'waits'} before" if waits else ""
    return f"{call.status or 'not asked for'}{again}{f', {call.decided}' if call.decided else ''}"


def _all(control: Control) -> str:
    return ", ".join(f"{name} {value}" for name, value in control._asdict().items() if value != "")


def _edge(what: str, ids: tuple[str, ...]) -> str:
    sentences = [f"{one}: {load_spec().clause(one).sentence}" for one in ids]
    tooltip = "\n".join([what, *sentences])
    return f"label={_quoted(', '.join(ids) or what)}, tooltip={_quoted(tooltip)}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


# --- JSON ---------------------------------------------------------------------------------------


def write_graph(search: Search, name: str, file: TextIO) -> None:
    """Write the graph as one JSON object, a state and an edge on each line."""
    file.write(f'{{"schema": 1, "model": {json.dumps(name)}, "states": [\n')
    _listed(file, (_state(search, state) for state in search.everything()))
    file.write('\n], "edges": [\n')
    _listed(
        file, ({"from": a, "to": b, "what": what, "clauses": list(ids)} for a, b, what, ids in edges(search))
    )
    file.write("\n]}\n")


def _listed(file: TextIO, parts: Iterator[dict[str, Any]]) -> None:
    for number, part in enumerate(parts):
        file.write(f"{',' if number else ''}{chr(10) if number else ''}{json.dumps(part)}")


def _state(search: Search, state: State) -> dict[str, Any]:
    calls = [search.calls[number] for number in search.unpack(state.calls)]
    return {
        **search.controls[state.control]._asdict(),
        "calls": [
            {**call._asdict(), "kept": call.kept._asdict() if call.kept is not None else None}
            for call in calls
        ],
    }
