"""Observations of a runtime that every family has; each family adds its own kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from runlock.conformance.protocol.declared import Declared, Fields, Words, kinds_of
from runlock.conformance.protocol.outcomes import ToolCall
from runlock.conformance.protocol.wire import Wire


class Message(Wire):
    """One message of the thread."""

    role: Literal["user", "assistant", "tool", "system"]  # who says it
    text: str = ""
    tool_calls: list[ToolCall] = Field(default_factory=list)  # of an answer of the model
    call: str | None = None  # of a result: the id of its call
    status: Literal["ok", "error", "pending", "cancelled"] | None = None  # of a result: how its call ended


class Observation(Wire):
    """Something that happened in the SUT, of a listed kind or of a kind of its own.

    A listed one says where it is declared how its line is written, and its words; see `declared`.
    """

    declared: ClassVar[Declared] = Declared()
    kind: str
    run: str | None = None

    def __init_subclass__(
        cls, *, line: str = "", words: Words = "", implied: Fields | None = None, **config: Any
    ) -> None:
        super().__init_subclass__(**config)
        before = cls.declared
        cls.declared = Declared(
            line or before.line, words or before.words, implied=before.implied if implied is None else implied
        )

    @classmethod
    def _never_null(cls) -> frozenset[str]:
        return super()._never_null() - {"kind"}  # the field by which the kind was recognised


class GateOpened(Observation):
    """The SUT waits at a gate; a family adds what the gate shows."""

    kind: Literal["gate.open"] = "gate.open"
    gate: str
    on: str
    step: int | None = None
    call: str | None = None


class GateClosed(Observation, line="gate.closed {gate} {because}", words="gate {gate} is given up"):
    """The SUT abandoned the gate."""

    kind: Literal["gate.closed"] = "gate.closed"
    gate: str
    because: str = ""


class Unlisted(Observation):
    """An observation of the SUT's own kind, kept with all its fields."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")


def listed(*models: type[Observation]) -> dict[str, type[Observation]]:
    """The models by their kinds, in this order."""
    return {kind: model for model in models for kind in kinds_of(model)}


@dataclass(frozen=True)
class OfKind:
    """Metadata of an observation that is read by the model of its kind; one of another kind is unlisted."""

    models: Mapping[str, type[Observation]]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        models = {**self.models, "unlisted": Unlisted}
        choices = {kind: handler.generate_schema(model) for kind, model in models.items()}
        return core_schema.tagged_union_schema(choices, self._kind_of)

    def _kind_of(self, raw: Any) -> str:
        kind = raw.get("kind") if isinstance(raw, dict) else getattr(raw, "kind", None)
        return kind if isinstance(kind, str) and kind in self.models else "unlisted"
