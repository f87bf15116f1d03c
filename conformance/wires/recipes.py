"""Recipes: how an agent is pointed at the ends of the kit, as data.

    command = "gemini --acp -m gemini-2.5-flash"
    environment = "gemini-cli"
    env = { GOOGLE_GEMINI_BASE_URL = "{base}", GEMINI_API_KEY = "kit" }
    [files]
    ".gemini/settings.json" = '{"security": {"folderTrust": {"enabled": false}}}'

`{base}` is where the ends are, `{home}` the home folder.  `files` are written there, and `workspace` in the
folder of each session.  `environment` is a folder in `.runlock` whose programs come first on the `PATH`.
`login` says why an agent cannot be driven without one; `protocol` is the version to speak, 1 or 2.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from runlock.conformance.errors import UsageError
from runlock.conformance.inputs import toml_of
from runlock.spec.text import known_words

FOLDER: Final = files("runlock.conformance.adapters") / "recipes"
ENVIRONMENTS: Final = ".runlock"
SUFFIX: Final = ".toml"

KEPT: Final = ("LANG", "LC_ALL", "PATH", "PYTHONPATH", "SYSTEMROOT", "TMPDIR", "TZ", "VIRTUAL_ENV")
"""What an agent has of the user's environment: no key, and no folder of his."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What one agent needs; `allow` and `reject` are ids of options, where their kinds say too little."""

    command: str = ""
    environment: str = ""
    login: str = ""
    protocol: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    workspace: Mapping[str, str] = field(default_factory=dict)

    def words(self, command: str) -> list[str]:
        """The command of the user, or else that of the recipe; raises a `UsageError` if there is none."""
        words = shlex.split(command or self.command)
        if not words:
            raise UsageError(
                "`acp:` names no command.", "Write `acp:COMMAND ARGS`, or give `--recipe` with one."
            )
        return words

    def environment_at(self, home: str, exported: Mapping[str, str]) -> dict[str, str]:
        """The whole environment of the process."""
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        own = Path(ENVIRONMENTS, self.environment).absolute() if self.environment else None
        first = [str(own / "node_modules" / ".bin"), str(own / "bin")] if own is not None else []
        path = os.pathsep.join([*first, str(Path(sys.prefix, "bin")), kept.get("PATH", "")])
        fixed = {"HOME": home, "PATH": path, "NO_PROXY": "127.0.0.1,localhost", "TERM": "dumb"}
        return {**kept, **fixed, **exported, **self._filled(self.env, home, exported)}

    def write(self, folder: str, home: str, exported: Mapping[str, str]) -> None:
        """Write its files into the home folder, or those of a session into the folder of that."""
        chosen = self.files if folder == home else self.workspace
        for name, text in self._filled(chosen, home, exported).items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")

    def _filled(self, texts: Mapping[str, str], home: str, exported: Mapping[str, str]) -> dict[str, str]:
        places = {"{base}": exported["ANTHROPIC_BASE_URL"], "{home}": home}
        return {name: _replaced(text, places) for name, text in texts.items()}


def _replaced(text: str, places: Mapping[str, str]) -> str:
    for place, value in places.items():
        text = text.replace(place, value)
    return text


def known() -> list[str]:
    """The recipes of the kit, by name."""
    return sorted(one.name.removesuffix(SUFFIX) for one in FOLDER.iterdir() if one.name.endswith(SUFFIX))


def recipe_of(name: str) -> Recipe:
    """A recipe of the kit by its name, or one in a file; raises a `UsageError` for one that is none."""
    if not name:
        return Recipe()
    path = Path(name)
    if name in known():
        path = Path(str(FOLDER / f"{name}{SUFFIX}"))
    elif not path.is_file():
        raise UsageError(f"There is no recipe `{name}`, and no such file; {known_words(name, known())}")
    return _read(name, toml_of(path))


def _read(name: str, found: Mapping[str, Any]) -> Recipe:
    kinds = {
        one.name: Mapping if one.name in ("env", "files", "workspace") else str for one in fields(Recipe)
    }
    for key, value in found.items():
        if key not in kinds:
            raise UsageError(f"The recipe `{name}` has a field `{key}`; {known_words(key, list(kinds))}")
        texts = value.values() if isinstance(value, Mapping) else [value]
        if not isinstance(value, kinds[key]) or not all(isinstance(text, str) for text in texts):
            raise UsageError(f"`{key}` of the recipe `{name}` is no text.", "A table has texts alone.")
    return Recipe(**found)
