"""Where a runtime lives: a folder with what it needs, and the command there that shows it to the kit.

A Python runtime has a virtual environment with the kit in it, which serves its adapter.  A JavaScript one has
a `package.json` of its own among the adapters, and a folder of npm's beside which its adapter lies.
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
    """What a runtime needs, with its versions, and how a folder is made of that."""

    @property
    def requirements(self) -> tuple[str, ...]:
        """The packages, each with its version."""

    def is_made(self, place: Path) -> bool:
        """Whether the folder holds them."""

    def command(self, place: Path) -> str:
        """The words that show the runtime to the kit."""

    def make(self, place: Path) -> None:
        """Make the folder anew."""


@dataclass(frozen=True, slots=True)
class Venv:
    """A virtual environment, from which the kit serves an adapter that is an object in a module."""

    requirements: tuple[str, ...]
    adapter: str

    def is_made(self, place: Path) -> bool:
        """Whether the kit is there."""
        return _runlock(place).is_file()

    def command(self, place: Path) -> str:
        """The kit itself, over the pipe."""
        return f"{shlex.quote(str(_runlock(place)))} serve py:{self.adapter}"

    def make(self, place: Path) -> None:
        """Install the kit and what the runtime needs, with pip."""
        venv.create(place, with_pip=True, clear=True)
        pip = [str(place / BIN / "python"), "-m", "pip", "install", "--quiet"]
        _run([*pip, *_kit(), *self.requirements], place, self.requirements)


def _runlock(place: Path) -> Path:
    return place / BIN / "runlock"


def _kit() -> list[str]:
    """What pip installs this very kit from: the folder that it was installed from, else its version."""
    kit = distribution("runlock")
    url = urlsplit(json.loads(kit.read_text("direct_url.json") or "{}").get("url", ""))
    return ["--editable", unquote(url.path)] if url.scheme == "file" else [f"runlock=={kit.version}"]


@dataclass(frozen=True, slots=True)
class Packages:
    """A folder of npm's, made of a `package.json`, with the adapter's files and its hosted face beside it.

    Node itself is one of the packages, so that its version is pinned like that of any other.
    """

    adapter: str
    package: str

    @property
    def requirements(self) -> tuple[str, ...]:
        """The packages, as npm writes them."""
        dependencies = json.loads(_of_the_kit(self.package).read_text("utf-8"))["dependencies"]
        return tuple(f"{name}@{version}" for name, version in dependencies.items())

    def is_made(self, place: Path) -> bool:
        """Whether Node is there, and what lies beside it is what the kit has now."""
        same = (
            path.is_file() and path.read_bytes() == ours.read_bytes() for path, ours in self._copies(place)
        )
        return _node(place).is_file() and all(same)

    def command(self, place: Path) -> str:
        """Node, with the adapter."""
        return shlex.join([str(_node(place)), str(place / Path(self.adapter).name)])

    def make(self, place: Path) -> None:
        """Copy the files that it takes, and install the packages with npm."""
        npm = shutil.which("npm")
        if npm is None:
            raise UsageError(
                f"The environment {place} could not be made: there is no `npm` on the PATH.",
                "Node.js brings it, of any version: the one that runs the adapter is installed by npm.",
            )
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for path, ours in self._copies(place):
            path.write_bytes(ours.read_bytes())
        quiet = ["--no-package-lock", "--no-audit", "--no-fund", "--loglevel", "error"]
        _run([npm, "install", "--prefix", str(place), *quiet], place, self.requirements)

    def _copies(self, place: Path) -> Iterator[tuple[Path, Traversable]]:
        folder, _, _ = self.adapter.rpartition("/")
        scripts = (one for one in _of_the_kit(folder).iterdir() if one.name.endswith(".mjs"))
        for ours in (_of_the_kit(self.package), _of_the_kit("node/runlock.mjs"), *scripts):
            yield place / ours.name, ours


def _node(place: Path) -> Path:
    return place / "node_modules" / ".bin" / "node"


def _of_the_kit(name: str) -> Traversable:
    return ADAPTERS.joinpath(*name.split("/"))


def _run(words: list[str], place: Path, requirements: tuple[str, ...]) -> None:
    if subprocess.run(words, stdout=2, check=False).returncode:
        raise UsageError(
            f"The environment {place} could not be made.",
            f"What is said above tells why {', '.join(requirements)} cannot be installed there.",
        )
