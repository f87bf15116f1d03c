"""The system of the playground: a run with one call, its store, and a crash."""

from __future__ import annotations

from runlock.diagrams.charts.playable_joint import Played
from runlock.machines.joint.search import Search
from runlock.machines.lifecycle.joint.policies import choose
from runlock.machines.lifecycle.joint.transitions import Joint

PROFILE = "awaken-8"


def played() -> Played:
    """Every joint state of it."""
    system = Joint(choose(PROFILE, {}).policies, 1, crashes=1)
    charts = {"c1": "ToolCall", "run": system.charts.run.name, "gate": system.charts.gate.name}
    return Played(Search(system).run(), PROFILE, charts)
