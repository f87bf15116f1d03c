"""Environments of runtimes: a folder with the installed packages, and the command that starts the adapter.

A Python runtime has a virtual environment that includes the kit, which serves its adapter.  A JavaScript
runtime has its own `package.json` among the adapters, and a folder of npm packages that includes its adapter.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import distribution
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final, Protocol, Self
from urllib.parse import unquote, urlsplit

from runlock.conformance.errors import UsageError

ENVIRONMENTS: Final = Path(".runlock")
BIN: Final = "Scripts" if sys.platform == "win32" else "bin"
VERSION: Final = re.compile("==|(?<!^)@")
"""Separates a package from its version, in the notation of pip or npm."""

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

    def at(self, pins: tuple[str, ...]) -> Self:
        """The same with other versions of some packages."""

    def interpreter(self, place: Path) -> list[str]:
        """The command that runs a program from its standard input, without the kit."""

    def by_hand(self, file: str, part: str) -> list[str]:
        """The lines for a shell that install the packages and run a part of a program."""


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
        pip_install(place, self.requirements, _kit())

    def at(self, pins: tuple[str, ...]) -> Self:
        """With other versions of some packages."""
        return replace(self, requirements=pinned(self.requirements, pins))

    def interpreter(self, place: Path) -> list[str]:
        """Its Python."""
        return [str(place / BIN / "python"), "-"]

    def by_hand(self, file: str, part: str) -> list[str]:
        """Any environment of pip's will do."""
        return in_pip(self.requirements, file, part)


@dataclass(frozen=True, slots=True)
class VenvWithPackages:
    """A virtual environment that serves an adapter, with the npm packages that the adapter drives."""

    venv: Venv
    package: str
    pins: tuple[str, ...] = ()

    @property
    def requirements(self) -> tuple[str, ...]:
        """The packages of both kinds."""
        return (*self.venv.requirements, *_npm_requirements(self.package, self.pins))

    def is_made(self, place: Path) -> bool:
        """Whether both are installed."""
        return self.venv.is_made(place) and node_in(place).is_file()

    def command(self, place: Path) -> str:
        """The command of the virtual environment."""
        return self.venv.command(place)

    def make(self, place: Path) -> None:
        """Make the virtual environment, and install the npm packages in its folder."""
        self.venv.make(place)
        (place / "package.json").write_bytes(_manifest(self.package, self.pins))
        npm_install(place, self.requirements)

    def at(self, pins: tuple[str, ...]) -> Self:
        """With other versions of some packages of npm's."""
        return replace(self, pins=pins)

    def interpreter(self, place: Path) -> list[str]:
        """The Python of the virtual environment, in which the npm packages are."""
        return self.venv.interpreter(place)

    def by_hand(self, file: str, part: str) -> list[str]:
        """The packages can be in any folder that is on the PATH."""
        install = f"npm install --no-save {' '.join(self.requirements)}"
        return [install, f'PATH="$PWD/node_modules/.bin:$PATH" python {file} {part}'.strip()]


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
    pins: tuple[str, ...] = ()

    @property
    def requirements(self) -> tuple[str, ...]:
        """The packages, in the notation of npm."""
        return _npm_requirements(self.package, self.pins)

    def is_made(self, place: Path) -> bool:
        """Whether Node is installed, and the copied files are those of this kit."""
        same = (path.is_file() and path.read_bytes() == ours for path, ours in self._copies(place))
        return node_in(place).is_file() and all(same)

    def command(self, place: Path) -> str:
        """Node, with the adapter."""
        return shlex.join([str(node_in(place)), str(place / Path(self.adapter).name)])

    def make(self, place: Path) -> None:
        """Copy the adapter's files, and install the packages with npm."""
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for path, ours in self._copies(place):
            path.write_bytes(ours)
        npm_install(place, self.requirements)

    def at(self, pins: tuple[str, ...]) -> Self:
        """With other versions of some packages."""
        return replace(self, pins=pins)

    def interpreter(self, place: Path) -> list[str]:
        """Its Node, which finds packages in the folder in which it is started."""
        return [str(node_in(place)), "--input-type=module", "-"]

    def by_hand(self, file: str, part: str) -> list[str]:
        """In any folder of npm's."""
        return in_npm(self.requirements, file, part)

    def _copies(self, place: Path) -> Iterator[tuple[Path, bytes]]:
        folder, _, _ = self.adapter.rpartition("/")
        scripts = (one for one in _of_the_kit(folder).iterdir() if one.name.endswith(".mjs"))
        interfaces = (_of_the_kit(f"node/{name}.mjs") for name in ("runlock", "runlock_runner"))
        yield place / "package.json", _manifest(self.package, self.pins)
        for ours in (*interfaces, *scripts):
            yield place / ours.name, ours.read_bytes()


def in_pip(requirements: tuple[str, ...], file: str, part: str) -> list[str]:
    """The lines for a shell that install packages with pip and run a part of a program."""
    return [f"pip install {' '.join(requirements)}", f"python {file} {part}".strip()]


def in_npm(requirements: tuple[str, ...], file: str, part: str) -> list[str]:
    """The same with npm: Node finds packages in the folder in which it is started."""
    node = f"npx node --input-type=module - {part}".strip()
    return [f"npm install --no-save {' '.join(requirements)}", f"{node} < {file}"]


def node_in(place: Path) -> Path:
    """The Node of a folder of npm packages."""
    return place / "node_modules" / ".bin" / "node"


def _npm_requirements(package: str, pins: tuple[str, ...] = ()) -> tuple[str, ...]:
    dependencies = json.loads(_manifest(package, pins))["dependencies"]
    return tuple(f"{name}@{version}" for name, version in dependencies.items())


def _manifest(package: str, pins: tuple[str, ...]) -> bytes:
    """A `package.json`, with other versions of some packages."""
    ours = _of_the_kit(package).read_bytes()
    if not pins:
        return ours
    content: dict[str, Any] = json.loads(ours)
    return json.dumps(content | {"dependencies": content["dependencies"] | dict(map(split, pins))}).encode()


def split(pin: str) -> tuple[str, str]:
    """The package and the version of a requirement, in the notation of pip or npm."""
    name, version = VERSION.split(pin)
    return name, version


def pinned(requirements: tuple[str, ...], pins: tuple[str, ...]) -> tuple[str, ...]:
    """The requirements, with pins in place of those of the same packages."""
    other = {split(pin)[0]: pin for pin in pins}
    return tuple(other.get(VERSION.split(one)[0], one) for one in requirements)


def pip_install(place: Path, requirements: tuple[str, ...], more: Sequence[str] = ()) -> None:
    """Make a virtual environment from scratch, with these packages; `more` are other arguments of pip's."""
    venv.create(place, with_pip=True, clear=True)
    pip = [str(place / BIN / "python"), "-m", "pip", "install", "--quiet"]
    _run([*pip, *more, *requirements], place, requirements)


def npm_install(place: Path, requirements: tuple[str, ...], named: Sequence[str] = ()) -> None:
    """Install what the `package.json` of a folder names, and the packages that are `named`."""
    npm = shutil.which("npm")
    if npm is None:
        raise UsageError(
            f"The environment {place} could not be made: there is no `npm` on the PATH.",
            "Node.js brings it, of any version: the one that runs the adapter is installed by npm.",
        )
    quiet = ["--no-package-lock", "--no-save", "--no-audit", "--no-fund", "--loglevel", "error"]
    _run([npm, "install", "--prefix", str(place), *quiet, *named], place, requirements)


def _of_the_kit(name: str) -> Traversable:
    return ADAPTERS.joinpath(*name.split("/"))


def _run(words: list[str], place: Path, requirements: tuple[str, ...]) -> None:
    if subprocess.run(words, stdout=2, check=False).returncode:
        raise UsageError(
            f"The environment {place} could not be made.",
            f"What is said above tells why {', '.join(requirements)} cannot be installed there.",
        )
