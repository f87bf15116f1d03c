"""What a scenario starts from, and how it closes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from runlock.conformance.families.lifecycle.messages.vocabulary import PhaseName, ResumeMode
from runlock.conformance.protocol import scenario as shared
from runlock.conformance.protocol.wire import Wire


class ToolSpec(Wire):
    """A tool of the scenario and what holds it back."""

    name: str
    permission: Literal["allow", "ask", "gate"] = "allow"
    resume_mode: ResumeMode = "replay"


class StopCondition(Wire):
    """One declared stop condition; each kind reads the field named next to it."""

    kind: Literal[
        "max_rounds", "timeout", "token_budget", "consecutive_errors", "stop_on_tool", "content_match",
        "loop_detection",
    ]  # fmt: skip
    rounds: int | None = None  # max_rounds
    seconds: float | None = None  # timeout
    max_total: int | None = None  # token_budget, in tokens
    max: int | None = None  # consecutive_errors
    tool_name: str | None = None  # stop_on_tool
    pattern: str | None = None  # content_match
    window: int | None = None  # loop_detection, in calls


class HookSpec(Wire):
    """A plugin of the scenario, which the kit plays: it is held wherever this phase fires."""

    at: PhaseName


class Agent(Wire):
    """How the agent of the scenario is configured."""

    stop: list[StopCondition] = Field(default_factory=list)


class Scenario(shared.Scenario):
    """What one scenario starts from: tools, agent, an empty folder, gates to hold."""

    tools: list[ToolSpec] = Field(default_factory=list)
    agent: Agent = Agent()
    hooks: list[HookSpec] = Field(default_factory=list)
    hold: list[str] = Field(default_factory=list)

    @cached_property
    def in_full(self) -> Mapping[str, Any]:
        """Every field of it as the runtime is handed it, but for `data`; of a stop condition what it has."""
        whole = self.model_dump(mode="json", by_alias=True)
        stop = [condition.model_dump(exclude_none=True) for condition in self.agent.stop]
        return {**whole, "agent": {"stop": stop}}
