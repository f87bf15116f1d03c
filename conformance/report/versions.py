"""Versions over time: in which releases of a runtime each known violation was seen.

`versions.json` has, for each environment, its versions from the oldest on, and what each program without the
kit showed in each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from runlock.conformance.campaign.programs import GONE, THERE
from runlock.conformance.inputs import json_of

SCHEMA: Final = 1
FILE: Final = "versions.json"
NEVER: Final = "not yet"

Object = Mapping[str, Any]


class Seen(NamedTuple):
    """The first and the last version that shows a violation, and the first after them that does not."""

    first: str
    last: str
    fixed: str


def known(file: Path) -> Any:
    """The content of the file, if it is there."""
    return json_of(file) if file.is_file() else {}


def merged(file: Path, news: Object) -> dict[str, Any]:
    """The content of the file, with the news about some environments."""
    before = known(file).get("environments", {})
    environments = {name: found for name, found in sorted({**before, **news}.items()) if found["programs"]}
    return {"schema": SCHEMA, "environments": environments}


def seen(history: Object, environment: str, program: str) -> Seen | None:
    """When a program showed its violation; None where it was not compared, or never showed it."""
    of = history.get("environments", {}).get(environment, {"versions": [], "programs": {}})
    outcomes = [*zip(of["versions"], of["programs"].get(program, ()), strict=False)]
    there = [at for at, (_, said) in enumerate(outcomes) if said == THERE]
    if not there:
        return None
    fixed = [version for version, said in outcomes[there[-1] :] if said == GONE]
    return Seen(outcomes[there[0]][0], outcomes[there[-1]][0], (fixed or [NEVER])[0])


def absent(history: Object, environment: str, program: str) -> list[str]:
    """The versions in which a program ran, and did not show its violation."""
    of = history.get("environments", {}).get(environment, {"versions": [], "programs": {}})
    outcomes = zip(of["versions"], of["programs"].get(program, ()), strict=False)
    return [version for version, said in outcomes if said == GONE]


def undecided(history: Object, environment: str, program: str) -> Iterator[tuple[str, str]]:
    """The versions in which a program decided nothing, and why."""
    of = history.get("environments", {}).get(environment, {"versions": [], "programs": {}})
    for version, said in zip(of["versions"], of["programs"].get(program, ()), strict=False):
        if said not in (THERE, GONE):
            yield version, said.partition(": ")[2]
