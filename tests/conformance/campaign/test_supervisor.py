"""Runtimes that end or keep their process, and an interrupt in the middle: nothing found is lost."""

import json
import signal

import pytest
from command_line import child, run, run_child

from runlock.conformance.campaign import worker
from runlock.conformance.campaign.order import Order, Sampled
from runlock.conformance.campaign.stages import stages_of
from runlock.conformance.campaign.supervisor import campaign, merged
from runlock.conformance.campaign.units import Played
from runlock.conformance.campaign.worker import KitBroke
from runlock.conformance.campaign.workforce import given_up_at
from runlock.conformance.cli.commands.check import jobs_of
from runlock.conformance.driving.findings import Trouble
from runlock.conformance.driving.strategies.shortest_first import Searched
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.trace.trace import read_trace

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("toy", "is_searched"), [("ExecutesRejected", True), ("ExecutesRejectedInRealTime", False)]
)
def test_shorter_schedules_are_searched_for_unless_each_takes_real_time(monkeypatch, toy, is_searched):
    """A runtime that settles as observed takes seconds for a schedule, so its witness is only shrunk."""
    searches = []
    monkeypatch.setattr(worker, "search", lambda *_, **__: searches.append(toy) or Searched())
    result = campaign(Order(f"py:cli_fakes:{toy}", Sampled(8)))

    assert "GATE-1" in {one.clause for one in result.witnesses}
    assert bool(searches) == is_searched


@pytest.mark.processes
def test_a_runtime_that_ends_its_process_is_blamed(capsys, folder):
    """The worker that it took along is replaced, and the trace that led there is kept."""
    ran = run(capsys, "check", "py:cli_fakes:EndsItsProcess", "--examples", 200, "--jobs", 2, "--json")

    first = ran.json["troubles"][0]
    assert (ran.code, first["blame"]) == (3, "SUT")
    verb = read_trace(folder / first["trace"]).stimuli[-1]["method"]
    assert first["what"] == f"The process in which the runtime ran ended at {verb} with exit status 7."
    assert ran.json["partial"].startswith("it gave up after ")


@pytest.mark.processes
def test_a_runtime_that_keeps_its_process_is_blamed(capsys):
    """A worker in which nothing moves any more is ended; the limit is the protocol's."""
    ran = run(
        capsys, "check", "py:cli_fakes:NeverReturns", "--examples", 16, "--jobs", 2, "--json",
        "--timeout-scale", 0.05,
    )  # fmt: skip

    assert (ran.code, bool(ran.json["troubles"])) == (3, True)
    for one in ran.json["troubles"]:
        assert one["blame"] == "SUT"
        assert one["what"].startswith("The runtime did not give its process back at ")


@pytest.mark.processes
def test_a_runtime_that_ends_its_process_at_once_is_told_so(capsys):
    """Without a handshake there is no campaign, and one sentence."""
    ran = run(capsys, "check", "py:cli_fakes:EndsAtOnce", "--jobs", 2)

    assert (ran.code, ran.out) == (3, "")
    assert ran.err == (
        "runlock: The process in which the runtime ran ended with exit status 9. "
        "It should answer the handshake and wait.\n"
    )


@pytest.mark.processes
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("toy", "code"), [("GoesNowhere", 1), ("Tiny", 3)])
def test_an_interrupt_keeps_what_was_found(folder, jobs, toy, code):
    """Ctrl-C in the middle ends in a partial report: exit 1 if something broke, else 3."""
    with child(
        "check", f"py:cli_fakes:{toy}", "--examples", 1_000_000, "--jobs", jobs, cwd=folder
    ) as process:
        begun = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()

    kept = json.loads((folder / "runlock-results" / "result.json").read_text())
    assert begun.startswith("playing ")
    assert (process.returncode, err) == (code, "")
    assert "partial: it was interrupted" in out
    assert (kept["partial"], bool(kept["violations"])) == ("it was interrupted", code == 1)


def test_tallies_add_up_in_the_order_of_their_units():
    """Who was first does not matter; what comes after a unit that gave up is left out."""
    trouble = Trouble("SUT", "it hung")
    played = {
        (0, 2): Played(Tally(schedules=5)),
        (0, 1): Played(Tally(schedules=1, troubles=[trouble] * 3)),
        (0, 0): Played(Tally(schedules=2)),
    }
    tally, why = merged([(0, 0), (0, 1), (0, 2)], played)

    assert (tally.schedules, why) == (3, "it gave up after 3 schedules that could not be judged")
    assert given_up_at([(0, 0), (0, 1), (0, 2)], played) == (0, 1)


def test_every_schedule_of_the_budget_is_in_one_stage():
    """The budget is shared among the stages; only what is scripted comes on top."""
    scripted, *drawn = stages_of(Sampled(37), FAMILY)

    assert (scripted.name, sum(stage.schedules for stage in drawn)) == ("scripted scenarios", 37)


def test_a_bug_in_a_worker_keeps_its_place(monkeypatch):
    """A bug of the kit in a worker crosses with its words, its place and its traceback."""
    try:
        raise ZeroDivisionError("by nothing")
    except ZeroDivisionError as error:
        broke = KitBroke.of(error)

    assert broke.words == "ZeroDivisionError: by nothing"
    assert broke.place.startswith(f"{__file__}:")
    assert KitBroke.of(broke) is broke


def test_unless_told_otherwise_no_campaign_plays_in_the_kits_own_process(monkeypatch):
    """On one core too, a runtime in Python gets a process that it may end or keep."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0}, raising=False)

    assert (jobs_of(None), jobs_of(1)) == (2, 1)


def test_a_campaign_is_a_function(folder):
    """The campaign can be run without the command line."""
    result = campaign(Order("py:cli_fakes:Tiny", Sampled(20)))

    assert (result.schedules > 20, result.partial) == (True, "")


@pytest.mark.processes
def test_a_worker_of_the_reference_is_not_the_runtimes_fault(folder):
    """The reference in two workers holds as it does in one."""
    ran = run_child("check", "reference", "--examples", 20, "--jobs", 2, "--json", cwd=folder)

    assert ran.json["troubles"] == []
