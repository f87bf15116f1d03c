"""A search of joint states that a bound ends, in each family."""

from importlib import import_module

import pytest

from runlock.machines.joint.search import Bounds, Search


@pytest.mark.parametrize(
    ("family", "profile", "calls", "limit"),
    [
        ("lifecycle", "awaken-8", 2, 1),
        ("message_loop", "message-loop", 1, 1),
        ("tool_runner", "tool-runner", 1, 2),
    ],
)
def test_a_search_that_was_cut_off_says_so(family, profile, calls, limit):
    """It is partial, and does not judge what it cannot know."""
    joint = [
        import_module(f"runlock.machines.{family}.joint.{part}")
        for part in ("policies", "transitions", "checker", "clauses")
    ]
    policies, transitions, checker, clauses = joint
    chosen = policies.choose(profile, {}).policies
    system = transitions.Joint(chosen, calls)
    search = Search(system).run(Bounds(states=200))
    judged = checker.judge(search, clauses.rules_for(chosen, limit), system.charts.tables)

    assert search.stopped is not None and "200" in search.stopped.why
    assert judged.findings == [] and judged.hopeless == 0
