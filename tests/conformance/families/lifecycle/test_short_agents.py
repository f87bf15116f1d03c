"""What an agent may do with nothing declared, and what it is blamed for: limits, summaries, failures."""

import pytest
import short_agents
from played_scripts import played_on

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import script_of
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted

TOO_LONG = """
scenario s
  tool read allow

start r1 "read it"
release model turn c1:read
advance 3000
release model turn c2:read
release tool:c2 ok two
release model turn done
"""

LONG = """
scenario s
  tool read allow

start r1 "read all"
release model turn c1:read c2:read
release tool:c1 ok one
release tool:c2 ok two
release model turn c3:read c4:read
release tool:c3 ok three
release tool:c4 ok four
release model turn done
start r2 "read on"
release model turn done
"""

FAILS = """
scenario s
  tool read allow

start r1 "read all"
release model turn c1:read c2:read
release tool:c1 error "no such file"
release tool:c2 ok two
release model turn c3:read c4:read
release tool:c3 error "no such file"
release tool:c4 ok four
release model turn done
"""

CUT_OFF = """
scenario s
  tool read allow

start r1 "read all"
release model turn c1:read c2:read stop=length
release tool:c1 ok one
release model turn "" tool_calls=[c3:read {id=c4 name=read args="{\\"path\\": "}]
release tool:c3 ok three
release model turn done
"""

UNPARSED = """
scenario s
  tool read allow

start r1 "read it"
release model turn "" tool_calls=[{id=c1 name=read args="{\\"path\\": "}]
release model turn done
"""

BREAKS = """
scenario s
  tool read allow

start r1 "read it"
release model delta "I shall look"
release model delta tool_call={id=c1 name=read args={k=c1}}
release model fault "the line was cut"
release model turn c2:read "Well, once more"
release tool:c2 ok two
release model turn done
"""

RELOADED = """
scenario s
  tool write ask

start r1 "write both"
release model turn c1:write c2:write
watch w1
unwatch
watch w2
decide d1 resume c1; d2 resume c2
release tool:c1 ok one
release tool:c2 ok two
release model turn done
"""


def broken(agent, text):
    """The clauses that an agent breaks in a script."""
    return set(played_on(Bench(lambda: Hosted(agent)), [script_of(FAMILY, "s", text)]).found)


@pytest.mark.parametrize(
    ("agent", "script"),
    [
        (short_agents.Agent, FAILS),
        (short_agents.Limits, TOO_LONG),
        (short_agents.SumsUp, LONG),
        (short_agents.EndsTheRound, FAILS),
        (short_agents.Refuses, CUT_OFF),
        (short_agents.Refuses, UNPARSED),
        (short_agents.Refuses, BREAKS),
        (short_agents.Asks, RELOADED),
        (short_agents.TellsAgain, RELOADED),
    ],
)
def test_a_freedom_that_nothing_declares_is_not_blamed(agent, script):
    """A right agent breaks nothing."""
    assert broken(agent, script) == set()


@pytest.mark.parametrize(
    ("agent", "script", "clause"),
    [
        (short_agents.LimitsTheWait, TOO_LONG, "LIMIT-1"),
        (short_agents.SumsUpHalfARound, LONG, "PAIR-2"),
        (short_agents.EndsEveryOtherRound, FAILS, "RUN-34"),
        (short_agents.ReadsNoStop, CUT_OFF, "CUT-1"),
        (short_agents.EmptiesArguments, UNPARSED, "CUT-3"),
        (short_agents.KeepsPieces, BREAKS, "CUT-4"),
        (short_agents.AsksOnce, RELOADED, "SHOWN-4"),
    ],
)
def test_a_fault_is_blamed_on_its_clause(agent, script, clause):
    """Of what a wrong agent breaks, the clause of its fault leads."""
    assert broken(agent, script) == {clause}


def test_a_loss_that_is_declared_is_named_before_anything_is_played():
    """What a runtime says that it does not show again is a warning of every report."""
    lossy = short_agents.Agent.handshake.model_copy(update={"policies": {"wait.reshown": "no"}})
    says = type("Lossy", (short_agents.Agent,), {"handshake": lossy})
    benches = [Bench(lambda agent=agent: Hosted(agent)) for agent in (says, short_agents.Asks)]
    warnings = [bench.warnings for bench in benches]
    for bench in benches:
        bench.close()

    why = "wait.reshown is no: whoever comes later, or after a restart, is shown nothing of what waits"
    assert warnings == [[why], []]
