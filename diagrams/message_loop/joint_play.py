"""The system of the playground: a chat turn with one call, one person to ask, and a cancel."""

from __future__ import annotations

from runlock.diagrams.charts.playable_joint import Played
from runlock.machines.joint.search import Search
from runlock.machines.message_loop.joint.policies import choose
from runlock.machines.message_loop.joint.transitions import Joint

PROFILE = "message-loop"


def played() -> Played:
    """Every joint state of it; the stack is where the call stands on its way to its tool."""
    system = Joint(choose(PROFILE, {}).policies, 1, interactors=1)
    tables = system.charts
    charts = {
        "pass": tables.stage.name,
        "stack": tables.stack.name,
        "c1": tables.status.name,
        "bound": tables.bound.name,
        "cancel": tables.cancel.name,
        "run": tables.run.name,
    }
    return Played(Search(system).run(), PROFILE, charts)
