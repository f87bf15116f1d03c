"""What every message part has in common, and the errors that an answer can be."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, model_validator

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


_NEVER_NULL: dict[type[Wire], frozenset[str]] = {}


class Wire(BaseModel):
    """A message part: immutable, strictly typed, tolerant of fields it does not know."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_left_out(cls, raw: Any) -> Any:
        """A null where the protocol has no null is the same as a field that was left out."""
        if not isinstance(raw, dict) or None not in raw.values():
            return raw
        return {key: value for key, value in raw.items() if value is not None or key not in cls._never_null()}

    @classmethod
    def _never_null(cls) -> frozenset[str]:
        known = _NEVER_NULL.get(cls)
        if known is None:
            known = frozenset(
                field.alias or name
                for name, field in cls.model_fields.items()
                if not field.is_required() and field.get_default(call_default_factory=True) is not None
            )
            _NEVER_NULL[cls] = known
        return known

    def to_wire(self) -> dict[str, Any]:
        """The JSON object that this part is on the wire, without the fields that were left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)
