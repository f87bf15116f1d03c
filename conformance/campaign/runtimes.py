"""The runtimes of the matrix, as listed in `adapters/runtimes.toml`.

The kit has an adapter for most of them.  Each of these runs behind a pipe, in its own environment, so that
their requirements cannot conflict.  The others are behind a wire: each has an entry in a folder of its own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from runlock.conformance.campaign.entries import listed
from runlock.conformance.campaign.environments import (
    ADAPTERS,
    Environment,
    Packages,
    Venv,
    VenvWithPackages,
)
from runlock.conformance.campaign.runtime import FOLDER, Known, Runtime


def as_of() -> str:
    """The day on which the pinned versions were the newest, and the states of the reports were read."""
    return str(tomllib.loads(ADAPTERS.joinpath("runtimes.toml").read_text("utf-8"))["as_of"])


def runtimes() -> tuple[Runtime, ...]:
    """All runtimes, in the order of the file."""
    data = tomllib.loads(ADAPTERS.joinpath("runtimes.toml").read_text("utf-8"))
    return tuple(_runtime(one, data) for one in data["runtime"])


def _runtime(data: Mapping[str, Any], every: Mapping[str, Any]) -> Runtime:
    """A row of the file: a runtime with an adapter, or one of an entry that a folder has."""
    found = _entered(data) if "entry" in data else _adapted(data, every)
    seen = tuple(Known(**one) for one in data.get("seen", ()))
    decided = {one["what"]: one["why"] for one in every["deviation"] if found.name in one["of"]}
    return replace(found, seen=seen, deviations=decided, pages=data.get("pages", {}))


def _entered(data: Mapping[str, Any]) -> Runtime:
    folder = Path(str(ADAPTERS)).joinpath(*data["entry"].split("/"))
    found = listed(folder, f"{FOLDER}/{data['entry']}")
    return replace(found, examples=data.get("examples", found.examples), hidden=data.get("hidden", {}))


def _adapted(data: Mapping[str, Any], every: Mapping[str, Any]) -> Runtime:
    name = data["environment"]
    lives_in = _environment(every["environments"][name], data["adapter"])
    library, older = data.get("library", name), every["older"].get(name, ())
    found = {"lives_in": lives_in, "library": library, "older": older, "line": every["lines"].get(name, "")}
    return Runtime(**{**data, **found})


def _environment(needs: Any, adapter: str) -> Environment:
    """The environment that these needs make: packages for pip, a file for npm, or both."""
    if isinstance(needs, str):
        return Packages(adapter, needs)
    if isinstance(needs, list):
        return Venv(tuple(needs), adapter)
    return VenvWithPackages(Venv(tuple(needs["pip"]), adapter), needs["npm"])
