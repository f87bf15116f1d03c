"""The moves and observations of a family in short readable words, as its messages declare them.

They are safe to print whatever a runtime put into them: a character that would move the cursor, change a
colour or turn the writing around is shown by its code.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from runlock.conformance.protocol import Observation, Wire
from runlock.conformance.protocol.declared import Fields, Sentence
from runlock.conformance.text import counted, plain
from runlock.conformance.trace.moves import Move


class Sentences:
    """The words for moves, and for what a runtime shows.

    `own` are sentences for methods that the families share; a race stands between two words.  `other` is
    said of an observation that has no words or does not fit; without it, its kind is.
    """

    def __init__(
        self,
        methods: Mapping[str, tuple[type[Wire], type[Wire]]],
        observations: Mapping[str, type[Observation]],
        own: Mapping[str, Sentence],
        *,
        race: tuple[str, str] = ("at once: ", "; "),
        other: Sentence | None = None,
    ) -> None:
        said = {method: _sentence(model) for method, (model, _) in methods.items()}
        self._moves = {**said, **own}
        self._observations = {kind: model.declared.sentence for kind, model in observations.items()}
        self._race = race
        self._other = other

    def step(self, move: Move) -> str:
        """One move of a schedule, as in `cancel r1`."""
        words = self._part(move.method, move.params)
        return words if move.turns is None else f"{words} (at most {counted(move.turns, 'turn')})"

    def _part(self, method: str, params: Fields) -> str:
        if method == "deliver":
            begin, between = self._race
            parts = (self._part(one["method"], one["params"]) for one in params["stimuli"])
            return plain(begin + between.join(parts))
        words = self._moves.get(method)
        return plain(method if words is None else words(defaultdict(str, params)))

    def shown(self, seen: Fields) -> str:
        """One observation, as in `c1 is Suspended`."""
        kind = str(seen.get("kind"))
        words = self._observations.get(kind)
        if self._other is None:
            return plain(kind if words is None else words(_OrNone(seen)))
        try:
            return plain(self._other(seen) if words is None else words(seen))
        except (KeyError, TypeError, AttributeError):  # it does not fit the protocol
            return plain(self._other(seen))


class _OrNone(dict[str, Any]):
    """Fields, of which those that were left out are None."""

    def __missing__(self, key: str) -> None:
        return None


def _sentence(model: type[Wire]) -> Sentence | None:
    declared = getattr(model, "declared", None)
    return declared.sentence if declared is not None else None
