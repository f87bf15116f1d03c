"""Runtimes derived from a family's reference: mutants have a fault, variants are legal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, ClassVar, Final, Protocol, Self, TypeVar

REFERENCES: Final = "runlock.machines."
"""Where the classes lie that the references are made of."""


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
    def is_masked(self) -> bool: ...
    @property
    def profile(self) -> str: ...
    @property
    def policies(self) -> Mapping[str, Any]: ...

    def innocent(self) -> Callable[[], Any]:
        """A factory of the same runtime without the fault."""
        ...

    def __call__(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class Faulty:
    """A reference made wrong on purpose; a family says which adapter hosts it, and which profile it has.

    `make` builds the runtime, `clause` has to be blamed, and `says` stands in the reason, or one of `or_says`
    where the fault shows in several ways.
    """

    make: type
    clause: str
    says: str = ""
    profile: str = ""
    or_says: tuple[str, ...] = ()
    policies: Mapping[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()  # clauses that the same fault necessarily breaks, in other schedules
    declare: Mapping[str, Any] = field(default_factory=dict)  # fields of the handshake that differ
    is_masked: bool = False  # each schedule ends at a clause of `also` before it can break `clause`

    adapter: ClassVar[Callable[..., Any]]  # (profile, policies, make, declare) -> a hosted adapter

    @property
    def name(self) -> str:
        """Its class name, which says what it does wrong."""
        return self.make.__name__

    @property
    def fault(self) -> str:
        """What it does wrong, in one sentence."""
        return " ".join((self.make.__doc__ or self.name).partition("\n\n")[0].split())

    def innocent(self) -> Self:
        """The mutant without its fault: the reference under the same profile and policies."""
        right = next(layer for layer in self.make.__mro__ if layer.__module__.startswith(REFERENCES))
        return replace(self, make=right)

    def __call__(self) -> Any:
        return type(self).adapter(self.profile, self.policies, self.make, self.declare)


class OtherPolicies:
    """A base of mutants that follow other values of some policies than they declare."""

    follows: ClassVar[Mapping[str, Any]] = {}
    policies: Mapping[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.policies = {**self.policies, **self.follows}


def is_said(mutant: Mutant, reason: str) -> bool:
    """Whether the reason of a violation tells of the fault; `or_says` is optional for a mutant."""
    return any(words in reason for words in (mutant.says, *getattr(mutant, "or_says", ())))


Fault = TypeVar("Fault", bound=Faulty)


def fault(clause: str, says: str = "", **more: Any) -> Callable[[type], type]:
    """Declare a runtime a mutant: the clause that has to be blamed, and what stands in the reason.

    `more` has further fields of `Faulty`.  A subclass of a mutant is no mutant unless it is declared one too.
    """

    def declare(make: type) -> type:
        setattr(make, DECLARED, {"clause": clause, "says": says, **more})
        return make

    return declare


DECLARED: Final = "declared_fault"


def mutants_in(kind: type[Fault], *modules: ModuleType) -> tuple[Fault, ...]:
    """The mutants that these modules declare, in the order in which they are defined."""
    return tuple(
        kind(make, **vars(make)[DECLARED])
        for module in modules
        for make in vars(module).values()
        if isinstance(make, type) and make.__module__ == module.__name__ and DECLARED in vars(make)
    )


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

    reference: Callable[..., Callable[[], Any]]
    """(profile, policies, fields of the handshake that differ) -> a factory of hosted adapters."""
    durable: Callable[..., Callable[[], Any]] | None = None  # the same, with its own store
    mutants: Callable[[], Mapping[str, Mutant]] = _none
    variants: Callable[[], Mapping[str, Variant]] = _none
