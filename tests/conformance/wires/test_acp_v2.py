"""Agents behind version 2 of ACP: right ones hold, wrong ones are blamed, and the version is said."""

import pytest
from acp_agents_v2 import AGENTS, RIGHT, WRONG
from played_scripts import played_on, reasons
from served_agents import serving

from runlock.conformance.driving.strategies.scripted import corpus
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.wires.acp import Acp
from runlock.conformance.wires.acp_client import SPOKEN
from runlock.conformance.wires.address import PROTOCOLS

FEW = (
    "reject", "partial-resume", "again-after-a-stop-in-a-round", "again-after-a-stop-in-a-wait",
    "decision-for-nobody", "when-approved-again-after-a-cancel",
)  # fmt: skip
"""A rejection, a part of the permissions, cancels, an answer to nothing, and one after a cancel."""

EXERCISED = {"GATE-1", "GATE-2", "PAIR-1", "CANCEL-2", "DECIDE-5"}
EXERCISED |= {f"PROMPT-{number}" for number in range(1, 19)} - {"PROMPT-4", "PROMPT-17"}

MUTATED = {"RunsTheRejected": "GATE-2", "SaysNothingOfTheRejected": "PAIR-1"}
BLAMED = {**MUTATED, **{name: clause for name, (_, clause) in WRONG.items()}}


@pytest.fixture(scope="module")
def agents():
    """All of them, each started when it is asked for."""
    with serving(AGENTS) as found:
        yield found


def played(agents, name, scripts, until=None):
    """What a judge says of an agent after these scripts, or when a clause broke."""
    tally = played_on(agents.bench(name, protocol="2"), scripts, until=until)
    assert tally.troubles == []
    return tally


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_agent_holds(agents, name):
    """In a few scripts, by every clause of this version; a permission may not say of which call it is."""
    tally = played(agents, name, [script for script in corpus(FAMILY) if script.name in FEW])

    assert reasons(tally) == {}
    unseen = EXERCISED - {clause for clause, times in tally.exercised.items() if times}
    assert unseen == ({"PROMPT-6"} if name == "subjectless" else set())


@pytest.mark.long
@pytest.mark.sampled(1, nightly=8)
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_agent_holds_in_every_script(agents, name):
    """All of the scripts that fit."""
    tally = played(agents, name, corpus(FAMILY))

    assert reasons(tally) == {}
    assert tally.schedules > 40


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("name", "clause"), BLAMED.items())
def test_a_wrong_agent_is_blamed(agents, name, clause):
    """By a script that is about its clause, or by another one."""
    scripts = sorted(corpus(FAMILY), key=lambda script: clause not in script.about)

    assert clause in played(agents, name, scripts, until=clause).found


def test_the_version_that_was_spoken_is_said(agents):
    """In the notes of the handshake, and by the clauses that apply."""
    new = Acp(agents.wire("right", protocol="2")).handshake

    assert (new.prompts, new.implementation.name) == (2, "runlock-served")
    assert new.notes[0].endswith("speaks version 2 of the Agent Client Protocol.")
    assert new.inputs.loaded and "A session goes on when another process loads it." in new.notes


def test_each_version_that_can_be_asked_for_is_spoken():
    """An address knows them without the client."""
    assert tuple(map(str, SPOKEN)) == PROTOCOLS
