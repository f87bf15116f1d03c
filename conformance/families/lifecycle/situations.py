"""The scenarios that a runtime is put into: its tools alone, and then with whatever else it can take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import (
    Agent,
    AgentSpec,
    Handshake,
    HookSpec,
    Scenario,
    StopCondition,
    ToolSpec,
)
from runlock.conformance.families.lifecycle.needs import unmet
from runlock.conformance.trace.moves import Move

STOPS: Final[dict[str, StopCondition]] = {
    "max_rounds": StopCondition(kind="max_rounds", rounds=2),
    "timeout": StopCondition(kind="timeout", seconds=0.5),
    "token_budget": StopCondition(kind="token_budget", max_total=10),
    "consecutive_errors": StopCondition(kind="consecutive_errors", max=1),
    "stop_on_tool": StopCondition(kind="stop_on_tool"),
    "content_match": StopCondition(kind="content_match", pattern="enough"),
}
"""One limit of each kind that a walk can meet; identical calls it cannot make, since each bears its id."""

TOOLS: Final = (
    ToolSpec(name="allowed", permission="allow"),
    ToolSpec(name="asking", permission="ask"),
    ToolSpec(name="gated", permission="gate"),
    ToolSpec(name="answered", permission="ask", resume_mode="use_as_result"),
    ToolSpec(name="instructed", permission="ask", resume_mode="pass_to_tool"),
)


WITHIN: Final = ("allowed", "asking")
"""The tools of an agent that is a tool."""


def scenarios(handshake: Handshake, policies: Mapping[str, Any]) -> Iterator[Scenario]:
    """The scenarios that a runtime is put into: its tools, with a limit of rounds, with the store held."""
    tools = [tool for tool in TOOLS if not unmet(f"tools {tool.permission}", handshake)]
    modes = policies.get("decision.modes") if handshake.decisions.payload else ["replay"]
    tools = [tool for tool in tools if modes is None or tool.resume_mode in modes]
    yield Scenario(scenario="tools", tools=tools)
    declared = _stops(policies)
    for name, condition in STOPS.items():
        able = name in declared and (name != "timeout" or handshake.control.clock == "virtual")
        if able and tools:
            stop = [StopCondition(kind=condition.kind, **_limits(condition, tools))]
            yield Scenario(scenario=f"tools-and-{name}", tools=tools, agent=Agent(stop=stop))
    if _can_expire(handshake):
        waiting = [_with_an_end(tool) for tool in tools]
        yield Scenario(scenario="tools-that-expire", tools=waiting)
    if "timeout" in handshake.tools and "clock.advance" in handshake.stimuli:
        limited = [tool.model_copy(update=_limit(handshake)) for tool in tools]
        yield Scenario(scenario="tools-with-a-time-limit", tools=limited)
    if "compaction" in handshake.edits and "thread.edited" in handshake.observes:
        yield Scenario(scenario="tools-and-compaction", tools=tools, agent=Agent(compact_above=COMPACT_ABOVE))
    agent = AgentSpec(tools=[tool.name for tool in tools if tool.name in WITHIN])
    if "agent" in handshake.tools and agent.tools:
        within = [tool for tool in tools if tool.name in WITHIN]
        yield Scenario(scenario="tools-and-agent", tools=[*within, ToolSpec(name="agent", agent=agent)])
    if "hook" in handshake.gates and handshake.hooks:
        yield Scenario(
            scenario="tools-and-plugins", tools=tools, hooks=[HookSpec(at=at) for at in handshake.hooks]
        )
    if "store.put" in handshake.gates and handshake.control.store != "none":
        yield Scenario(scenario="tools-and-store", tools=tools, hold=["store.put"])


EXPIRES_MS: Final = {"ask": 1500, "gate": 3500}
"""How long a call waits, by the permission of its tool; the spans of time that pass fall on no end."""


COMPACT_ABOVE: Final = 4
"""A thread that a walk makes longer than this, in messages."""

TIMEOUT_MS: Final = 1500
"""How long a body may be at work; a span that passes is shorter, and two of them are longer."""


def _limit(handshake: Handshake) -> Mapping[str, int]:
    return {"timeout_ms": TIMEOUT_MS, **({"retries": 1} if "retries" in handshake.tools else {})}


def _can_expire(handshake: Handshake) -> bool:
    """Whether waits have an end, it is shown when they begin, and it is known what an end means."""
    passes = "clock.advance" in handshake.stimuli and handshake.control.clock == "virtual"
    return passes and "call.status" in handshake.observes and not unmet("tools expires", handshake)


def _with_an_end(tool: ToolSpec) -> ToolSpec:
    return tool.model_copy(update={"expires_ms": EXPIRES_MS.get(tool.permission)})


def _stops(policies: Mapping[str, Any]) -> list[Any]:
    declared = policies.get("stop.conditions", [])
    return declared if isinstance(declared, list) else [declared]


def _limits(condition: StopCondition, tools: list[ToolSpec]) -> dict[str, Any]:
    limits = condition.model_dump(exclude={"kind"}, exclude_none=True)
    return {**limits, "tool_name": tools[-1].name} if condition.kind == "stop_on_tool" else limits


def bare(scenario: Scenario, moves: Sequence[Move]) -> Iterator[Scenario]:
    """The scenario without the tools that no move names, then without one thing that it may do without."""
    asked = str([move.params for move in moves])
    used = [tool for tool in scenario.tools if repr(tool.name) in asked]
    if len(used) < len(scenario.tools):
        yield scenario.model_copy(update={"tools": used})
    for stop in _each_left_out(scenario.agent.stop):
        yield scenario.model_copy(update={"agent": scenario.agent.model_copy(update={"stop": stop})})
    for part in ("hold", "hooks"):
        for left in _each_left_out(getattr(scenario, part)):
            yield scenario.model_copy(update={part: left})


def _each_left_out(some: Sequence[Any]) -> Iterator[list[Any]]:
    return ([one for other, one in enumerate(some) if other != at] for at in range(len(some)))
