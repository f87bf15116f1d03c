"""Titles of checks and clauses, and names of mutants and variants."""

import re
from importlib import import_module

import pytest

from runlock.conformance.family.family import families
from runlock.conformance.report.clause_names import checks, title

TITLES = {
    title for family in families() for clause in family.spec.clauses for title in checks(family, clause)
}


def test_a_name_is_spelled_as_its_owner_spells_it():
    """A hyphen, a capital or an underline of a name is put back."""
    assert "an AG-UI suspension is an interrupt" in TITLES


@pytest.mark.parametrize("family", families(), ids=lambda family: family.name)
def test_a_spelling_is_used_wherever_its_words_stand(family):
    """What a family spells in its own way has that spelling in its titles, and no other."""
    words = "\n".join(title for clause in family.spec.clauses for title in checks(family, clause))

    assert all(name in words and plain not in words for plain, name in family.wording.spelled.items())


def test_no_title_has_lost_an_apostrophe():
    """What belongs to something is said with `of`: a function cannot be named with an apostrophe."""
    owners = "models|users|runs|calls|tools|stages|turns|requests|runtimes|runners|rounds"
    owned = "arguments|history|results?|status|message|answer|prompt|ids?|names?|reason"

    assert [title for title in TITLES if re.search(rf"\b({owners}) ({owned})\b", title)] == []


@pytest.mark.parametrize("family", families(), ids=lambda family: family.name)
def test_the_title_of_a_clause_is_short_and_its_own(family):
    """A heading, a line of a report and a row of the matrix have room for it, and it names one clause."""
    titles = [title(family, clause) for clause in family.spec.clauses.values()]

    assert [one for one in titles if len(one) > 90] == []
    assert sorted(set(titles)) == sorted(titles)


@pytest.mark.parametrize("family", ["lifecycle", "message_loop", "tool_runner"])
def test_mutants_and_variants_have_names_of_their_own(family):
    """A name in a report means one thing."""
    made = [
        import_module(f"runlock.conformance.families.{family}.{kind}") for kind in ("mutants", "variants")
    ]
    names = [one.name for one in (*made[0].MUTANTS, *made[1].VARIANTS)]

    assert len(names) == len(set(names))
