"""The exhibits: each mutant has a file with its shortest witness, and each file still shows what it says.

`pytest -m "" tests/conformance/test_witnesses.py --rewrite` searches for every witness anew.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import runlock.conformance
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import (
    WITNESSES,
    Script,
    corpus_files,
    script_of,
)
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.mutants import MUTANTS, Mutant
from runlock.conformance.judging.judge import Violation
from runlock.conformance.selftest.witnesses import (
    exhibit_of,
    fault_of,
    innocent,
    rewritten,
    witnessed,
    written,
)
from runlock.conformance.trace.scenario_file import ENDING
from runlock.machines.lifecycle.runtime.runtime import Runtime

FOLDER = Path(runlock.conformance.__path__[0]) / WITNESSES
HOW = '; `pytest -m "" tests/conformance/test_witnesses.py --rewrite` puts it right'


def file_of(mutant: Mutant) -> Path:
    return FOLDER / f"{mutant.name}{ENDING}"


def script(mutant: Mutant) -> Script:
    return script_of(FAMILY, mutant.name, file_of(mutant).read_text("utf-8"))


def test_every_mutant_has_a_witness_and_every_witness_a_mutant(rewrites: bool) -> None:
    """A mutant without a file cannot be shown, and a file without a mutant shows nothing."""
    names = {mutant.name for mutant in witnessed()}
    files = {file.name.removesuffix(ENDING) for file in corpus_files(FAMILY, WITNESSES)}
    if rewrites:
        for name in files - names:
            (FOLDER / f"{name}{ENDING}").unlink()
        return

    assert sorted(names - files) == [], f"these mutants have no witness{HOW}"
    assert sorted(files - names) == [], f"these witnesses are of no mutant{HOW}"


@pytest.mark.long
@pytest.mark.parametrize("mutant", witnessed(), ids=lambda mutant: mutant.name)
def test_a_witness_gives_its_mutant_away(mutant: Mutant, rewrites: bool) -> None:
    """Played again, it breaks the declared clause with its sentence, and nothing can be left out.

    The file says so, and the reference takes the same schedule and breaks nothing.
    """
    if rewrites:
        text = written(mutant)
        assert text, f"{mutant.name} is not given away by the corpus, nor by any walk"
        file_of(mutant).write_text(text, encoding="utf-8")
    text, witness, exhibit = file_of(mutant).read_text("utf-8"), script(mutant), exhibit_of(mutant)
    assert exhibit is not None

    assert rewritten(mutant, witness.scenario, witness.moves) == text, f"{mutant.name} is stale{HOW}"
    assert mutant.says in exhibit.because
    assert f"{mutant.clause} is broken: {exhibit.because}" in witness.about
    assert fault_of(mutant) in witness.about
    assert blamed_on_the_reference(mutant, witness) is None


def blamed_on_the_reference(mutant: Mutant, witness: Script) -> Violation | None:
    """What the reference breaks under the profile and the policies of the mutant."""
    bench = Bench(lambda: Hosted(replace(mutant, make=Runtime)))
    session = bench.session(witness.scenario)
    session.play(witness.moves)
    session.drain()
    session.close()
    bench.close()
    assert session.judge.exercised
    return session.violation


def test_a_schedule_that_shows_nothing_is_no_witness() -> None:
    """The comparison can fail: with one move less, or on the reference, there is nothing to write."""
    mutant = MUTANTS[0]
    witness = script(mutant)

    assert rewritten(mutant, witness.scenario, witness.moves[:-1]) == ""
    assert rewritten(innocent(mutant), witness.scenario, witness.moves) == ""


def test_nothing_of_a_search_is_left_to_chance() -> None:
    """The same search finds the same witness."""
    assert written(MUTANTS[0]) == file_of(MUTANTS[0]).read_text("utf-8")
