"""What a scenario starts from, and how it closes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from runlock.conformance.families.lifecycle.messages.vocabulary import PhaseName, ResumeMode
from runlock.conformance.protocol import scenario as shared
from runlock.conformance.protocol.wire import JsonObject, Wire

TYPES: Final[Mapping[str, Any]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
}


LEFT_OUT: Final = ("agent", "expires_ms", "timeout_ms", "retries", "abort")
"""The fields of a tool that a runtime is not handed where they say nothing."""


class AgentSpec(Wire):
    """The agent that a tool is: a run within the call, which is offered these tools of the scenario."""

    tools: list[str] = Field(default_factory=list)


class ToolSpec(Wire):
    """A tool of the scenario and what holds it back."""

    name: str  # as the model asks for it
    permission: Literal["allow", "ask", "gate"] = "allow"  # what a call needs before it runs
    resume_mode: ResumeMode = "replay"  # what a call does that was approved
    parameters: JsonObject | None = None  # a JSON Schema of its arguments: `required`, and the `type` of each
    expires_ms: int | None = Field(default=None, gt=0)  # how long a call of it waits for a decision
    timeout_ms: int | None = Field(default=None, gt=0)  # how long its body may be at work
    retries: int | None = Field(default=None, gt=0)  # how often it is entered again when that has passed
    abort: Literal["ignored"] | None = None  # its body stays at work when the runtime aborts it
    agent: AgentSpec | None = None  # a call of it is a run of its own, whose input is the call's `v`

    @model_validator(mode="after")
    def _ends_at_its_time(self) -> Self:
        if self.timeout_ms is not None and self.abort is not None:
            raise ValueError("a tool that ignores its abort has no time limit, since nothing ends it")
        return self

    @field_validator("parameters")
    @classmethod
    def _names_known_types(cls, schema: JsonObject | None) -> JsonObject | None:
        declared: Mapping[str, Any] = schema or {}
        for name, one in declared.get("properties", {}).items():
            kind = one.get("type", "object")
            if not isinstance(kind, str) or kind not in TYPES:
                raise ValueError(f"parameter {name} has the type {kind!r}; there are {', '.join(TYPES)}")
        return schema

    def fits(self, args: Any) -> bool:
        """Whether arguments have all that is required, each of its type."""
        schema: Mapping[str, Any] = self.parameters or {}
        given = args if isinstance(args, Mapping) else {}
        kinds = {name: one.get("type") for name, one in schema.get("properties", {}).items()}
        missing = set(schema.get("required", ())) - set(given)
        return not missing and all(_is_a(given[name], kinds[name]) for name in kinds.keys() & given.keys())


def _is_a(value: Any, kind: str | None) -> bool:
    is_bool = isinstance(value, bool)
    return kind is None or (isinstance(value, TYPES[kind]) and is_bool == (kind == "boolean"))


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


class StateKey(Wire):
    """A key of plugin state that the scenario registers: a persistent one is in every checkpoint."""

    name: str
    persistent: bool = True


class Agent(Wire):
    """How the agent of the scenario is configured."""

    stop: list[StopCondition] = Field(default_factory=list)
    compact_above: int | None = Field(default=None, gt=0)  # a longer thread, in messages, is shortened


def _bound(agent: Agent) -> dict[str, int]:
    return {} if agent.compact_above is None else {"compact_above": agent.compact_above}


class Scenario(shared.Scenario):
    """What one scenario starts from: tools, agent, an empty folder, gates to hold."""

    tools: list[ToolSpec] = Field(default_factory=list)  # what the model may ask for
    agent: Agent = Agent()  # when a run stops by itself
    hooks: list[HookSpec] = Field(default_factory=list)  # the phases at which the kit plays a plugin
    keys: list[StateKey] = Field(default_factory=list)  # of the plugin state
    hold: list[str] = Field(default_factory=list)  # gates that are held besides: `apply`, `store.put`

    @cached_property
    def in_full(self) -> Mapping[str, Any]:
        """Every field of it as the runtime is handed it, but for `data`; of a stop condition what it has."""
        whole = self.model_dump(mode="json", by_alias=True)
        stop = [condition.model_dump(exclude_none=True) for condition in self.agent.stop]
        tools = [
            {key: value for key, value in tool.items() if value is not None or key not in LEFT_OUT}
            for tool in whole["tools"]
        ]
        return {**whole, "tools": tools, "agent": {"stop": stop, **_bound(self.agent)}}
