"""The pages of real runtimes: a broken cell leads to what shows its violation, and numbers agree."""

import json
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from places import ROOT

from runlock.conformance.campaign.environments import ADAPTERS
from runlock.conformance.campaign.runtimes import as_of, runtimes
from runlock.conformance.family.family import families
from runlock.conformance.report import undeclared
from runlock.conformance.report.matrix import causes, place
from runlock.diagrams.charts.playable import packed
from runlock.spec.model import SEVERITIES

REPORT = json.loads((ROOT / "docs" / "matrix.json").read_text("utf-8"))


@pytest.fixture
def module(monkeypatch):
    """The modules that write the pages, by name."""
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: import_module(f"docs.generator.{name}")


@pytest.fixture(scope="module")
def pages():
    """The page of each runtime."""
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(ROOT))
        return dict(import_module("docs.generator.runtimes").pages())


@pytest.mark.long
def test_a_broken_cell_leads_to_its_counterexample_and_program(pages):
    """The section of a cell has its scenario file, and the program that shows it without the kit."""
    for runtime in REPORT["runtimes"]:
        sections = re.split(r"^##+ ", pages[f"runtimes/{runtime['name']}.md"], flags=re.MULTILINE)
        for found in runtime.get("violations", ()):
            [section] = [one for one in sections if f'<a id="{found["clause"].lower()}">' in one]

            assert f"(../{place(Path(), runtime['name'], found['clause']).as_posix()})" in section
            assert ("](../standalone/" in section) != ("No program shows this without the kit yet" in section)


def test_what_a_clause_says_of_a_runtime_has_its_place(module, pages):
    """A runtime that holds or breaks a clause leads to a place of this clause, and not to another one."""
    words = "\n".join(module("matrix").verdicts_in_words("lifecycle", "GATE-2", ".."))
    links = re.findall(r"\.\./(runtimes/[\w.-]+\.md)#([\w-]+)", words)

    assert {anchor for _, anchor in links} >= {"gate-2"}
    for page, anchor in links:
        assert ("{ #not-tested }" if anchor == "not-tested" else f'<a id="{anchor}">') in pages[page]


def test_a_clause_that_no_runtime_tested_says_so(module):
    """The fact is never left out."""
    assert list(module("matrix").verdicts_in_words("lifecycle", "KEEP-1", "..")) == ["it was tested on none"]


def test_each_violation_of_the_first_edition_is_judged_again():
    """It is seen today as a cause of its own, or there is a reason why it is not."""
    first = tomllib.loads((ROOT / "docs" / "first-edition.toml").read_text("utf-8"))
    reasons = {**first["corrected"], **first["withdrawn"]}
    named = {f"{name} {clause}" for name, clauses in first["violations"].items() for clause in clauses}
    today = {f"{one['name']} {found['clause']}" for one in REPORT["runtimes"] for found in causes(one)}

    assert named - today == reasons.keys()


def test_each_page_links_to_its_adapter(module, pages):
    """The file is published next to the pages."""
    files = dict(module("matrix").files())
    for page in pages.values():
        [place] = re.findall(r" schedules\. Adapter: \[.*\]\(\.\./(.*)\)\.$", page, re.MULTILINE)

        assert files[place]


def test_the_numbers_of_the_pages_agree(module, pages):
    """The faults of the summary are the findings of the matrix; a page has a heading for each of its own."""
    found = re.search(r"found (\d+)\s+faults", module("evidence").summary())[1]
    shown = [one for one in REPORT["findings"] if one["program"] and one["against"] != "documented"]

    assert len(shown) == int(found)
    for runtime in REPORT["runtimes"]:
        own = [one for one in REPORT["findings"] if runtime["name"] in one["configurations"]]
        assert pages[f"runtimes/{runtime['name']}.md"].count("\n### ") == len(own)


def test_the_playground_shows_what_the_runtime_did(module):
    """Its trace is in a file of its own, which the page of the playground loads; else it shows a mutant."""
    runtimes = module("runtimes")
    own = 'The <a href="../play.html#runtime=langgraph&amp;clause=DERIVE-6">playground</a> shows what it did,'
    scripts = dict(runtimes.files())
    table, told = scripts["assets/traces/langgraph.js"].split(" = ", 1)
    found = json.loads(told.rstrip(";\n"))["DERIVE-6"]

    assert runtimes._playground("langgraph", "lifecycle", "DERIVE-6").startswith(own)
    assert table == '(globalThis.TRACES ??= {})["langgraph"]'
    assert found["because"].startswith("DERIVE-6: ")
    assert found["trace"] == packed(runtimes.own_traces()["langgraph", "DERIVE-6"])


def test_without_a_trace_the_playground_shows_a_mutant_that_breaks_the_same_clause(module):
    """For the family whose mutants it plays."""
    runtimes = module("runtimes")
    assert runtimes._playground("no one", "lifecycle", "GATE-2").startswith(
        'The <a href="../play.html#trace='
    )
    assert runtimes._playground("no one", "message-loop", "WIRE-4") == ""


def test_what_an_adapter_does_not_declare_has_a_reason():
    """Each feature that a column lacks is explained, and no other."""
    tables = undeclared.tables()
    absent = tables.get("absent", {})
    explained = {
        (place, why)
        for every in (tables, absent)
        for place, rows in every.items()
        if rows is not absent
        for why in rows
    }
    found = REPORT["runtimes"]
    used = {(place, why) for one in found for why in untested(one) for place in undeclared.places(one)}

    assert [
        (one["name"], why) for one in found for why in lacks(one) if not undeclared.sentence(one, why)
    ] == []
    assert explained - used == set()


LACKED = re.compile(
    "(the (runtime|runner|user of a stream|kit may)|its (waits|decisions)|no (tool|turn|look)|it cannot) "
)


def lacks(runtime):
    """What the kit misses in the handshake of a runtime, apart from policies and exact settling."""
    parts = (part for part in untested(runtime) if ", and " not in part)
    return [part for part in parts if LACKED.match(part) and "settles" not in part]


def untested(runtime):
    """The reasons why clauses were not tested, also each part of one."""
    reasons = list(runtime["clauses"].get("untested", {}))
    return {*reasons, *(part for why in reasons for part in why.split(", and "))}


# --- by question, and by library ------------------------------------------------------------------


def test_each_finding_stands_on_the_page_of_a_question(module):
    """What a program shows belongs to one of the questions at least."""
    questions = module("questions")
    on_a_page = {one.name for question in questions.QUESTIONS for one in questions.about(question)}

    assert {one.name for one in questions.every()} - on_a_page == set()


def test_a_question_is_about_clauses_that_there_are(module):
    """A clause that was renamed or retired does not fall out of a page without a word."""
    known = {clause for family in families() for clause in family.spec.clauses}
    questions = module("questions").QUESTIONS

    assert [one.clauses - known for one in questions if one.clauses - known] == []
    assert [one.areas - {name.rpartition("-")[0] for name in known} for one in questions] == [set()] * 6


def test_a_question_compares_all_configurations_sorted(module):
    """Those without a finding come first, and what was not exercised at all comes last."""
    for text in list(dict(module("questions").pages()).values())[1:]:
        rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| [")]
        worst = [row[1] for row in rows]

        assert len(rows) == len([one for one in REPORT["runtimes"] if one["verdict"]])
        order = ["none", *reversed(SEVERITIES), "not tested"]
        assert worst == sorted(worst, key=order.index)
        assert [row[2] for row in rows if row[1] == "none"] == ["0"] * worst.count("none")


def test_each_library_has_a_page_with_its_findings_its_day_and_how_to_dispute_them(module):
    """Every link leads to a clause on the page of a configuration; what is documented stands apart."""
    pages = dict(module("libraries").pages())
    own = {one["library"] for one in REPORT["findings"]}

    assert {f"libraries/{name}.md" for name in own} <= pages.keys()
    assert len(pages) == REPORT["counts"]["libraries"]
    for text in pages.values():
        assert f" {as_of()}" in text
        assert "\n## How to dispute this\n" in text
    assert "\n## Documented, and we disagree\n" in pages["libraries/agno.md"]
    rows = sum(line.startswith("| ") for text in pages.values() for line in text.splitlines())
    assert rows == REPORT["counts"]["violations"] + sum("\n## Findings\n" in text for text in pages.values())


def test_the_clauses_of_a_library_are_those_of_its_family(module):
    """A clause of a tool runner leads to the pages of that family."""
    pages = dict(module("libraries").pages())

    assert "(../families/tool-runner/clauses/runner.md#runner-33)" in pages["libraries/anthropic.md"]
    assert "(../clauses/pair.md#pair-8)" in pages["libraries/agno.md"]


def test_a_finding_leads_to_its_place_on_the_page_of_a_configuration(module, pages):
    """Each anchor is there."""
    texts = {**dict(module("libraries").pages()), **dict(module("questions").pages())}
    links = {
        link for text in texts.values() for link in re.findall(r"\.\./(runtimes/[\w.-]+\.md)#([\w-]+)", text)
    }

    assert links
    assert {(page, anchor) for page, anchor in links if f'<a id="{anchor}">' not in pages[page]} == set()


# --- what adapters decide -------------------------------------------------------------------------


@pytest.mark.parametrize("runtime", runtimes(), ids=lambda one: one.name)
def test_what_an_adapter_decides_stands_on_the_page_with_its_reason(module, runtime):
    """Each decision and each reason is a sentence, and no adapter decides nothing."""
    text = module("runtimes")._deviations(runtime.name).replace("\\", "")
    words = [word for pair in runtime.deviations.items() for word in pair]

    assert all(re.fullmatch(r"[A-Z].*\.", word) for word in words)
    assert [word for word in words if word not in text] == []
    assert words


def test_a_decision_is_that_of_adapters_that_there_are():
    """A configuration that was renamed takes its decisions with it, and each stands there once."""
    decided = tomllib.loads(ADAPTERS.joinpath("runtimes.toml").read_text("utf-8"))["deviation"]
    known = {one.name for one in runtimes()}

    assert [one["what"] for one in decided if not set(one["of"]) <= known or not one["of"]] == []
    assert len({(one["what"], one["why"]) for one in decided}) == len(decided)
