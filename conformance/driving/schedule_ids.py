"""The ids in a schedule: leaves a call out everywhere, and numbers runs, calls and decisions anew."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from runlock.conformance.trace.moves import Move

NUMBERED: Final = re.compile(r"c\d+")
"""The calls that the kit invents; other ids, such as that of an unknown call, have a meaning and are kept."""

ENUMERATED: Final = re.compile(r"([a-z]+)(\d{1,9})")
"""An id that an action of the kit invented: a prefix and a number."""

Params = Mapping[str, Any]


def calls_of(moves: Sequence[Move]) -> list[str]:
    """The calls that the model asks for, in their order."""
    return list(dict.fromkeys(one for _, params in _parts(moves) for one in _asked(params)))


def unknown_calls(moves: Sequence[Move]) -> int:
    """The number of decisions for a call that the model never asked for."""
    known = set(calls_of(moves))
    decided = (one.get("call") for _, params in _parts(moves) for one in _decisions(params))
    return sum(call not in known for call in decided)


def without_call(moves: Sequence[Move], call: str) -> list[Move]:
    """The schedule without a call: not asked for, not decided, and with no gate to release."""
    return [left for move in moves if (left := _less(move, call)) is not None]


def deciding_known_calls(moves: Sequence[Move]) -> Iterator[list[Move]]:
    """The schedule with a decision for an unknown call made one for a known call."""
    known = calls_of(moves)
    for at, move in enumerate(moves):
        for part, (_, params) in enumerate(move.parts()):
            for number, one in enumerate(_decisions(params)):
                for call in known if one.get("call") not in known else ():
                    decisions = [*_decisions(params)]
                    decisions[number] = {**one, "call": call}
                    changed = _with_part(move, part, {**params, "decisions": decisions})
                    yield [*moves[:at], changed, *moves[at + 1 :]]


def renumbered(moves: Sequence[Move]) -> list[Move]:
    """The schedule with its ids in the order of their first appearance: c1, c2, d1, r1."""
    by_letter: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for letter, one in _ids(moves):
        if letter != "c" or NUMBERED.fullmatch(one):
            by_letter[letter][one] = None
    names = {
        old: f"{letter}{number}" for letter, some in by_letter.items() for number, old in enumerate(some, 1)
    }
    return [replace(move, params=_renamed(move.params, names)) for move in moves]


def highest_ids(moves: Sequence[Move]) -> dict[str, int]:
    """The highest number that was given under each prefix of ids: c3 and c10 give `{"c": 10}`."""
    highest: dict[str, int] = {}
    for text in (text for move in moves for text in _texts(move.params)):
        if found := ENUMERATED.fullmatch(text.rpartition(":")[2]):
            prefix, number = found[1], int(found[2])
            highest[prefix] = max(highest.get(prefix, 0), number)
    return highest


def _texts(value: Any) -> Iterator[str]:
    """The texts in a JSON value, without the keys of objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for one in value.values() for text in _texts(one))
    elif isinstance(value, list | tuple):
        yield from (text for one in value for text in _texts(one))


def _parts(moves: Sequence[Move]) -> Iterator[tuple[str, Params]]:
    return (part for move in moves for part in move.parts())


def _asked(params: Params) -> list[str]:
    outcome = params.get("outcome") or {}
    return [str(call["id"]) for call in outcome.get("tool_calls") or ()]


def _decisions(params: Params) -> Sequence[Params]:
    return params.get("decisions") or ()


def _ids(moves: Sequence[Move]) -> Iterator[tuple[str, str]]:
    """The ids of runs, calls and decisions where they are named as such, each with the letter of its kind."""
    for _, params in _parts(moves):
        yield from _named(params, run="r", call="c")
        yield from (("c", one) for one in _asked(params))
        for one in _decisions(params):
            yield from _named(one, id="d", call="c")


def _named(params: Params, **letters: str) -> Iterator[tuple[str, str]]:
    return ((letter, params[key]) for key, letter in letters.items() if isinstance(params.get(key), str))


def _less(move: Move, call: str) -> Move | None:
    kept = [(method, left) for method, params in move.parts() if (left := _without(params, call)) is not None]
    if not kept:
        return None
    if len(kept) == 1:
        return replace(move, method=kept[0][0], params=kept[0][1])
    return replace(move, params={"stimuli": [{"method": name, "params": params} for name, params in kept]})


def _without(params: Params, call: str) -> Params | None:
    if params.get("call") == call or str(params.get("gate", "")).endswith(f":{call}"):
        return None
    if call in _asked(params):
        outcome = params["outcome"]
        left = [one for one in outcome["tool_calls"] if one["id"] != call]
        return {**params, "outcome": {**outcome, "tool_calls": left}}
    decisions = _decisions(params)
    kept = [one for one in decisions if one.get("call") != call]
    if len(kept) == len(decisions):
        return params
    return {**params, "decisions": kept} if kept else None


def _with_part(move: Move, number: int, params: Params) -> Move:
    if move.method != "deliver":
        return replace(move, params=params)
    stimuli = [dict(one) for one in move.params["stimuli"]]
    stimuli[number]["params"] = params
    return replace(move, params={**move.params, "stimuli": stimuli})


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """A value with other ids, also in the names of gates."""
    if isinstance(value, str):
        on, colon, call = value.rpartition(":")
        return f"{on}{colon}{names.get(call, call)}"
    if isinstance(value, list | tuple):
        return [_renamed(one, names) for one in value]
    if isinstance(value, Mapping):
        return {key: _renamed(one, names) for key, one in value.items()}
    return value
