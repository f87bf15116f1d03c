"""The configuration of a scenario of the message loop."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from runlock.conformance.families.message_loop.messages.vocabulary import (
    ITERATIONS_DEFAULT,
    Mode,
    Point,
    Role,
    StageName,
)
from runlock.conformance.protocol import scenario as shared
from runlock.conformance.protocol.wire import Wire


class ToolSpec(Wire):
    """A tool of the scenario; a chat turn's manifest contains it only if it is offered."""

    name: str
    origin: Literal["local", "remote"] = "local"
    offered: bool = True


class HookSpec(Wire):
    """A hook that the kit plays: each time its slot is reached, a gate opens."""

    id: str
    at: StageName
    point: Point = "pre"
    kind: Role

    @property
    def slot(self) -> str:
        """The name of its slot in the handshake."""
        return f"{self.at}.{self.point}.{self.kind}"


class ContextSpec(Wire):
    """A context provider, and the maximum number of characters that it may add to a request."""

    id: str
    budget: int


class Bounds(Wire):
    """The bound of a chat turn."""

    max_iterations: int = ITERATIONS_DEFAULT


class TokenSpec(Wire):
    """Tokens that each execution of a stage starts with."""

    tool: str
    uses: int = 1


class StageSpec(Wire):
    """A step of the state machine."""

    body: str = ""
    allowed_tools: list[str] = Field(default_factory=list)
    grants: list[TokenSpec] = Field(default_factory=list)
    turn_cap: int = ITERATIONS_DEFAULT
    completion: str = "complete"


class Driver(Wire):
    """The state machine of the scenario; with `decides` the gate `sm` judges each call of its stages."""

    decides: bool = False
    stages: dict[str, StageSpec] = Field(default_factory=dict)


class Scenario(shared.Scenario):
    """The configuration of one scenario: tools, authority, hooks, context, bounds, a state machine."""

    system: str | None = None
    tools: list[ToolSpec] = Field(default_factory=list)
    mode: Mode = "ask"
    allowlist: list[str] = Field(default_factory=list)
    interactors: list[str] = Field(default_factory=list)
    hooks: list[HookSpec] = Field(default_factory=list)
    context: list[ContextSpec] = Field(default_factory=list)
    bounds: Bounds = Bounds()
    driver: Driver | None = None
    hold: list[str] = Field(default_factory=list)

    @cached_property
    def in_full(self) -> Mapping[str, Any]:
        """All fields as they are sent to the runtime, except `data`; a bound that is not set stays unset."""
        whole = self.model_dump(mode="json", by_alias=True)
        return {**whole, "bounds": self.bounds.to_wire()}

    def tool(self, name: str) -> ToolSpec | None:
        """The tool of that name."""
        return next((one for one in self.tools if one.name == name), None)

    def hook(self, hook: str) -> HookSpec | None:
        """The hook of that id."""
        return next((one for one in self.hooks if one.id == hook), None)

    def hooks_at(self, at: str, point: str) -> list[HookSpec]:
        """The hooks at one point of a stage, in the listed order."""
        return [one for one in self.hooks if one.at == at and one.point == point]

    def stage(self, name: str) -> StageSpec | None:
        """The stage of that name."""
        return self.driver.stages.get(name) if self.driver is not None else None
