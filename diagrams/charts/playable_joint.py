"""The data of joint play: every joint state of a small system, and every move from one to another."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runlock.conformance.family.family import family_names
from runlock.diagrams.of_family import drawing
from runlock.diagrams.state_space import clauses
from runlock.machines.joint.search import Search, State

ORDER: Final = ("runtime", "world", "trouble")
"""Who makes a move, in the order of the buttons."""


@dataclass(frozen=True, slots=True)
class Played:
    """A system with one call: the profile that it follows, and the chart of each subject that has one."""

    search: Search
    profile: str
    charts: Mapping[str, str]

    def cells(self, state: State) -> dict[str, str]:
        """The status of each subject."""
        control, (number,) = self.search.controls[state.control], self.search.unpack(state.calls)
        call = self.search.calls[number]
        found = {**control.at, **control.shown, **call.seen, "c1": call.status}
        return {subject: found[subject] or "" for subject in self.charts}

    def notes(self, state: State) -> list[str]:
        """What else is known: of the run, then of the call."""
        control, (call,) = self.search.controls[state.control], self.search.unpack(state.calls)
        known = {**control.at, **self.search.calls[call].seen}
        return [
            (name if value is True else f"{name}: {value}").replace("_", " ")
            for name, value in known.items()
            if value and name != "status" and name not in self.charts
        ]

    def moves(self, state: State) -> Iterator[tuple[str, str, tuple[str, ...], State]]:
        """Every move: what happens, who makes it, the clauses of its transitions, and where it leads."""
        found = [
            (move.what, move.who, clauses(self.search, state, move, call), after)
            for move, call, after in self.search.after(state)
        ]
        yield from sorted(found, key=lambda one: ORDER.index(one[1]))


def systems() -> dict[str, Callable[[], Played]]:
    """What makes the system of each family that has one, in the module `joint_play` of its folder."""
    found = {name: drawing(name, "joint_play") for name in family_names()}
    return {name: own.played for name, own in found.items() if own is not None}


def joint(family: str) -> dict[str, Any]:
    """A system as an object; what states and moves share is in lists, and they hold the numbers."""
    played = systems()[family]()
    states = list(played.search.everything())
    numbers = {state: number for number, state in enumerate(states)}
    looks, words = _Numbered(), _Numbered()
    rows = [
        [looks.number([*played.cells(state).values(), ", ".join(played.notes(state))])]
        + [
            number
            for what, who, ids, after in played.moves(state)
            for number in (words.number([token(what), what, who, ", ".join(ids)]), numbers[after])
        ]
        for state in states
    ]
    return {
        "family": family,
        "profile": played.profile,
        "subjects": list(played.charts.items()),
        "looks": looks.found(),
        "words": words.found(),
        "states": rows,
    }


class _Numbered:
    """Lists, each of which is kept once."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, ...], int] = {}

    def number(self, parts: list[str]) -> int:
        """The number of a list."""
        return self._numbers.setdefault(tuple(parts), len(self._numbers))

    def found(self) -> list[list[str]]:
        """Every list, by its number."""
        return [list(parts) for parts in self._numbers]


def token(what: str) -> str:
    """The name of a move in an address."""
    return re.sub(r"\W+", "_", what).strip("_")


def script(family: str) -> str:
    """The object as a script, which a page can load without a server."""
    text = json.dumps(joint(family), separators=(",", ":"))
    return f"(globalThis.JOINTS ??= {{}})[{json.dumps(family)}] = {text};\n"
