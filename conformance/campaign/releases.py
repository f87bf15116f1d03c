"""Releases of runtimes: which one is the newest, and what a column was judged from.

A column is judged again if anything has changed from which its verdicts follow: the packages of the runtime,
its adapter, the specification, what judges, or the budget.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from runlock.conformance.campaign.entries import ThirdParty
from runlock.conformance.campaign.environments import split
from runlock.conformance.campaign.runtime import Runtime
from runlock.conformance.errors import UsageError

Lookup = Callable[[str], Sequence[str]]
"""The versions of a package that were released, from a requirement such as `agno==3.1.10` or `ai@7.0.1`."""

SECONDS: Final = 120.0
"""Far more than an answer of a registry takes."""

PINNED: Final = re.compile(r".+(==|(?<!^)@)\d[\w.+-]*")
FINAL: Final = re.compile(r"\d+(\.\d+)*")
"""A version that is no preview."""

JUDGES: Final = (
    *("adapters", "audit", "campaign", "driving", "families", "family"),
    *("judging", "protocol", "trace", "transport", "wires"),
)
"""The folders of the kit from which a verdict follows; the others only show it."""


# --- the newest release -------------------------------------------------------------------------


def from_registries(requirement: str) -> list[str]:
    """The versions of a package, as pip or npm lists them."""
    name, _ = split(requirement)
    if "==" in requirement:
        said = _asked([sys.executable, "-m", "pip", "index", "versions", name], name)
        listed = re.search(r"^Available versions: (.*)$", said, re.MULTILINE)
        return listed[1].split(", ") if listed else []
    found = json.loads(_asked(["npm", "view", name, "versions", "--json"], name))
    return [found] if isinstance(found, str) else list(found)


def _asked(words: list[str], name: str) -> str:
    try:
        ran = subprocess.run(words, capture_output=True, text=True, check=False, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"The releases of {name} could not be looked up: {error}.") from None
    if ran.returncode:
        last = (ran.stderr.strip().splitlines() or [f"exit code {ran.returncode}"])[-1]
        raise UsageError(f"The releases of {name} could not be looked up: {last}.")
    return ran.stdout


def followed(runtime: Runtime) -> tuple[str, ...]:
    """The requirements whose releases are followed: the library, and what is released with it.

    These are the packages of its earlier releases, or else the first one; in an entry, all with a version.
    """
    pinned = [one for one in runtime.requirements if PINNED.fullmatch(one)]
    if isinstance(runtime, ThirdParty):
        return tuple(pinned) if runtime.is_started_at_a_release else ()
    names = {split(pin)[0] for pins in runtime.older for pin in pins.split()}
    return tuple(one for one in pinned if split(one)[0] in names) or tuple(pinned[:1])


def remembered(release: str) -> Lookup:
    """A lookup that knows only the release in which a runtime was judged before."""
    pins = [split(pin) for pin in release.split() if PINNED.fullmatch(pin)]
    return lambda requirement: [version for name, version in pins if name == split(requirement)[0]]


def newest(runtime: Runtime, look: Lookup) -> Runtime:
    """The runtime with the newest releases; itself where there are none that are newer."""
    moved = tuple(_newest(one, look(one), runtime.line) for one in followed(runtime))
    if moved == followed(runtime):
        return runtime
    environment = runtime.environment.partition("@")[0]
    name = f"{environment}@{'+'.join(split(one)[1] for one in moved)}"
    return replace(runtime, environment=name, lives_in=runtime.lives_in.at(moved))


def _newest(requirement: str, versions: Sequence[str], line: str) -> str:
    """The requirement with its newest version that is no preview, within its line of releases."""
    _, version = split(requirement)
    within = f"{line}." if line else ""
    wanted = [one for one in versions if FINAL.fullmatch(one) and one.startswith(within)]
    return requirement.removesuffix(version) + max([version, *wanted], key=_numbers)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


# --- what a column was judged from --------------------------------------------------------------


def judged_from(runtime: Runtime, budget: Mapping[str, Any]) -> str:
    """A digest of all from which the verdicts of a column follow; empty where that cannot be seen.

    An entry whose command does not name its releases may start anything.
    """
    if isinstance(runtime, ThirdParty) and not runtime.is_started_at_a_release:
        return ""
    own = [runtime.requirements, runtime.adapter, sorted(runtime.hidden), runtime.examples]
    said = [*own, dict(budget), _kit()]
    said += [_digest(runtime.folder)] if isinstance(runtime, ThirdParty) else []
    return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


@cache
def _kit() -> list[str]:
    spec, kit = Path(str(files("runlock.spec"))), Path(str(files("runlock.conformance")))
    return [_digest(spec), *(_digest(kit / name) for name in JUDGES)]


def _digest(folder: Path) -> str:
    """A digest of the files that are written by hand in a folder."""
    digest = sha256()
    for path in _written(folder):
        digest.update(f"{path.relative_to(folder)} {sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def _written(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        is_made = any(part.startswith(".") or part in ("__pycache__", "node_modules") for part in parts)
        if not is_made and path.is_file():
            yield path
