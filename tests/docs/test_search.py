"""The index of the search has a tag for each clause, and what is typed is turned into such a tag."""

import json
import shutil
import subprocess
from importlib import import_module

import pytest
from places import ROOT

NODE = shutil.which("node")
FIND = ROOT / "docs" / "assets" / "find.js"


@pytest.fixture
def search(monkeypatch):
    """The module that tags the index."""
    monkeypatch.syspath_prepend(str(ROOT))
    return import_module("docs.generator.search")


def entry(location):
    return {"location": location, "title": "t", "text": "x"}


def test_a_clause_has_its_id_as_a_tag(search):
    """A section of a page of clauses has a tag; other sections and other pages have none."""
    named = ["clauses/gate.html#gate-2", "clauses/gate.html", "concepts/index.html#gate-2"]
    tags = [one.get("tags") for one in search.tagged(map(entry, named))]

    assert tags == [["gate2"], None, None]


def test_the_name_of_a_runtime_leads_to_its_page(search):
    """Pages of clauses name runtimes, too, and would come first; a further configuration has a section."""
    places = ["langgraph.html", "langgraph.html#langgraph", "google-adk.html#google-adk-resumable"]
    tags = [one.get("tags") for one in search.tagged(entry(f"libraries/{place}") for place in places)]

    assert tags == [["langgraph"], None, ["googleadkresumable"]]


def test_a_clause_of_a_further_family_comes_after_that_of_the_default_one(search):
    """Both have a GATE-2; the entries differ by their weight, and each names its family."""
    further = "families/message-loop/clauses/gate.html#gate-2"
    first, second = search.tagged(map(entry, ["clauses/gate.html#gate-2", further]))

    assert [first["title"], second["title"]] == ["t (lifecycle)", "t (message-loop)"]
    assert first["tags"] == second["tags"] == ["gate2"]
    assert second["boost"] < first.get("boost", 1)


def test_a_text_of_a_generated_page_is_cut(search):
    """Its beginning is kept, without tags; a page that was written by hand is kept whole."""
    long = {"title": "t", "text": "<p>one <code>two</code></p> " + "word " * 100}
    cut, whole = search.tagged([{**long, "location": where} for where in ("clauses/gate.html", "faq.html")])

    assert cut["text"].startswith("one two word")
    assert len(cut["text"]) <= search.BEGINNING + 2
    assert len(whole["text"]) > 400


@pytest.mark.site
@pytest.mark.long
def test_the_index_is_small(site):
    """A reader who opens the search waits for no more than a megabyte."""
    assert (site / "search" / "search_index.json").stat().st_size <= 1_000_000


@pytest.mark.skipif(NODE is None, reason="there is no `node` on the PATH")
def test_what_is_typed_becomes_a_tag(search):
    """An id is recognized in any spelling; the area decides that it is one."""
    typed = ["GATE-2", "gate-2", "GATE2", "gate 02", "step 2", "--exhaustive", "a gate", "see RUN-3 now"]
    typed += ["LangGraph GATE-2", "Installation guide", "human in the loop", "Is an AG UI server wrong?"]
    typed += ["RESUME_TOOL_CALL", "a tool call", "the"]
    prepared = f"{json.dumps(typed)}.map(require({json.dumps(str(FIND))}).prepared)"
    code = f"{search.script()} console.log(JSON.stringify({prepared}))"
    ran = subprocess.run([NODE, "-e", code], capture_output=True, text=True, check=True)

    same = ["+gate2"] * 4
    others = ["step 2", "exhaustive", "gate", "see +run3 now"]
    words = ["LangGraph +gate2", "Install guide", "human loop", "aguiserver wrong"]
    assert json.loads(ran.stdout) == [*same, *others, *words, "xresumetoolcall", "tool call", "the"]
