"""What is expensive to play is played once in a run of tests, by the worker that needs it first."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path


class PlayedOnce:
    """Folders that are filled once; the workers of a run share them, and wait for each other."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def folder(self, name: str, fill: Callable[[Path], None]) -> Path:
        """The folder of that name, filled by this call or by an earlier one; no one changes what is in it."""
        folder = self.root / name
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (self.root / f"{name}.filled").exists():
                folder.mkdir()
                fill(folder)
                (self.root / f"{name}.filled").touch()
        return folder
