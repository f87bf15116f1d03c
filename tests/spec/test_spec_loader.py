"""The loader of the spec: a word that does not fit is refused with one sentence that names file and place."""

import re
from typing import get_args

import pytest

from interlock.conformance import protocol
from interlock.spec.model import SpecError, load_spec, read_spec
from interlock.spec.needs import NEEDS

CLAUSE = {
    "id": '"LIFE-1"',
    "level": '"MUST"',
    "sentence": '"A life ends."',
    "intent": '"There is an end to it."',
    "sources": '["somewhere § Lives"]',
}
POLICIES = """
[[policy]]
key = "pace"
sentence = "How fast a life goes."
values = ["slow", "fast"]
sources = ["somewhere § Lives"]

[[policy]]
key = "colours"
sentence = "Which colours it has."
kind = "set of"
values = ["red", "blue"]
sources = ["somewhere § Lives"]
"""
PROFILE = 'name = "calm"\nfamily = "lifecycle"\nsentence = "A calm life."\nsource = "somewhere § Lives"\n[policies]\n'
ERRATUM = """
[[erratum]]
id = "E-1"
title = "Two ends"
places = [{ document = "somewhere", section = "Lives", line = 3 }]
found = "It ends twice."
decided = "It ends once."
why = "An end is an end."
"""


def table(**changes):
    """A clause as TOML, with keys changed, added, or (None) left out."""
    keys = {key: value for key, value in {**CLAUSE, **changes}.items() if value is not None}
    return "[[clause]]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())


@pytest.fixture
def folder(tmp_path):
    """A spec of one clause, two policies and one profile; `folder(path, text)` changes a file of it."""
    (tmp_path / "clauses").mkdir()
    (tmp_path / "profiles").mkdir()

    def write(path, text):
        (tmp_path / path).write_text(text, encoding="utf-8")
        return tmp_path

    write("policies.toml", POLICIES)
    write("errata.toml", ERRATUM)
    write("glossary.toml", '[[word]]\nword = "life"\nmeaning = "What ends."\n')
    write("profiles/calm.toml", PROFILE + 'pace = "slow"\n')
    write("clauses/life.toml", table())
    return write


# What a file holds, and the sentence with which it is refused.
REFUSED = {
    "an id used twice": ("clauses/life.toml", table() + table(), "life.toml, clause LIFE-1: LIFE-1 is there twice; an id is never used again."),
    "a clause without a source": ("clauses/life.toml", table(sources="[]"), 'life.toml, clause LIFE-1: has no source; cite at least one as "document § section".'),
    "a source of another shape": ("clauses/life.toml", table(sources='["somewhere"]'), 'life.toml, clause LIFE-1: cites \'somewhere\'; write a source as "document § section".'),
    "an unknown key": ("clauses/life.toml", table(look='["there"]'), "life.toml, clause LIFE-1: has the unknown key 'look'; did you mean 'look_at'? Known: id, level,"),
    "a key left out": ("clauses/life.toml", table(intent=None), "life.toml, clause LIFE-1: lacks intent."),
    "a clause without a name": ("clauses/life.toml", table(id=None), "life.toml, clause number 1: lacks id."),
    "another level": ("clauses/life.toml", table(level='"MIGHT"'), "life.toml, clause LIFE-1: has 'MIGHT' as its level; input should be 'MUST', 'SHOULD' or 'MAY'."),
    "half a sentence": ("clauses/life.toml", table(sentence='"ends"'), "life.toml, clause LIFE-1: has sentence that is no sentence;"),
    "another area": ("clauses/death.toml", table(), "death.toml, clause LIFE-1: stands in the file of another area; move it to life.toml."),
    "a policy that is none": ("clauses/life.toml", table(applies='{ pase = ["slow"] }'), "life.toml, clause LIFE-1: 'pase' names no policy; did you mean 'pace'? Known: pace, colours."),
    "a value that is none": ("clauses/life.toml", table(applies='{ pace = ["slo"] }'), "life.toml, clause LIFE-1: policy pace has no value 'slo'; did you mean 'slow'? Known: slow, fast."),
    "a member that is none": ("clauses/life.toml", table(applies='{ colours = ["green"] }'), "life.toml, clause LIFE-1: policy colours has no value 'green'; Known: red, blue."),
    "a need that is none": ("clauses/life.toml", table(needs='["sees phase"]'), "life.toml, clause LIFE-1: needs 'sees phase', which begins with no word of needs; "),
    "a need of something else": ("clauses/life.toml", table(needs='["outcome tool.pendin"]'), "life.toml, clause LIFE-1: needs 'outcome tool.pendin', but 'tool.pendin' does not follow outcome; did you mean 'tool.pending'?"),
    "another kind of part": ("clauses/life.toml", '[[rule]]\nid = "LIFE-1"\n', "life.toml: holds 'rule'; it is a list of [[clause]]."),
    "no TOML": ("clauses/life.toml", "[[clause]\n", "life.toml: is no TOML: "),
    "a profile's unknown policy": ("profiles/calm.toml", PROFILE + 'haste = "slow"\n', "profiles/calm.toml: 'haste' names no policy; "),
    "a profile's unknown value": ("profiles/calm.toml", PROFILE + 'pace = "quick"\n', "profiles/calm.toml: policy pace has no value 'quick'; Known: slow, fast."),
    "a set that is no list": ("profiles/calm.toml", PROFILE + 'colours = "red"\n', "profiles/calm.toml: policy colours is a set: its value is a list, not 'red'"),
    "a policy's unknown condition": ("policies.toml", POLICIES + 'when = { pace = ["quick"] }\n', "policies.toml, policy colours: policy pace has no value 'quick'; "),
    "an erratum without a place": ("errata.toml", ERRATUM.replace("{ document = \"somewhere\", section = \"Lives\", line = 3 }", ""), "errata.toml, erratum E-1: has [] as its places; "),
    "a word twice": ("glossary.toml", '[[word]]\nword = "life"\nmeaning = "What ends."\n' * 2, "glossary.toml, word life: life is there twice;"),
}  # fmt: skip


def read_whole(folder):
    spec = read_spec(folder)
    return spec, spec.errata, spec.glossary


def test_the_spec_that_the_refused_ones_are_made_from_is_read(folder):
    """Each refused spec is wrong for its own reason alone."""
    spec, errata, glossary = read_whole(folder("clauses/life.toml", table(needs='["observes phase"]')))

    assert spec.clause("LIFE-1").needs == ["observes phase"]
    assert spec.profile("calm").policies == {"pace": "slow"}
    assert (list(errata), list(glossary)) == (["E-1"], ["life"])


@pytest.mark.parametrize(("path", "text", "sentence"), list(REFUSED.values()), ids=list(REFUSED))
def test_a_word_that_does_not_fit_is_refused_with_its_place(folder, path, text, sentence):
    """The file, the part in it, what is wrong and what would be right stand in one sentence."""
    with pytest.raises(SpecError, match="^" + re.escape(sentence)):
        read_whole(folder(path, text))


def test_a_spec_without_one_of_its_files_is_refused(folder):
    """A file that was left out of a package is missed."""
    root = folder("policies.toml", POLICIES)
    (root / "policies.toml").unlink()
    with pytest.raises(SpecError, match=r"^policies.toml: is missing; the spec is not whole without it\."):
        read_spec(root)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda spec: spec.clause("CALL-99"), "'CALL-99' names no clause; did you mean 'CALL-9'? Known: "),
        (lambda spec: spec.profile("awaken"), "'awaken' names no profile; did you mean 'awaken-"),
        (lambda spec: spec.policies_of("nobody"), "'nobody' names no profile; Known: awaken-8, awaken-9, "),
        (lambda spec: spec.policies_of("core", {"wating": "parked"}), "'wating' names no policy; did you mean 'waiting'?"),
        (lambda spec: spec.policies_of("core", {"waiting": "park"}), "policy waiting has no value 'park'; did you mean 'parked'? Known: parked, reentered."),
        (lambda spec: spec.policies_of("core", {"waiting": True}), "policy waiting has no value True; Known: parked, reentered."),
        (lambda spec: spec.policies_of("core", {"reasons": ["Bored"]}), "policy reasons has no value 'Bored'; Known: NaturalEnd, "),
        (lambda spec: spec.policies_of("core", {"reasons": "Error"}), "policy reasons is a set: its value is a list, not 'Error'"),
    ],
)  # fmt: skip
def test_a_name_that_the_spec_does_not_know_is_refused_with_those_it_knows(ask, sentence):
    """Whoever asks for a clause, a profile or a policy that is none learns which there are."""
    with pytest.raises(SpecError, match="^" + re.escape(sentence)):
        ask(load_spec())


def test_the_policies_of_a_sut_are_its_profile_and_its_own_word():
    """What a SUT declares comes before its profile, fills what is open, and leaves the rest open."""
    declared = load_spec().policies_of("awaken-8", {"waiting": "reentered", "decision.batch": "atomic"})

    assert (declared["waiting"], declared["decision.batch"]) == ("reentered", "atomic")
    assert declared["phases"] == "eight"
    assert "round.executor" not in declared


def test_the_universal_core_leaves_every_policy_open():
    """Profile core claims no choice where runtimes differ."""
    assert load_spec().policies_of("core") == {}


def test_the_needs_of_clauses_are_what_the_protocol_can_declare():
    """Whatever a clause may ask of a SUT, the handshake can offer, and the other way round."""
    offered = protocol.OfferedOutcomes.model_fields
    outcomes = {
        f"{gate.replace('_', '.')}.{kind}"
        for gate in offered
        for kind in get_args(get_args(offered[gate].annotation)[0])
    }

    assert set(NEEDS["outcome"]) == outcomes
    assert set(NEEDS["stimulus"]) == set(protocol.ALL_STIMULI)
    assert set(NEEDS["gate"]) == set(protocol.OUTCOMES_BY_GATE)
    assert {*NEEDS["observes"], "gate.open", "gate.closed"} == set(protocol.LISTED)
    assert set(NEEDS["decisions"]) == set(protocol.DecisionSupport.model_fields)
