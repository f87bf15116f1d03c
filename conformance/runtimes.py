"""The runtimes that the kit keeps adapters for, as `adapters/runtimes.toml` lists them.

Each is driven behind the pipe, by `interlock serve` in a virtual environment of its own, so that what one of
them needs never meets what another needs.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tomllib
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from interlock.conformance.exceptions import UsageError

ENVIRONMENTS: Final = Path(".interlock")
BIN: Final = "Scripts" if sys.platform == "win32" else "bin"


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
    requirements: Sequence[str]
    pages: Mapping[str, str] = field(default_factory=dict)
    seen: Sequence[Known] = ()

    def place(self, environments: Path) -> Path:
        """The folder of its virtual environment."""
        return environments / self.environment

    def is_installed(self, environments: Path) -> bool:
        """Whether its environment has been made."""
        return self._command(environments).is_file()

    def target(self, environments: Path) -> str:
        """What names it on the command line."""
        return f"cmd:{shlex.quote(str(self._command(environments)))} serve py:{self.adapter}"

    def known(self, clause: str) -> Known | None:
        """What is known of its violation of a clause."""
        return next((one for one in self.seen if one.clause == clause), None)

    def _command(self, environments: Path) -> Path:
        return self.place(environments) / BIN / "interlock"


def runtimes() -> tuple[Runtime, ...]:
    """All of them, in the order of the file."""
    text = files("interlock.conformance.adapters").joinpath("runtimes.toml").read_text("utf-8")
    data = tomllib.loads(text)
    return tuple(_runtime(one, data["environments"]) for one in data["runtime"])


def _runtime(data: Mapping[str, object], environments: Mapping[str, Sequence[str]]) -> Runtime:
    fields = {**data, "requirements": environments[str(data["environment"])]}
    fields["seen"] = tuple(Known(**one) for one in fields.get("seen", ()))  # type: ignore[attr-defined]
    return Runtime(**fields)  # type: ignore[arg-type]


def install(runtime: Runtime, environments: Path) -> None:
    """Make its environment, with the kit and what the runtime needs in it."""
    place = runtime.place(environments)
    venv.create(place, with_pip=True, clear=True)
    pip = [str(place / BIN / "python"), "-m", "pip", "install", "--quiet", *_kit(), *runtime.requirements]
    if subprocess.run(pip, stdout=2, check=False).returncode:
        raise UsageError(
            f"The environment {place} could not be made.",
            f"pip says above why {', '.join(runtime.requirements)} cannot be installed there.",
        )


def _kit() -> list[str]:
    """What pip installs this very kit from: the folder that it was installed from, else its version."""
    kit = distribution("interlock")
    url = urlsplit(json.loads(kit.read_text("direct_url.json") or "{}").get("url", ""))
    return ["--editable", unquote(url.path)] if url.scheme == "file" else [f"interlock=={kit.version}"]
