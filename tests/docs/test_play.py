"""The page that plays charts moves as the Python charts move, and refuses in the same words."""

import json
import shutil
import subprocess
from itertools import chain, combinations
from pathlib import Path

import pytest
from places import ROOT
from playback import Game
from witness_traces import trace_of

from runlock.conformance.families.lifecycle.timeline import timeline
from runlock.conformance.family.family import family_names
from runlock.diagrams.charts.playable import playable, script
from runlock.machines.catalogue import tables
from runlock.machines.table import Moved, react
from runlock.spec.model import load_spec

HERE = Path(__file__).parent
PAGE = ROOT / "docs" / "assets" / "play.js"
NODE = shutil.which("node")
PROFILES = playable()["profiles"]


@pytest.fixture(scope="session")
def ask(tmp_path_factory):
    """Asks the page's script, run by node."""
    if NODE is None:
        pytest.skip("there is no node, which runs the page's script outside of a browser")
    data = tmp_path_factory.mktemp("play") / "charts.js"
    data.write_text(script(), "utf-8")

    def asked(**question):
        words = [NODE, str(HERE / "agree.cjs"), str(data), str(PAGE), json.dumps(question)]
        return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)

    return asked


def subsets(facts):
    return chain.from_iterable(combinations(facts, size) for size in range(len(facts) + 1))


def cells(family):
    """Every state of every chart, with every event, under all facts that may hold."""
    for table in tables(family):
        facts = dict.fromkeys(guard.removeprefix("not ") for row in table.rows for guard in row.guards)
        for state in table.states:
            for event in (*table.events, "nothing_of_it", ""):
                for some in subsets(list(facts)):
                    answer = react(table, state, event, frozenset(some))
                    moved = answer.row.clause if isinstance(answer, Moved) else ""
                    refused = "" if isinstance(answer, Moved) else str(answer)
                    yield [table.name, state, event, ",".join(sorted(some)), moved, refused]


def paths(profile, calls, length):
    """Every path of a number of events, and every event refused on one."""
    named = {table.name: table for table in tables("lifecycle")}
    game = Game(named[PROFILES[profile]["run"]], PROFILES[profile]["mixed"])
    ways = [((), game.begin(calls))]
    while ways:
        way, joint = ways.pop()
        for who, event in game.events(calls):
            played = game.play(joint, who, event)
            gone = (*way, f"{who} {event}")
            rows = ",".join(f"{one} {row.clause}" for one, row in played.rows)
            yield ["/".join(gone), played.joint.run, ",".join(played.joint.calls), rows, played.refused]
            if not played.refused and len(gone) < length:
                ways.append((gone, played.joint))


@pytest.mark.parametrize("family", family_names())
def test_each_chart_alone_is_the_chart(ask, family):
    """No state, event or fact is answered otherwise in the page, be it a move or a refusal."""
    assert sorted(ask(what="cells", family=family)) == sorted(cells(family))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("calls", "length"), [(1, 5), (2, 3), (3, 2)])
def test_a_run_and_its_calls_move_alike(ask, profile, calls, length):
    """On every path up to a length, run and calls stand in the page where they stand in Python."""
    assert ask(what="paths", profile=profile, calls=calls, length=length) == list(
        paths(profile, calls, length)
    )


@pytest.mark.parametrize("name", ["RunsTheRejected", "AbortsTheSiblings", "ConcludesBeforeItDrains"])
def test_a_trace_is_played_as_it_is_told(ask, tmp_path, name):
    """After each stimulus the page shows the statuses of the last row that the timeline has for it."""
    trace = trace_of(name)
    file = tmp_path / "trace.jsonl"
    file.write_text(trace.to_jsonl())
    answer = ask(what="trace", trace=str(file))
    last, row = answer["moments"][-1], timeline(trace)[-1]

    assert answer["same"]
    assert (last["run"], last["calls"]) == (row.run, dict(row.calls))


def test_a_jump_that_no_arrow_draws_is_told(ask, tmp_path):
    """A trace whose call leaves a final state is shown with the clause that closes it."""
    file = tmp_path / "trace.jsonl"
    records = [
        {"stimulus": {"method": "run.start", "params": {"run": "r1", "input": "go"}}},
        {
            "observation": {
                "kind": "call.status",
                "run": "r1",
                "call": "c1",
                "from": "Failed",
                "to": "Running",
            }
        },
    ]
    file.write_text("\n".join(map(json.dumps, records)))

    assert ask(what="trace", trace=str(file))["moments"][0]["odd"] == [
        "call c1 went from Failed to Running, which no arrow of ToolCall does (CALL-17)"
    ]


def test_every_clause_that_can_be_named_has_its_words():
    """A refusal in the page can show the sentence of its clause."""
    assert playable()["clauses"].keys() <= load_spec("lifecycle").clauses.keys()
    assert {"RUN-3", "RUN-17", "RUN-20"} <= playable()["clauses"].keys()


@pytest.mark.parametrize("mixed", ["wait", "continue"])
def test_a_mixed_round_waits_or_goes_on(mixed):
    """One call done, one suspended: by the one policy the run waits, by the other it is still at work."""
    game = Game(next(table for table in tables("lifecycle") if table.name == "Run"), mixed)
    joint = game.begin(2)
    for who, event in (("c1", "suspend"), ("c2", "start"), ("c2", "succeed")):
        joint = game.play(joint, who, event).joint

    assert joint.run == {"wait": "Waiting", "continue": "Running"}[mixed]
    assert game.play(joint, "run", "natural_end").joint.run == "Waiting"


def test_a_cancel_takes_the_live_calls_along():
    """Done(Cancelled) leaves no call live, and nothing moves after it."""
    game = Game(next(table for table in tables("lifecycle") if table.name == "Run"), "wait")
    joint = game.play(game.begin(2), "c1", "start").joint
    joint = game.play(joint, "run", "cancelled").joint

    assert joint.calls == ("Cancelled", "Cancelled")
    assert "RUN-20" in game.play(joint, "c1", "succeed").refused
