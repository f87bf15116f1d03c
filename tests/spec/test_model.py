"""The loader of the spec: a word that does not fit is refused with one sentence that names file and place."""

from dataclasses import replace
from typing import get_args

import pytest
from places import GOLDEN as GOLDEN_FILES

from runlock.conformance.families.lifecycle import messages as protocol
from runlock.conformance.families.lifecycle.messages import vocabulary
from runlock.spec.model import SpecError, load_spec, read_spec

GOLDEN = GOLDEN_FILES / "spec.txt"

CLAUSE = {
    "id": '"LIFE-1"',
    "level": '"MUST"',
    "severity": '"status wrong"',
    "sentence": '"A life ends."',
    "intent": '"There is an end to it."',
    "sources": '["somewhere § Lives"]',
}
POLICIES = """
[[policy]]
key = "pace"
title = "how fast"
sentence = "How fast a life goes."
values = ["slow", "fast"]
sources = ["somewhere § Lives"]

[[policy]]
key = "colours"
title = "which colours"
sentence = "Which colours it has."
kind = "set of"
values = ["red", "blue"]
sources = ["somewhere § Lives"]
"""
PROFILE = """
name = "calm"
sentence = "A calm life."
source = "somewhere § Lives"
[policies]
"""
ERRATUM = """
[[erratum]]
id = "E-1"
title = "Two ends"
places = [{ document = "somewhere", section = "Lives", line = 3 }]
found = "It ends twice."
decided = "It ends once."
why = "An end is an end."
"""
QUESTION = """
[[question]]
policy = "pace"
without = "fast"
harm = "a life takes long"
"""
RETIRED = """
[[retired]]
id = "LIFE-2"
sentence = "What ends was alive."
why = "It is the same fact."
instead = ["LIFE-1"]
revision = "1.0"
"""


def table(**changes):
    """A clause as TOML, with keys changed, added, or (None) left out."""
    keys = {key: value for key, value in {**CLAUSE, **changes}.items() if value is not None}
    return "[[clause]]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())


def load_needs():
    """The vocabulary of needs of the lifecycle family, as text."""
    return (load_spec("lifecycle").folder / "needs.toml").read_text("utf-8")


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
    write("needs.toml", load_needs())
    write("revisions.toml", '[[revision]]\nid = "1.0"\nsentence = "All of it."\n')
    write("glossary.toml", '[[word]]\nword = "life"\nmeaning = "What ends."\n')
    write("profiles/calm.toml", PROFILE + 'pace = "slow"\n')
    write("clauses/life.toml", table())
    return write


# A file by what is wrong with it; golden/spec.txt has the sentences.
REFUSED = {
    "an id used twice": ("clauses/life.toml", table() + table()),
    "a clause without a source": ("clauses/life.toml", table(sources="[]")),
    "a source of another shape": ("clauses/life.toml", table(sources='["somewhere"]')),
    "an unknown key": ("clauses/life.toml", table(look='["there"]')),
    "a key left out": ("clauses/life.toml", table(intent=None)),
    "a clause without a name": ("clauses/life.toml", table(id=None)),
    "another level": ("clauses/life.toml", table(level='"MIGHT"')),
    "another severity": ("clauses/life.toml", table(severity='"bad"')),
    "no severity": ("clauses/life.toml", table(severity=None)),
    "half a sentence": ("clauses/life.toml", table(sentence='"ends"')),
    "another area": ("clauses/death.toml", table()),
    "a policy that is none": ("clauses/life.toml", table(applies='{ pase = ["slow"] }')),
    "a value that is none": ("clauses/life.toml", table(applies='{ pace = ["slo"] }')),
    "a member that is none": ("clauses/life.toml", table(applies='{ colours = ["green"] }')),
    "a need that is none": ("clauses/life.toml", table(needs='["sees phase"]')),
    "a need of something else": ("clauses/life.toml", table(needs='["outcome tool.pendin"]')),
    "another kind of part": ("clauses/life.toml", '[[rule]]\nid = "LIFE-1"\n'),
    "a profile's unknown policy": ("profiles/calm.toml", PROFILE + 'haste = "slow"\n'),
    "a profile's unknown value": ("profiles/calm.toml", PROFILE + 'pace = "quick"\n'),
    "a set that is no list": ("profiles/calm.toml", PROFILE + 'colours = "red"\n'),
    "a policy's unknown condition": ("policies.toml", POLICIES + 'when = { pace = ["quick"] }\n'),
    "an id of another shape": ("clauses/life.toml", table(id='"life-1"')),
    "a clause without any sources": ("clauses/life.toml", table(sources=None)),
    "a source said twice": ("clauses/life.toml", table(sources='["a § b", "a § b"]')),
    "a need said twice": ("clauses/life.toml", table(needs='["tools ask", "tools ask"]')),
    "a policy without a value": ("clauses/life.toml", table(applies="{ pace = [] }")),
    "a value said twice": ("clauses/life.toml", table(applies='{ pace = ["slow", "slow"] }')),
    "a revision that is none": ("clauses/life.toml", table(since='"1.7"')),
    "no reason why it is untestable": ("clauses/life.toml", table(untestable='""')),
    "nothing to look at": ("clauses/life.toml", table(look_at='[""]')),
    "no list of clauses": ("clauses/life.toml", table().replace("[[clause]]", "[clause]")),
    "a list of words": ("clauses/life.toml", 'clause = ["LIFE-1"]\n'),
    "a profile in another file": ("profiles/quick.toml", PROFILE),
    "a profile's source of another shape": (
        "profiles/calm.toml",
        PROFILE.replace("somewhere § Lives", "somewhere"),
    ),
    "a policy twice": ("policies.toml", POLICIES + POLICIES),
    "a policy's value twice": ("policies.toml", POLICIES.replace('"slow", "fast"', '"slow", "slow"')),
    "a policy under itself": ("policies.toml", POLICIES + 'when = { colours = ["red"] }\n'),
    "an erratum twice": ("errata.toml", ERRATUM + ERRATUM),
    "an erratum's id of another shape": ("errata.toml", ERRATUM.replace("E-1", "ERR-1")),
    "an erratum on no line": ("errata.toml", ERRATUM.replace("line = 3", "line = 0")),
    "an erratum without a place": (
        "errata.toml",
        ERRATUM.replace('{ document = "somewhere", section = "Lives", line = 3 }', ""),
    ),
    "a retired clause that is judged": ("retired.toml", RETIRED.replace("LIFE-2", "LIFE-1")),
    "a retired clause that nothing says": ("retired.toml", RETIRED.replace('["LIFE-1"]', "[]")),
    "a retired clause that no clause says": ("retired.toml", RETIRED.replace("LIFE-1", "LIFE-3")),
    "a retired clause of no revision": ("retired.toml", RETIRED.replace("1.0", "1.7")),
    "a clause retired twice": ("retired.toml", RETIRED * 2),
    "a question about no policy": ("questions.toml", QUESTION.replace('"pace"', '"pase"')),
    "a question about no value": ("questions.toml", QUESTION.replace('"fast"', '"quick"')),
    "a question about a set": ("questions.toml", QUESTION.replace('"pace"', '"colours"')),
    "a question without a harm": ("questions.toml", QUESTION.replace('"a life takes long"', '""')),
    "a word twice": ("glossary.toml", '[[word]]\nword = "life"\nmeaning = "What ends."\n' * 2),
}


def read_whole(folder):
    spec = read_spec(folder)
    assert spec.retired.keys() <= {"LIFE-2"}
    assert [one.without for one in spec.questions] in ([], ["fast"])
    return spec, spec.errata, spec.glossary


def test_the_spec_that_the_refused_ones_are_made_from_is_read(folder):
    """Each refused spec is wrong for its own reason alone."""
    spec, errata, glossary = read_whole(folder("clauses/life.toml", table(needs='["observes phase"]')))

    assert spec.clause("LIFE-1").needs == ["observes phase"]
    assert spec.profile("calm").policies == {"pace": "slow"}
    assert (list(errata), list(glossary)[-1]) == (["E-1"], "life")


def test_a_retired_clause_leads_to_the_one_that_says_it_now(folder):
    """A lookup is refused with the id to use."""
    spec = read_spec(folder("retired.toml", RETIRED))

    assert spec.retired["LIFE-2"].instead == ["LIFE-1"]
    with pytest.raises(SpecError, match=r"^LIFE-2 was retired with revision 1\.0; LIFE-1 says it now\.$"):
        spec.clause("LIFE-2")


def test_a_family_may_ask_something_or_nothing(folder):
    """A spec without the file is whole; the questions keep the order of the file."""
    assert read_spec(folder("retired.toml", RETIRED)).questions == []
    two = QUESTION + QUESTION.replace("fast", "slow")
    assert [one.without for one in read_spec(folder("questions.toml", two)).questions] == ["fast", "slow"]


def approved():
    lines = GOLDEN.read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines)


@pytest.mark.parametrize("what", list(REFUSED))
def test_a_word_that_does_not_fit_is_refused_with_its_place(folder, what):
    """The file, the part in it, what is wrong and what would be right stand in one sentence."""
    with pytest.raises(SpecError) as raised:
        read_whole(folder(*REFUSED[what]))

    assert str(raised.value) == approved()[what]


def test_a_file_that_is_no_toml_is_refused_with_its_name(folder):
    """What the parser found is passed on, and the file is named."""
    with pytest.raises(SpecError, match=r"^life\.toml: is no TOML: .*line 1"):
        read_spec(folder("clauses/life.toml", "[[clause]\n"))


def test_a_file_that_is_no_text_is_refused_with_its_name(folder):
    """Bytes that are not UTF-8 are distinguished from words that do not fit."""
    root = folder("clauses/life.toml", "")
    (root / "clauses" / "life.toml").write_bytes(b'[[clause]]\nid = "\xff"\n')
    with pytest.raises(SpecError, match=r"^life\.toml: is no UTF-8 text, from byte 17 on\.$"):
        read_spec(root)


@pytest.mark.parametrize("name", ["clauses", "profiles"])
def test_a_spec_without_clauses_or_profiles_is_refused(folder, name):
    """A folder that was lost on the way, or is empty, is missed by its name."""
    root = folder("policies.toml", POLICIES)
    for file in (root / name).iterdir():
        file.unlink()
    says = rf"^{name}: holds no TOML file; the spec is not whole without one\.$"
    with pytest.raises(SpecError, match=says):
        read_spec(root)
    (root / name).rmdir()
    with pytest.raises(SpecError, match=says):
        read_spec(root)


def test_a_spec_without_one_of_its_files_is_refused(folder):
    """A file that was left out of a package is missed."""
    root = folder("policies.toml", POLICIES)
    (root / "policies.toml").unlink()
    with pytest.raises(SpecError, match=r"^policies.toml: is missing; the spec is not whole without it\."):
        read_spec(root)


# A question by what is wrong with it; golden/spec.txt has the answers.
ASKED = {
    "no clause": lambda spec: replace(load_spec("tool-runner"), clauses={"CALL-9": None}).clause("CALL-99"),
    "no profile": lambda spec: spec.profile("awaken-concurent"),
    "nobody's profile": lambda spec: spec.policies_of("nobody"),
    "no policy": lambda spec: replace(spec, policies={"waiting": None}).policy("wating"),
    "no value": lambda spec: spec.policies_of("core", {"waiting": "park"}),
    "no word": lambda spec: spec.policies_of("core", {"waiting": True}),
    "no member": lambda spec: spec.policies_of("core", {"reasons": ["Bored"]}),
    "no list": lambda spec: spec.policies_of("core", {"reasons": "Error"}),
}


@pytest.mark.parametrize("what", list(ASKED))
def test_a_name_that_the_spec_does_not_know_is_refused_with_those_it_knows(what):
    """Anyone who asks for a clause, a profile or a policy that is none learns which there are."""
    with pytest.raises(SpecError) as raised:
        ASKED[what](load_spec("lifecycle"))

    assert str(raised.value) == approved()[what]


def test_every_approved_sentence_has_a_word_that_earns_it():
    """A refusal that nothing draws any more is not kept among the sentences."""
    assert list(approved()) == [*REFUSED, *ASKED]


def test_the_policies_of_a_sut_are_its_profile_and_its_own_word():
    """What a SUT declares comes before its profile, fills what is open, and leaves the rest open."""
    declared = load_spec("lifecycle").policies_of(
        "awaken-8", {"waiting": "reentered", "decision.batch": "atomic"}
    )

    assert (declared["waiting"], declared["decision.batch"]) == ("reentered", "atomic")
    assert declared["phases"] == "eight"
    assert "round.executor" not in declared


def test_the_universal_core_leaves_every_policy_open():
    """Profile core claims no choice where runtimes differ."""
    assert load_spec("lifecycle").policies_of("core") == {}


def test_the_needs_of_clauses_are_what_the_protocol_can_declare():
    """Whatever a clause may ask of a SUT, the handshake can offer, and the other way round."""
    offered = protocol.OfferedOutcomes.model_fields
    outcomes = {
        f"{gate.replace('_', '.')}.{kind}"
        for gate in offered
        for kind in get_args(get_args(offered[gate].annotation)[0])
    }

    assert set(load_spec("lifecycle").needs["outcome"]) == outcomes
    assert set(load_spec("lifecycle").needs["hook"]) == set(get_args(vocabulary.PhaseName))
    assert set(load_spec("lifecycle").needs["stream"]) == {*get_args(vocabulary.StreamKind), "any", "calls"}
    assert set(load_spec("lifecycle").needs["gate"]) == set(protocol.OUTCOMES_BY_GATE)
    assert {*load_spec("lifecycle").needs["observes"], "gate.open", "gate.closed", "inspect"} == set(
        protocol.LISTED
    )
    taken = {need.partition(".")[0] for need in load_spec("lifecycle").needs["decisions"]}
    assert taken == set(protocol.DecisionSupport.model_fields)
