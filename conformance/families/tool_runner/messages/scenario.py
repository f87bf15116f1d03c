"""The configuration of a scenario of a tool runner."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from runlock.conformance.protocol import Scenario, Wire


class RunnerTool(Wire):
    """A tool of the scenario; one that is not offered is in no request until the user adds it."""

    name: str
    offered: bool = True


class RunnerOptions(Wire):
    """How the runner of a scenario is configured."""

    max_iterations: int | None = None
    stream: bool = False
    read: Literal["all", "none"] = "all"


class RunnerScenario(Scenario):
    """The configuration of a scenario: the tools, and the options of the runner."""

    tools: list[RunnerTool] = Field(default_factory=list)
    runner: RunnerOptions = RunnerOptions()

    @cached_property
    def in_full(self) -> Mapping[str, Any]:
        """All fields as they are sent to the runtime; a limit that is not set stays unset."""
        return {
            "scenario": self.scenario,
            "tools": [tool.model_dump() for tool in self.tools],
            "runner": self.runner.model_dump(exclude_none=True),
        }
