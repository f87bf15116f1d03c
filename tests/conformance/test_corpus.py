"""The corpus: each file says what the reference does, and every script is legal on every reference."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import interlock.conformance
from interlock.conformance.campaign import Bench, Tally
from interlock.conformance.corpus import ENDING, Script, applicable, corpus, play, recorded, script_of
from interlock.conformance.exceptions import UsageError
from interlock.conformance.protocol import Handshake, Party
from interlock.conformance.scenario import parse, render
from interlock.conformance.targets import resolve

FOLDER = Path(interlock.conformance.__path__[0]) / "scenarios"
NAMES = sorted(path.name.removesuffix(ENDING) for path in FOLDER.glob(f"*{ENDING}"))
SCRIPTS = corpus()
PLAYED_ON = ("reference:awaken-8", "reference:tirea")


@cache
def bench(target: str) -> Bench:
    return Bench(resolve(target).open)


def recording(text: str, name: str) -> str:
    """The file with what its target shows now."""
    script, document = script_of(name, text), parse(text, name)
    return render(recorded(document, bench(script.target).session(script.scenario)))


@pytest.mark.parametrize("name", NAMES)
def test_each_file_says_what_its_target_does(name, rewrites):
    """The observations of a scenario file are those of the reference, byte for byte."""
    path = FOLDER / f"{name}{ENDING}"
    text = path.read_text("utf-8")
    now = recording(text, name)
    if rewrites:
        path.write_text(now, encoding="utf-8")
        return

    assert text == now, f"{name} shows something else now; see `pytest --rewrite`"
