"""LangGraph's saver in SQLite, made one that can be awaited, on the kit's own loop."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from langgraph.checkpoint.sqlite import SqliteSaver


class Saver(SqliteSaver):
    """The saver, which needs no thread of its own to be awaited."""

    async def aget_tuple(self, *args: Any, **more: Any) -> Any:
        return self.get_tuple(*args, **more)

    async def alist(self, *args: Any, **more: Any) -> AsyncIterator[Any]:
        for one in self.list(*args, **more):
            yield one

    async def aput(self, *args: Any, **more: Any) -> Any:
        return self.put(*args, **more)

    async def aput_writes(self, *args: Any, **more: Any) -> None:
        self.put_writes(*args, **more)
