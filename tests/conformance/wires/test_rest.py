"""How long the kit waits for what need not come: learned from what came, and not from the slowest of it."""

import asyncio
import socket

import pytest

from runlock.conformance.wires.ends import listening_on
from runlock.conformance.wires.rest import (
    ENTRY,
    FACTOR,
    FEWEST,
    GRACE_MIN_SECONDS,
    HABIT_FROM,
    HABIT_SECONDS,
    LEFT_SECONDS,
    REMEMBERED,
    Pace,
    Resting,
    Times,
)


class Clock:
    """A loop whose time a test sets."""

    def __init__(self):
        self.now = 100.0

    def time(self):
        return self.now


class Real:
    """A real loop with such a clock."""

    def __init__(self):
        self.loop = Clock()


def times(*seen):
    """Times between 0.01 and 0.5 seconds."""
    found = Times(0.01, 0.5)
    for one in seen:
        found.add(one)
    return found


def test_before_a_few_were_seen_the_longest_is_waited_for():
    """A first reaction says little."""
    assert times(*[0.02] * (FEWEST - 1)).wait == 0.5
    assert times(*[0.02] * FEWEST).wait == pytest.approx(FACTOR * 0.02)


def test_a_slow_one_in_many_is_not_waited_for_ever_after():
    """It was a pause of the machine."""
    assert times(*[0.02] * 60, 0.4).wait == pytest.approx(FACTOR * 0.02)


def test_an_application_that_has_become_slow_is_waited_for():
    """Once that is more than a share of what was seen."""
    assert times(*[0.02] * 60, *[0.1] * 20).wait == pytest.approx(FACTOR * 0.1)


def test_old_times_are_forgotten():
    """And the wait stays within its bounds."""
    assert times(*[0.4] * 60, *[0.0] * REMEMBERED).wait == 0.01
    assert times(*[9.0] * 60).wait == 0.5


@pytest.fixture
def resting():
    """A schedule of an application whose reactions are known; a test sets what it owes, or leaves it."""
    pace, real, told = Pace(), Real(), {"owes": ENTRY, "left": False}
    for _ in range(FEWEST):
        pace.reactions.add(0.05)
        pace.lags.add(0.0)
    found = Resting(real, asyncio.new_event_loop(), pace, lambda: told["owes"], lambda: told["left"])
    yield found, real.loop, told
    found._kit.close()


def test_a_gate_that_may_be_followed_by_another_is_waited_at(resting):
    """As long as reactions take."""
    found, clock, _ = resting
    found._verbs = found._questions = 1
    found.moved()
    clock.now += 0.1

    assert found.busy()
    clock.now += 0.1
    assert not found.busy()


def test_a_gate_that_nothing_can_follow_is_not(resting):
    """But for an event that was on its way; what was waited in vain is counted."""
    found, clock, told = resting
    told["owes"] = ""
    found._verbs = found._questions = 1
    found.moved()

    assert found.busy()
    clock.now += 0.01
    assert not found.busy()
    assert found._pace.vain_seconds == pytest.approx(0.01)


def test_what_an_application_always_does_is_waited_for(resting):
    """Until it has failed to, which costs the wait once."""
    found, clock, _ = resting
    habit = found._pace.habits[ENTRY]
    habit.kept = HABIT_FROM
    found._verbs = found._questions = 1
    found.moved()
    clock.now += HABIT_SECONDS - 0.1

    assert found.busy()
    clock.now += 0.2
    assert not found.busy()
    assert habit.broken == 1
    assert found.quiet_seconds() == found._pace.reactions.wait


def test_an_event_that_comes_after_a_gate_is_remembered(resting):
    """The next one is waited for that long."""
    found, clock, told = resting
    told["owes"] = ""
    found._verbs = found._questions = 1
    for _ in range(FEWEST):
        found.acted()
        found.moved()  # the gate
        clock.now += 0.005
        found.moved()  # the event

    assert found.quiet_seconds() == pytest.approx(FACTOR * 0.005)


@pytest.mark.parametrize(("seconds", "waits"), [(0.1, FACTOR * 0.1), (None, GRACE_MIN_SECONDS)])
def test_a_gate_is_waited_for_that_is_given_up_when_the_client_goes(resting, seconds, waits):
    """As long as that has taken; one that never gives anything up is not waited for."""
    found, clock, told = resting
    told["left"], found._questions = True, 1
    found.moved()
    assert found.quiet_seconds() == LEFT_SECONDS

    for _ in range(FEWEST):
        assert found.busy()
        clock.now += seconds or LEFT_SECONDS
        if seconds:
            found.acted()
        else:
            assert not found.busy()
            found.moved()

    assert found.quiet_seconds() == pytest.approx(waits)


def test_a_server_of_the_kit_sends_small_pieces_at_once():
    """An answer in several of them would take forty milliseconds more for each."""
    with listening_on(0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
