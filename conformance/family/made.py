"""The runtimes that the kit makes of a family's reference: mutants are wrong, variants are right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class Mutant(Protocol):
    """A wrong runtime: `clause` has to be blamed for its `fault`, and `says` stands in the reason.

    Called without arguments it gives a hosted adapter.
    """

    @property
    def name(self) -> str: ...
    @property
    def fault(self) -> str: ...
    @property
    def clause(self) -> str: ...
    @property
    def says(self) -> str: ...
    @property
    def also(self) -> tuple[str, ...]: ...
    @property
    def profile(self) -> str: ...
    @property
    def policies(self) -> Mapping[str, Any]: ...

    def innocent(self) -> Callable[[], Any]:
        """A factory of the same runtime without the fault."""
        ...

    def __call__(self) -> Any: ...


class Variant(Protocol):
    """A right runtime that takes a freedom; called without arguments it gives a hosted adapter."""

    @property
    def name(self) -> str: ...
    @property
    def freedom(self) -> str: ...
    @property
    def profile(self) -> str: ...
    @property
    def policies(self) -> Mapping[str, Any]: ...

    def __call__(self) -> Any: ...


def _none() -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Made:
    """The runtimes that the kit makes of its own reference: each by its name."""

    reference: Callable[..., Callable[[], Any]]  # (profile, policies) -> a factory of hosted adapters
    durable: Callable[..., Callable[[], Any]] | None = None  # the same, with a store of its own
    mutants: Callable[[], Mapping[str, Mutant]] = _none
    variants: Callable[[], Mapping[str, Variant]] = _none
    out_of_reach: frozenset[str] = frozenset()  # mutants that no search has found a witness of
