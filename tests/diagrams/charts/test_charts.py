"""The pictures of the charts: made from the charts alone, and the same wherever they are made.

The text of each is pinned by a digest; `pytest -k test_charts --rewrite` writes them.
"""

import hashlib
import json
import re
from collections import Counter
from html import unescape
from xml.etree import ElementTree

import pytest
from places import GOLDEN
from statemachine import io

from runlock.diagrams.charts.data import as_object
from runlock.diagrams.charts.dot import DotOptions, dot, page_of
from runlock.diagrams.charts.formats import FORMS
from runlock.diagrams.charts.mermaid import mermaid
from runlock.diagrams.charts.picture import pictures
from runlock.diagrams.charts.scxml import OURS, scxml
from runlock.diagrams.lifecycle.regions import DERIVED
from runlock.diagrams.render import graphviz_layout as layout
from runlock.diagrams.render.palette import LIGHT
from runlock.machines.catalogue import tables

DIGESTS = GOLDEN / "charts.txt"
TEXT = {name: form for name, form in FORMS.items() if form.is_text}
NAMES = sorted(pictures())


def digests():
    """A digest of each text of each chart, by the name of its file."""
    made = {f"{name}.{form.ending}": form.make(pictures()[name]) for name in NAMES for form in TEXT.values()}
    return {name: hashlib.sha256(content).hexdigest()[:16] for name, content in made.items()}


def test_the_text_of_each_chart_is_the_same_everywhere(rewrites):
    """What `runlock draw` writes is the same, byte for byte, as when the digests were written."""
    now = digests()
    if rewrites:
        DIGESTS.write_text("".join(f"{name} {one}\n" for name, one in now.items()), "utf-8")
        return
    kept = dict(line.split() for line in DIGESTS.read_text("utf-8").splitlines())

    assert {name for name in now.keys() | kept.keys() if now.get(name) != kept.get(name)} == set(), (
        "run `runlock draw` before and after the change, and compare the files; then `--rewrite`"
    )


def test_every_chart_is_drawn():
    """The tables, and the one chart that has regions."""
    assert set(NAMES) == {*(table.name for table in tables("lifecycle")), DERIVED}


def read_back(name):
    """The arrows of a chart as the chart library reads its SCXML."""
    chart = io.load(scxml(pictures()[name]), format="scxml", name=name)
    stack = list(chart.states)
    while stack:
        state = stack.pop()
        stack += state.states
        for arrow in state.transitions:
            if not arrow.initial:
                yield state.id, str(arrow.event), tuple(str(one) for one in arrow.cond), arrow.target.id


@pytest.mark.parametrize("name", NAMES)
def test_scxml_comes_back_as_the_chart_that_it_was(name):
    """Another program reads the same arrows, with the same guards, out of the SCXML."""
    drawn = [(one.source, one.event, one.guards, one.target) for one in pictures()[name].arrows]

    assert Counter(read_back(name)) == Counter(drawn)


@pytest.mark.parametrize("name", NAMES)
def test_scxml_begins_and_ends_where_the_chart_does(name):
    """The chart library enters the states that the chart begins in, and finds the same ends."""
    picture = pictures()[name]
    begun = io.load(scxml(picture), format="scxml", name=name)()
    first = {place.id for place in picture.leaves if place.is_initial}
    ends = {
        one.get("id") for one in ElementTree.fromstring(scxml(picture)).iter() if one.tag.endswith("}final")
    }

    assert first == {state.id for state in begun.configuration} & {place.id for place in picture.leaves}
    assert ends == {place.id for place in picture.leaves if place.is_final}


@pytest.mark.parametrize("name", NAMES)
def test_every_form_names_every_clause(name):
    """No arrow is drawn without the clause that allows it, in whatever form."""
    arrows = Counter(one.clause for one in pictures()[name].arrows)
    in_scxml = ElementTree.fromstring(scxml(pictures()[name])).iter()

    assert Counter(re.findall(r"\(([A-Z]+-\d+)\)", mermaid(pictures()[name]))) == arrows
    assert Counter(one["clause"] for one in as_object(pictures()[name])["arrows"]) == arrows
    assert (
        Counter(one.get(f"{{{OURS}}}clause") for one in in_scxml if one.tag.endswith("transition")) == arrows
    )
    assert Counter(re.findall(r'SIZE="8" COLOR="#\w+">([A-Z]+-\d+)</FONT>', dot(pictures()[name]))) == arrows


def test_json_holds_a_whole_table():
    """A reader of the JSON can refuse what the table refuses: states, ends, arrows in order, closings."""
    for table in tables("lifecycle"):
        made = json.loads(FORMS["json"].make(pictures()[table.name]))
        arrows = [
            (one["clause"], one["from"], one["on"], one["to"], tuple(one["if"]), one["when"])
            for one in made["arrows"]
        ]
        rows = [(row.clause, row.source, row.event, row.target, row.guards, row.phrase) for row in table.rows]

        assert arrows == rows
        assert made["initial"] == table.initial
        assert {one["id"]: one["closed"] for one in made["states"]} == dict(table.closed)
        assert {one["id"] for one in made["states"] if one["final"]} == table.finals


def test_states_inside_others_stay_there():
    """No state of a region is drawn outside of its frame, which is where the chart library puts some."""
    text = dot(pictures()[DERIVED])
    for region in ("c1", "c2", "run"):
        frame = text[text.index(f"subgraph cluster_{region} ") :]
        inside = frame[: frame.index("\n\t\t}")]

        assert set(re.findall(r"\n\t\t\t(\w+) \[", inside)) == {
            one.id for one in pictures()[DERIVED].leaves if one.id.startswith(f"{region}_")
        }


def test_checkpoints_are_marked():
    """A state that is entered when something is durable looks like what it is."""
    marked = re.findall(r'\n\t(\w+) \[.*class="state checkpoint[ "]', dot(pictures()["RunFlow"]))

    assert marked == ["CommitUser", "CommitReplay0", "CommitAssistant", "CommitTool", "CommitFinished"]


def node(chart, name):
    """The line that draws a state."""
    return next(one for one in dot(pictures()[chart]).splitlines() if one.startswith(f"\t{name} ["))


def test_a_final_checkpoint_looks_like_both():
    """It keeps the shape of a checkpoint and has the double rim of a final state."""
    line = node("RunFlow", "CommitFinished")

    assert "shape=cylinder" in line
    assert "peripheries=2" in line


def test_no_word_is_broken_inside():
    """Every word of every phrase stands whole on one of its lines."""
    for picture in pictures().values():
        text = re.sub(r"<[^>]*>", "\n", dot(picture))
        assert {word for arrow in picture.arrows for word in arrow.phrase.split()} <= set(
            unescape(text).split()
        )


def test_states_have_the_colours_of_their_names():
    """Good ends are green, bad ones red, what waits is yellow, in every chart."""
    looks = {"Succeeded": "good", "Failed": "bad", "Suspended": "wait", "Cancelled": "idle"}
    for name, fill in looks.items():
        assert LIGHT[fill] in node("ToolCall", name)


def test_coverage_is_painted_on_the_arrows():
    """An arrow says how often it was taken, that it never was, or that it cannot be seen."""
    counts = {row.clause: 3 for row in compile_named("Run").rows if row.clause != "RUN-6"}
    del counts["RUN-4"]
    painted = dot(pictures()["Run"], DotOptions(page_of, {**counts, "RUN-6": 0}))

    assert painted.count("3 times") == len(counts)
    assert painted.count("never") == painted.count("not seen from outside") == 1


def compile_named(name):
    return next(table for table in tables("lifecycle") if table.name == name)


@pytest.fixture
def laid_out():
    """A picture of one chart."""
    return layout.svg(dot(pictures()["ToolCall"]), "ToolCall").text()


def test_a_clause_is_a_link_with_its_sentence(laid_out):
    """In a picture each arrow leads to its clause, and shows the words of it."""
    root = ElementTree.fromstring(laid_out)
    links = [one for one in root.iter() if one.tag.endswith("}a")]
    led = Counter(one.get("href") for one in links)
    tips = [one[0].text for one in links]

    assert all(led[page_of(one.clause)] for one in pictures()["ToolCall"].arrows)
    assert any(tip.startswith("CALL-1: A call that nothing holds back") for tip in tips)


def test_words_stand_above_lines(laid_out):
    """A line that crosses words does not hide them: it is drawn before."""
    assert laid_out.rindex("<polygon") < laid_out.index('class="words"')


def test_a_picture_is_the_same_twice(laid_out):
    """Nothing of the machine, and nothing of chance, is in a picture."""
    assert laid_out == layout.svg(dot(pictures()["ToolCall"]), "ToolCall").text()
    assert layout.png(dot(pictures()["Barrier"]))[:4] == b"\x89PNG"


def test_without_anything_that_lays_out_it_is_said(monkeypatch):
    """Without Graphviz the message says how to install it, and what works without."""
    monkeypatch.setattr(layout.shutil, "which", lambda *_, **__: None)

    with pytest.raises(layout.UsageError, match=r"\[diagrams\].* brings the first"):
        layout.program()
