"""The JSON Schemas of the protocol, for adapters in any language: made from the pydantic models.

One file a verb and direction, and one each for an observation, a gate's outcome and a line of a trace
file.  They are generated, checked in, and compared byte for byte by a test; to write them anew, run
`python -m runlock.conformance.protocol.json_schema`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from runlock.conformance.families.lifecycle.messages import (
    LISTED,
    METHODS,
    AnyObservation,
    GateOutcome,
    Handshake,
    Request,
    Scenario,
)
from runlock.conformance.protocol import Closed, Refusal

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REF: Final = "#/$defs/{model}"


def write_schemas(folder: Path) -> list[Path]:
    """Write every schema into the folder; the files, in the order of the protocol."""
    written = []
    for name, schema in _schemas():
        path = folder / f"{name}.json"
        path.write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        written.append(path)
    return written


class _AsRead(GenerateJsonSchema):
    """What the models accept, which is a little more than what they write: null is left out."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """A field's name says enough."""
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """A field with a default other than null takes null for it, as `Wire` does."""
        made = super().default_schema(schema)
        if schema.get("default", schema.get("default_factory")) is None:
            return made
        default = {"default": made.pop("default")} if "default" in made else {}
        return {"anyOf": [made, {"type": "null"}], **default}


def _schemas() -> Iterator[tuple[str, dict[str, Any]]]:
    for verb, (params, answer) in METHODS.items():
        yield f"{verb}.params", _schema(f"What {verb} takes", params)
        yield f"{verb}.answer", _schema(f"What {verb} answers", answer)
    yield "observation", _schema("Something that happened in the runtime under test", AnyObservation)
    yield "outcome", _schema("What the outside world answers at a gate", GateOutcome)
    yield "trace", _trace()


def _schema(title: str, model: Any) -> dict[str, Any]:
    made = TypeAdapter(model).json_schema(schema_generator=_AsRead)
    _tell_observations_apart(made.get("$defs", {}))
    return {"$schema": DIALECT, **made, "title": title}


def _tell_observations_apart(definitions: dict[str, Any]) -> None:
    """A listed kind must be said, and an unlisted one is none of them; or `oneOf` finds two."""
    for kind, model in LISTED.items():
        definition = definitions.get(model.__name__)
        if definition is not None:
            definition["properties"]["kind"] = {"const": kind, "type": "string"}
            definition["required"] = ["kind", *definition.get("required", [])]
    if "Unlisted" in definitions:
        definitions["Unlisted"]["properties"]["kind"] = {"type": "string", "not": {"enum": list(LISTED)}}


def _trace() -> dict[str, Any]:
    """A line of a trace file: an object with exactly one of these keys."""
    parts: dict[str, Any] = {
        "handshake": Handshake,
        "scenario": Scenario,
        "stimulus": Request,
        "observation": AnyObservation,
        "end": Closed,
    }
    definitions: dict[str, Any] = {}
    properties = {key: _inlined(model, definitions) for key, model in parts.items()}
    properties["stimulus"]["properties"]["method"] = {"type": "string"}  # also deliver and settle
    properties["report"] = {
        "type": "object",
        "properties": {
            "quiescent": {"type": "boolean"},
            "refused": {"type": "array", "items": _inlined(Refusal, definitions)},
        },
    }
    properties["crash"] = {"type": "object"}
    _tell_observations_apart(definitions)
    return {
        "$schema": DIALECT,
        "$defs": dict(sorted(definitions.items())),
        "title": "A line of a trace file",
        "type": "object",
        "properties": properties,
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
    }


def _inlined(model: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    made = TypeAdapter(model).json_schema(schema_generator=_AsRead, ref_template=_REF)
    definitions.update(made.pop("$defs", {}))
    return made
