"""What the file `inference.toml` of a family says: why some values of policies cannot be told apart."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from importlib.resources.abc import Traversable
from typing import Final

from runlock.conformance.family.parts import Inference

NOTES: Final = "inference.toml"


def inference_of(folder: Traversable) -> Inference:
    """Inference from the checks of a family, with the notes in its folder."""
    notes = tomllib.loads(folder.joinpath(NOTES).read_text("utf-8"))
    idle: defaultdict[str, tuple[tuple[str, str], ...]] = defaultdict(tuple)
    for note in notes.get("idle", ()):
        idle[note["policy"]] += tuple(note["where"].items())
    return Inference(
        alike={note["policy"]: (frozenset(note["values"]), note["why"]) for note in notes.get("alike", ())},
        idle=idle,
    )
