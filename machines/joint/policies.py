"""The policies of an exploration: those that a joint model reads, with a value for each that is open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from runlock.spec.model import Value, load_spec

__all__ = ["Chosen", "NotExplored", "applies", "chosen"]

NOTHING: Final[Mapping[tuple[str, Value], str]] = {}


class NotExplored(ValueError):
    """A policy, or a value of one, that the joint charts do not distinguish, with the reason."""


class Chosen(NamedTuple):
    """The policies of an exploration: all that are read, those asked for, and what stands for open ones."""

    policies: dict[str, Value]
    asked: dict[str, Value]
    open: dict[str, Value]


def applies(family: str, clause: str, policies: Mapping[str, Value]) -> bool:
    """Whether a clause is one of those that a profile with these policies is held to."""
    for key, values in load_spec(family).clause(clause).applies.items():
        value = policies.get(key)
        if not set(value if isinstance(value, list) else [value]) & set(values):
            return False
    return True


def chosen(
    family: str,
    choices: Mapping[str, Value],
    profile: str,
    asked: Mapping[str, Value],
    refused: Mapping[tuple[str, Value], str] = NOTHING,
) -> Chosen:
    """Every policy of `choices` with its value; raises `NotExplored` and the spec's own errors.

    `refused` has the values that are not explored, with the reason.
    """
    spec = load_spec(family)
    for key, value in asked.items():
        if key not in choices:
            spec.policy(key)
            raise NotExplored(f"The joint charts do not depend on {key}; they do on {', '.join(choices)}.")
        for one, why in refused.items():
            if one == (key, value):
                raise NotExplored(why)
    declared = spec.policies_of(profile, asked)
    open_ones = {key: value for key, value in choices.items() if key not in declared}
    read = {key: declared.get(key, value) for key, value in choices.items()}
    return Chosen(read, dict(asked), open_ones)
