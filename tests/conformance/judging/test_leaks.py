"""What a runtime still holds when its run is over and its scenario is closed breaks a clause."""

import pytest

from runlock.conformance.campaign.audit import audit
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.session import Session
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.messages import Scenario
from runlock.conformance.families.lifecycle.mutants.run import LeavesATask
from runlock.conformance.families.lifecycle.reference import ReferenceAdapter
from runlock.conformance.judging.leaks import in_words, leaks_in_words
from runlock.conformance.trace.moves import Move

START = Move("run.start", {"run": "r1", "input": "hello"})
END = Move("gate.release", {"gate": "model", "outcome": {"kind": "turn", "text": "done", "tool_calls": []}})


def played(moves: list[Move], *, is_deferred: bool) -> Session:
    """A closed session of a runtime that leaves a task at the end of its run."""
    bench = Bench(lambda: Hosted(lambda: ReferenceAdapter("awaken-8", {}, LeavesATask)))
    scenario = Scenario.model_validate({"scenario": "s", "tools": []})
    session = bench.session_judged_later(scenario) if is_deferred else bench.session(scenario)
    session.play(moves)
    session.close()
    bench.close()
    return session


def test_a_recorded_leak_is_judged_too(tmp_path):
    """The trace of a leak shows what was held, and breaks the clause wherever it is judged."""
    session = played([START, END], is_deferred=False)
    file = tmp_path / "trace.jsonl"
    file.write_text(session.trace.to_jsonl(), "utf-8")
    (witness,) = audit(file, f"trace:{file}").witnesses

    assert session.trace.records[-1]["end"]["leaks"]
    assert witness.clause == FAMILY.judging.leaks
    assert "the run was over, yet at scenario.close a task is still alive: " in witness.reason


@pytest.mark.parametrize("is_deferred", [False, True], ids=["move by move", "at the end"])
def test_only_a_run_that_is_over_is_judged(is_deferred):
    """Whatever a run in the middle of its work holds is not judged."""
    over, cut_off = played([START, END], is_deferred=is_deferred), played([START], is_deferred=is_deferred)

    assert over.violation is not None
    assert (over.violation.clause, over.ruling.exercised[FAMILY.judging.leaks]) == (FAMILY.judging.leaks, 1)
    assert cut_off.violation is None
    assert FAMILY.judging.leaks not in cut_off.ruling.exercised


@pytest.mark.parametrize(
    ("leak", "words"),
    [
        ({"gate": "g7", "on": "tool", "call": "c1"}, "a tool gate is still open"),
        ({"task": "Acme.loop"}, "a task is still alive: Acme.loop"),
        ({"close": "did not return"}, "close went wrong: did not return"),
        (["a thread", 3], '["a thread", 3]'),
        ("\x1b[2J" + "x" * 900, None),
    ],
)
def test_a_leak_is_named_in_few_words(leak, words):
    """Ids are left out, so that leaks of one kind are one; what an adapter makes up is cut, and is text."""
    assert in_words(leak) == words or (
        words is None and len(in_words(leak)) < 100 and in_words(leak).isprintable()
    )


def test_leaks_of_one_kind_are_named_once_and_exceptions_are_no_leaks():
    """An exception that `close` raised is reported as an exception of the adapter."""
    gates = [{"gate": "g1", "on": "tool"}, {"gate": "g2", "on": "tool"}]

    assert leaks_in_words([*gates, {"raised": "ValueError: no"}]) == "a tool gate is still open"
