"""The agent of `runlock demo`: that of the tutorial, with one slip in how it takes decisions."""

from __future__ import annotations

from collections.abc import Sequence

from runlock.conformance.adapter import Decision, Segment
from runlock.conformance.adapters.python.adapter import Adapter as Tiny


class Adapter(Tiny):
    """One thread of the agent."""

    async def decide(self, decisions: Sequence[Decision]) -> Segment:
        """Take any decision about a call for an approval, which is the slip."""
        return await super().decide([one.model_copy(update={"action": "resume"}) for one in decisions])
