"""A clause that was retired is still found by its id, which leads to the clause that says the same now."""

from importlib import import_module
from pathlib import Path

import pytest
from command_line import run
from places import ROOT
from sample_result import RESULT

from runlock.conformance.campaign.baseline import Baseline, Expected, compared
from runlock.conformance.campaign.order import Order, Sampled
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.judging.selection import Selection
from runlock.conformance.pytest_plugin.suite import outcomes_of
from runlock.spec.model import Retired

GONE = Retired(
    id="GATE-99",
    sentence="A rejected call has not run.",
    why="It is the same fact.",
    instead=["GATE-2"],
    revision="1.2",
)
SAYS = "GATE-99 was retired with revision 1.2; GATE-2 says it now"


@pytest.fixture(autouse=True)
def retired(monkeypatch):
    """A family that has retired a clause."""
    monkeypatch.setitem(FAMILY.spec.__dict__, "retired", {GONE.id: GONE})


@pytest.mark.parametrize("name", ["GATE-99", "gate-99"])
def test_a_retired_clause_is_explained(capsys, name):
    """What it said, and the clause that says it now; nothing else is guessed."""
    ran = run(capsys, "explain", name)

    assert " ".join(ran.out.split()).startswith(f"{SAYS}.")
    assert GONE.sentence in ran.out
    assert FAMILY.spec.clause("GATE-2").sentence.split()[0] in ran.out
    assert "Did you mean" not in ran.err


def test_a_retired_transition_of_the_message_loop_is_explained(capsys):
    """A family that says nothing of the id does not keep it from being found."""
    assert "retired with revision 1.2; ROUND-1 says it now" in run(capsys, "explain", "AUTH-51").out


def test_a_retired_clause_is_explained_to_a_machine(capsys):
    """Its kind tells it from a clause."""
    (found,) = run(capsys, "explain", "GATE-99", "--json").json["found"]

    assert (found["kind"], found["instead"]) == ("retired clause", ["GATE-2"])


@pytest.mark.parametrize("option", ["--only", "--skip"])
def test_a_retired_clause_is_not_selected_in_silence(capsys, option):
    """The answer is the id to use."""
    ran = run(capsys, "check", "reference", option, "GATE-99")

    assert ran.code == 2
    assert f"`{option} GATE-99` has no effect: {SAYS}." in " ".join(ran.err.split())


def test_an_audit_says_it_too(capsys, tmp_path):
    """Before a recording is read."""
    ran = run(capsys, "audit", tmp_path, "--skip", "GATE-99")

    assert ran.code == 2
    assert SAYS in " ".join(ran.err.split())


def test_a_suite_says_it_too():
    """Its tests fail with the sentence."""
    assert outcomes_of(
        Order("reference", Sampled(1), Selection(skip=("GATE-99",))), Path("suite")
    ).nothing == (f"`skip GATE-99` has no effect: {SAYS}.")


def test_a_baseline_is_told_the_new_id():
    """An entry that expects a retired clause to break is stale."""
    entry = Expected(clause="GATE-99", because="it ran", reason="known")

    assert compared(Baseline("known.toml", [entry]), RESULT, None).stale == {
        "GATE-99": f"known.toml expects GATE-99 to break, but {SAYS}: give the entry the new id."
    }


def test_the_site_keeps_a_place_for_it(monkeypatch):
    """The page of its area has an anchor with its id, to which links lead; the search finds it there."""
    monkeypatch.syspath_prepend(str(ROOT))
    clauses, markdown, search = map(
        import_module, ("docs.generator.clauses", "docs.generator.markdown", "docs.generator.search")
    )
    monkeypatch.setattr(clauses, "_clause", lambda family, one: "")
    page = clauses._page(FAMILY, "GATE")

    assert "## GATE-99: retired { #gate-99 " in page
    assert "Now\n:   [GATE-2](../clauses/gate.md#gate-2)" in page
    assert markdown.clause("GATE-99") == "[GATE-99](../clauses/gate.md#gate-99){ .id }"
    entry = {"location": "clauses/gate.html#gate-99", "title": "GATE-99: retired", "text": ""}
    assert search.tagged([entry])[0]["tags"] == ["gate99"]
