"""Loops that share no code with the reference: right ones are not blamed, and single faults are."""

import random
from itertools import chain

import pytest
from loop_faults import FAULTS
from rich_loop import OTHER, RichLoop
from small_loop import POLICIES, SmallLoop

from runlock.spec.model import load_spec

SPEC = load_spec("message-loop")
RIGHT = {
    "small": SmallLoop,
    "small, declared": lambda: SmallLoop(policies=POLICIES),
    "rich": RichLoop,
    "rich, other values": lambda: RichLoop(OTHER),
    "rich, denials are failures too": lambda: RichLoop(OTHER, fails_denied_calls=True),
    "rich, no end commit after a cancel": lambda: RichLoop(commits_after_cancel=False),
}
SCRIPTS = ("chat-turn", "session-grant", "aborted-and-denied", "bound-of-a-chat-turn", "cancel-while-asked")
TRIES, DRAWN = 6, 16


def found_on(loop, schedules):
    """The reasons of what these schedules broke."""
    tallies = [loop.see(one) for one in schedules]
    assert [trouble for tally in tallies for trouble in tally.troubles] == []
    return [(clause, one.violation.reason) for tally in tallies for clause, one in tally.found.items()]


@pytest.mark.parametrize("name", list(RIGHT))
def test_a_right_loop_is_not_blamed(walks, name):
    """A loop that was written from the protocol page passes scripts and walks."""
    assert found_on(walks(RIGHT[name]), [*SCRIPTS, *range(TRIES)]) == []


def drawn(seed):
    """One value for each policy."""
    chooser = random.Random(seed)
    chosen = {key: chooser.choice(policy.values) for key, policy in SPEC.policies.items()}
    return {
        **chosen,
        "grant.scopes": ["once", *(one for one in ("stage", "session") if chooser.random() < 0.7)],
    }


def hidden(policies, seed):
    """A handshake that declares only some of the policies."""
    chooser = random.Random(seed)
    kept = {key: value for key, value in policies.items() if chooser.random() < 0.3}
    return {"profile": "message-loop-core", "policies": {**kept, "grant.scopes": policies["grant.scopes"]}}


@pytest.mark.sampled(4, nightly=3)
@pytest.mark.parametrize(
    "seed", [*range(2), *(pytest.param(n, marks=pytest.mark.long) for n in range(2, DRAWN))]
)
@pytest.mark.parametrize("declares", [True, False], ids=["declared", "hidden"])
def test_no_combination_of_policies_is_blamed(walks, seed, declares):
    """The rich loop passes under any legal combination, whether it declares the values or not."""
    policies = drawn(seed)
    more = {} if declares else {"declare": hidden(policies, seed)}
    numbers = chain(range(seed * 37, seed * 37 + TRIES), range(1000 + seed * 41, 1000 + seed * 41 + TRIES))

    assert found_on(walks(lambda: RichLoop(policies, **more)), numbers) == []


@pytest.mark.parametrize("name", list(FAULTS))
def test_a_fault_is_blamed_on_a_clause_that_names_it(walks, name):
    """One script makes a loop with one fault violate a clause about that fault."""
    fault = FAULTS[name]

    assert {clause for clause, _ in found_on(walks(fault.make), [fault.script])} & fault.clauses
