"""Nothing that the sources say is lost: each sentence, arrow and row of theirs has an answer."""

import os
from pathlib import Path

import pytest
from source_coverage import (
    ACP,
    ACP_SOURCES,
    PAGE_REVISIONS,
    PAGES,
    SOURCES,
    Digested,
    cut,
    dangling,
    differences,
    load_coverage,
    normative,
    read_coverage,
)

from runlock.spec.model import SpecError, load_spec

TEXTS = os.environ.get("RUNLOCK_SOURCES")
needs_texts = pytest.mark.skipif(
    TEXTS is None,
    reason="the texts of the sources are not part of the project; RUNLOCK_SOURCES names a folder with them",
)


def text_of(source):
    return (Path(TEXTS) / SOURCES[source]).read_text(encoding="utf-8")


def page_of(revision, page):
    return (Path(TEXTS) / f"ag-ui-{revision}-{page}.mdx").read_text(encoding="utf-8")


def page_of_acp(source):
    return (Path(TEXTS) / f"{source}.mdx").read_text(encoding="utf-8")


def map_of(page):
    return f"ag-ui-{PAGE_REVISIONS[0]}-{page}"


# -- the map


@pytest.mark.parametrize(("source", "ordinals"), [("tirea", 237), ("awaken-8", 275), ("awaken-9", 125)])
def test_the_map_has_an_answer_for_each_ordinal_of_a_source(source, ordinals):
    """The number of sentences, arrows and rows of each source is known, so that a lost one is missed."""
    assert len(load_coverage()[source]) == ordinals


def test_every_answer_names_what_is_there_or_says_why_it_binds_nobody():
    """An answer leads to a clause, to an erratum, or to a reason."""
    assert list(dangling(load_coverage(), load_spec("lifecycle"))) == []


@pytest.mark.parametrize(
    ("page", "sentences"),
    [("lifecycle", 33), ("tool-calls", 25), ("interrupts", 10), ("streaming", 18), ("events", 1)],
)
def test_the_map_has_an_answer_for_each_normative_sentence_of_a_page(page, sentences):
    """Their number is known as well."""
    assert len(load_coverage()[map_of(page)]) == sentences


@pytest.mark.parametrize(
    ("source", "sentences"),
    list(zip(ACP_SOURCES, (27, 29, 51, 6, 29, 10, 38, 57, 40, 6, 29, 20, 34), strict=True)),
)
def test_the_map_has_an_answer_for_each_sentence_and_definition_of_a_page_of_acp(source, sentences):
    """Their number is known as well."""
    assert len(load_coverage()[source]) == sentences


@pytest.mark.parametrize("source", list(load_coverage()))
def test_the_map_reads_downwards(source):
    """Answers stand in the order of the document, and the ordinals of a line are counted from 1."""
    places = [tuple(map(int, place.split("."))) for place in load_coverage()[source]]

    assert places == sorted(set(places))
    for line, number in places:
        assert number == 1 or (line, number - 1) in places


def test_a_clause_that_cites_a_source_is_an_answer_to_one_that_it_cites():
    """Each clause leads to its source, and each source statement to its clauses."""
    coverage = load_coverage()
    answers = {s: {name for a in coverage[s].values() for name in a.clauses} for s in coverage}
    unnamed = []
    for clause in load_spec("lifecycle").clauses.values():
        cited = {source.partition(" §")[0] for source in clause.sources} & set(coverage)
        if cited and not any(clause.id in answers[source] for source in cited):
            unnamed.append(clause.id)

    assert unnamed == []


def test_an_erratum_answers_each_line_that_it_cites():
    """Where the sources contradict each other, both places lead to what was decided."""
    coverage = load_coverage()
    missed = [
        (erratum.id, place.document, place.line)
        for erratum in load_spec("lifecycle").errata.values()
        for place in erratum.places
        if place.document in coverage and erratum.id not in errata_on(place.line, coverage[place.document])
    ]

    assert missed == []


def errata_on(line, answers):
    return [e for place, answer in answers.items() if place.startswith(f"{line}.") for e in answer.errata]


def test_what_binds_nobody_is_less_than_what_binds():
    """Explaining is for headings and notation; most of a source is held to."""
    for source in SOURCES:
        answers = load_coverage()[source]
        explained = [answer for answer in answers.values() if not answer.binds]

        assert 4 * len(explained) < len(answers)


# -- the map and the texts


@needs_texts
@pytest.mark.parametrize("source", list(SOURCES))
def test_the_map_is_the_map_of_these_texts(source):
    """No ordinal of a source is left out, none was made up, and each was read as it stands there."""
    assert list(differences(cut(text_of(source)), load_coverage()[source])) == []


@needs_texts
@pytest.mark.parametrize("revision", PAGE_REVISIONS)
@pytest.mark.parametrize("page", PAGES)
def test_the_map_is_the_map_of_these_pages(page, revision):
    """Both revisions have the same normative sentences."""
    assert list(differences(normative(page_of(revision, page)), load_coverage()[map_of(page)])) == []


@needs_texts
@pytest.mark.parametrize("source", ACP_SOURCES)
def test_the_map_is_the_map_of_these_pages_of_acp(source):
    """No sentence and no definition of a page is left out, and each was read as it stands there."""
    assert list(differences(normative(page_of_acp(source), ACP), load_coverage()[source])) == []


@needs_texts
def test_each_section_of_a_page_of_acp_that_is_cited_is_there():
    """A heading that is named can be found in the page."""
    spec = load_spec("lifecycle")
    cited = {source for clause in spec.clauses.values() for source in clause.sources}
    cited |= {f"{place.document} § {place.section}" for e in spec.errata.values() for place in e.places}
    named = [one.split(" § ") for one in sorted(cited) if one.startswith(("acp-1-", "acp-2-"))]
    missing = [(page, head) for page, head in named if f"# {head}\n" not in page_of_acp(page)]

    assert missing == []


@needs_texts
def test_every_section_that_is_cited_is_there():
    """A place in a source can be found under the heading that is named for it."""
    spec = load_spec("lifecycle")
    cited = [source for clause in spec.clauses.values() for source in clause.sources]
    cited += [source for policy in spec.policies.values() for source in policy.sources]
    cited += [f"{place.document} § {place.section}" for e in spec.errata.values() for place in e.places]
    pairs = {tuple(source.split(" § ")) for source in cited}

    assert [(doc, head) for doc, head in sorted(pairs) if doc in SOURCES and head not in text_of(doc)] == []


# -- the splitter


def pieces(text):
    return {ordinal.key: ordinal.text for ordinal in cut(text)}


CUTS = {
    "sentences": ("A lamp is lit. It burns.", ["A lamp is lit.", "It burns."]),
    "a number in a list": ("  1. A lamp is lit.", ["1. A lamp is lit."]),
    "a statement of code": ("burn(lamp); snuff(lamp);", ["burn(lamp);", "snuff(lamp);"]),
    "sentences without spaces": ("灯亮了。灯灭了。", ["灯亮了。", "灯灭了。"]),
    "an arrow": ("    Dark --> Lit: a match", ["Dark --> Lit: a match"]),
    "an arrow with two labels": (
        "Dark --> Lit: a match / a spark",
        ["Dark --> Lit: a match", "Dark --> Lit: a spark"],
    ),
    "alternatives in words": (
        "Lit --> Dark: wind or rain",
        ["Lit --> Dark: wind", "Lit --> Dark: rain"],
    ),
    "a drawing of several arrows": ("Dark --+--> Lit --> Gone", ["Dark --+--> Lit", "--> Gone"]),
    "a sequence": ("Dark -> Lit -> Gone.", ["Dark -> Lit -> Gone."]),
    "terms that are explained in one breath": ("始Lamp:灯Wick:芯", ["始", "Lamp:灯", "Wick:芯"]),
    "members with comments": (
        "enum { Dark, // none Lit, // some }",
        ["enum {", "Dark, // none", "Lit, // some }"],
    ),
    "rows of a timeline": ("t0 Dark Darkt1 Lit Dark", ["t0 Dark Dark", "t1 Lit Dark"]),
    "a declaration and what follows it": ("enum { Dark,}Lamps", ["enum { Dark,}", "Lamps"]),
    "cases in one line": ("each: Wind? -> dark Match -> lit", ["each:", "Wind? -> dark", "Match -> lit"]),
    "ways in one line": ("Slow mode: one Quick mode: all", ["Slow mode: one", "Quick mode: all"]),
    "bare punctuation": ("    }", []),
    "a rule": ("────────", []),
    "page furniture": ("Press S or / to search in the book", []),
    "page furniture before a text": ("Section titled “Lamps”A lamp is lit.", ["A lamp is lit."]),
    "nothing": ("", []),
}


@pytest.mark.parametrize("what", list(CUTS))
def test_a_text_is_cut_into_what_it_says(what):
    """Each sentence, labelled arrow and row is an ordinal; furniture and bare punctuation are none."""
    text, expected = CUTS[what]

    assert list(pieces(text).values()) == expected


PAGE = """# Lamps

A lamp [MUST](/lamps#lit) be lit. It burns; and
a wick MAY
be new.
It MUST NOT smoke.

- It is out.
- Wicks MUST NOT be
  wet.
"""


def test_a_page_is_cut_into_its_normative_sentences():
    """Each stands where it begins, over as many lines as it has; links lead nowhere."""
    assert {one.key: one.text for one in normative(PAGE)} == {
        "3.1": "A lamp MUST be lit.",
        "3.2": "It burns; and a wick MAY be new.",
        "6.1": "It MUST NOT smoke.",
        "9.1": "Wicks MUST NOT be wet.",
    }


DEFINED = """A lamp must be lit.

<ParamField path="wick" required>
  How the lamp burns.
</ParamField>

It burns.
<ResponseField name="out">It is dark</ResponseField>
"""


def test_a_page_of_acp_says_what_is_normative_in_plain_words_and_in_definitions():
    """A field and a value are defined once, and no other word marks them."""
    assert {one.key: one.text for one in normative(DEFINED, ACP)} == {
        "1.1": "A lamp must be lit.",
        "3.1": '<ParamField path="wick" required> How the lamp burns.',
        "8.1": '<ResponseField name="out">It is dark</ResponseField>',
    }


def test_an_ordinal_is_found_by_its_line_and_its_number_on_it():
    """Empty lines count, so that a place is that of the document."""
    assert pieces("\nA lamp is lit. It burns.\n\nIt is out.") == {
        "2.1": "A lamp is lit.",
        "2.2": "It burns.",
        "4.1": "It is out.",
    }


def test_a_digest_is_of_the_words_and_not_of_the_spaces():
    """A text that was wrapped or indented otherwise is the same text; one with another word is not."""
    one, same, other = (next(cut(text)).digest for text in ("a  lamp", " a lamp ", "a lump"))

    assert one == same != other


# -- what the map is checked for


def answers_for(text):
    return {ordinal.key: Digested(digest=ordinal.digest, clauses=["CALL-1"]) for ordinal in cut(text)}


def test_a_map_that_fits_has_no_differences():
    """Every ordinal is answered, in the words that stand there."""
    assert list(differences(cut("A lamp is lit.\nIt burns."), answers_for("A lamp is lit.\nIt burns."))) == []


def test_each_way_in_which_a_map_does_not_fit_is_said():
    """A sentence that is new, one that is gone and one that was changed are distinguished."""
    old, new = "A lamp is lit.\nIt burns.\n\nIt is out.", "A lamp is lit.\nIt smokes.\nIt is warm."
    found = list(differences(cut(new), answers_for(old)))
    changed, added = list(cut(new))[1:]

    assert found == [
        f"2.1: was read in other words; its digest is now {changed.digest}.",
        f"3.1: nothing answers it; its digest is {added.digest}.",
        "4.1: is answered, yet the source has nothing there.",
    ]


ANSWERS = {
    "a clause that is none": (
        {"clauses": ["CALL-999"]},
        "tirea 1.1: names CALL-999, which is no clause.",
    ),
    "an erratum that is none": ({"errata": ["E-999"]}, "tirea 1.1: names E-999, which is no erratum."),
    "no answer": ({}, "tirea 1.1: is answered by clauses and errata, or else explains and says why."),
    "both": (
        {"clauses": ["CALL-1"], "explains": "It is a heading."},
        "tirea 1.1: is answered by clauses and errata, or else explains and says why.",
    ),
}


@pytest.mark.parametrize("what", list(ANSWERS))
def test_an_answer_that_leads_nowhere_is_found(what):
    """Nothing is answered by what is not there, by silence, or twice over."""
    answer, sentence = ANSWERS[what]
    coverage = {"tirea": {"1.1": Digested(digest="0123456789ab", **answer)}}

    assert list(dangling(coverage, load_spec("lifecycle"))) == [sentence]


def test_a_map_with_half_a_digest_is_refused_with_its_place(tmp_path):
    """Anyone who writes an answer by hand learns where it does not fit."""
    (tmp_path / "tirea.toml").write_text(
        '"1.1" = { digest = "0123", clauses = ["CALL-1"] }\n', encoding="utf-8"
    )
    with pytest.raises(SpecError, match=r"^tirea\.toml, 1\.1: has '0123' as its digest; string should match"):
        read_coverage(tmp_path)
