"""Versions of the agent of the tutorials that lose something in a crash, and declare no policy for that."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

from places import ROOT

SOURCE = spec_from_file_location("example_agent", ROOT / "docs" / "examples" / "adapter.py")
assert SOURCE is not None
assert SOURCE.loader is not None
EXAMPLE = module_from_spec(SOURCE)
SOURCE.loader.exec_module(EXAMPLE)
Agent: Any = EXAMPLE.Adapter


def declaring(kind: Any, policy: str, value: str) -> Any:
    """The same agent, which declares a value of a policy."""
    said = Agent.handshake.model_copy(update={"policies": {policy: value}})
    return type(kind.__name__, (kind,), {"handshake": said})


class StoresTooEarly(Agent):
    """Writes its checkpoint before the result of a tool stands in it."""

    has_stored = False

    def answer(self, call: Any, status: str, text: str) -> None:
        self.save()
        self.has_stored = True
        super().answer(call, status, text)
        self.has_stored = False

    def save(self, reason: Any = None) -> None:
        if not self.has_stored:
            super().save(reason)


class StoresNoDecision(Agent):
    """Leaves the decisions that it has accepted out of its checkpoints."""

    def save(self, reason: Any = None) -> None:
        kept, self.decided = self.decided, {}
        super().save(reason)
        self.decided = kept


LosesResults = declaring(StoresTooEarly, "durability", "segment")
KeepsResultsItSays = declaring(StoresTooEarly, "durability", "call")
LosesDecisions = declaring(StoresNoDecision, "decision.kept", "no")
KeepsDecisionsItSays = declaring(StoresNoDecision, "decision.kept", "acceptance")
