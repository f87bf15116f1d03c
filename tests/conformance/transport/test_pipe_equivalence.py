"""The pipe is a carrier: a runtime behind it is judged as it is in process, word for word."""

import sys

import pytest
from played_scripts import scripts_on, walks_on

from runlock.conformance.campaign.targets import resolve
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import corpus
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.transport.stdio import Pipe
from runlock.spec.model import load_spec

PROFILES = [profile.name for profile in load_spec("lifecycle").profiles.values() if profile.policies]
WALKS = 16
SCRIPTS = corpus(FAMILY)[::3]  # a part: what is compared is the carrier, not the runtime


class Recorded(Bench):
    """A bench that keeps a digest of everything that it plays, and what was violated."""

    def __init__(self, open_sut):
        self.seen, self.opened = [], []
        super().__init__(lambda: self.opened.append(open_sut()) or self.opened[-1])

    def enter(self, session, tally):
        """Next to the tally, what happened."""
        super().enter(session, tally)
        self.seen.append((session.scenario.scenario, session.trace.digest(), session.violation))


def campaign(open_sut, walks=WALKS):
    """Scripted scenarios and some walks on a runtime; the bench, and what it found."""
    bench = Recorded(open_sut)
    try:
        tally = walks_on(bench, range(walks), 3, scripts_on(bench, SCRIPTS))
    finally:
        bench.close()
    return bench, tally


def served(target):
    """Makes pipes to a target in process, served by the command line."""
    words = [sys.executable, "-m", "runlock.conformance.cli", "serve", target]
    return lambda: Pipe(words, timeout_scale=6)


def the_same(target, walks=WALKS):
    """Play the same in process and over the pipe; what the pipe's campaign found, if they agree."""
    inside, told_inside = campaign(resolve(target).open, walks)
    outside, told_outside = campaign(served(target), walks)

    assert outside.handshake == inside.handshake
    assert "kill" not in inside.handshake.control.crash
    assert outside.seen == inside.seen
    assert told_outside.exercised == told_inside.exercised
    assert (told_inside.troubles, told_outside.troubles) == ([], [])
    assert [pipe.lives for pipe in outside.opened] == [1]
    return told_outside


@pytest.mark.sampled(1, nightly=2)
@pytest.mark.long
@pytest.mark.parametrize(
    "profile",
    [pytest.param(one, marks=() if one == "awaken-8" else pytest.mark.processes) for one in PROFILES],
)
def test_a_served_reference_is_judged_as_in_process(profile: str) -> None:
    """Verdicts, counts and digests are those of the runtime in process; one process serves all scenarios."""
    told = the_same(f"reference:{profile}")

    assert told.schedules > WALKS
    assert told.found == {}


@pytest.mark.long
def test_a_served_mutant_is_blamed_as_in_process():
    """What is broken is broken over the pipe too, at the same observation and for the same reason."""
    assert "RUN-20" in the_same("mutant:AsksOnWhenDone").found
