"""What a scenario of a tool runner starts from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from runlock.conformance.protocol import Scenario, Wire


class RunnerTool(Wire):
    """A tool that the user knows; one that is not offered is in no request before the user adds it."""

    name: str
    offered: bool = True


class RunnerOptions(Wire):
    """How the runner of a scenario is configured."""

    max_iterations: int | None = None
    stream: bool = False
    read: Literal["all", "none"] = "all"


class RunnerScenario(Scenario):
    """What a scenario starts from: the tools, and how the runner is configured."""

    tools: list[RunnerTool] = Field(default_factory=list)
    runner: RunnerOptions = RunnerOptions()

    @cached_property
    def in_full(self) -> Mapping[str, Any]:
        """Every field as the runtime gets it; a limit that is left out stays left out."""
        return {
            "scenario": self.scenario,
            "tools": [tool.model_dump() for tool in self.tools],
            "runner": self.runner.model_dump(exclude_none=True),
        }
