"""The scenarios that a runtime is put into: its tools alone, and then with whatever else it can take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import (
    AgentSpec,
    Handshake,
    HookSpec,
    Scenario,
    StopCondition,
    ToolSpec,
)
from runlock.conformance.families.lifecycle.needs import unmet
from runlock.conformance.family.pairs import pairwise
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
    """The scenarios that a runtime is put into: its tools alone, then with one more feature each."""
    tools = _tools(handshake, policies)
    yield Scenario(scenario="tools", tools=tools)
    for values in _features(handshake, policies, tools).values():
        for name, feature in values.items():
            yield feature(Scenario(scenario=f"tools-{name}", tools=tools))


def combined(handshake: Handshake, policies: Mapping[str, Any]) -> Iterator[Scenario]:
    """Scenarios in which every two features of the runtime meet."""
    tools = _tools(handshake, policies)
    features = _features(handshake, policies, tools)
    choices = {name: [None, *values.values()] for name, values in features.items()}
    for number, row in enumerate(pairwise(choices), start=1):
        scenario = Scenario(scenario=f"combined-{number}", tools=tools)
        for feature in filter(None, row.values()):
            scenario = feature(scenario)
        yield scenario


def _tools(handshake: Handshake, policies: Mapping[str, Any]) -> list[ToolSpec]:
    """The tools that the runtime can have, with the modes of resuming that it has."""
    tools = [tool for tool in TOOLS if not unmet(f"tools {tool.permission}", handshake)]
    modes = policies.get("decision.modes") if handshake.decisions.payload else ["replay"]
    return [tool for tool in tools if modes is None or tool.resume_mode in modes]


Feature = Callable[[Scenario], Scenario]


def _features(
    handshake: Handshake, policies: Mapping[str, Any], tools: Sequence[ToolSpec]
) -> dict[str, dict[str, Feature]]:
    """What a scenario may have besides its tools: the values of each feature, by their names."""
    return {"stop": _stopping(handshake, policies, tools)} | {
        name: {name: feature} for name, feature in _single_features(handshake, tools)
    }


def _stopping(
    handshake: Handshake, policies: Mapping[str, Any], tools: Sequence[ToolSpec]
) -> dict[str, Feature]:
    """One stop condition of each kind that the runtime declares; one of time needs a clock of the kit."""
    declared = _stops(policies)
    has_clock = handshake.control.clock == "virtual"
    able = {name: one for name, one in STOPS.items() if name in declared and (name != "timeout" or has_clock)}
    conditions = {
        name: StopCondition(kind=one.kind, **_limits(one, tools)) for name, one in able.items() if tools
    }
    return {f"and-{name}": _with_agent(stop=[one]) for name, one in conditions.items()}


def _single_features(handshake: Handshake, tools: Sequence[ToolSpec]) -> Iterator[tuple[str, Feature]]:
    """What a scenario has or has not."""
    if _can_expire(handshake):
        yield "that-expire", _changing_tools(_with_an_end)
    if "timeout" in handshake.tools and "clock.advance" in handshake.stimuli:
        limit = {**_limit(handshake), "abort": None}
        yield "with-a-time-limit", _changing_tools(lambda tool: tool.model_copy(update=limit))
    if "unabortable" in handshake.tools:
        yield "that-ignore-an-abort", _changing_tools(_ignoring_its_abort)
    if "compaction" in handshake.edits and "thread.edited" in handshake.observes:
        yield "and-compaction", _with_agent(compact_above=COMPACT_ABOVE)
    within = [tool.name for tool in tools if tool.name in WITHIN]
    if "agent" in handshake.tools and within:
        yield "and-agent", _with_an_agent(ToolSpec(name="agent", agent=AgentSpec(tools=within)))
    if "hook" in handshake.gates and handshake.hooks:
        yield "and-plugins", _with(hooks=[HookSpec(at=at) for at in handshake.hooks])
    if "store.put" in handshake.gates and handshake.control.store != "none":
        yield "and-store", _with(hold=["store.put"])


def _with(**fields: Any) -> Feature:
    return lambda scenario: scenario.model_copy(update=fields)


def _with_agent(**fields: Any) -> Feature:
    return lambda scenario: scenario.model_copy(update={"agent": scenario.agent.model_copy(update=fields)})


def _changing_tools(change: Callable[[ToolSpec], ToolSpec]) -> Feature:
    """Changes every tool that is no agent."""
    return lambda scenario: scenario.model_copy(
        update={"tools": [tool if tool.agent else change(tool) for tool in scenario.tools]}
    )


def _with_an_agent(agent: ToolSpec) -> Feature:
    """An agent that is a tool, next to the tools that it may use."""
    return lambda scenario: scenario.model_copy(
        update={"tools": [*(tool for tool in scenario.tools if tool.name in WITHIN), agent]}
    )


EXPIRES_MS: Final = {"ask": 1500, "gate": 3500}
"""How long a call waits, by the permission of its tool; the spans of time that pass fall on no end."""


COMPACT_ABOVE: Final = 4
"""A thread that a walk makes longer than this, in messages."""

TIMEOUT_MS: Final = 1500
"""How long a body may be at work; a span that passes is shorter, and two of them are longer."""


def _limit(handshake: Handshake) -> Mapping[str, int]:
    return {"timeout_ms": TIMEOUT_MS, **({"retries": 1} if "retries" in handshake.tools else {})}


def _ignoring_its_abort(tool: ToolSpec) -> ToolSpec:
    """A tool without a time limit, which nothing could end."""
    return tool if tool.timeout_ms is not None else tool.model_copy(update={"abort": "ignored"})


def _can_expire(handshake: Handshake) -> bool:
    """Whether waits have an end, it is shown when they begin, and it is known what an end means."""
    passes = "clock.advance" in handshake.stimuli and handshake.control.clock == "virtual"
    return passes and "call.status" in handshake.observes and not unmet("tools expires", handshake)


def _with_an_end(tool: ToolSpec) -> ToolSpec:
    return tool.model_copy(update={"expires_ms": EXPIRES_MS.get(tool.permission)})


def _stops(policies: Mapping[str, Any]) -> list[Any]:
    declared = policies.get("stop.conditions", [])
    return declared if isinstance(declared, list) else [declared]


def _limits(condition: StopCondition, tools: Sequence[ToolSpec]) -> dict[str, Any]:
    limits = condition.model_dump(exclude={"kind"}, exclude_none=True)
    return {**limits, "tool_name": tools[-1].name} if condition.kind == "stop_on_tool" else limits


def bare(scenario: Scenario, moves: Sequence[Move]) -> Iterator[Scenario]:
    """The scenario without the tools that no move names, then without one thing that it may do without."""
    asked = str([move.params for move in moves])
    used = [tool for tool in scenario.tools if repr(tool.name) in asked]
    if len(used) < len(scenario.tools):
        yield scenario.model_copy(update={"tools": _offering_one_another(used)})
    for stop in _each_left_out(scenario.agent.stop):
        yield scenario.model_copy(update={"agent": scenario.agent.model_copy(update={"stop": stop})})
    for part in ("hold", "hooks"):
        for left in _each_left_out(getattr(scenario, part)):
            yield scenario.model_copy(update={part: left})


def _offering_one_another(tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    """The tools, where an agent among them has no tool that is not there."""
    names = {tool.name for tool in tools}
    within = {tool.name: tool.agent.tools for tool in tools if tool.agent is not None}
    agents = {name: AgentSpec(tools=[one for one in some if one in names]) for name, some in within.items()}
    return [
        tool.model_copy(update={"agent": agents[tool.name]}) if tool.name in agents else tool
        for tool in tools
    ]


def _each_left_out(some: Sequence[Any]) -> Iterator[list[Any]]:
    return ([one for other, one in enumerate(some) if other != at] for at in range(len(some)))
