"""Applications behind AG-UI that keep their threads over a kill: right ones, and some that lose a part.

A process of its own serves one of them: `python durable_apps.py NAME PORT`.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.wires.ag_ui_server import Served, Thread, serve


class LosesAll(Thread):
    """Begins each thread anew."""

    async def _opened(self) -> None:
        await self.adapter.open(self.world, self.scenario)


def _with(thread: type[Thread] = Thread, **policies: str) -> Served:
    named = {key.replace("_", "."): value for key, value in policies.items()}
    return Served(factory("awaken-8", named), ("write",), ("read",), thread)


APPS: Mapping[str, Served] = {
    **{mutant.name: Served(mutant, ("write",), ("read",)) for mutant in MUTANTS},
    "right": _with(),
    "keeping": _with(decision_kept="acceptance"),
    "losing-all": _with(LosesAll),
}


def command(name: str) -> str:
    """What starts one of them."""
    return shlex.join([sys.executable, str(Path(__file__)), name, "{port}"])


if __name__ == "__main__":
    serve(APPS[sys.argv[1]], int(sys.argv[2]))
