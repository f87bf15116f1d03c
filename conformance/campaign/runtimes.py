"""The runtimes that the kit keeps adapters for, as `adapters/runtimes.toml` lists them.

Each is driven behind the pipe, in an environment of its own, so that what one of them needs never meets what
another needs.
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
)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a violation: a program that shows it without the kit, and who has reported it."""

    clause: str
    sentence: str
    standalone: str | None = None
    upstream: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime with its adapter: `pages` say of each policy that it declares where that is promised."""

    name: str
    title: str
    environment: str
    adapter: str
    lives_in: Environment
    pages: Mapping[str, str] = field(default_factory=dict)
    seen: Sequence[Known] = ()

    @property
    def requirements(self) -> tuple[str, ...]:
        """What its environment is made of."""
        return self.lives_in.requirements

    def place(self, environments: Path) -> Path:
        """The folder of its environment."""
        return environments / self.environment

    def is_installed(self, environments: Path) -> bool:
        """Whether its environment has been made."""
        return self.lives_in.is_made(self.place(environments))

    def target(self, environments: Path) -> str:
        """What names it on the command line."""
        return f"cmd:{self.lives_in.command(self.place(environments))}"

    def known(self, clause: str) -> Known | None:
        """What is known of its violation of a clause."""
        return next((one for one in self.seen if one.clause == clause), None)

    def install(self, environments: Path) -> None:
        """Make its environment."""
        self.lives_in.make(self.place(environments))


def runtimes() -> tuple[Runtime, ...]:
    """All of them, in the order of the file."""
    data = tomllib.loads(ADAPTERS.joinpath("runtimes.toml").read_text("utf-8"))
    return tuple(_runtime(one, data["environments"]) for one in data["runtime"])


def _runtime(data: Mapping[str, Any], environments: Mapping[str, Any]) -> Runtime:
    needs = environments[data["environment"]]
    is_python = isinstance(needs, list)
    lives_in = Venv(tuple(needs), data["adapter"]) if is_python else Packages(data["adapter"], needs)
    seen = tuple(Known(**one) for one in data.get("seen", ()))
    return Runtime(**{**data, "lives_in": lives_in, "seen": seen})
