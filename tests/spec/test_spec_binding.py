"""Words and checks are bound to each other: what the spec forbids is looked at, and nothing else is."""

import pytest
from source_coverage import ACP_SOURCES, PAGE_REVISIONS, PAGES
from spec_binding import unchecked, unspoken

from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.spec.model import load_spec, read_spec

LIFE = """
[[clause]]
id = "LIFE-1"
level = "{level}"
severity = "thread dead"
sentence = "A life ends."
intent = "There is an end to it."
sources = ["somewhere § Lives"]
"""


@pytest.fixture
def spec_of(tmp_path):
    """A spec whose only clause is this one."""

    def read(clause):
        for folder in ("clauses", "profiles"):
            (tmp_path / folder).mkdir()
        (tmp_path / "clauses" / "life.toml").write_text(clause, encoding="utf-8")
        (tmp_path / "policies.toml").write_text("")
        (tmp_path / "needs.toml").write_text("")
        (tmp_path / "profiles" / "calm.toml").write_text(
            'name = "calm"\nsentence = "A calm life."\nsource = "somewhere § Lives"\n'
        )
        return read_spec(tmp_path)

    return read


def test_every_clause_is_checked_or_says_why_not():
    """What a clause forbids is looked at, unless it says why no one can; a permission forbids nothing."""
    assert list(unchecked(load_spec("lifecycle"), FAMILY.checked).values()) == []


def test_every_check_is_of_a_clause():
    """Every clause that can be blamed is in the spec."""
    assert list(unspoken(load_spec("lifecycle"), FAMILY.checked)) == []


@pytest.mark.parametrize("level", ["MUST", "SHOULD"])
def test_a_clause_that_nothing_checks_is_refused(spec_of, level):
    """The sentence names the file and the clause, and says what would be right."""
    assert unchecked(spec_of(LIFE.format(level=level)), set()) == {
        "LIFE-1": "life.toml, clause LIFE-1: nothing checks it; write an invariant or an arrow for it, "
        "or say why it is untestable."
    }


@pytest.mark.parametrize(
    ("clause", "checked"),
    [
        (LIFE.format(level="MUST"), {"LIFE-1"}),
        (LIFE.format(level="MAY"), set()),
        (LIFE.format(level="MUST") + 'untestable = "nobody has seen the end"\n', set()),
    ],
    ids=["checked", "a permission", "untestable"],
)
def test_a_clause_that_is_accounted_for_is_not_refused(spec_of, clause, checked):
    """A check, a reason, or nothing to forbid: each is an answer."""
    assert unchecked(spec_of(clause), checked) == {}


def test_a_check_of_no_clause_is_refused(spec_of):
    """A check that was left behind, or that misspells its clause, is named with the file to look into."""
    assert list(unspoken(spec_of(LIFE.format(level="MUST")), {"LIFE-1", "LIFE-2"})) == [
        "A check is of LIFE-2, which is no clause; write its words into life.toml."
    ]


def test_the_documents_that_are_cited_are_those_of_the_sources():
    """A clause or a policy that cites a document which there is not, cites nothing."""
    spec = load_spec("lifecycle")
    documents = {"tirea", "awaken-8", "awaken-9", "tool-runner", "message-loop", "runlock"}
    documents |= {f"ag-ui-1.1-{page}" for page in (*PAGES, "run-input", "versioning", "changelog")}
    documents |= {*ACP_SOURCES}
    documents |= {f"ag-ui-{revision}-lifecycle" for revision in PAGE_REVISIONS}
    cited = [(one.id, source) for one in spec.clauses.values() for source in one.sources]
    cited += [(one.key, source) for one in spec.policies.values() for source in one.sources]
    cited += [(one.name, one.source) for one in spec.profiles.values()]

    assert [(who, source) for who, source in cited if source.partition(" § ")[0] not in documents] == []
