"""What every message part has in common, and the errors that an answer can be."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Annotated, Any, Final, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    JsonValue,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import CoreSchema, core_schema

UNSUPPORTED: Final = -32001
ILLEGAL_STIMULUS: Final = -32002
NO_SUCH_GATE: Final = -32003
DID_NOT_SETTLE: Final = -32004
SUT_CRASHED: Final = -32005
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603


class ProtocolError(Exception):
    """An answer that is an error: a JSON-RPC `code`, a sentence, and optional `data`."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


PART_OF_A_WHOLE: Final = "part_of_a_whole"
"""The type of an error about a listed part of an object; its context is the error of that part."""

SCALARS: Final = frozenset({str, int, float, bool, type(None)})
TEXT: Final = frozenset({str})
DEPTH_MAX: Final = 40
"""What is nested deeper is left to pydantic, which also finds what holds itself."""


class _NotPlain(Exception):
    """A value that takes more than a glance to tell whether it is JSON."""


def _copied(value: Any, depth: int = DEPTH_MAX) -> Any:
    """A copy of what is plainly JSON, so that whoever is handed it cannot change what was sent."""
    kind = type(value)
    if kind in SCALARS:
        return value
    if kind is list and depth:
        return [member if type(member) in SCALARS else _copied(member, depth - 1) for member in value]
    if kind is dict and depth and TEXT.issuperset(map(type, value)):
        return {
            key: member if type(member) in SCALARS else _copied(member, depth - 1)
            for key, member in value.items()
        }
    raise _NotPlain


def _plainly(value: Any, validated: ValidatorFunctionWrapHandler) -> Any:
    """What is plainly JSON is copied here: pydantic takes each part of it for a choice, which is slow."""
    try:
        return _copied(value)
    except _NotPlain:
        return validated(value)


def _plainly_an_object(value: Any, validated: ValidatorFunctionWrapHandler) -> Any:
    return _plainly(value, validated) if type(value) is dict else validated(value)


Json = Annotated[JsonValue, WrapValidator(_plainly)]
JsonObject = Annotated[dict[str, JsonValue], WrapValidator(_plainly_an_object)]


class Wire(BaseModel):
    """A message part: immutable, strictly typed, tolerant of fields it does not know."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", populate_by_name=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A null where the protocol has no null is the same as a field that was left out."""
        schema, never_null = handler(source), cls._never_null()
        if never_null:  # most messages have no such field, and need not be asked
            of_fields: Any = handler.resolve_ref_schema(schema)
            left_out = partial(_without_null, never_null)
            of_fields["schema"] = core_schema.no_info_before_validator_function(left_out, of_fields["schema"])
        return schema

    @classmethod
    def _never_null(cls) -> frozenset[str]:
        return frozenset(
            field.alias or name
            for name, field in cls.model_fields.items()
            if not field.is_required() and field.get_default(call_default_factory=True) is not None
        )

    @cached_property
    def as_sent(self) -> Mapping[str, Any]:
        """The same as `to_wire`, made once: whoever is handed it leaves it as it is."""
        return self.to_wire()

    def __copy__(self) -> Self:
        """A copy that may be given other fields: nothing that was made of these comes along."""
        copied = super().__copy__()
        for name in vars(copied).keys() - type(self).model_fields:
            del vars(copied)[name]
        return copied

    def to_wire(self) -> dict[str, Any]:
        """The JSON object that this part is on the wire, without the fields that were left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _without_null(never_null: frozenset[str], raw: Any) -> Any:
    if not isinstance(raw, dict) or None not in raw.values():
        return raw
    return {key: value for key, value in raw.items() if value is not None or key not in never_null}
