"""The joint model of a family: every state that its charts can be in together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """The bounds of an exploration, as the command line gives them; None where the model decides."""

    calls: int
    resuspensions: int | None = None
    cancels: int | None = None
    crashes: int | None = None
    policies: Sequence[str] = ()
    symmetry: bool = True
    max_states: int | None = None
    is_late: Callable[[], bool] = lambda: False
    wants_graph: bool = False


@dataclass(frozen=True, slots=True)
class Estimate:
    """About how large an exploration will be."""

    states: int
    seconds: int
    megabytes: int


@dataclass(frozen=True, slots=True)
class Exploration:
    """How a joint model is explored: `explore(model, asked, announce)` gives what was found.

    A model is a profile of the family, or one of `models`, which are no profiles.
    """

    explore: Callable[[str, Asked, Callable[[Estimate], None]], Any]
    models: tuple[str, ...] = ()
