"""Entries: runtimes that are no part of the kit, each in a folder of its own with a file of a few lines.

    name = "mine"
    title = "My agent"
    requirements = ["my-agent==1.2"]
    command = "{python} {folder}/adapter.py"

The command serves an adapter over the pipe.  With `{requirements}` in it, the nightly job starts it with
newer releases: `uv run --with {requirements} …`.  A runtime behind a wire has `url` or `acp` in its place,
with the settings of a table in `runlock.toml`.  `deviations` are what the adapter decides, each with its
reason.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from runlock.conformance.campaign.environments import pinned
from runlock.conformance.campaign.runtimes import Runtime
from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import DEFAULT
from runlock.conformance.inputs import toml_of
from runlock.conformance.wires.settings import address_in_table
from runlock.spec.text import known_words

FILE: Final = "entry.toml"
LINES_MAX: Final = 15
RELEASES: Final = "{requirements}"
"""Stands in a command for the packages, each with its version."""

OWN: Final = ("name", "title", "library", "family", "examples", "requirements", "command", "deviations")
STARTED: Final = "launch", "acp"
"""Settings of a wire that are commands, in which the folder of the entry may stand."""

NEEDED: Final = ("name", "title")
"""The fields of an entry, apart from the settings of a wire, and those that each entry has."""


@dataclass(frozen=True, slots=True)
class Present:
    """An environment that those who keep the entry have made; the kit installs nothing of it."""

    requirements: tuple[str, ...]

    def is_made(self, place: Path) -> bool:
        """Its command is all that is needed."""
        return True

    def command(self, place: Path) -> str:
        """It has none of its own."""
        raise UsageError("An entry names its own command.")

    def make(self, place: Path) -> None:
        """There is nothing to install."""

    def at(self, pins: tuple[str, ...]) -> Self:
        """With other versions of some packages, which its command installs or finds."""
        return replace(self, requirements=pinned(self.requirements, pins))

    def interpreter(self, place: Path) -> list[str]:
        """The interpreter of the kit."""
        return [sys.executable]

    def by_hand(self, file: str, part: str) -> list[str]:
        """The line that runs a program."""
        return [f"python {file} {part}".strip()]


@dataclass(frozen=True, slots=True)
class ThirdParty(Runtime):
    """A runtime of an entry, with the address under which it is reached."""

    address: str = ""
    folder: Path = Path()

    def target(self, environments: Path) -> str:
        """Its address, wherever the environments of the kit are."""
        return self.address.replace(RELEASES, shlex.join(self.requirements))

    @property
    def is_started_at_a_release(self) -> bool:
        """Whether its command says which releases it starts; else it is judged as it is installed."""
        return RELEASES in self.address

    @property
    def adapter_file(self) -> str:
        """The file of the entry."""
        return self.adapter


def entry_in(folder: Path) -> ThirdParty:
    """The runtime of an entry; raises a `UsageError` for a folder that has none."""
    file = folder / FILE
    if not file.is_file():
        raise UsageError(f"There is no {file}.", f"An entry is a folder with an `{FILE}`.")
    lines = file.read_text("utf-8").rstrip("\n").count("\n") + 1
    if lines > LINES_MAX:
        raise UsageError(f"{file} has {lines} lines.", f"An entry has at most {LINES_MAX}.")
    return _entry(file, toml_of(file))


def _entry(file: Path, data: Mapping[str, Any]) -> ThirdParty:
    for name in NEEDED:
        if not isinstance(data.get(name), str):
            raise UsageError(f"{file} has no `{name}`.", f"Write `{name} = …`.")
    return ThirdParty(
        name=data["name"],
        title=data["title"],
        environment=data["name"],
        adapter=f"{file.parent.name}/{FILE}",
        lives_in=Present(tuple(data.get("requirements", ()))),
        library=data.get("library", data["name"]),
        family=data.get("family", DEFAULT),
        examples=data.get("examples"),
        deviations=data.get("deviations", {}),
        address=_address(file, data),
        folder=file.parent,
    )


def _address(file: Path, data: Mapping[str, Any]) -> str:
    """The command of an adapter, or the address behind a wire."""
    settings = {key: value for key, value in data.items() if key not in OWN}
    if isinstance(data.get("command"), str):
        for name in settings:
            raise UsageError(f"{file} has a field `{name}`; {known_words(name, OWN)}")
        return f"cmd:{_started(data['command'], file.parent)}"
    started: dict[str, Any] = {
        key: _started(settings[key], file.parent) for key in STARTED if key in settings
    }
    address = address_in_table({**settings, **started})
    if address is None:
        right = "Write one of `command`, `url` and `acp`."
        raise UsageError(f"{file} names nothing that can be started.", right)
    return str(address)


def _started(command: str, folder: Path) -> str:
    """The command with the folder of the entry and the interpreter of the kit."""
    words = {"{folder}": folder.resolve(), "{python}": sys.executable}
    for name, value in words.items():
        command = command.replace(name, shlex.quote(str(value)))
    return command
