"""Input for a run at work: right ways with it hold, and wrong ones are blamed on what they did."""

import pytest
import steered_loop
from played_scripts import played_on, reasons

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import corpus, script_of
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.messages import InputSupport

RIGHT = ("Steered", "LeavesItToTheNextRun", "ForgetsAtAStop", "RefusesAtWork", "SkipsWhatIsLeft")
WRONG = {
    "ForgetsAtTheEnd": "INPUT-5",
    "ForgetsInARound": "INPUT-5",
    "HasOnePlace": "INPUT-5",
    "ShowsAtOnce": "INPUT-6",
    "Repeats": "INPUT-6",
    "IsAwokenByItsQueue": "INPUT-9",
}
JUDGED = ("INPUT-5", "INPUT-6", "INPUT-9")


def played(adapter):
    """What the scripts about input show of a runtime."""
    about_input = (one for one in corpus(FAMILY) if one.scenario.scenario.startswith("input-"))
    return played_on(Bench(lambda: Hosted(adapter)), about_input)


WORK_THEN_WAIT = """
scenario s
  tool write ask

start r1 "write it"
input "in red"
release model turn c1:write
input "never mind"
release model turn done
"""


@pytest.mark.parametrize("name", ["superseding", "going-on-during"])
def test_what_was_said_at_work_stands_before_what_ends_a_wait(name):
    """The reference shows both in the order in which they were said."""
    script = script_of(FAMILY, "s", WORK_THEN_WAIT)
    total = played_on(Bench(lambda: Hosted(FAMILY.made.variants()[name])), [script])

    assert reasons(total) == {}
    assert total.exercised["INPUT-6"]


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_way_with_input_holds(name):
    """The clauses that every runtime with input is judged by are exercised, and nothing is broken."""
    total = played(getattr(steered_loop, name))

    assert reasons(total) == {}
    assert all(total.exercised[clause] for clause in JUDGED)


@pytest.mark.parametrize(("name", "clause"), WRONG.items())
def test_a_wrong_way_with_input_is_blamed_on_what_it_did(name, clause):
    """The scripts are enough to see it."""
    assert clause in played(getattr(steered_loop, name)).found


def test_a_runtime_that_takes_input_only_in_a_wait_is_sent_none_at_work():
    """Its clauses about input at work are not applicable."""

    class InAWait(steered_loop.Steered):
        handshake = steered_loop.Steered.handshake.model_copy(update={"inputs": InputSupport(working=False)})

        async def input(self, text):
            raise AssertionError("it is at work")

    total = played(InAWait)

    assert total.troubles == []
    assert not any(total.exercised[clause] for clause in JUDGED)
