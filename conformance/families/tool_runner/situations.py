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
from runlock.conformance.family.pairs import pairwise


def scenarios(handshake: RunnerHandshake, policies: Mapping[str, Any]) -> Iterator[RunnerScenario]:
    """The scenario configurations that a runner is tested in, the simplest first."""
    tools = _tools(handshake)
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


def combined(handshake: RunnerHandshake, policies: Mapping[str, Any]) -> Iterator[RunnerScenario]:
    """Scenarios in which every limit meets every way to read a stream."""
    offer = handshake.runner
    features = {
        "max_iterations": [None, 0, 1, 2, 3] if offer.max_iterations else [None],
        "read": [None, *(offer.read if True in offer.stream else ())],
    }
    for number, row in enumerate(pairwise(features), start=1):
        read = {} if row["read"] is None else {"stream": True, "read": row["read"]}
        runner = RunnerOptions(max_iterations=row["max_iterations"], **read)
        yield RunnerScenario(scenario=f"combined-{number}", tools=_tools(handshake), runner=runner)


def _tools(handshake: RunnerHandshake) -> list[RunnerTool]:
    tools = [RunnerTool(name="t0"), RunnerTool(name="t1")]
    return [*tools, RunnerTool(name="t2", offered=False)] if "runner.tools" in handshake.stimuli else tools
