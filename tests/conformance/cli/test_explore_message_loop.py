"""`runlock explore` for a message loop: what it says, exports and turns down, and how a fault looks.

golden/explore-loop.txt and golden/explore-loop-fault.txt have them; `pytest --rewrite` writes them anew.
"""

import io
import json
from dataclasses import replace

import pytest
from command_line import run

from runlock.conformance.families.message_loop.exploration import Plan, explore, guess
from runlock.conformance.families.message_loop.family import FAMILY
from runlock.conformance.report.console import Page
from runlock.conformance.report.state_space import as_json, write
from runlock.machines.message_loop.joint.policies import choose
from runlock.machines.message_loop.joint.transitions import charts_of

SMALL = ("--calls", 1, "--cancels", 0, "--bound", "iterations=0", "--bound", "interactors=1")


def test_the_report_of_a_loop(capsys, equals_golden):
    """Bounds, charts, policies, what held, what nothing was about, and which arrows were never taken."""
    ran = run(capsys, "explore", "message-loop", *SMALL)

    assert (ran.code, ran.err) == (0, "")
    equals_golden("explore-loop.txt", ran.out)


def test_a_machine_reads_the_report_and_the_graph_of_a_loop(capsys, tmp_path):
    """The bounds of the family, why an arrow was never taken, and every state and edge with its clauses."""
    graph, dot = tmp_path / "graph.json", tmp_path / "graph.dot"
    exported = ("--graph", graph, "--dot", dot)
    said = run(capsys, "explore", "--family", "message-loop", *SMALL, *exported, "--json").json
    never = {row["clause"]: row for chart in said["charts"] for row in chart["never"]}
    asked = {one["id"]: one for one in said["clauses"]}
    read = json.loads(graph.read_text("utf-8"))

    assert (said["model"], said["verdict"], said["exhaustive"]) == ("message-loop", "held", True)
    assert said["bounds"] == {"calls": 1, "iterations": 0, "interactors": 1, "cancels": 0}
    assert (never["AUTH-13"]["why"], never["LOOP-45"]["why"]) == (
        "the policies exclude",
        "the bounds exclude",
    )
    assert (asked["CANCEL-8"]["verdict"], asked["GATE-2"]["verdict"]) == ("untested", "held")
    assert (len(read["states"]), len(read["edges"])) == (said["states"], said["transitions"])
    assert {"AUTH-45", "LOOP-43", "CALL-1"} <= {one for edge in read["edges"] for one in edge["clauses"]}
    assert "pass TOOL_CALL" in dot.read_text("utf-8")


@pytest.mark.parametrize(
    "asked",
    [(), ("--policy", "prompt.unanswered=halt"), ("--bound", "interactors=0"), ("--bound", "iterations=0")],
)
def test_every_arrow_that_is_never_taken_has_a_reason(capsys, asked):
    """Whatever is chosen, an arrow that is left out is excluded by a policy or by a bound."""
    said = run(capsys, "explore", "message-loop-core", "--calls", 1, "--json", *asked).json
    never = [row for chart in said["charts"] for row in chart["never"]]

    assert [row for row in never if row["why"] is None] == []


@pytest.mark.long
def test_an_estimate_of_a_loop_is_of_the_right_size():
    """From one call and two, three are foreseen within a third."""
    foreseen = guess(Plan("message-loop", 3), choose("message-loop", {}))

    assert 63_032 * 2 / 3 < foreseen.states < 63_032 * 4 / 3


@pytest.fixture(scope="module")
def faulty():
    """What is found of a chart in which a denied call goes on to its guards."""
    charts = charts_of(choose("message-loop", {}).policies)
    rows = tuple(
        replace(row, target="Guards") if row.clause == "GATE-2" else row for row in charts.stack.rows
    )
    charts = replace(charts, stack=replace(charts.stack, rows=rows))
    plan = Plan("message-loop", 1, iterations=0, interactors=1, cancels=0)
    return explore(plan, choose("message-loop", {}), charts)


def test_a_fault_of_a_chart_of_a_loop_is_told_with_the_shortest_way_there(faulty, equals_golden):
    """The clause, what was seen, and a table of the turn, its charts and the call, step by step."""
    file = io.StringIO()
    write(FAMILY, faulty, Page(file))

    assert faulty.exit_code == 1
    equals_golden("explore-loop-fault.txt", file.getvalue())


def test_a_fault_of_a_chart_of_a_loop_is_told_to_a_machine(faulty):
    """With every step, and who approved or denied the call."""
    found = {one["clause"]: one for one in as_json(faulty)["findings"]}
    last = found["GATE-2"]["way"][-1]

    assert (last["run"], last["pass"]) == ("Running", "TOOL_CALL")
    assert last["calls"][0]["stack"] == "Prompting"
