"""A look at a run: sent where the runtime has one, kept in the trace, and judged wherever the trace goes."""

from __future__ import annotations

import pytest

from runlock.conformance.campaign.verdicts import verdicts
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.strategies.scripted import corpus, play
from runlock.conformance.driving.tally import Tally
from runlock.conformance.errors import AdapterError
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.reference import ReferenceAdapter, factory
from runlock.conformance.family.recordings import from_text, to_text
from runlock.conformance.judging.selection import Selection
from runlock.conformance.protocol import METHOD_NOT_FOUND, UNSUPPORTED, ProtocolError
from runlock.conformance.trace.moves import Move

LOOKED_AT = next(script for script in corpus(FAMILY) if script.name == "when-looked-at")
CLAUSES = ("RUN-33", "CALL-25")


class Answering(Hosted):
    """The reference, with another answer to a look; an error is raised."""

    def __init__(self, answer):
        super().__init__(factory("awaken-8"))
        self.answer = answer

    def request(self, method, params):
        """Each verb as it is, but a look."""
        if method != "inspect":
            return super().request(method, params)
        if isinstance(self.answer, ProtocolError):
            raise self.answer
        return self.answer


def played(make):
    """What became of the two clauses on a runtime, and the session of the script that looks."""
    bench, tally, sessions = Bench(make, Selection(tuple(CLAUSES))), Tally(), []

    def follow(session: Session) -> None:
        sessions.append(session)
        play(LOOKED_AT)(session)

    bench.play(LOOKED_AT.scenario, follow, tally)
    return {one.id: one for one in verdicts(bench, tally)}, sessions, tally


def test_a_look_is_kept_as_what_it_showed():
    """Each look is a stimulus with one observation after it; its file says both, and is read back whole."""
    found, (session,), _ = played(lambda: Hosted(factory("awaken-8")))
    looks = [seen for seen in session.trace.of("observation") if seen["kind"] == "inspect"]

    assert [look["status"] for look in looks] == ["Running", "Running", "Waiting", "Waiting", "Done"]
    assert [one["method"] for one in session.trace.of("stimulus")].count("inspect") == len(looks)
    assert from_text(to_text(session.trace)).records == session.trace.records
    assert {clause: one.verdict for clause, one in found.items()} == dict.fromkeys(CLAUSES, "held")


@pytest.mark.parametrize("code", [UNSUPPORTED, METHOD_NOT_FOUND])
def test_a_runtime_that_cannot_be_looked_at_is_not_blamed(code):
    """The other stimuli of the script are sent all the same, and what a look would show is untested."""
    found, (session,), tally = played(lambda: Answering(ProtocolError(code, "there is no such verb")))

    assert not tally.troubles
    assert session.state.run is not None
    assert session.state.run.is_done
    assert {(one.verdict, one.why, one.offered) for one in found.values()} == {
        ("untested", "no look at a run was answered", False)
    }


@pytest.mark.parametrize("answer", [{"status": "Asleep"}, {"calls": {"c1": {"attempts": 1}}}])
def test_a_look_that_does_not_fit_is_the_adapters_fault(answer):
    """No clause is about it."""
    session = Bench(lambda: Answering(answer)).session(LOOKED_AT.scenario)
    session.send(Move("run.start", {"run": "r1", "input": "hello"}))

    with pytest.raises(AdapterError, match="The answer to inspect does not fit the protocol"):
        session.send(Move("inspect", {"run": "r1"}))


def test_nothing_is_looked_at_before_the_first_run():
    """There is nothing yet that could have been announced."""
    session = Bench(lambda: Hosted(factory("awaken-8"))).session(LOOKED_AT.scenario)

    assert not session.send(Move("inspect", {"run": "r1"}))


class OfTheCaller(ReferenceAdapter):
    """Holds no run between its segments."""

    def inspect(self, run):
        """No one's run has no status."""
        return {"status": None}


@pytest.mark.parametrize(("state", "verdict"), [("caller", "untested"), ("runtime", "broken")])
def test_only_who_holds_a_run_owes_its_status(state, verdict):
    """Where the state is the caller's, a look between segments may show nothing."""
    found, _, _ = played(lambda: Hosted(lambda: OfTheCaller("awaken-8", {"state": state})))

    assert found["RUN-33"].verdict == verdict
