"""How long the kit waits in vain for an application behind AG-UI: its share of the time of some schedules.

    python tests/benchmarks/waits.py SCHEDULES [MILLISECONDS]

The application is the reference, which takes so long to react.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "doubles"))

from served_apps import site

from runlock.conformance.driving.strategies.random_walk import run_shard
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.wires.ag_ui_server import Served, Thread, Upstream, World


def slow(seconds: float) -> Served:
    """The reference as an application that takes this long before it asks for anything."""

    class SlowWorld(World):
        async def infer(self, messages: Sequence[Any], **more: Any) -> Any:
            await asyncio.sleep(seconds)
            return await super().infer(messages, **more)

        async def tool(self, call: str, name: str, args: Any, **more: Any) -> Any:
            await asyncio.sleep(seconds)
            return await super().tool(call, name, args, **more)

    class Slow(Thread):
        def world_of(self, upstream: Upstream, names: Sequence[str]) -> World:
            return SlowWorld(upstream, names)

    return Served(factory("awaken-8", {}), ("write",), ("read",), Slow)


def main(schedules: int, milliseconds: int) -> None:
    """Play, and print."""
    with site({"slow": slow(milliseconds / 1000)}) as apps:
        bench, pace = apps.bench("slow"), apps.wire("slow").pace
        begun, before = perf_counter(), pace.vain_seconds
        tally = run_shard(bench, 0, schedules, 1)
        seconds, vain = perf_counter() - begun, pace.vain_seconds - before
        bench.close()
    stimuli = f"{tally.stimuli} stimuli, {seconds / tally.stimuli * 1000:.0f} ms each"
    print(f"{tally.schedules} schedules, {stimuli}; {vain / seconds:.0%} of it waited in vain")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20)
