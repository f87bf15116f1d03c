"""A search that is stopped leaves a file from which the same command goes on, to the same result."""

import json
import random
from contextlib import suppress

import pytest
from command_line import run
from damaged_files import spoil

from runlock.conformance.campaign import exhaustive_campaign
from runlock.conformance.campaign.exhaustive_campaign import exhaust
from runlock.conformance.campaign.interrupts import INTERRUPTED
from runlock.conformance.campaign.order import ALONE, Exhaustive, Order
from runlock.conformance.campaign.saved_search import FILE, SavedSearch
from runlock.conformance.campaign.units import Facts, Played
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import applicable, corpus, play
from runlock.conformance.driving.tally import Tally
from runlock.conformance.errors import UsageError
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.reference import ReferenceAdapter
from runlock.conformance.report import result_json as machine

pytestmark = pytest.mark.usefixtures("folder")

BROKEN = "py:cli_fakes:ExecutesRejected"
TINY = "py:cli_fakes:Tiny"


class ProgressCallbacks:
    """Hears how far a search is, and interrupts it once this many schedules were played."""

    def __init__(self, last=None):
        self.last, self.played, self.before = last, 0, 0

    def begins(self, stimuli, expected):
        """A length begins."""

    def resumed(self, file, schedules):
        """How much was played before."""
        self.before = schedules

    def stopped(self, file):
        """The file is there when it is named."""
        assert file.exists()

    def advanced(self, played):
        """One more schedule begins."""
        self.played += 1
        if self.played == self.last:
            raise KeyboardInterrupt


def searched(order, folder, told):
    """The result of a search, as a machine reads it."""
    folder.mkdir(exist_ok=True)
    result = exhaust(order, ALONE, told, folder)
    return result.partial, machine.as_json(result, {}, 0), [one.trace.records for one in result.witnesses]


@pytest.mark.long
@pytest.mark.parametrize("last", [1, 40, 120])
def test_a_search_that_was_stopped_comes_to_the_same(folder, last):
    """Verdicts, counts and witnesses are those of a search that no one stopped, wherever it was stopped."""
    order, whole, again = Order(BROKEN, Exhaustive(3)), ProgressCallbacks(), ProgressCallbacks()
    expected = searched(order, folder / "whole", whole)

    assert searched(order, folder / "parts", ProgressCallbacks(last))[0] == INTERRUPTED
    assert searched(order, folder / "parts", again) == expected
    assert again.played <= whole.played - again.before
    assert not (folder / "parts" / FILE).exists()


def test_a_search_saves_itself_while_it_runs(folder, monkeypatch):
    """What SIGKILL costs is half a minute; here every unit is saved."""
    monkeypatch.setattr(exhaustive_campaign, "SAVED_EVERY_SECONDS", 0)
    seen = []

    class Killed(ProgressCallbacks):
        def advanced(self, played):
            file = folder / FILE
            seen.append(len(json.loads(file.read_text())["units"]) if file.exists() else 0)

    exhaust(Order(TINY, Exhaustive(2)), ALONE, Killed(), folder)
    assert seen[0] == 0
    assert seen[-1] > 10
    assert not (folder / FILE).exists()


@pytest.mark.long
def test_it_may_be_stopped_again_and_again(folder):
    """Each time it comes farther, and what was played is not played once more."""
    order, parts = Order(BROKEN, Exhaustive(3)), folder / "parts"
    befores = []
    for last in (60, 60):
        told = ProgressCallbacks(last)
        partial, _, _ = searched(order, parts, told)
        befores.append(told.before)
        assert partial == INTERRUPTED

    assert befores == sorted(set(befores))
    assert searched(order, parts, ProgressCallbacks()) == searched(
        order, folder / "whole", ProgressCallbacks()
    )


def test_the_same_command_goes_on(capsys, folder):
    """What was cut off says from where it goes on, and the next command says that it does."""
    words = ("check", TINY, "--exhaustive", "--depth", 2)
    cut = run(capsys, *words, "--budget", 0)
    on = run(capsys, *words)

    assert (cut.code, on.code) == (3, 0)
    assert "stopped; the same command goes on from runlock-results/search.json" in cut.err
    assert "exhaustive: all" in on.out
    assert not (folder / "runlock-results" / FILE).exists()


def test_what_is_kept_of_a_shard_is_all_of_it(folder):
    """Violations, what rules out a policy, and every count are read as they were written."""
    bench = Bench(lambda: Hosted(lambda: ReferenceAdapter("awaken-8", declare={"policies": {}})))
    tally = Tally()
    for script in corpus(FAMILY):
        if not (tally.excluded or applicable(FAMILY, script, bench.handshake)):
            bench.play(script.scenario, play(script), tally)
    found = next(iter(tally.excluded.values()))[1]
    tally.note(found.violation.clause, found)
    saved = SavedSearch(folder, Order("", Exhaustive(3)), Facts(bench.handshake, bench.policies))
    saved.write({(1, 0): Played(tally), (2, 0): Played(Tally(), is_whole=False)})

    assert saved.read() == {(1, 0): Played(tally)}


@pytest.mark.parametrize(
    "change, said",
    [
        (("--depth", 3), "it had a depth of 2, and this has 3"),
        (("--races", 1), "it had at most 0 races, and this has 1"),
        (("--only", "GATE-*"), "it had the clauses all, and this has GATE-*"),
    ],
)
def test_another_search_is_refused(capsys, change, said):
    """A file of another bound is not gone on with, and not written over."""
    words = {"--depth": 2}
    run(capsys, "check", TINY, "--exhaustive", "--depth", 2, "--budget", 0)
    words |= {change[0]: change[1]}
    ran = run(capsys, "check", TINY, "--exhaustive", *(word for pair in words.items() for word in pair))

    assert ran.code == 2
    assert f"runlock-results/search.json is of another search that was stopped: {said}" in ran.err
    assert "Delete it to begin anew, or name another folder with `-o`." in ran.err


def test_another_runtime_or_kit_is_refused(capsys, folder):
    """The file holds what one runtime showed to one version of the kit."""
    words = ("check", TINY, "--exhaustive", "--depth", 1)
    run(capsys, *words, "--budget", 0)
    file = folder / "runlock-results" / FILE
    assert f"it had the target {TINY}, and this has {BROKEN}" in run(capsys, "check", BROKEN, *words[2:]).err

    saved = json.loads(file.read_text())
    for key, value, said in (
        ("kit", "0.0.1", "it had version 0.0.1 of the kit"),
        ("handshake", {}, "in its handshake the runtime says something else of itself by now"),
    ):
        file.write_text(json.dumps({**saved, "search": {**saved["search"], key: value}}))
        ran = run(capsys, *words)
        assert (ran.code, said in " ".join(ran.err.split())) == (2, True)


@pytest.mark.parametrize("begin", [0, *(pytest.param(n, marks=pytest.mark.long) for n in (10, 20, 30, 40))])
def test_no_odd_value_in_a_saved_search_is_a_bug_of_the_kit(folder, begin):
    """Where a value does not belong, the search is gone on with, or refused with a sentence."""
    order, parts = Order(BROKEN, Exhaustive(2)), folder / "parts"
    searched(order, parts, ProgressCallbacks(20))
    saved = json.loads((parts / FILE).read_text())
    for seed in range(begin, begin + 10):
        units = json.loads(json.dumps(saved["units"]))
        spoil(units, random.Random(seed))
        (parts / FILE).write_text(json.dumps({**saved, "units": units}))
        with suppress(UsageError):
            searched(order, parts, ProgressCallbacks(1))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"search": {}}', '{"search": 3, "units": []}'])
def test_what_is_no_search_is_refused(capsys, folder, text):
    """Whatever else lies there under that name is named, and left alone."""
    results = folder / "runlock-results"
    results.mkdir()
    (results / FILE).write_text(text)
    ran = run(capsys, "check", TINY, "--exhaustive", "--depth", 1)

    assert ran.code == 2
    assert "search.json" in ran.err
    assert (results / FILE).read_text() == text
