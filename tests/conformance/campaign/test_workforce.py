"""The queue of units: where a campaign gives up, and what becomes of a unit whose worker was lost."""

from collections import deque

from runlock.conformance.campaign.supervisor import merged
from runlock.conformance.campaign.units import Played
from runlock.conformance.campaign.workforce import WorkQueue, given_up_at
from runlock.conformance.driving.findings import Trouble
from runlock.conformance.driving.tally import Tally


def test_a_unit_that_cannot_go_on_ends_the_campaign():
    """A runtime that does not even start again leaves nothing to play on."""
    played = {(0, 0): Played(Tally(troubles=[Trouble("SUT", "gone")]), is_whole=False, is_hopeless=True)}

    assert merged([(0, 0), (0, 1)], played)[1] == "it gave up after 1 schedule that could not be judged"


def test_what_could_not_be_judged_is_counted_in_a_row():
    """Three schedules in a row end a campaign, also where each is the only one of its unit."""
    units = [(0, number) for number in range(5)]
    bad = Played(Tally(troubles=[Trouble("SUT", "it hung")]))
    good = Played(Tally(schedules=1))

    assert given_up_at(units, dict(zip(units, [bad, bad, good, bad, bad], strict=True))) is None
    assert given_up_at(units, dict(zip(units, [good, bad, bad, bad, good], strict=True))) == (0, 3)


def test_a_schedule_that_blocks_its_process_is_left_out_at_once():
    """It is not run again, and the second one ends the campaign with what was found."""
    units = [(0, 0), (0, 1), (0, 2)]
    share = WorkQueue(units, deque(units[1:]))
    share.lost((0, 0), 4, Trouble("SUT", "hung"), is_hung=True)
    assert (list(share.queue), list(share.left_out[0, 0])) == (units, [4])

    share.queue.popleft()
    share.lost((0, 0), 7, Trouble("SUT", "hung again"), is_hung=True)
    tally, why = merged(units, share.results)
    assert not share.queue
    assert [one.what for one in tally.troubles] == ["hung", "hung again"]
    assert why == "it gave up after 2 schedules that could not be judged"


def test_a_process_that_ended_is_tried_once_more():
    """A crash may be an accident, and waiting costs nothing."""
    share = WorkQueue([(0, 0)], deque())
    share.lost((0, 0), 4, Trouble("kit", "killed"))
    assert (list(share.queue), share.left_out) == ([(0, 0)], {})
    share.lost((0, 0), 4, Trouble("kit", "killed"))
    assert list(share.left_out[0, 0]) == [4]
