"""Agents behind ACP: right ones hold, and wrong ones are blamed as they are in process."""

from pathlib import Path

import pytest
from acp_agents import AGENTS, RIGHT, WRONG
from played_scripts import played_on, reasons
from served_agents import serving

from runlock.conformance.campaign.order import Means, Order, Sampled
from runlock.conformance.campaign.supervisor import campaign
from runlock.conformance.driving.strategies.scripted import corpus
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.wires import opened
from runlock.conformance.wires.acp import Acp
from runlock.conformance.wires.acp_client import Permission
from runlock.conformance.wires.acp_wire import AcpWire
from runlock.conformance.wires.address import address_of

MUTATED = {
    "RunsTheRejected": "GATE-2",
    "RerunsFinishedSiblings": "ONCE-1",
    "MisnamesTheRejected": "PAIR-2",
    "ApprovesTheFirst": "DECIDE-5",
    "SaysNothingOfTheRejected": "PAIR-1",
    "LeavesCallsDangling": "PAIR-1",
}
"""Mutants of the lifecycle, and the clause that each of them breaks."""

FEW = (
    "reject", "partial-resume", "again-after-a-stop-in-a-round", "again-after-a-stop-in-a-wait",
    "decision-for-nobody", "two-rounds-of-two", "when-approved-again-after-a-cancel",
)  # fmt: skip
"""A rejection, a part of the permissions, cancels, an answer to nothing, and one after a cancel."""

EXERCISED = {"GATE-1", "GATE-2", "PAIR-1", "PAIR-4", "CANCEL-2", "DECIDE-5", "ONCE-1"}


@pytest.fixture(scope="module")
def agents():
    """All of them, each started when it is asked for."""
    with serving(AGENTS) as found:
        yield found


def played(agents, name, scripts, until=None, **settings):
    """What a judge says of an agent after these scripts, or when a clause broke."""
    tally = played_on(agents.bench(name, **settings), scripts, until=until)
    assert tally.troubles == []
    return tally


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", RIGHT)
def test_how_it_asks_is_found_out(agents, name):
    """Also whether a session goes on in another process."""
    learned = agents.wire(name).learned

    assert (learned.waits, learned.together) == (True, name != "one-by-one")
    assert learned.shows == (name != "unseen")
    assert learned.loads == learned.says_it_loads == (name != "no-load")
    assert set(learned.entered) == {"write", "read"}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_agent_holds(agents, name):
    """In a few scripts."""
    scripts = [script for script in corpus(FAMILY) if script.name in FEW]
    tally = played(agents, name, scripts)

    assert reasons(tally) == {}
    assert EXERCISED - {clause for clause, times in tally.exercised.items() if times} == set()


@pytest.mark.long
@pytest.mark.sampled(1, nightly=7)
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_agent_holds_in_every_script(agents, name):
    """All of the scripts that fit."""
    tally = played(agents, name, corpus(FAMILY))

    assert reasons(tally) == {}
    assert tally.schedules > 40


BY_SCRIPTS = {**MUTATED, **{name: clause for name, (_, clause) in WRONG.items()}}
del BY_SCRIPTS["forgets-what-it-loads"]  # no script loads a session: test_loaded_sessions.py


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("name", "clause"), BY_SCRIPTS.items())
def test_a_wrong_agent_is_blamed(agents, name, clause):
    """By a script that is about its clause, or by another one."""
    scripts = sorted(corpus(FAMILY), key=lambda script: clause not in script.about)

    assert clause in played(agents, name, scripts, until=clause).found


def test_the_next_session_has_the_folder_of_one_that_is_over(agents):
    """Some agents keep all that they load for a folder, and would grow with each schedule."""
    played(agents, "right", [script for script in corpus(FAMILY) if script.name in FEW])
    wire = agents.wire("right")

    assert len(wire.agent.sessions) >= len(FEW)
    assert len(list(Path(wire.process.folder).glob("workspace-*"))) <= 3


def test_what_was_learned_is_said(agents):
    """In sentences, which `smoke` shows; what this wire cannot show is not declared."""
    handshake = Acp(agents.wire("right")).handshake

    assert "The permissions of a round are asked together." in handshake.notes
    assert "A session goes on when another process loads it." in handshake.notes
    assert handshake.control.crash == [] and "under way when an agent ends" in handshake.control.uncrashed
    assert handshake.history == [] and "call.status" not in handshake.observes


@pytest.mark.long
def test_two_sessions_of_one_agent_are_played_at_once(agents, monkeypatch):
    """Each by a thread of the kit; nothing of one is seen in the other."""
    found = agents.wire("right")
    monkeypatch.setitem(opened._OPEN, str(found.address), found)
    result = campaign(Order(str(found.address), Sampled(0, 0)), Means(2))

    assert [clause.id for clause in result.clauses if clause.verdict == "broken"] == []
    assert result.schedules > 40


@pytest.mark.long
def test_the_command_serves_an_agent():
    """As a process, which the kit starts."""
    wire = AcpWire(
        address_of("acp:python -m runlock.conformance.cli serve mutant:RunsTheRejected --wire acp")
    )
    try:
        assert wire.learned.name == "runlock-served"
        assert wire.learned.loads
    finally:
        wire.close()


def test_each_permission_of_a_call_is_answered():
    """Two calls of one id may wait at once: the first is answered first, and the other still waits."""
    mouth = object.__new__(Acp)
    first, second = Permission(1, "c1", {}), Permission(2, "c1", {})
    mouth.asked = {"c1": [first, second]}

    assert mouth._permission("c1") is first
    first.answer = {}
    assert mouth._is_open("c1") and mouth._permission("c1") is second
    second.answer = {}
    assert not mouth._is_open("c1") and mouth._permission("c1") is second
    assert mouth._permission("c9").number == "no-permission-for-c9"
