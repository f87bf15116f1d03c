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
from runlock.conformance.trace.trace import Trace
from runlock.diagrams.charts import playable_joint
from runlock.diagrams.charts.playable import playable, script
from runlock.diagrams.state_space import clauses
from runlock.machines.catalogue import tables
from runlock.machines.table import Moved, react
from runlock.spec.model import load_spec

HERE = Path(__file__).parent
SCRIPTS = [ROOT / "docs" / "assets" / f"play-{part}.js" for part in ("core", "machines", "trace")]
NODE = shutil.which("node")
PROFILES = playable()["profiles"]


@pytest.fixture(scope="session")
def ask(tmp_path_factory):
    """Asks the page's scripts, run by node."""
    if NODE is None:
        pytest.skip("there is no node, which runs the page's scripts outside of a browser")
    data = tmp_path_factory.mktemp("play") / "charts.js"
    data.write_text(script() + "".join(map(playable_joint.script, playable_joint.systems())), "utf-8")

    def asked(**question):
        words = [NODE, str(HERE / "agree.cjs"), json.dumps(question), str(data), *map(str, SCRIPTS)]
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


def moves(family):
    """Every move between the joint states of a family's small system."""
    played = playable_joint.systems()[family]()
    for state in played.search.everything():
        for move, call, after in played.search.after(state):
            ids = ", ".join(clauses(played.search, state, move, call))
            told = f"{move.what} ({ids})" if ids else move.what
            yield [[*played.cells(state).values()], told, [*played.cells(after).values()]]


@pytest.mark.parametrize("family", playable_joint.systems())
def test_joint_states_are_those_of_the_exploration(ask, family):
    """Played from the start, the page has every move that the search finds, and no other."""
    assert sorted(ask(what="joints", family=family)) == sorted(moves(family))


def test_presets_do_what_they_say(ask):
    """No move of a preset is refused, but for the one that shows a refusal; each ends where its words say."""
    found = ask(what="presets")

    assert [words for words, one in found.items() if any(one["refused"])] == ["run what was rejected"]
    assert {words: one["cells"] for words, one in found.items()} == {
        "approve, then crash": ["Suspended", "Waiting", "Blocked"],
        "reject one of two": ["Cancelled", "Succeeded", "Running"],
        "cancel while waiting": ["Cancelled", "Cancelled", "Done"],
        "run what was rejected": ["Cancelled", "Running"],
        "tool runner: drop a response": ["Succeeded", "Yielded", "Empty"],
        "message loop: allow, then deny": [
            "COMPOSE_REQUEST",
            "Denied",
            "Failed",
            "Within",
            "none",
            "Running",
        ],
        "message loop: allow, then rewrite": ["ModeGate"],
    }


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("chart=ToolCall&moves=suspend-jump", "a call in Suspended takes cancel or resume; it was sent jump"),
        ("profile=tirea&calls=1&moves=c7.start", "There is no c7 here."),
        ("profile=tirea&calls=1&moves=c1", "c1 is refused: a call in New takes"),
        ("joint=lifecycle&moves=is_held", "This does not happen here: is held"),
    ],
)
def test_an_address_with_a_wrong_move_is_answered(ask, address, said):
    """A move that there is not changes nothing, and the page says so."""
    led = ask(what="address", address=address)

    assert led["refused"][-1]
    assert said in led["told"][-1]


def test_facts_are_kept_with_their_move(ask):
    """A move in an address names the facts that held when it was sent."""
    start = "family=tool-runner&chart=RunnerIteration&moves=request-answer-hand_over-resume-append"

    assert "RUNNER-13" in ask(what="address", address=f"{start}-handle*changed")["told"][-1]
    assert "RUNNER-13" not in ask(what="address", address=f"{start}-handle")["told"][-1]


@pytest.mark.parametrize(
    ("end", "verdict"),
    [
        ({"verdict": {"clause": "GATE-2", "because": "it ran"}}, "GATE-2: it ran"),
        ({"verdict": {"clause": None, "because": "it hung"}}, "it hung"),
        ({"leaks": []}, ""),
    ],
)
def test_the_verdict_of_a_trace_is_read(ask, tmp_path, end, verdict):
    """The page tells it as `Trace.verdict_in_words` does."""
    start = {"stimulus": {"method": "run.start", "params": {"run": "r1", "input": "go"}}}
    trace = Trace([start, {"end": end}])
    file = tmp_path / "trace.jsonl"
    file.write_text(trace.to_jsonl())

    assert ask(what="trace", trace=str(file))["verdict"] == trace.verdict_in_words == verdict


def test_a_trace_of_a_further_family_is_held_against_its_charts(ask, tmp_path):
    """A jump in a message loop is one by the charts of the message loop."""
    jump = {"kind": "call.status", "run": "r1", "call": "c1", "from": "New", "to": "Succeeded"}
    records = [
        {"handshake": {"family": "message-loop"}},
        {"stimulus": {"method": "run.start", "params": {"run": "r1", "input": "go"}}},
        {"observation": jump},
    ]
    file = tmp_path / "trace.jsonl"
    file.write_text(Trace(records).to_jsonl())

    assert ask(what="trace", trace=str(file))["moments"][0]["odd"] == [
        "call c1 went from New to Succeeded, which no arrow of CallStatus does (CALL-19)"
    ]


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
