"""`runlock explore`: what it says to a person and to a machine, what it exports, and what it turns down."""

import io
import json
import re
from dataclasses import replace

import pytest
from command_line import run

from runlock.conformance.cli.commands import explore as command
from runlock.conformance.families.lifecycle.exploration import Explored, Plan, guess
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.report.console import Page
from runlock.conformance.report.state_space import as_json, write
from runlock.machines.joint.search import Search
from runlock.machines.lifecycle.joint.calls import Calls
from runlock.machines.lifecycle.joint.checker import judge
from runlock.machines.lifecycle.joint.clauses import rules_for
from runlock.machines.lifecycle.joint.policies import choose
from runlock.machines.lifecycle.joint.transitions import Joint, charts_of
from runlock.spec.model import load_spec


def words(text):
    """A text without its line breaks."""
    return re.sub(r"\s+", " ", text)


def test_it_says_exactly_what_was_explored(capsys):
    """Bounds, policies, states, transitions, what was reduced and why, what held, what was not taken."""
    ran = run(capsys, "explore", "tirea", "--calls", 1)
    said = words(ran.out)

    assert (ran.code, ran.err) == (0, "")
    assert said.startswith("held by the charts of tirea, at 1,669 joint states")
    assert "1 call, 1 re-suspension each, 1 cancel of the run, 1 crash" in said
    assert "Run, ToolCall, ResumeToolCall" in said
    assert "durability = round" in said and "Open, and explored as: round.executor = parallel" in said
    assert "calls begin alike, every move treats them alike, and no rule names one" in said
    assert (
        "110 states are Done; no other is without a move; from every state the run can come to Done" in said
    )
    assert "3 of the 41 arrows of the charts: RUN-18 Waiting to Done (stopped)" in said


def test_calls_alone_are_counted_with_and_without_their_names(capsys):
    """The two counts are of one model."""
    reduced = run(capsys, "explore", "calls", "--calls", 3, "--json")
    named = run(capsys, "explore", "calls", "--calls", 3, "--no-symmetry", "--json")

    assert (reduced.json["states"], named.json["states"]) == (2_544, 13_383)
    assert reduced.json["derived"] == {
        "Running": 1620,
        "Waiting": 316,
        "RoundComplete": 364,
        "Cancelled": 244,
    }
    assert named.json["symmetry"] is False


@pytest.mark.long
def test_a_machine_reads_one_object(capsys):
    """Whatever a person reads, a machine can read too."""
    ran = run(capsys, "explore", "awaken-9", "--calls", 1, "--policy", "end.live=left", "--json")
    said = ran.json

    assert (ran.code, said["verdict"], said["exhaustive"]) == (0, "held", True)
    assert said["bounds"] == {"calls": 1, "resuspensions": 1, "cancels": 1, "crashes": 1}
    assert said["policies"]["end.live"] == "left" and "end.live" not in said["open"]
    assert {clause["verdict"] for clause in said["clauses"]} == {"held"}
    assert [chart["chart"] for chart in said["charts"]] == [
        "RunWithCreated",
        "ToolCall",
        "WaitForResumeOrCancel",
    ]


def test_what_nothing_was_about_is_untested(capsys):
    """Without a crash nothing is known of recoveries, and no one says that they held."""
    said = run(capsys, "explore", "core", "--calls", 1, "--crashes", 0, "--cancels", 0, "--json").json
    verdicts = {clause["id"]: clause["verdict"] for clause in said["clauses"]}

    assert said["verdict"] == "held"
    assert {verdicts[one] for one in ("RECOVER-1", "RECOVER-2", "CANCEL-1", "RUN-7")} == {"untested"}


@pytest.mark.parametrize("bound", [("--max-states", 300), ("--budget", 0.000001)], ids=["states", "seconds"])
def test_a_part_is_never_called_the_whole(capsys, bound):
    """What a bound cut off is partial, exits 3, and blames nothing on arrows that were not reached."""
    ran = run(capsys, "explore", "core", *bound)

    assert ran.code == 3
    assert ran.out.startswith("partial: core broke nothing as far as was looked")
    assert run(capsys, "explore", "core", *bound, "--json").json["exhaustive"] is False
    assert run(capsys, "explore", "calls", "--calls", 6, *bound, "--json").json["verdict"] == "undecided"


def test_what_takes_long_is_announced(capsys):
    """Before it starts, with an estimate; what is small is not."""
    small = run(capsys, "explore", "calls", "--calls", 3)
    large = run(capsys, "explore", "calls", "--calls", 30, "--max-states", 10)

    assert small.err == ""
    assert re.match(r"runlock: about [\d,]+ states are ahead: [\d,]+ days or so, and [\d,]+ MB\.", large.err)
    assert large.code == 3


def test_an_estimate_is_of_the_right_size():
    """From one call and two, three are foreseen within a third."""
    foreseen = guess(Plan("awaken-8", 3, 1), choose("awaken-8", {}))

    assert 118_869 * 2 / 3 < foreseen.states < 118_869 * 4 / 3


# --- the graph ----------------------------------------------------------------------------------


def test_the_graph_is_exported_whole(capsys, tmp_path):
    """As many states and edges as were explored, and every arrow with its clause."""
    file = tmp_path / "graph.json"
    said = run(capsys, "explore", "tirea", "--calls", 1, "--crashes", 0, "--graph", file, "--json").json
    graph = json.loads(file.read_text("utf-8"))

    assert (len(graph["states"]), len(graph["edges"])) == (said["states"], said["transitions"])
    assert {"CALL-1", "RUN-3", "RESUME-14"} <= {one for edge in graph["edges"] for one in edge["clauses"]}
    assert graph["states"][0]["run"] == "Running" and graph["states"][0]["calls"][0]["status"] == ""


def test_a_picture_carries_clauses_and_their_sentences(capsys, tmp_path):
    """An edge is labelled with the clauses of its arrows, and its tooltip says what they ask."""
    file = tmp_path / "calls.dot"
    run(capsys, "explore", "calls", "--calls", 1, "--dot", file)
    drawn = file.read_text("utf-8")

    assert drawn.startswith('digraph "calls" {\n') and drawn.endswith("}\n")
    assert (drawn.count("[id="), drawn.count(" -> ")) == (27 + 51, 51)
    assert 'label="CALL-7"' in drawn and load_spec("lifecycle").clause("CALL-7").sentence in drawn


# --- what a fault looks like --------------------------------------------------------------------


@pytest.fixture
def broken():
    """What is found of the charts of awaken-8 whose calls cannot be resumed."""
    chosen, charts = choose("awaken-8", {}), charts_of(choose("awaken-8", {}).policies)
    rows = tuple(row for row in charts.call.rows if row.clause != "CALL-7")
    charts = replace(charts, call=replace(charts.call, rows=rows))
    system = Joint(chosen.policies, 2, crashes=0, charts=charts)
    search = Search(system).run()
    judged = judge(search, rules_for(chosen.policies, 1), charts.tables)
    plan = Plan("awaken-8", 2, 1, crashes=0)
    return Explored(
        plan, search.states, search.transitions, 0, charts.tables, judged, chosen=chosen, search=search
    )


def test_a_fault_is_told_with_its_clause_and_the_way_there(broken):
    """The clause, what was seen, and a table of the run and its calls, step by step."""
    file = io.StringIO()
    write(FAMILY, broken, Page(file))
    lines = file.getvalue().splitlines()

    assert lines[0].startswith(
        "CALL-7 broken by the charts of awaken-8: nothing moves the call from Suspended to"
    )
    assert lines[3].strip() == "spec/lifecycle/clauses/call.toml"
    assert lines[5].split() == ["way", "run", "c1", "c2", "what", "happened"]
    assert [line.split()[0] for line in lines[6:15]] == [str(number) for number in range(1, 10)]
    assert broken.exit_code == 1


def test_a_fault_is_told_to_a_machine(broken):
    """With every step, and whom it moved."""
    found = as_json(broken)["findings"][0]

    assert (found["clause"], found["steps"]) == ("CALL-7", len(found["way"]))
    assert found["way"][2]["what"] == "c1 is decided: resume"
    assert found["way"][3]["what"] == "c1 is held (CALL-2)"
    assert [call["status"] for call in found["way"][3]["calls"]] == ["Suspended", "New"]


def test_the_pace_of_an_estimate_is_spelled():
    """Seconds, minutes, hours and days, each from two of them on."""
    assert [command._spell(n) for n in (1, 119, 120, 7_199, 7_200, 172_800)] == [
        "a second",
        "119 seconds",
        "2 minutes",
        "119 minutes",
        "2 hours",
        "2 days",
    ]
    assert Calls(3).estimate(symmetry=False)[0] == 23**3
