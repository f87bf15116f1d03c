"""Hundreds of runs suspended at once in one process: every decision reaches its own, and all are Done."""

import asyncio
import contextlib

from kill_points import folder_for_one
from many_runs import Crowd


def test_five_hundred_suspended_runs_are_decided_in_any_order():
    """Nothing is lost, mixed up or executed twice, in memory or in the one file that they share."""

    async def decided(crowd):
        await crowd.suspend()
        suspended = crowd.suspended()
        await crowd.decide(seed=11)
        return suspended

    with folder_for_one() as folder, contextlib.closing(Crowd(500, folder / "runs.sqlite")) as crowd:
        assert asyncio.run(decided(crowd)) == 500
        assert list(crowd.wrong()) == []
        assert len(crowd.store.threads()) == 500
