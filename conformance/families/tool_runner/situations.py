"""Scenario configurations for testing a runner: tools, limits, and streams that are read or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runlock.conformance.families.tool_runner.messages import (
    RunnerHandshake,
    RunnerOptions,
    RunnerScenario,
    RunnerTool,
)


def scenarios(handshake: RunnerHandshake, policies: Mapping[str, Any]) -> Iterator[RunnerScenario]:
    """The scenario configurations that a runner is tested in, the simplest first."""
    tools = [RunnerTool(name="t0"), RunnerTool(name="t1")]
    if "runner.tools" in handshake.stimuli:
        tools.append(RunnerTool(name="t2", offered=False))
    offer = handshake.runner
    yield RunnerScenario(scenario="tools", tools=tools)
    if offer.max_iterations:
        for limit in (2, 0):
            name = f"tools-and-limit-{limit}"
            yield RunnerScenario(scenario=name, tools=tools, runner=RunnerOptions(max_iterations=limit))
    if True in offer.stream:
        for read in offer.read:
            runner = RunnerOptions(stream=True, read=read)
            yield RunnerScenario(scenario=f"tools-and-stream-read-{read}", tools=tools, runner=runner)
