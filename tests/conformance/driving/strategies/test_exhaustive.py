"""Every schedule within a bound: what is played, what is counted, and what a search that is cut off says."""

import json
import re

import pytest
from command_line import run

from runlock.conformance.campaign.exhaustive_campaign import Progress
from runlock.conformance.campaign.order import Exhaustive, Sampled
from runlock.conformance.campaign.result import Level, Search
from runlock.conformance.campaign.stages import LEVELS_FROM, stages_of, units_of
from runlock.conformance.campaign.supervisor import search_of
from runlock.conformance.campaign.units import Played
from runlock.conformance.campaign.worker import shortened
from runlock.conformance.cli.commands import check
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.shards import SHARDS
from runlock.conformance.driving.strategies.exhaustive import (
    GUESSED,
    NAMED,
    PLAYED,
    guess_levels,
    play_level,
)
from runlock.conformance.driving.strategies.move_enumeration import Scope
from runlock.conformance.driving.strategies.shortest_first import length, search
from runlock.conformance.driving.tally import Found, Tally
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.messages import Scenario, ToolSpec
from runlock.conformance.families.lifecycle.mutants import MUTANTS

pytestmark = pytest.mark.usefixtures("folder")

TINY = "py:cli_fakes:Tiny"
BROKEN = "py:cli_fakes:ExecutesRejected"
TWINS = Scenario(
    scenario="twins",
    tools=[ToolSpec(name="first", permission="ask"), ToolSpec(name="second", permission="ask")],
)
BY_NAME = {mutant.name: mutant for mutant in MUTANTS}


def bench(name):
    """A mutant in one scenario of two tools that are declared alike."""
    laid = Bench(lambda: Hosted(BY_NAME[name]))
    laid.scenarios = [TWINS]
    return laid


def levels(laid, depth, scope):
    """All shards of all levels up to a depth."""
    total = Tally()
    for stimuli in range(1, depth + 1):
        for shard in range(SHARDS):
            total.add(play_level(laid, stimuli, shard, scope))
    return total


@pytest.mark.parametrize("races", [0, 1])
def test_the_shards_of_the_levels_hold_what_the_search_tries(races):
    """Each schedule is in one shard, and none is lost between them."""
    laid, scope = bench("ApprovesTheFirst"), Scope(uneven=races)
    searched = search(laid, lambda _: False, limit=5_000, depth_max=2, scenarios=[TWINS], scope=scope)

    total = levels(laid, 2, scope)
    assert (total.schedules, total.troubles) == (searched.schedules, [])
    assert total.schedules == total.searched[1, PLAYED] + total.searched[2, PLAYED]


def test_what_is_left_out_for_its_name_is_counted():
    """A schedule stands for as many as there are when every name is distinguished."""
    laid = bench("ApprovesTheFirst")
    pruned, whole = (levels(laid, 2, Scope(uneven=0, is_pruned=prunes)) for prunes in (True, False))

    assert pruned.searched[2, PLAYED] < pruned.searched[2, NAMED]
    assert pruned.searched[2, NAMED] == whole.searched[2, PLAYED]


def test_a_guess_is_of_the_size_of_what_there_is():
    """Ways down at random tell within a few times how many schedules a level has."""
    laid, scope = bench("ApprovesTheFirst"), Scope(uneven=0)
    guessed = guess_levels(laid, 2, scope).searched
    total = levels(laid, 2, scope)

    for stimuli in (1, 2):
        played = total.searched[stimuli, PLAYED]
        assert played / 3 <= guessed[stimuli, GUESSED] <= played * 3


def test_what_is_expected_follows_what_was_played():
    """A length that had twice as many schedules as was guessed lets the longer ones have twice as many."""
    guessed = Tally(searched={(1, GUESSED): 5, (2, GUESSED): 50, (3, GUESSED): 500, (4, GUESSED): 5_000})
    progress = Progress(6, played={(0, 0): Played(guessed)})

    assert progress.expected(0)[6] == 500_000
    progress.played[1, 0] = Played(Tally(searched={(1, PLAYED): 10}))
    assert progress.expected(1) == {2: 100, 3: 1_000, 4: 10_000, 5: 100_000, 6: 1_000_000}


def test_a_level_is_whole_when_every_shard_of_it_could_be_judged():
    """What is cut off ends the depth that counts as tried, whatever was played beyond it."""
    plan = Exhaustive(2)
    stages = stages_of(plan, FAMILY)
    units = units_of(stages)
    played = {unit: Played() for unit in units}
    assert search_of(plan, stages, Tally(), played).is_exhaustive

    played[2, 7] = Played(is_whole=False)
    cut = search_of(plan, stages, Tally(), played)
    assert (cut.exhausted, cut.is_exhaustive) == (1, False)


def test_a_gap_ends_what_was_tried_whole():
    """A longer length that is whole does not make up for a shorter one that is not."""
    one, two = Level(1, 3, 3, 0, 0, 0, is_whole=False), Level(2, 9, 9, 0, 0, 0, is_whole=True)

    assert Search(2, 0, (one, two), is_asked=True).exhausted == 0


def test_a_right_runtime_is_held_at_every_schedule(capsys):
    """Everything within the bound was played, and what it does not reach leaves nothing undecided."""
    ran = run(capsys, "check", TINY, "--exhaustive", "--depth", 2, "--races", 1)

    assert ran.code == 0
    assert re.search(r"exhaustive: all \d+ schedules of up to 2 stimuli were played", ran.out)
    assert "partial" not in ran.out
    assert "there are about" in ran.err


@pytest.mark.long
def test_every_violation_within_the_bound_is_found(capsys):
    """A fault that takes three stimuli is found at three, and not at two."""
    two, three = (
        run(capsys, "check", BROKEN, "--exhaustive", "--depth", depth, "--json") for depth in (2, 3)
    )

    assert (two.code, two.json["violations"]) == (0, [])
    assert three.code == 1
    causes = [(one["clause"], one["steps"]) for one in three.json["violations"] if one["cause"] is None]
    assert causes == [("GATE-2", 3)]
    assert three.json["search"]["exhaustive"] and three.err == ""


@pytest.mark.processes
def test_jobs_find_the_same(capsys):
    """Who plays the shards changes nothing in the result."""
    one, two = (
        run(capsys, "check", BROKEN, "--exhaustive", "--json", "--jobs", jobs).json for jobs in (1, 2)
    )

    assert one == two


def test_what_is_cut_off_is_never_called_exhaustive(capsys, folder):
    """A search that had no time names what was tried whole, and decides nothing."""
    ran = run(capsys, "check", TINY, "--exhaustive", "--depth", 9, "--budget", 0)
    kept = json.loads((folder / "runlock-results/result.json").read_text())

    assert ran.code == 3
    assert "exhaustive" not in ran.out
    assert "partial: its time was over; no length was tried whole" in ran.out
    assert "more than can be played soon" in ran.err
    assert (kept["search"]["exhaustive"], kept["verdict"]) == (False, "undecided")


def test_a_campaign_of_some_size_plays_every_short_schedule():
    """Every schedule of up to two stimuli is a stage of a whole campaign, and none of a small one."""
    assert [stage.level for stage in stages_of(Sampled(LEVELS_FROM), FAMILY) if stage.level] == [1, 2]
    assert not any(stage.level for stage in stages_of(Sampled(LEVELS_FROM - 1), FAMILY))


def test_the_default_depth_is_said_in_the_help():
    """The help and the command name the same bound."""
    from runlock.conformance.cli.app import app

    (command,) = (
        one for one in app.registered_commands if one.name is None and one.callback.__name__ == "check"
    )
    (option,) = command.callback.__annotations__["depth"].__metadata__
    assert option.help.endswith(f"maximum number of stimuli; {check.DEPTH}.")


def test_a_shorter_schedule_takes_the_place_of_a_shrunk_one(monkeypatch):
    """What leaving things out does not reach, the search of short schedules does."""
    laid, clause = bench("ApprovesTheFirst"), BY_NAME["ApprovesTheFirst"].clause
    first = search(
        laid, lambda violation: violation.clause == clause, limit=5_000, depth_max=3, scenarios=[TWINS]
    )
    move = first.found.moves[0]
    monkeypatch.setattr(
        "runlock.conformance.driving.bench.minimal", lambda scenario, moves, *_: (scenario, moves)
    )
    padded = Found(first.found.violation, TWINS, (move, move, *first.found.moves[1:]), first.found.trace)

    witness = shortened(laid, padded)
    assert (witness.clause, length(witness.moves)) == (clause, first.shortest)
