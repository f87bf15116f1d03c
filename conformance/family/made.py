"""Runtimes derived from a family's reference: mutants have a fault, variants are legal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class Mutant(Protocol):
    """A runtime with a fault: its `clause` has to be blamed, with `says` in the reason.

    Called without arguments it creates a hosted adapter.
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
    """A legal runtime that uses a freedom; called without arguments it creates a hosted adapter."""

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
    """The runtimes that the kit derives from its own reference, by name."""

    reference: Callable[..., Callable[[], Any]]  # (profile, policies) -> a factory of hosted adapters
    durable: Callable[..., Callable[[], Any]] | None = None  # the same, with its own store
    mutants: Callable[[], Mapping[str, Mutant]] = _none
    variants: Callable[[], Mapping[str, Variant]] = _none
    out_of_reach: frozenset[str] = frozenset()  # mutants for which no search has found a witness
