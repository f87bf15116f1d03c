"""An application that the kit starts is killed, and started again on what it has stored."""

import pytest
from durable_apps import command
from played_scripts import played_on, reasons

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import corpus
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.trace.moves import CRASH_AND_RECOVER
from runlock.conformance.wires.address import Address
from runlock.conformance.wires.ag_ui import AgUi
from runlock.conformance.wires.wire import Wire

URL = "http://127.0.0.1:{port}/agent"
KEPT = {"decision.kept": "acceptance"}
CRASHES = [
    script for script in corpus(FAMILY) if any(move.method == CRASH_AND_RECOVER for move in script.moves)
]


@pytest.fixture
def wire(request):
    """The wire to an application of that name, with what it promises."""
    name, policies = request.param
    found = Wire(Address(URL, launch=command(name), declare=policies))
    yield found
    found.close()


def played(wire, scripts, until=None):
    """What a judge says after these scripts, or when a clause broke; one that cannot be played is none."""
    tally = played_on(Bench(lambda: Hosted(lambda: AgUi(wire))), scripts, until=until)
    assert tally.troubles == []
    return tally


def known(*names):
    """Some of the scripts, each of which is there."""
    scripts = {script.name: script for script in CRASHES}
    return [scripts[name] for name in names]


@pytest.mark.long
@pytest.mark.parametrize("wire", [("keeping", KEPT)], indirect=True)
def test_a_right_application_goes_on_after_a_kill(wire):
    """At a request to the model, in a tool, during a wait, and with a decision that was accepted."""
    tally = played(
        wire,
        known(
            "crash-while-inferring", "crash-in-a-round", "when-lost-during-a-wait", "crash-after-an-approval"
        ),
    )

    assert wire.learned.survives
    assert reasons(tally) == {}
    assert all(tally.exercised[clause] for clause in ("KEEP-1", "ONCE-2", "RECOVER-3"))


@pytest.mark.sampled(1, nightly=2)
@pytest.mark.long
@pytest.mark.parametrize("wire", [("right", None)], indirect=True)
def test_a_right_application_holds_in_every_script_with_a_crash(wire):
    """All of them fit."""
    tally = played(wire, CRASHES)

    assert reasons(tally) == {}
    assert tally.schedules > 15


@pytest.mark.long
@pytest.mark.parametrize(
    ("wire", "clause", "script", "because"),
    [
        (
            ("RerunsDuringAWait", None),
            "ONCE-2",
            "when-lost-during-a-wait",
            "is Succeeded in the checkpoint, yet",
        ),
        (("ConfirmsBeforeItStores", KEPT), "KEEP-1", "crash-after-an-approval", "waits for another"),
    ],
    indirect=["wire"],
)
def test_one_that_loses_a_part_is_blamed(wire, clause, script, because):
    """A result that was told, or a decision that was accepted."""
    found = played(wire, known(script), until=clause).found

    assert because in found[clause].violation.reason


@pytest.mark.long
@pytest.mark.parametrize("wire", [("losing-all", None)], indirect=True)
def test_one_that_keeps_nothing_is_not_crashed(wire):
    """The report says why, for each clause that needs a crash."""
    control = AgUi(wire).handshake.control

    assert (control.crash, control.store) == ([], "none")
    assert "do not survive a restart" in control.uncrashed
    bench = Bench(lambda: Hosted(lambda: AgUi(wire)))
    why = bench.standings["ONCE-2"].why
    bench.close()
    assert why == control.uncrashed
