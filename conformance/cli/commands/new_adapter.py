"""`runlock new-adapter`: creates a folder with a working adapter and a test, as a starting point."""

from __future__ import annotations

import json
import shlex
import shutil
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.errors import UsageError
from runlock.conformance.report.console import Page

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class Kit:
    """The template of a language: its files, its interpreter or compiler, and how to check and test it."""

    files: tuple[str, ...]
    needs: str
    check: str
    test: str
    build: str = ""


KITS: Final = {
    "python": Kit(
        ("adapter.py", "test_adapter.py"), "python3", "runlock check py:adapter:Adapter",
        "python -m pytest test_adapter.py",
    ),
    "node": Kit(
        ("runlock.mjs", "adapter.mjs", "adapter.test.mjs"), "node",
        "runlock check 'cmd:node adapter.mjs'", "node --test",
    ),
    "rust": Kit(
        ("Cargo.toml", "src/main.rs", "src/agent.rs", "src/json.rs", "tests/check.rs"), "cargo",
        "runlock check cmd:target/debug/adapter", "cargo test --offline", "cargo build --offline",
    ),
}  # fmt: skip
ALSO_WRITTEN: Final = {"py": "python", "js": "node", "javascript": "node", "typescript": "node", "rs": "rust"}


def new_adapter(folder: Path, lang: str, *, as_json: bool = False) -> int:
    """Run the whole command; the exit code."""
    kit = _kit(lang)
    written = write(folder, lang)
    steps = [f"cd {shlex.quote(str(folder))}", *([kit.build] if kit.build else []), kit.check]
    with results() as stdout:
        page = Page(stdout)
        if as_json:
            report = {"schema": SCHEMA, "lang": lang, "files": [str(path) for path in written]}
            page.console.out(json.dumps({**report, "next": " && ".join(steps), "test": kit.test}, indent=1))
            return 0
        for path in written:
            page.line(f"wrote {path}")
        page.line()
        page.line(f"Next:  {' && '.join(steps)}")
        page.line(f"Test:  {kit.test}")
        if shutil.which(kit.needs) is None:
            page.wrapped(f"There is no `{kit.needs}` on the PATH yet; it takes one to run this.")
    return 0


def write(folder: Path, lang: str) -> list[Path]:
    """Write the files of a language into a folder, if none of them exists; the paths."""
    kit = _kit(lang)
    source = files("runlock.conformance") / "adapters" / lang
    present = [name for name in kit.files if (folder / name).exists()]
    if present:
        raise UsageError(
            f"`{folder / present[0]}` already exists, and is not overwritten.", "Name another folder."
        )
    try:
        return [_written(source / name, folder / name) for name in kit.files]
    except OSError as error:
        raise UsageError(
            f"`{folder}` cannot be written to: {error.strerror}.", "Name another folder."
        ) from None


def _written(source: Traversable, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as file:
        file.write(source.read_text("utf-8"))
    return path


def _kit(lang: str) -> Kit:
    if lang in KITS:
        return KITS[lang]
    near = (
        [ALSO_WRITTEN.get(lang.lower(), "")]
        if lang.lower() in ALSO_WRITTEN
        else get_close_matches(lang, KITS, n=1)
    )
    right = f"Did you mean `{near[0]}`?" if near else f"There are {', '.join(KITS)}; a pipe takes any other."
    raise UsageError(f"There is no adapter kit for `{lang}`.", right)
