"""The runtimes for which the kit has adapters, as listed in `adapters/runtimes.toml`.

Each runs behind a pipe, in its own environment, so that their requirements cannot conflict.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runlock.conformance.campaign.environments import (
    ADAPTERS,
    Environment,
    Packages,
    Venv,
    VenvWithPackages,
)
from runlock.conformance.family.family import DEFAULT


@dataclass(frozen=True, slots=True)
class Known:
    """Known facts about a violation: a program that shows it without the kit, and reports of it."""

    clause: str
    sentence: str
    standalone: str | None = None
    upstream: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime with its adapter; `pages` document each policy that it declares beyond its profile."""

    name: str
    title: str
    environment: str
    adapter: str
    lives_in: Environment
    family: str = DEFAULT
    examples: int | None = None  # the most schedules, in addition to the scripted ones
    pages: Mapping[str, str] = field(default_factory=dict)
    seen: Sequence[Known] = ()

    @property
    def requirements(self) -> tuple[str, ...]:
        """The packages of its environment."""
        return self.lives_in.requirements

    def place(self, environments: Path) -> Path:
        """The folder of its environment."""
        return environments / self.environment

    def is_installed(self, environments: Path) -> bool:
        """Whether its environment has been made."""
        return self.lives_in.is_made(self.place(environments))

    def target(self, environments: Path) -> str:
        """Its name as a target."""
        return f"cmd:{self.lives_in.command(self.place(environments))}"

    def known(self, clause: str) -> Known | None:
        """The known facts about its violation of a clause."""
        return next((one for one in self.seen if one.clause == clause), None)

    def install(self, environments: Path) -> None:
        """Make its environment."""
        self.lives_in.make(self.place(environments))


def runtimes() -> tuple[Runtime, ...]:
    """All runtimes, in the order of the file."""
    data = tomllib.loads(ADAPTERS.joinpath("runtimes.toml").read_text("utf-8"))
    return tuple(_runtime(one, data["environments"]) for one in data["runtime"])


def _runtime(data: Mapping[str, Any], environments: Mapping[str, Any]) -> Runtime:
    lives_in = _environment(environments[data["environment"]], data["adapter"])
    seen = tuple(Known(**one) for one in data.get("seen", ()))
    return Runtime(**{**data, "lives_in": lives_in, "seen": seen})


def _environment(needs: Any, adapter: str) -> Environment:
    """The environment that these needs make: packages for pip, a file for npm, or both."""
    if isinstance(needs, str):
        return Packages(adapter, needs)
    if isinstance(needs, list):
        return Venv(tuple(needs), adapter)
    return VenvWithPackages(Venv(tuple(needs["pip"]), adapter), needs["npm"])
