"""The graph of an exploration: as DOT if it is small enough to be readable, and as JSON in any size.

A node is a joint state, an edge a move; an edge has the clauses of its arrows, with their sentences as a
tooltip.  Folded, states that are indistinguishable from outside are one node.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import Any, Final, TextIO

from runlock.diagrams.render.elk_layout import NOWHERE, Placement
from runlock.diagrams.render.palette import FONT, LIGHT
from runlock.machines.joint.model import Control, Move
from runlock.machines.joint.search import Search, State
from runlock.spec.model import load_spec

__all__ = ["STATES_MAX", "Node", "TooLarge", "dot", "edges", "folded", "whole", "write_dot", "write_graph"]

STATES_MAX: Final = 2_000
"""A picture with more states than this would be unreadable."""

IDS_IN_A_ROW: Final = 3
LETTERS_IN_A_ROW: Final = 24
"""Of the text on an edge; longer rows make the picture wider than a page."""


class TooLarge(Exception):
    """A graph that is too large to be drawn."""


Edge = tuple[int, int, str, tuple[str, ...]]


def edges(search: Search) -> Iterator[Edge]:
    """Every edge: its ends, its text, and the clauses of its arrows."""
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


# --- nodes and lines ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Node:
    """A box of the picture: its colour, its contents, and its tooltip."""

    fill: str
    words: str
    told: str


Line = tuple[int, int, Mapping[str, tuple[str, ...]]]
"""The ends of a line, and the clauses next to it, by the texts of the moves."""

Graph = tuple[list[Node], list[Line]]


def whole(search: Search) -> Graph:
    """Every joint state, and a line for each move."""
    nodes = [_node(search, state) for state in search.everything()]
    return nodes, [(start, end, {what: ids}) for start, end, what, ids in edges(search)]


def merged(graph: Graph) -> Graph:
    """The graph with one line between two nodes, for all moves from one to the other."""
    nodes, lines = graph
    between: dict[tuple[int, int], dict[str, tuple[str, ...]]] = {}
    for start, end, moves in lines:
        between.setdefault((start, end), {}).update(moves)
    return nodes, [(*ends, moves) for ends, moves in between.items()]


def folded(search: Search, *, of_call: str = "status") -> Graph:
    """One box for the joint states that look alike: the run, and one field of its calls or none; one line
    between two."""
    looks = [_look(search, state, of_call) for state in search.everything()]
    numbers = {look: number for number, look in enumerate(dict.fromkeys(looks))}
    lines: dict[tuple[int, int], dict[str, tuple[str, ...]]] = {}
    for start, end, what, ids in edges(search):
        ends = numbers[looks[start]], numbers[looks[end]]
        if ends[0] != ends[1]:
            found = lines.setdefault(ends, {})
            found[what] = tuple(sorted({*found.get(what, ()), *ids}, key=_place))
    fills = dict(zip(looks, (search.controls[one.control].fill for one in search.everything()), strict=True))
    nodes = [Node(fills[look], "\n".join(look), _counted(looks.count(look))) for look in numbers]
    return nodes, [(*ends, found) for ends, found in lines.items()]


def _look(search: Search, state: State, of_call: str) -> tuple[str, ...]:
    """The status of each subject, and where its calls stand, if a field says so."""
    calls = (search.calls[number] for number in search.unpack(state.calls) if of_call)
    shown = search.controls[state.control].shown.items()
    return *(f"{subject} {status}" for subject, status in shown), *(
        f"call {getattr(call, of_call) or 'not asked for'}" for call in calls
    )


def _place(clause: str) -> tuple[str, int]:
    area, _, number = clause.rpartition("-")
    return area, int(number)


def _counted(states: int) -> str:
    return f"{states:,} joint states look like this" if states > 1 else "one joint state looks like this"


def _node(search: Search, state: State) -> Node:
    control = search.controls[state.control]
    calls = (search.calls[number].words for number in search.unpack(state.calls))
    return Node(control.fill, "\n".join([control.title, *calls]), _all(control))


def _all(control: Control) -> str:
    return ", ".join(f"{name} {value}" for name, value in control._asdict().items() if value != "")


# --- DOT ----------------------------------------------------------------------------------------

Link = Callable[[str], str]
"""The URL of a clause."""

LOOKS: Final = (
    f'  bgcolor=transparent; nodesep=0.3; ranksep=0.6; tooltip=" "; fontname={FONT};\n'
    f'  node [shape=box, style="rounded,filled", fontname={FONT}, fontsize=12, penwidth=1.3, '
    f'fontcolor="{LIGHT["ink"]}", color="{LIGHT["edge"]}"];\n'
    f'  edge [fontname={FONT}, fontsize=11, fontcolor="{LIGHT["ink"]}", color="{LIGHT["line"]}", '
    "arrowsize=0.75, class=line];\n"
)


def write_dot(search: Search, name: str, file: TextIO) -> None:
    """Write the graph as DOT, with an edge with several moves once for each."""
    if search.states > STATES_MAX:
        raise TooLarge(
            f"{search.states:,} states make no picture that anybody can read; {STATES_MAX:,} are the most."
        )
    file.write(dot(whole(search), name, search.system.family))


def dot(graph: Graph, name: str, family: str, link: Link | None = None, where: Placement = NOWHERE) -> str:
    """The DOT source of a graph, with its parts at given places; a link leads to a clause."""
    nodes, lines = graph
    boxes = [
        f"  s{at} [id={_quoted(f'{name}-s{at}')}, {_box(node)}{_places(where.node(f's{at}'))}];\n"
        for at, node in enumerate(nodes)
    ]
    arrows = [
        f"  s{start} -> s{end} [id={_quoted(f'{name}-m{at}')}, {_arrow(companions, family, link)}"
        f"{_places(where.line(f's{start}', f's{end}'))}];\n"
        for at, (start, end, companions) in enumerate(lines)
    ]
    size = "".join(f"  {key}={_quoted(value)};\n" for key, value in where.graph().items())
    parts = f"{size}{LOOKS}{''.join(boxes)}{''.join(arrows)}"
    return f"digraph {_quoted(name)} {{\n  rankdir=LR;\n{parts}}}\n"


def _places(attributes: Mapping[str, str]) -> str:
    return "".join(f", {key}={_quoted(value)}" for key, value in attributes.items())


def _box(node: Node) -> str:
    fill = LIGHT[node.fill]
    return f'label={_quoted(node.words)}, fillcolor="{fill}", tooltip={_quoted(node.told)}'


def _arrow(companions: Mapping[str, tuple[str, ...]], family: str, link: Link | None) -> str:
    ids = dict.fromkeys(one for each in companions.values() for one in each)
    told = "\n".join([*companions, *(_said(family, one) for one in ids)])
    plain = ", ".join(ids) or ", ".join(companions)
    label = _quoted(plain) if link is None else _rows(companions, family, link)
    return f"label={label}, tooltip={_quoted(told)}"


def _rows(companions: Mapping[str, tuple[str, ...]], family: str, link: Link) -> str:
    """The text of the moves, and below it the clauses, each of which is a link."""
    rows = []
    for what, ids in companions.items():
        for line in wrap(what, LETTERS_IN_A_ROW):
            rows.append(f'<TR><TD ALIGN="LEFT" COLSPAN="{IDS_IN_A_ROW}">{escape(line)}</TD></TR>')
        for at in range(0, len(ids), IDS_IN_A_ROW):
            rows.append(
                f"<TR>{''.join(_cell(family, one, link) for one in ids[at : at + IDS_IN_A_ROW])}</TR>"
            )
    return f'<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1">{"".join(rows)}</TABLE>>'


def _cell(family: str, clause: str, link: Link) -> str:
    where = f'HREF="{escape(link(clause))}" TITLE="{escape(_said(family, clause))}"'
    return f'<TD ALIGN="LEFT" {where}><FONT POINT-SIZE="10" COLOR="{LIGHT["link"]}">{clause}</FONT></TD>'


def _said(family: str, clause: str) -> str:
    return f"{clause}: {load_spec(family).clause(clause).sentence}"


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
    calls = [_plain(search.calls[number]) for number in search.unpack(state.calls)]
    return {**_plain(search.controls[state.control]), "calls": calls}


def _plain(value: Any) -> Any:
    """A named tuple and those in it, as objects."""
    if not hasattr(value, "_asdict"):
        return value
    return {name: _plain(part) for name, part in value._asdict().items()}
