"""LangGraph's saver in SQLite, made one that can be awaited, and whose every write waits for the kit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from langgraph.checkpoint.sqlite import SqliteSaver

from runlock.conformance.adapter import Checkpoint, Host


class Saver(SqliteSaver):
    """The saver, which needs no thread of its own to be awaited; what it stores is opaque to the kit.

    The library saves at the end of each of its steps (`put`), and what a task has done before (`put_writes`).
    """

    host: Host

    async def aget_tuple(self, *args: Any, **more: Any) -> Any:
        return self.get_tuple(*args, **more)

    async def alist(self, *args: Any, **more: Any) -> AsyncIterator[Any]:
        for one in self.list(*args, **more):
            yield one

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        cause = "run_start" if metadata["source"] == "input" else "step"
        await self.host.commit(Checkpoint("StepEnd", cause=cause))
        return self.put(config, checkpoint, metadata, new_versions)

    async def aput_writes(self, *args: Any, **more: Any) -> None:
        await self.host.commit(Checkpoint("StepEnd", cause="round"))
        self.put_writes(*args, **more)
