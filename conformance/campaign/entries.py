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
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from runlock.conformance.campaign.environments import (
    BIN,
    in_npm,
    in_pip,
    node_in,
    npm_install,
    pinned,
    pip_install,
)
from runlock.conformance.campaign.runtime import Runtime
from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import DEFAULT
from runlock.conformance.inputs import toml_of
from runlock.conformance.wires.address import address_of, is_address
from runlock.conformance.wires.recipes import recipe_of
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

    program: str = ""
    """What its command starts."""

    def is_made(self, place: Path) -> bool:
        """Whether its program is there: as a path, in its environment, or on the PATH."""
        if not self.program:
            return True
        own = (place / "node_modules" / ".bin" / self.program, place / BIN / self.program)
        return any(one.is_file() for one in own) or shutil.which(self.program) is not None

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
class Listed(Present):
    """The environment of an entry of the kit, which makes it; `venv` is the folder in it for pip."""

    venv: str = ""

    def make(self, place: Path) -> None:
        """Install the packages, and those that a file in the folder names, with npm or pip."""
        if self._is_npm:
            npm_install(place, self.requirements, self.requirements)
        else:
            named = place / "requirements.txt"
            more = ["-r", str(named)] if named.is_file() else []
            pip_install(place / self.venv, self.requirements, more)

    def interpreter(self, place: Path) -> list[str]:
        """Its Node or Python."""
        if self._is_npm:
            return [str(node_in(place)), "--input-type=module", "-"]
        return [str(place / self.venv / BIN / "python"), "-"]

    def by_hand(self, file: str, part: str) -> list[str]:
        """Its packages can be in any folder."""
        how = in_npm if self._is_npm else in_pip
        return how(self.requirements, file, part)

    @property
    def _is_npm(self) -> bool:
        return not any("==" in one for one in self.requirements)


@dataclass(frozen=True, slots=True)
class ThirdParty(Runtime):
    """A runtime of an entry, with the address under which it is reached."""

    address: str = ""
    folder: Path = Path()
    is_in_its_folder: bool = False

    def target(self, environments: Path) -> str:
        """Its address, wherever the environments of the kit are."""
        return self.address.replace(RELEASES, shlex.join(self.requirements))

    @property
    def wire(self) -> str:
        """The wire of its address."""
        return address_of(self.address).wire if is_address(self.address) else ""

    @property
    def is_started_at_a_release(self) -> bool:
        """Whether its command says which releases it starts; else it is judged as it is installed."""
        return RELEASES in self.address

    @property
    def adapter_file(self) -> str:
        """The file of the entry."""
        return self.adapter

    def place(self, environments: Path) -> Path:
        """Its own folder, if it is an application of the kit."""
        return self.folder if self.is_in_its_folder else environments / self.environment


def listed(folder: Path, named: str) -> ThirdParty:
    """The runtime of an entry of the kit, which can make its environment; `named` is the path on pages."""
    found = entry_in(folder)
    recipe = recipe_of(address_of(found.address).recipe)
    home = Listed(found.requirements, _program(found.address), "" if recipe.environment else ".venv")
    return replace(
        found,
        lives_in=home,
        adapter=f"{named}/{FILE}",
        environment=recipe.environment or found.environment,
        is_in_its_folder=not recipe.environment,
    )


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
    address = _address(file, data)
    return ThirdParty(
        name=data["name"],
        title=data["title"],
        environment=data["name"],
        adapter=f"{file.parent.name}/{FILE}",
        lives_in=Present(tuple(data.get("requirements", ())), _program(address)),
        library=data.get("library", data["name"]),
        family=data.get("family", DEFAULT),
        examples=data.get("examples"),
        deviations=data.get("deviations", {}),
        address=address,
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
    package = {"package": data["requirements"][0]} if "url" in settings and data.get("requirements") else {}
    address = address_in_table({**package, **settings, **started})
    if address is None:
        right = "Write one of `command`, `url` and `acp`."
        raise UsageError(f"{file} names nothing that can be started.", right)
    return str(address)


def _program(address: str) -> str:
    """The first word of the command in an address; "" where the kit starts nothing."""
    if not is_address(address):
        return shlex.split(address.removeprefix("cmd:"))[0]
    far = address_of(address)
    words = recipe_of(far.recipe).words(far.url) if far.is_piped else far.command
    return words[0] if words else ""


def _started(command: str, folder: Path) -> str:
    """The command with the folder of the entry and the interpreter of the kit."""
    words = {"{folder}": folder.resolve(), "{python}": sys.executable}
    for name, value in words.items():
        command = command.replace(name, shlex.quote(str(value)))
    return command
