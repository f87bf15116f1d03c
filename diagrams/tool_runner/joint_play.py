"""The system of the playground: a tool runner with one call, and a user who iterates without a limit."""

from __future__ import annotations

from runlock.diagrams.charts.playable_joint import Played
from runlock.machines.joint.search import Search
from runlock.machines.tool_runner.joint.policies import choose
from runlock.machines.tool_runner.joint.transitions import Joint

PROFILE = "tool-runner-typescript"


def played() -> Played:
    """Every joint state of it; a call of a tool runner has no chart."""
    system = Joint(choose(PROFILE, {}).policies, 1, limit=0, cancels=0)
    charts = {"c1": "", "run": system.charts.runner.name, "response": system.charts.response.name}
    return Played(Search(system).run(), PROFILE, charts)
