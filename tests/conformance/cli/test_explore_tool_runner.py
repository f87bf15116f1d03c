"""`runlock explore` for a tool runner: what it says, exports and turns down, and how a fault looks.

golden/explore-runner.txt and golden/explore-fault.txt have the reports; `pytest --rewrite` writes them anew.
"""

import io
import json
from dataclasses import replace

import pytest
from command_line import run

from runlock.conformance.families.tool_runner.exploration import Plan, explore, guess
from runlock.conformance.families.tool_runner.family import FAMILY
from runlock.conformance.report.console import Page
from runlock.conformance.report.state_space import as_json, write
from runlock.machines.tool_runner.joint.policies import choose
from runlock.machines.tool_runner.joint.transitions import charts_of

SMALL = ("--calls", 1, "--cancels", 0, "--bound", "limit=1")


def test_the_report_of_a_runner(capsys, equals_golden):
    """Bounds, charts, policies, what held, and which arrows were never taken and why."""
    ran = run(capsys, "explore", "tool-runner", *SMALL)

    assert (ran.code, ran.err) == (0, "")
    equals_golden("explore-runner.txt", ran.out)


def test_a_machine_reads_one_object_and_the_graph(capsys, tmp_path):
    """The bounds of the family, why an arrow was never taken, and every state and edge with its clauses."""
    graph, dot = tmp_path / "graph.json", tmp_path / "graph.dot"
    exported = ("--graph", graph, "--dot", dot)
    said = run(capsys, "explore", "--family", "tool-runner", *SMALL, *exported, "--json").json
    never = {row["clause"]: row for chart in said["charts"] for row in chart["never"]}
    read = json.loads(graph.read_text("utf-8"))

    assert (said["model"], said["verdict"], said["exhaustive"]) == ("tool-runner", "held", True)
    assert said["bounds"] == {"calls": 1, "limit": 1, "cancels": 0}
    assert never["STOP-5"]["why"] == "the policies exclude" and not never["STOP-5"]["applies"]
    assert never["CANCEL-2"]["why"] == "the bounds exclude" and never["CANCEL-2"]["applies"]
    assert (len(read["states"]), len(read["edges"])) == (said["states"], said["transitions"])
    assert {"RUNNER-8", "ONCE-1", "RUN-6"} <= {one for edge in read["edges"] for one in edge["clauses"]}
    assert read["states"][0]["runner"] == "Settled"
    assert "run Yielded" in dot.read_text("utf-8")


@pytest.mark.long
def test_an_estimate_of_a_runner_is_of_the_right_size():
    """From one call and two, three are foreseen within a third."""
    foreseen = guess(Plan("tool-runner", 3), choose("tool-runner", {}))

    assert 26_656 * 2 / 3 < foreseen.states < 26_656 * 4 / 3


@pytest.fixture(scope="module")
def faulty():
    """What is found of a chart in which a response is never used."""
    charts = charts_of()
    rows = tuple(row for row in charts.response.rows if row.clause != "RUNNER-18")
    charts = replace(charts, response=replace(charts.response, rows=rows))
    return explore(Plan("tool-runner", 1, limit=1, cancels=0), choose("tool-runner", {}), charts)


def test_a_fault_of_a_chart_is_told_with_the_shortest_way_there(faulty, equals_golden):
    """The clause, what was seen, and a table of the runner, its response and the call, step by step."""
    file = io.StringIO()
    write(FAMILY, faulty, Page(file))

    assert faulty.exit_code == 1
    equals_golden("explore-fault.txt", file.getvalue())


def test_a_fault_of_a_chart_is_told_to_a_machine(faulty):
    """With every step, the states of both charts, and what the user changed."""
    found = {one["clause"]: one for one in as_json(faulty)["findings"]}
    last = found["RUNNER-18"]["way"][-1]

    assert (last["run"], last["response"]) == ("Handling", "Kept")
    assert last["at"]["stop"] == "tool_use" and last["calls"] == [
        {"status": "Running", "entered": 2, "result": None}
    ]
