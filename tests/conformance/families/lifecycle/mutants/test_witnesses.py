"""Each mutant has a stored witness: the shortest known schedule that breaks its clause.

`pytest -m "" -k test_witnesses --rewrite` searches for all of them again.  test_mutants.py replays each one.
"""

from __future__ import annotations

import pytest
from places import LIFECYCLE

from runlock.conformance.errors import UsageError
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.mutants import MUTANTS, Mutant
from runlock.conformance.selftest.witnesses import (
    found,
    shortest,
    witnessed,
    witnesses,
)
from runlock.conformance.trace.witness_file import ENDING, parse_witnesses, render_witnesses

FOLDER = LIFECYCLE / "witnesses"
SHARE = 3
HOW = '; `pytest -m "" -k test_witnesses --rewrite` repairs it'


def area_of(mutant: Mutant) -> str:
    return mutant.clause.rpartition("-")[0].lower()


AREAS = sorted(
    {area_of(mutant) for mutant in witnessed(FAMILY)} | {one.area for one in witnesses(FAMILY).values()}
)


def test_every_mutant_has_a_witness_and_every_witness_a_mutant() -> None:
    """A mutant without a witness cannot be shown, and a witness without a mutant shows nothing."""
    names = {mutant.name for mutant in witnessed(FAMILY)}

    assert sorted(names - witnesses(FAMILY).keys()) == [], f"these mutants have no witness{HOW}"
    assert sorted(witnesses(FAMILY).keys() - names) == [], f"these witnesses have no mutant{HOW}"


@pytest.mark.long
@pytest.mark.parametrize("area", AREAS)
def test_nothing_of_a_witness_can_be_left_out(area: str, rewrites: bool) -> None:
    """Shrinking a witness again gives the same, of one in SHARE; a file is written in the one way."""
    mutants = [mutant for mutant in witnessed(FAMILY) if area_of(mutant) == area]
    file = FOLDER / f"{area}{ENDING}"
    if rewrites:
        rewrite(area, mutants)
        return
    stored = [witnesses(FAMILY)[one.name] for one in mutants]
    sample = [*zip(mutants, stored, strict=True)][::SHARE]
    again = [shortest(FAMILY, mutant, kept.scenario, kept.moves) for mutant, kept in sample]

    assert again == stored[::SHARE], f"{file.name} is stale{HOW}"
    assert render_witnesses(area, stored, FAMILY.line_formats) == file.read_text("utf-8")


def rewrite(area: str, mutants: list[Mutant]) -> None:
    """Search for the witnesses of an area and write its file."""
    file = FOLDER / f"{area}{ENDING}"
    anew = {mutant.name: found(FAMILY, mutant) for mutant in mutants}
    assert [name for name, one in anew.items() if one is None] == [], (
        "no script and no random walk kills these"
    )
    if anew:
        file.write_text(render_witnesses(area, filter(None, anew.values()), FAMILY.line_formats), "utf-8")
    else:
        file.unlink(missing_ok=True)


def test_a_schedule_that_shows_nothing_is_no_witness() -> None:
    """The comparison can fail: with one move less, or on the reference, there is no witness."""
    mutant = MUTANTS[0]
    witness = witnesses(FAMILY)[mutant.name]

    assert shortest(FAMILY, mutant, witness.scenario, witness.moves) == witness
    assert shortest(FAMILY, mutant, witness.scenario, witness.moves[:-1]) is None
    assert shortest(FAMILY, mutant.innocent(), witness.scenario, witness.moves) is None


def test_a_search_is_deterministic() -> None:
    """The same search finds the same witness."""
    assert found(FAMILY, MUTANTS[0]) == witnesses(FAMILY)[MUTANTS[0].name]


def test_a_witness_is_read_back_as_it_was_written() -> None:
    """A file holds all of a witness, however long its values are."""
    every = list(witnesses(FAMILY).values())

    for area in AREAS:
        kept = [one for one in every if one.area == area]
        assert (
            list(
                parse_witnesses(
                    render_witnesses(area, every, FAMILY.line_formats),
                    "x",
                    FAMILY.vocabulary,
                    FAMILY.line_formats,
                )
            )
            == kept
        )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# x\n\nmutant Late\nscenario Late\n", "x:3: a witness begins with its mutant, clause and reason."),
        ("mutant Late breaks RUN-1: it is late\nscenario Late\nfly away\n", "x:3: `fly` is no stimulus."),
        ("mutant Late breaks RUN-1: it is late\nstart r1 hello\n", "x:1: the witness has no scenario."),
    ],
)
def test_a_file_that_cannot_be_read_names_the_line(text: str, says: str) -> None:
    """What is wrong in a file of witnesses is found with its line."""
    with pytest.raises(UsageError) as caught:
        list(parse_witnesses(text, "x", FAMILY.vocabulary, FAMILY.line_formats))

    assert says in str(caught.value)
