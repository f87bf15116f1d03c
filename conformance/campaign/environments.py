"""Environments of runtimes: a folder with the installed packages, and the command that starts the adapter.

A Python runtime has a virtual environment that includes the kit, which serves its adapter.  A JavaScript
runtime has its own `package.json` among the adapters, and a folder of npm packages that includes its adapter.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import distribution
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import unquote, urlsplit

from runlock.conformance.errors import UsageError

ENVIRONMENTS: Final = Path(".runlock")
BIN: Final = "Scripts" if sys.platform == "win32" else "bin"
ADAPTERS: Final = files("runlock.conformance.adapters")


class Environment(Protocol):
    """The requirements of a runtime, with their versions, and how to install them in a folder."""

    @property
    def requirements(self) -> tuple[str, ...]:
        """The packages, each with its version."""

    def is_made(self, place: Path) -> bool:
        """Whether the folder contains them."""

    def command(self, place: Path) -> str:
        """The command that serves the runtime to the kit."""

    def make(self, place: Path) -> None:
        """Create the folder from scratch."""


@dataclass(frozen=True, slots=True)
class Venv:
    """A virtual environment in which the kit serves an adapter that is an object in a module."""

    requirements: tuple[str, ...]
    adapter: str

    def is_made(self, place: Path) -> bool:
        """Whether the kit is installed."""
        return _runlock(place).is_file()

    def command(self, place: Path) -> str:
        """The command of the kit that serves the adapter over a pipe."""
        return f"{shlex.quote(str(_runlock(place)))} serve py:{self.adapter}"

    def make(self, place: Path) -> None:
        """Install the kit and the runtime's packages with pip."""
        venv.create(place, with_pip=True, clear=True)
        pip = [str(place / BIN / "python"), "-m", "pip", "install", "--quiet"]
        _run([*pip, *_kit(), *self.requirements], place, self.requirements)


@dataclass(frozen=True, slots=True)
class VenvWithPackages:
    """A virtual environment that serves an adapter, with the npm packages that the adapter drives."""

    venv: Venv
    package: str

    @property
    def requirements(self) -> tuple[str, ...]:
        """The packages of both kinds."""
        return (*self.venv.requirements, *_npm_requirements(self.package))

    def is_made(self, place: Path) -> bool:
        """Whether both are installed."""
        return self.venv.is_made(place) and _node(place).is_file()

    def command(self, place: Path) -> str:
        """The command of the virtual environment."""
        return self.venv.command(place)

    def make(self, place: Path) -> None:
        """Make the virtual environment, and install the npm packages in its folder."""
        self.venv.make(place)
        (place / "package.json").write_bytes(_of_the_kit(self.package).read_bytes())
        _npm_install(place, self.requirements)


def _runlock(place: Path) -> Path:
    return place / BIN / "runlock"


def _kit() -> list[str]:
    """What pip installs this kit from: the folder of its own installation, or else its version."""
    kit = distribution("runlock")
    url = urlsplit(json.loads(kit.read_text("direct_url.json") or "{}").get("url", ""))
    return ["--editable", unquote(url.path)] if url.scheme == "file" else [f"runlock=={kit.version}"]


@dataclass(frozen=True, slots=True)
class Packages:
    """A folder of npm packages from a `package.json`, with the adapter's files and the hosted interface.

    Node itself is one of the packages, so that its version is pinned too.
    """

    adapter: str
    package: str

    @property
    def requirements(self) -> tuple[str, ...]:
        """The packages, in the notation of npm."""
        return _npm_requirements(self.package)

    def is_made(self, place: Path) -> bool:
        """Whether Node is installed, and the copied files are those of this kit."""
        same = (
            path.is_file() and path.read_bytes() == ours.read_bytes() for path, ours in self._copies(place)
        )
        return _node(place).is_file() and all(same)

    def command(self, place: Path) -> str:
        """Node, with the adapter."""
        return shlex.join([str(_node(place)), str(place / Path(self.adapter).name)])

    def make(self, place: Path) -> None:
        """Copy the adapter's files, and install the packages with npm."""
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for path, ours in self._copies(place):
            path.write_bytes(ours.read_bytes())
        _npm_install(place, self.requirements)

    def _copies(self, place: Path) -> Iterator[tuple[Path, Traversable]]:
        folder, _, _ = self.adapter.rpartition("/")
        scripts = (one for one in _of_the_kit(folder).iterdir() if one.name.endswith(".mjs"))
        interfaces = (_of_the_kit(f"node/{name}.mjs") for name in ("runlock", "runlock_runner"))
        for ours in (_of_the_kit(self.package), *interfaces, *scripts):
            yield place / ours.name, ours


def _node(place: Path) -> Path:
    return place / "node_modules" / ".bin" / "node"


def _npm_requirements(package: str) -> tuple[str, ...]:
    dependencies = json.loads(_of_the_kit(package).read_text("utf-8"))["dependencies"]
    return tuple(f"{name}@{version}" for name, version in dependencies.items())


def _npm_install(place: Path, requirements: tuple[str, ...]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise UsageError(
            f"The environment {place} could not be made: there is no `npm` on the PATH.",
            "Node.js brings it, of any version: the one that runs the adapter is installed by npm.",
        )
    quiet = ["--no-package-lock", "--no-audit", "--no-fund", "--loglevel", "error"]
    _run([npm, "install", "--prefix", str(place), *quiet], place, requirements)


def _of_the_kit(name: str) -> Traversable:
    return ADAPTERS.joinpath(*name.split("/"))


def _run(words: list[str], place: Path, requirements: tuple[str, ...]) -> None:
    if subprocess.run(words, stdout=2, check=False).returncode:
        raise UsageError(
            f"The environment {place} could not be made.",
            f"What is said above tells why {', '.join(requirements)} cannot be installed there.",
        )
