"""What a served application keeps of a thread: one file, which is whole after any kill."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

from runlock.conformance.wires.ui_clients import Json


class ThreadStore:
    """The file of a thread in a folder; without a folder nothing is kept."""

    def __init__(self, folder: str | None, thread: str) -> None:
        name = f"{sha256(thread.encode()).hexdigest()[:32]}.json"
        self._path = Path(folder, name) if folder else None

    def read(self) -> Json | None:
        """What was written last."""
        if self._path is None or not self._path.exists():
            return None
        kept: Json = json.loads(self._path.read_text("utf-8"))
        return kept

    def write(self, kept: Json) -> None:
        """Replace what was written before."""
        if self._path is not None:
            new = self._path.with_suffix(".new")
            new.write_text(json.dumps(kept), "utf-8")
            os.replace(new, self._path)
