"""Keeps what became of each file of a folder, so that a later audit shows what is different.

The file lies in the folder itself, and names the other files relative to it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from runlock.conformance.errors import UsageError
from runlock.conformance.inputs import json_of
from runlock.conformance.outputs import replace

ACCEPTED: Final = "runlock-accepted.json"
SCHEMA: Final = 1
NEW: Final = "not there"

Outcomes = Mapping[str, Sequence[str]]


def keep(folder: Path, outcomes: Outcomes) -> Path:
    """Write what became of each file of the folder."""
    file = folder / ACCEPTED
    kept = {"schema": SCHEMA, "files": dict(sorted(_relative(folder, outcomes)))}
    replace(file, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    return file


def _relative(folder: Path, outcomes: Outcomes) -> Iterator[tuple[str, list[str]]]:
    for name, found in outcomes.items():
        if Path(name).is_relative_to(folder):
            yield Path(name).relative_to(folder).as_posix(), list(found)


def differences(folder: Path, outcomes: Outcomes) -> list[str] | None:
    """A sentence for each file of which something else became; None if nothing was accepted."""
    if not (folder / ACCEPTED).is_file():
        return None
    before, now = _kept(folder / ACCEPTED), dict(_relative(folder, outcomes))
    return [
        f"{name}: was {_words(before.get(name))}, and is {_words(now.get(name))}"
        for name in sorted(before.keys() | now.keys())
        if before.get(name) != now.get(name)
    ]


def _words(outcome: Sequence[str] | None) -> str:
    return NEW if outcome is None else ", ".join(outcome)


def _kept(file: Path) -> dict[str, list[str]]:
    kept: Any = json_of(file)
    files = kept.get("files") if isinstance(kept, dict) and kept.get("schema") == SCHEMA else None
    if not isinstance(files, dict) or not all(isinstance(one, list) for one in files.values()):
        raise UsageError(
            f"{file} holds no accepted verdicts.", "`runlock audit --accept FOLDER` writes them."
        )
    return {str(name): [str(one) for one in found] for name, found in files.items()}
