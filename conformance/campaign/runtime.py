"""A runtime that the kit can judge: its adapter, its environment, and what is known of what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from runlock.conformance.campaign.environments import Environment, split
from runlock.conformance.family.family import DEFAULT

FOLDER: Final = "conformance/adapters"


@dataclass(frozen=True, slots=True)
class Known:
    """Known facts about a violation: a program that shows it without the kit, and what its maintainers know.

    `promise` is what the runtime breaks besides the specification: a page of its documentation, or of an API
    or a protocol that it uses.  `documented` is a page that says that it behaves so on purpose.  `upstream`
    has the address of each report with its state, and `maintainers` their answer in a sentence.
    """

    clause: str
    sentence: str
    standalone: str | None = None
    upstream: Mapping[str, str] = field(default_factory=dict)
    maintainers: str = ""
    promise: str = ""
    documented: str = ""


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime with its adapter; `pages` document each policy that it declares beyond its profile.

    `hidden` has the clauses that the adapter keeps from being broken, with the reasons: they are not held.
    `deviations` are what the adapter decides, normalises or changes of the defaults, each with why a user of
    the library would do the same.  A `library` may have several configurations, each of which is a runtime.
    """

    name: str
    title: str
    environment: str
    adapter: str
    lives_in: Environment
    library: str = ""
    family: str = DEFAULT
    examples: int | None = None  # the most schedules, in addition to the scripted ones
    pages: Mapping[str, str] = field(default_factory=dict)
    seen: Sequence[Known] = ()
    hidden: Mapping[str, str] = field(default_factory=dict)
    deviations: Mapping[str, str] = field(default_factory=dict)
    line: str = ""  # the line of releases in which it stays, such as 6
    older: Sequence[str] = ()  # earlier releases: the pins in place of those of the environment

    @property
    def wire(self) -> str:
        """The wire that it is behind: `ag-ui` or `acp`; "" for one with an adapter."""
        return ""

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

    @property
    def adapter_file(self) -> str:
        """The file of its adapter in the repository."""
        module = self.adapter.partition(":")[0].removeprefix("runlock.")
        return f"{FOLDER}/{self.adapter}" if module.endswith(".mjs") else f"{module.replace('.', '/')}.py"

    def known(self, clause: str) -> Known | None:
        """The known facts about its violation of a clause."""
        return next((one for one in self.seen if one.clause == clause), None)

    def install(self, environments: Path) -> None:
        """Make its environment."""
        self.lives_in.make(self.place(environments))

    def at(self, pins: str) -> Runtime:
        """An earlier release of it, in an environment of its own."""
        wanted = tuple(pins.split())
        name = f"{self.environment}@{split(wanted[0])[1]}"
        return replace(self, environment=name, lives_in=self.lives_in.at(wanted), older=())

    def releases(self) -> dict[str, Runtime]:
        """It in each version that is compared, the pinned one last; none if there is nothing to compare."""
        if not self.older:
            return {}
        package, _ = split(self.older[0].split()[0])
        [pinned] = [version for name, version in map(split, self.requirements) if name == package]
        earlier = map(self.at, self.older)
        return {one.environment.rpartition("@")[2]: one for one in earlier} | {pinned: self}
