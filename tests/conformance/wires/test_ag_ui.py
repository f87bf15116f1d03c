"""Applications behind AG-UI: right ones hold, and wrong ones are blamed as they are in process."""

import pytest
from ag_ui_variants import VARIANTS
from ag_ui_wrong import WRITERS
from played_scripts import played_on, reasons

from runlock.conformance.driving.strategies.scripted import corpus, play, script_of
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.wires.ag_ui import AgUi
from runlock.conformance.wires.learned import Learned

DIALECTS = {"plain": {"approve": True, "reject": False}}
"""What a user says of an application whose interrupts do not tell how they are answered."""

WAITS = {
    "batch": "batch", "nameless": "batch", "legacy": "custom",
    "by-result": "result", "by-result-alone": "result",
}  # fmt: skip

EXERCISED = [f"PRODUCER-{number}" for number in (1, 2, 3, *range(5, 12), 16, 17, 18, 24, 30)]
"""Clauses about what a server sends that every application meets."""

WRONG = {
    "RunsTheRejected": "GATE-2",
    "RerunsFinishedSiblings": "ONCE-1",
    "MisnamesTheRejected": "PAIR-2",
    "ApprovesTheFirst": "DECIDE-5",
    "SaysNothingOfTheRejected": "PAIR-1",
    "LeavesCallsDangling": "PAIR-1",
}
"""Mutants of the lifecycle, and the clause that each of them breaks."""


def played(apps, name, scripts, until=None, **settings):
    """What a judge says of an application after these scripts, or when a clause broke."""
    return played_on(apps.bench(name, **settings), scripts, until=until)


def known(*names):
    """Some of the scripts, each of which is there."""
    scripts = {script.name: script for script in corpus(FAMILY)}
    return [scripts[name] for name in names]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", VARIANTS)
def test_how_it_waits_is_found_out(apps, name):
    """Also whether a run ends when its client goes away."""
    learned = apps.wire(name, **DIALECTS.get(name, {})).learned

    assert learned.waits == WAITS.get(name, "interrupt")
    assert learned.entered == ("read",)
    assert (learned.declares, learned.profile) == ("1.1", "ag-ui-1.1")
    assert learned.stops == (name != "finishing")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", VARIANTS)
def test_a_right_application_holds(apps, name):
    """A few scripts: a rejection, a part of the decisions, a client that goes away, a stream, two rounds."""
    few = known(
        "reject", "partial-resume", "again-after-a-stop-in-a-round", "calls-on-a-stream-of-ag-ui",
        "two-rounds-of-two",
    )  # fmt: skip
    tally = played(apps, name, few, **DIALECTS.get(name, {}))

    assert reasons(tally) == {}
    expected = {"GATE-1", "GATE-2", "PAIR-1", "PAIR-4", *EXERCISED}
    assert expected - {clause for clause, times in tally.exercised.items() if times} == set()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["legacy", "prefixed", "twice-prefixed"])
def test_an_older_or_longer_spelling_is_understood(apps, name):
    """Custom events that ask, and names of tools with that of their server."""
    tally = played(apps, name, known("reject", "two-rounds-of-two", "calls-on-a-stream-of-ag-ui"))

    assert reasons(tally) == {}
    assert all(tally.exercised[clause] for clause in ("GATE-1", "PAIR-4"))


def test_a_run_that_is_over_takes_no_input(apps):
    """What the user says then begins another one."""
    bench = apps.bench("usual")
    text = "scenario over tools=[]\n\nstart r1 hello\nrelease model turn done\ninput more\n"
    script = script_of(FAMILY, "over", text)
    session = bench.session(bench.family.fitting.fitted(script.scenario, bench.handshake))
    play(script)(session)
    bench.close()

    assert session.violation is None
    assert "a message begins another one" in str(session.trace.records)


def test_what_is_asked_besides_is_counted(apps):
    """With what it was, which the report says."""
    asides = played(apps, "titling", known("reject")).asides

    assert asides.total() >= 2
    assert list(asides) == ["one to the model that offers no tool and ends with 'name this conversation'"]


def test_what_was_learned_is_said(apps):
    """In sentences, which `smoke` shows."""
    notes = AgUi(apps.wire("prefixed")).handshake.notes

    assert "Its model was asked, and is offered kit_write, kit_read." in notes
    assert 'The answer is {"approved": true} for yes, and {"approved": false} for no.' in notes
    assert "A run ends when its client goes away." in notes


@pytest.mark.long
@pytest.mark.sampled(1, nightly=15)
@pytest.mark.parametrize("name", VARIANTS)
def test_a_right_application_holds_in_every_script(apps, name):
    """All of the scripts that fit."""
    tally = played(apps, name, corpus(FAMILY), **DIALECTS.get(name, {}))

    assert reasons(tally) == {}
    assert all(tally.exercised[clause] for clause in ("GATE-1", "ONCE-1", "PAIR-1", "PAIR-4", "DECIDE-5"))


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("name", "clause"), WRONG.items())
def test_a_wrong_application_is_blamed_as_its_runtime_is(apps, name, clause):
    """By a script that is about its clause, or by another one."""
    scripts = sorted(corpus(FAMILY), key=lambda script: clause not in script.about)

    assert clause in played(apps, name, scripts, until=clause).found


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", WRITERS)
def test_a_wrong_event_writer_is_blamed(apps, name):
    """What a runtime does is right, and what its server sends is not."""
    clause = WRITERS[name][1]
    few = known("partial-resume", "reject", "two-rounds-of-two")

    assert clause in played(apps, name, few, until=clause).found


@pytest.mark.parametrize(
    ("declares", "profile"),
    [("1.0", "ag-ui-1.0"), ("1.1", "ag-ui-1.1"), ("", "ag-ui-1.1"), ("1.7", "ag-ui-1.1")],
)
def test_the_profile_is_that_of_the_version(declares, profile):
    """A server that declares none, or a newer one, is judged by the newest."""
    assert Learned("", (None, None), (), (), stops=False, declares=declares).profile == profile
