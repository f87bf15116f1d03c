"""Pictures of traces, of coverage and of kills say what the text says, and are the same each time."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from witness_traces import trace_of

from runlock.conformance.cli.main import main
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.timeline import timeline
from runlock.conformance.family.recordings import to_text
from runlock.conformance.selftest.witnesses import witnesses
from runlock.conformance.trace.trace import Trace
from runlock.diagrams import matrix
from runlock.diagrams import state_space as explored
from runlock.diagrams.lifecycle import sequence
from runlock.diagrams.lifecycle import sequence_svg as drawn_sequence
from runlock.diagrams.lifecycle import timeline_svg as drawn_timeline
from runlock.diagrams.lifecycle.sequence import (
    PERSON,
    RUNTIME,
    Noted,
    Sent,
)
from runlock.diagrams.render import graphviz_layout as layout
from runlock.diagrams.render.elk_layout import Placement
from runlock.diagrams.render.png import painted
from runlock.diagrams.render.svg import width_of, wrapped
from runlock.machines.joint.search import Search
from runlock.machines.lifecycle.joint.policies import choose
from runlock.machines.lifecycle.joint.transitions import Joint


@pytest.fixture
def trace():
    """A run whose call is rejected, and executed all the same."""
    return trace_of("RunsTheRejected")


@pytest.fixture
def recorded(trace, tmp_path):
    """The same run as a scenario file."""
    path = tmp_path / "RunsTheRejected.scenario"
    path.write_text(to_text(trace), "utf-8")
    return path


def words(drawing):
    """What is written in a picture, line by line."""
    return [
        one.text or "" for one in ElementTree.fromstring(drawing.text()).iter() if one.tag.endswith("text")
    ]


def test_the_picture_of_a_timeline_says_what_its_text_says(trace):
    """Each moment, each status as long as it lasts, and what is broken stand in the picture."""
    written = " ".join(words(drawn_timeline.drawn(trace, because="it was executed")))
    rows = timeline(trace)

    assert all(row.happened in written for row in rows)
    assert all(status in written for row in rows for status in (*row.calls.values(), row.run) if status)
    assert written.endswith("it was executed")


def test_a_status_that_stays_is_one_stretch():
    """A run that is Running for three moments is drawn once."""
    records = [
        {"scenario": {"scenario": "s"}},
        {"stimulus": {"method": "run.start", "params": {"run": "r1", "input": "go"}}},
        {"observation": {"kind": "run.status", "run": "r1", "to": "Running"}},
        {"report": {"quiescent": True, "refused": []}},
        {"stimulus": {"method": "settle", "params": {}}},
        {"report": {"quiescent": True, "refused": []}},
    ]
    written = words(drawn_timeline.drawn(Trace(records)))

    assert written.count("Running") == 1


def test_the_sequence_knows_who_speaks_to_whom(trace):
    """Stimuli come from the world, gates go to it, and statuses are notes on the runtime's own line."""
    parts = sequence.sequence(trace, "it was executed")
    sent = [part for part in parts if isinstance(part, Sent)]

    assert (sent[0].source, sent[0].target) == (PERSON, RUNTIME)
    assert (sent[1].target, sent[1].words) == ("model", "the model is asked")
    assert any(part.source == "model" and part.is_answer for part in sent)
    assert parts[-1] == Noted("it was executed", is_end=True)


def test_the_two_forms_of_a_sequence_have_the_same_parts(trace):
    """What Mermaid says is drawn, and what is drawn Mermaid says."""
    text = sequence.mermaid(trace)
    drawing = ElementTree.fromstring(drawn_sequence.drawn(trace).text())
    parts = sequence.sequence(trace)
    arrows = [one for one in drawing.iter() if one.tag.endswith("path")]

    assert len(re.findall(r"->>", text)) == len(arrows) == sum(isinstance(part, Sent) for part in parts)
    assert text.count("Note over") == sum(isinstance(part, Noted) for part in parts)


def test_mermaid_reads_words_as_words():
    """What a runtime says cannot end a line of Mermaid, or begin another."""
    assert sequence._safe("a; b # c\n<d> {e}") == "a#59; b #35; c\n#60;d#62; #123;e#125;"


@pytest.mark.long
def test_every_witness_can_be_drawn():
    """Every witness fits into a picture; nothing is drawn outside of its paper."""
    for name in [*witnesses(FAMILY)][::9]:
        trace = trace_of(name)
        for made in (drawn_timeline.drawn(trace), drawn_sequence.drawn(trace)):
            places = [float(x) for x in re.findall(r' x="([-\d.]+)"', made.text())]

            assert 0 <= min(places) <= max(places) <= made.width


def test_words_are_wrapped_into_their_room():
    """A line takes no more room than there is, unless one word alone does."""
    lines = wrapped("the segment ends: Suspended, c1 pending, and more", 100, 12)

    assert len(lines) > 1
    assert all(width_of(line, 12) <= 100 for line in lines)


KILLS = {
    "mutants": 2, "killed": 1, "variants": 1, "passed": 1,
    "kills": [
        {"mutant": "Late", "clause": "RUN-2", "blamed": {"RUN-2": 7, "CALL-1": 9}, "why": ""},
        {"mutant": "Early", "clause": "CALL-4", "blamed": {}, "why": "CALL-4 was not blamed"},
    ],
}  # fmt: skip


def test_the_kill_matrix_has_a_cell_for_each_area_that_was_blamed():
    """The clause of a mutant is distinguished from what it also breaks; a survivor has no cell."""
    text = matrix.drawn(KILLS).text()

    assert "1 of 2 mutants killed, 1 of 1 variants passed" in text
    assert re.findall(r"<title>([^<]* was blamed [^<]*)</title>", text) == [
        "Late was blamed on CALL-1 at schedule 9",
        "Late was blamed on RUN-2 at schedule 7",
    ]


def test_a_cell_of_the_kill_matrix_leads_to_the_clause_that_was_blamed():
    """A row leads to the clause of its mutant, and each cell to what was blamed there; alone, nowhere."""
    text = matrix.drawn(KILLS, link=lambda clause: f"#{clause}").text()

    assert re.findall(r'href="#(.*?)"', text) == ["CALL-4", "RUN-2", "CALL-1", "RUN-2"]
    assert "href" not in matrix.drawn(KILLS).text()


def test_an_area_that_is_blamed_besides_has_a_column():
    """Where no mutant is made to break an area, what breaks it as well is seen all the same."""
    besides = {**KILLS, "kills": KILLS["kills"][:1]}

    assert ">CALL<" in matrix.drawn(besides).text()


@pytest.fixture
def one_call():
    """Every joint state of a run with one call, without crashes."""
    return Search(Joint(choose("awaken-8", {}).policies, 1, crashes=0)).run()


def test_folded_states_look_alike_from_outside(one_call):
    """The picture has a box for each pair of statuses, which stand for all states, and no line to itself."""
    nodes, lines = explored.folded(one_call)
    stand_for = [1 if node.told.startswith("one ") else int(node.told.split()[0]) for node in nodes]

    assert sum(stand_for) == one_call.states == 445
    assert len({node.words for node in nodes}) == len(nodes) < 20
    assert {node.words for node in nodes if node.fill == "wait"} == {
        "run Waiting\ncall Suspended", "run Waiting\ncall Cancelled"
    }  # fmt: skip
    done = [node.words for node in nodes if node.words.startswith("run Done\n")]
    assert done and not [words for words in done if words.endswith(("New", "ing", "ended"))]
    assert all(start != end for start, end, _ in lines)


def test_a_picture_without_calls_has_the_statuses_of_the_run(one_call):
    """Folded by the run alone there is a box for each of its statuses."""
    nodes, _ = explored.folded(one_call, of_call="")

    assert {node.words for node in nodes} == {"run Running", "run Waiting", "run Done"}


def test_moves_between_the_same_states_share_a_line():
    """A picture has one line between two boxes, with every move and its clauses."""
    lines = [(0, 1, {"starts": ("CALL-1",)}), (1, 0, {"ends": ()}), (0, 1, {"fails": ("CALL-5",)})]
    both = {"starts": ("CALL-1",), "fails": ("CALL-5",)}

    assert explored.merged(([], lines)) == ([], [(0, 1, both), (1, 0, {"ends": ()})])


def test_an_explored_graph_is_drawn_where_it_is_placed(one_call):
    """The positions of its boxes and lines are in its source."""
    where = Placement(9, 9, {"s0": "4,5"}, {}, {("s0", "s1"): {"pos": "1,2"}})
    source = explored.dot(explored.folded(one_call), "g", "lifecycle", where=where)

    assert re.search(r's0 \[.*, pos="4,5"\]', source)
    assert re.search(r's0 -> s1 \[.*, pos="1,2"\]', source)
    assert 'bb="0,0,9.0,9.0"' in source


def test_a_line_between_folded_states_has_every_clause_of_its_moves(one_call):
    """Each clause that an edge between them carries stands next to the line, once for each move."""
    nodes, lines = explored.folded(one_call)
    companions = {(nodes[start].words, nodes[end].words): found for start, end, found in lines}

    assert companions["run Running\ncall Suspended", "run Waiting\ncall Suspended"] == {
        "the run waits": ("RUN-1",)
    }
    assert companions["run Running\ncall Failed", "run Done\ncall Failed"] == {
        "the run is Done": ("RUN-3", "RUN-4", "RUN-5", "RUN-6", "RUN-7", "RUN-8")
    }


def test_an_explored_graph_leads_to_its_clauses(one_call):
    """With places for clauses each id next to a line is a link; without, a picture stands alone."""
    graph = explored.folded(one_call)

    assert 'HREF="#RUN-1"' in explored.dot(graph, "g", "lifecycle", lambda clause: f"#{clause}")
    assert "HREF" not in explored.dot(graph, "g", "lifecycle")


def test_two_explored_graphs_stand_on_one_page(one_call):
    """The parts of a picture are named after it, so that no two places of a page have one name."""
    first, second = (
        set(
            re.findall(
                r' id="(.*?)"',
                layout.svg(explored.dot(explored.folded(one_call), name, "lifecycle"), name).text(),
            )
        )
        for name in ("a", "b")
    )

    assert first and not first & second


RESULT = {
    "coverage": [
        {
            "chart": "Barrier",
            "arrows": [{"clause": "ROUND-80", "taken": 4}, {"clause": "ROUND-81", "taken": 0}],
        }
    ]
}


@pytest.mark.parametrize(("taken", "often"), [(0, "never"), (1, "once"), (4, "4 times")])
def test_an_arrow_says_how_often_it_was_taken(taken, often):
    """In words, on the chart."""
    covered = [{"chart": "Barrier", "arrows": [{"clause": "ROUND-80", "taken": taken}]}]

    assert f"<B>{often}</B>" in dict(painted({"coverage": covered}))["Barrier"]


@pytest.mark.parametrize(
    ("name", "content", "made"),
    [
        ("kills.json", KILLS, ["kills.svg"]),
        ("result.json", RESULT, ["result.Barrier.svg"]),
    ],
)
def test_a_file_is_drawn_during_itself(tmp_path, capsys, name, content, made):
    """`runlock draw` finds out by itself what a file holds, and says what it wrote."""
    (tmp_path / name).write_text(json.dumps(content))

    assert main(["draw", str(tmp_path / name)]) == 0
    assert capsys.readouterr().out.splitlines() == [str(tmp_path / one) for one in made]
    assert all((tmp_path / one).read_text().startswith("<svg") for one in made)


def test_a_trace_is_drawn_three_times(tmp_path, capsys, recorded):
    """A timeline, a sequence, and the text of the sequence."""
    assert main(["draw", str(recorded), "-o", str(tmp_path)]) == 0
    assert [Path(line).name for line in capsys.readouterr().out.splitlines()] == [
        "RunsTheRejected.timeline.svg",
        "RunsTheRejected.sequence.svg",
        "RunsTheRejected.sequence.mmd",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("toolcal",), "There is no chart toolcal. Did you mean `ToolCall`?"),
        (("Run", "--format", "pgn"), "There is no format pgn. Did you mean `png`?"),
        (
            ("Run", "--format", "xyz"),
            "There is no format xyz. There are dot, mermaid, scxml, json, svg, png.",
        ),
        (("Run", "-o", "-"), "`-o -` writes one file to standard output, and this makes 4."),
        (("no.jsonl",), "no.jsonl cannot be read: No such file or directory."),
        (("no.json",), "no.json cannot be read: No such file or directory."),
    ],
)
def test_a_slip_is_told(capsys, words, said):
    """Whatever is mistyped, a sentence says what was written and what would have been right."""
    assert main(["draw", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_trace_has_no_png(capsys, recorded):
    """A format that a trace is not drawn in is turned down with those that it is drawn in."""
    assert main(["draw", str(recorded), "--format", "png", "-o", "-"]) == 2
    assert "is not drawn as png. It is drawn as svg or mermaid." in capsys.readouterr().err


@pytest.mark.parametrize("content", ["{}", "[]", "{"])
def test_a_file_that_holds_nothing_to_draw_is_told(tmp_path, capsys, content):
    """A file of another kind is named, with what writes the right one."""
    (tmp_path / "odd.json").write_text(content)

    assert main(["draw", str(tmp_path / "odd.json")]) == 2
    assert "odd.json" in (said := capsys.readouterr().err)
    assert "Such a file is written by `check`, as result.json" in said


def test_a_folder_that_is_a_file_is_told(tmp_path, capsys):
    """-o names a folder."""
    (tmp_path / "taken").write_text("")

    assert main(["draw", "Run", "-o", str(tmp_path / "taken")]) == 2
    assert "taken: File exists. -o names a folder." in capsys.readouterr().err


def test_one_picture_goes_to_standard_output(capsysbinary):
    """A picture can be piped."""
    assert main(["draw", "Barrier", "--format", "png", "-o", "-"]) == 0
    assert capsysbinary.readouterr().out.startswith(b"\x89PNG")
