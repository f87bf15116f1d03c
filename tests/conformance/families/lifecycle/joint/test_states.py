"""The joint states that explain a runtime: what leads to them, what is open, and what nothing explains."""

import pytest

from runlock.conformance.families.lifecycle.joint import hypotheses as joint_ground
from runlock.conformance.families.lifecycle.joint import states as joint_states
from runlock.conformance.families.lifecycle.joint.conformance import JointOracle
from runlock.conformance.families.lifecycle.joint.environment import supposed_policies
from runlock.conformance.families.lifecycle.joint.events import (
    Asking,
    Begins,
    Shows,
    ShowsWhere,
)
from runlock.conformance.families.lifecycle.joint.hypotheses import TooMany
from runlock.conformance.families.lifecycle.joint.labels import Label
from runlock.conformance.families.lifecycle.joint.states import JointStates
from runlock.conformance.families.lifecycle.messages import Handshake, Report, Scenario
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.family.coverage import Trails
from runlock.conformance.protocol import Party
from runlock.spec.model import load_spec

TURN = {"kind": "turn", "text": "", "tool_calls": [{"id": "c1", "name": "write", "args": {}}]}
RUNNING = {"kind": "run.status", "run": "r1", "to": "Running"}
MODEL = {"kind": "gate.open", "run": "r1", "gate": "g1", "on": "model"}
NEW = {"kind": "call.status", "run": "r1", "call": "c1", "to": "New"}
HELD = {"kind": "call.status", "run": "r1", "call": "c1", "to": "Suspended"}
RUNS = {"kind": "call.status", "run": "r1", "call": "c1", "to": "Running"}
WAITING = {"kind": "run.status", "run": "r1", "to": "Waiting"}
RESUMING = {"kind": "call.status", "run": "r1", "call": "c1", "to": "Resuming"}
DECIDED = {"id": "d1", "call": "c1", "action": "resume"}
RACE = [
    {"method": "decide", "params": {"run": "r1", "decisions": [DECIDED]}},
    {"method": "cancel", "params": {"run": "r1"}},
]
OVER = {"kind": "run.status", "run": "r1", "to": "Done"}


def handshake(profile, observes=()):
    """One of a runtime that shows what its run and its calls are, and perhaps more."""
    return Handshake(
        implementation=Party(name="toy", version="1"),
        profile=profile,
        gates=["model", "tool"],
        observes=["run.status", "call.status", "run.finished", *observes],
        stimuli=["decide", "cancel"],
    )


class Followed:
    """A scenario fed to the joint model answer by answer; what nothing explains comes back as a sentence."""

    def __init__(self, profile="awaken-8", observes=(), **chosen):
        tools = [{"name": "write", "permission": "ask"}]
        chosen = {name.replace("_", "."): value for name, value in chosen.items()}
        policies = load_spec("lifecycle").policies_of(profile, chosen) if profile != "core" else {}
        self.state = ObservedState(
            handshake(profile, observes), policies, Scenario(scenario="toy", tools=tools)
        )
        self.oracle = JointOracle(self.state, Trails(), {})

    def answer(self, method, params, *shown, quiescent=True):
        """Send a stimulus whose answer shows this."""
        self.state.stimulus(method, params)
        report = Report(observations=list(shown), quiescent=quiescent)
        self.oracle.answered(report)
        said = []
        for seen in report.observations:
            said += [one.reason for one in self.oracle.observe(seen)]
            self.state.observe(seen)
        self.state.report(report)
        return [why for why in (*said, *(one.reason for one in self.oracle.at_rest())) if why]

    def to_the_turn(self):
        """Begin, and give the model the turn that asks for one call."""
        assert self.answer("run.start", {"run": "r1", "input": "go"}, RUNNING, MODEL) == []
        return {"gate": "g1", "outcome": TURN}

    def decide(self, action, *shown):
        """Decide the only call."""
        decisions = [{"id": "d1", "call": "c1", "action": action}]
        return self.answer("decide", {"run": "r1", "decisions": decisions}, *shown)


@pytest.mark.parametrize("profile", ["core", "awaken-8", "tirea"])
def test_a_run_is_followed_from_its_turn_to_its_wait(profile):
    """What the charts lead to needs no other explanation, whatever is declared."""
    followed = Followed(profile)
    turn = followed.to_the_turn()

    assert followed.answer("gate.release", turn, NEW, HELD, WAITING) == []
    assert followed.oracle.states is not None


def test_nobody_has_to_say_that_a_call_is_new():
    """The first status of a call may be the first one that tells something."""
    followed = Followed()

    assert followed.answer("gate.release", followed.to_the_turn(), HELD, WAITING) == []


def test_what_no_joint_state_leads_to_is_told_with_what_they_lead_to():
    """A wait with no call that waits breaks no chart of the run, and none of a call."""
    followed = Followed()

    done = {"kind": "run.status", "run": "r1", "to": "Created"}

    assert followed.answer("gate.release", followed.to_the_turn(), NEW, done) == [
        "no joint state explains that the run became Created; "
        "what they lead to is: call c1 Failed, call c1 Running, call c1 Suspended"
    ]


def test_what_a_run_and_its_calls_tell_is_in_no_order():
    """A wait may be told before the call that waits; but it has to be told."""
    told, silent = Followed(), Followed()

    assert told.answer("gate.release", told.to_the_turn(), NEW, WAITING, HELD) == []
    assert silent.answer("gate.release", silent.to_the_turn(), NEW, WAITING) == [
        "no joint state explains that the runtime rests; it has not told yet: call c1 Suspended"
    ]


def test_only_a_run_that_is_entered_anew_has_the_resume_gate():
    """A runtime whose run waits in its loop may show the resume gate as well; the loop is not it."""
    followed = Followed("awaken-9", observes=["resume"])
    shown = [
        {"kind": "resume", "run": "r1", "state": state} for state in ("DrainDecisionChannel", "NoDecision")
    ]

    assert followed.answer("gate.release", followed.to_the_turn(), NEW, HELD, WAITING, *shown) == []


def test_a_decision_that_was_taken_and_then_ignored_may_have_acted():
    """Next to a cancel, it enters the run again and is ignored only then."""
    followed = Followed("tirea")
    followed.answer("gate.release", followed.to_the_turn(), NEW, HELD, WAITING)
    taken = {"kind": "decision", "decision": "d1", "call": "c1", "disposition": "buffered"}
    over = {"kind": "call.status", "run": "r1", "call": "c1", "to": "Cancelled"}
    done = {"kind": "run.status", "run": "r1", "to": "Done"}
    ignored = {**taken, "disposition": "ignored"}

    assert followed.answer("deliver", {"stimuli": RACE}, taken, RUNNING, over, ignored, done) == []


def test_a_cancel_waits_only_for_tools_that_were_entered():
    """A call that is Running has no tool to drain before the outside world knows of it."""
    tool = {"kind": "gate.open", "run": "r1", "gate": "g2", "on": "tool", "call": "c1"}
    end = {"kind": "run.finished", "run": "r1", "reason": {"code": "Cancelled"}}
    said = []
    for entered in ([], [tool]):
        followed = Followed("awaken-concurrent", cancel_inflight="drain", end_live="left")
        followed.answer("gate.release", followed.to_the_turn(), NEW, HELD, WAITING)
        said.append(
            followed.answer("deliver", {"stimuli": RACE}, RUNNING, RESUMING, RUNS, *entered, OVER, end)
        )

    because = "no joint state explains that the runtime rests; it has not told yet: call c1 Cancelled"
    assert said == [[], [because]]


def test_a_tool_that_breaks_as_it_drains_ends_the_run_in_an_error():
    """A cancelled run that lets its tools end may come to what a tool that throws brings."""
    tool = {"kind": "gate.open", "run": "r1", "gate": "g2", "on": "tool", "call": "c1"}
    failed = {"kind": "call.status", "run": "r1", "call": "c1", "to": "Failed"}
    said = []
    for reason in ("Error", "Stopped"):
        followed = Followed("awaken-concurrent", cancel_inflight="drain", tool_raises="end_run")
        followed.answer("gate.release", followed.to_the_turn(), NEW, HELD, WAITING)
        followed.decide("resume", RUNNING, RESUMING, RUNS, tool)
        followed.answer("cancel", {"run": "r1"})
        broken = {"gate": "g2", "outcome": {"kind": "raise", "message": "no"}}
        end = {"kind": "run.finished", "run": "r1", "reason": {"code": reason}}
        said.append(followed.answer("gate.release", broken, failed, OVER, end))

    assert said == [[], ["no joint state explains that the segment ended as Stopped; nothing more is due"]]


def test_a_rest_is_told_with_what_is_due():
    """A call waits and nothing else is under way: then the wait is due."""
    followed = Followed()

    assert followed.answer("gate.release", followed.to_the_turn(), NEW, HELD) == [
        "no joint state explains that the runtime rests; due is: "
        "the round is over, the run waits, the wait is made durable"
    ]


def test_a_decision_that_was_certainly_met_is_due():
    """A runtime that rests with it has lost it."""
    followed = Followed()
    followed.answer("gate.release", followed.to_the_turn(), NEW, HELD, WAITING)

    (because,) = followed.decide("resume")

    assert because.startswith("no joint state explains that the runtime rests; due is: ")
    assert "decisions arrive" in because
    assert "call c1 is resumed by the decision for it" in because


def test_a_call_that_nobody_decided_does_not_run():
    """Each status alone follows its chart: the decision for it is missing."""
    followed = Followed()
    followed.answer("gate.release", followed.to_the_turn(), NEW, HELD, WAITING)

    assert followed.answer("settle", {}, RUNNING) == [
        "no joint state explains that the run became Running; "
        "nothing is due before there is a decision for call c1"
    ]


def test_after_the_end_nothing_is_awaited():
    """Where no one could give anything that leads on, no one is said to be waited for."""
    followed = Followed()
    followed.answer("gate.release", followed.to_the_turn(), OVER)

    assert followed.answer("settle", {}, RUNNING) == [
        "no joint state explains that the run became Running; nothing more is due"
    ]


def test_an_id_that_stands_for_two_calls_is_not_followed():
    """The charts speak of calls that can be told apart; nothing is blamed for the others."""
    followed = Followed()
    turn = followed.to_the_turn()
    turn["outcome"] = {**TURN, "tool_calls": TURN["tool_calls"] * 2}

    assert followed.answer("gate.release", turn, WAITING) == []
    assert followed.oracle.states is None
    assert followed.oracle.why_not == "an id stands for two calls"


@pytest.fixture
def at_most(monkeypatch):
    """Sets how many hypotheses there may be; what was worked out under another bound is forgotten."""

    def bound(hypotheses, *, forgets=True):
        monkeypatch.setattr(joint_ground, "HYPOTHESES_MAX", hypotheses)
        monkeypatch.setattr(joint_states, "HYPOTHESES_MAX", hypotheses)
        if forgets:
            joint_states.worked_out.cache_clear()

    yield bound
    joint_states.worked_out.cache_clear()


def test_too_many_joint_states_are_no_violation(at_most):
    """A run that could be anywhere is not followed any more."""
    followed = Followed()
    turn = followed.to_the_turn()
    at_most(1)

    assert followed.answer("gate.release", turn, WAITING) == []
    assert followed.oracle.why_not == "too many joint states explain what was seen"


@pytest.mark.parametrize("state", [{}, {"run": None, "calls": None}, {"calls": {"c1": {}}}])
def test_a_checkpoint_need_not_say_much(state):
    """What it leaves out is not looked for."""
    followed = Followed()
    stored = {"kind": "checkpoint", "run": "r1", "trigger": "RunStart", "state": state}

    assert followed.answer("gate.release", followed.to_the_turn(), NEW, stored, HELD, WAITING) == []
    assert followed.oracle.states is not None


# --- policies that are open ---------------------------------------------------------------------


CREATED = Label("run", None, "Created")


def states(**declared):
    """The joint states of a run that begins, under these policies alone."""
    settled, left = supposed_policies({key.replace("_", "."): value for key, value in declared.items()})
    begun = JointStates(settled, left, frozenset({"run", "call", "gate"}))
    begun.meet(Begins())
    return begun


def supposed(followed):
    """What is supposed of each policy that is not open any more."""
    return {
        key: {dict(each)[key] for each, _ in followed.sets} for each, _ in followed.sets for key, _ in each
    }


def test_an_open_policy_is_supposed_only_as_long_as_it_matters():
    """Where both values explain the same, it is open again; where one does not, it is settled."""
    both = states()
    created = states()

    both.meet(ShowsWhere(lambda one: True))
    created.meet(Shows(CREATED))

    assert supposed(both)["run.created"] == {"yes", "no"}
    assert supposed(created)["run.created"] == {"yes"}


def test_a_value_that_was_ruled_out_stays_so():
    """One value, the same throughout: a run that was not Created cannot become it."""
    followed = states()
    followed.meet(Shows(Label("run", None, "Running")))
    followed.meet(ShowsWhere(Asking()))

    followed.meet(Shows(CREATED))

    assert not list(followed)


def test_a_declared_policy_is_never_supposed():
    """What is declared has its value in every joint state."""
    declared = load_spec("lifecycle").policies_of("tirea", {})

    followed = states(**{key.replace(".", "_"): value for key, value in declared.items()})
    followed.meet(Shows(Label("run", None, "Running")))

    assert not set(supposed(followed)) & set(declared)


def test_too_many_hypotheses_are_given_up(at_most):
    """The caller learns of it, and decides what to do."""
    followed = states()
    at_most(0)

    with pytest.raises(TooMany):
        followed.meet(ShowsWhere(lambda one: True))


def test_what_was_worked_out_is_kept(at_most):
    """What leads by the same way to the same place is not worked out twice, but looked at as if it were."""
    first, second = states(), states()
    first.meet(Shows(CREATED))
    at_most(0, forgets=False)

    second.meet(Shows(CREATED))

    assert second.sets is first.sets
    assert second.looked_at == first.looked_at > 0
