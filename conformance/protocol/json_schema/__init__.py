"""The JSON Schemas of a family's messages, for adapters in any language, generated from the pydantic models.

`definitions.json` holds every part of a message once.  The other files refer to it by relative references:
one file for each verb and direction, and one each for an observation, a gate's outcome and a line of a
trace file.  The generated files are checked in.
`python -m runlock.conformance.protocol.json_schema [FOLDER [FAMILY]]` writes them, where FAMILY names the
object of a family as `module:object`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from runlock.conformance.protocol import Ended, Observation, Refusal, Unlisted, Wire
from runlock.conformance.protocol.vocabulary import Vocabulary

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
DEFINITIONS: Final = "definitions"
WIDTH: Final = 110

Schema = dict[str, Any]


def write_schemas(folder: Path, messages: Vocabulary) -> list[Path]:
    """Write the schemas of a family's messages into the folder; returns the files."""
    sides = {
        f"{verb}.{side}": model
        for verb, both in messages.methods.items()
        for side, model in zip(SIDES, both, strict=True)
    }
    parts: dict[str, type[Wire]] = {
        **sides,
        **{f"observation {kind}": model for kind, model in messages.observations.items()},
        "handshake": messages.handshake,
        "scenario": messages.scenario,
        "end": Ended,
        "refusal": Refusal,
        "unlisted": Unlisted,
    }
    adapters: dict[str, TypeAdapter[Any]] = {name: TypeAdapter(model) for name, model in parts.items()}
    adapters |= {f"outcome {gate}": adapter for gate, adapter in messages.outcomes.items()}
    made = _Made(adapters, messages.observations)
    folder.mkdir(parents=True, exist_ok=True)
    return [_written(folder / f"{name}.json", schema) for name, schema in made.files(sides)]


SIDES: Final = ("params", "answer")


class _AsRead(GenerateJsonSchema):
    """The schema of what the models accept, without the nulls that they never write."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Remove titles, which only repeat the names of fields."""
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Accept null for a field whose default is another value, as `Wire` does."""
        made = super().default_schema(schema)
        if schema.get("default", schema.get("default_factory")) is None:
            return made
        default = {"default": made.pop("default")} if "default" in made else {}
        return {"anyOf": [made, {"type": "null"}], **default}


class _Made:
    """The definitions of the models, and for each name the reference to its definition."""

    def __init__(
        self, adapters: Mapping[str, TypeAdapter[Any]], observations: Mapping[str, type[Observation]]
    ) -> None:
        inputs: list[Any] = [(name, "validation", adapter) for name, adapter in adapters.items()]
        made, whole = TypeAdapter.json_schemas(inputs, schema_generator=_AsRead)
        self.named: dict[str, Schema] = {str(name): schema for (name, _), schema in made.items()}
        self.definitions: dict[str, Schema] = whole["$defs"]
        self._tell_observations_apart(observations)
        self._share(
            "AnyObservation", "oneOf", "Something that happened in the runtime.", "observation ", "unlisted"
        )
        self._share("GateOutcome", "anyOf", "What the outside world answers at a gate.", "outcome ")

    def _tell_observations_apart(self, observations: Mapping[str, type[Observation]]) -> None:
        """Require a listed kind, and exclude the listed kinds from the unlisted one, so that `oneOf` is
        unambiguous."""
        for kind, model in observations.items():
            definition = self.definitions[model.__name__]
            definition["properties"]["kind"] = {"const": kind, "type": "string"}
            definition["required"] = ["kind", *definition.get("required", [])]
        unlisted = self.definitions[Unlisted.__name__]
        unlisted["properties"]["kind"] = {"type": "string", "not": {"enum": list(observations)}}

    def _share(self, name: str, union: str, about: str, *starts: str) -> None:
        """Define the union of those names once, and refer to it wherever it occurs."""
        members = [
            one for key, schema in self.named.items() if key.startswith(starts) for one in _members(schema)
        ]
        refs = list(dict.fromkeys(member["$ref"] for member in members))
        self.definitions = {
            key: _replaced(schema, union, set(refs), {"$ref": f"#/$defs/{name}"})
            for key, schema in self.definitions.items()
        }
        self.definitions[name] = {"description": about, union: [{"$ref": ref} for ref in refs]}

    def files(self, sides: Mapping[str, type[Wire]]) -> Iterator[tuple[str, Schema]]:
        """The files by name."""
        for name in sides:
            verb, _, side = name.rpartition(".")
            title = f"What {verb} {'takes' if side == 'params' else 'answers'}"
            yield name, {**_headed(title), **_from_outside(self.named[name])}
        for name, definition, title in (
            ("observation", "AnyObservation", "Something that happened in the runtime under test"),
            ("outcome", "GateOutcome", "What the outside world answers at a gate"),
        ):
            yield name, {**_headed(title), **_defined(definition)}
        yield "trace", {**_headed("A line of a trace file"), **self._trace()}
        shared = {"$defs": dict(sorted(self.definitions.items()))}
        yield DEFINITIONS, {**_headed("The parts of messages that the other schemas refer to"), **shared}

    def _trace(self) -> Schema:
        """A line of a trace file: an object with exactly one of these keys."""
        refused = {"type": "array", "items": _from_outside(self.named["refusal"])}
        properties = {
            "handshake": _from_outside(self.named["handshake"]),
            "scenario": _from_outside(self.named["scenario"]),
            "stimulus": _object({"method": {"type": "string"}, "params": {"type": "object"}}, required=True),
            "observation": _defined("AnyObservation"),
            "report": _object({"quiescent": {"type": "boolean"}, "refused": refused}),
            "crash": {"type": "object"},
            "end": _from_outside(self.named["end"]),
        }
        return {**_object(properties), "minProperties": 1, "maxProperties": 1, "additionalProperties": False}


def _members(schema: Schema) -> list[Schema]:
    """The members of a union, or the schema itself if it is not a union."""
    members: list[Schema] = schema.get("anyOf") or schema.get("oneOf") or [schema]
    return members


def _replaced(value: Any, union: str, refs: set[str], by: Schema) -> Any:
    """The value with a reference in place of each union of these refs."""
    if isinstance(value, list):
        return [_replaced(one, union, refs, by) for one in value]
    if not isinstance(value, dict):
        return value
    if {str(one.get("$ref")) for one in value.get(union, ())} == refs:
        return by
    return {key: _replaced(one, union, refs, by) for key, one in value.items()}


def _headed(title: str) -> Schema:
    return {"$schema": DIALECT, "title": title}


def _object(properties: Schema, *, required: bool = False) -> Schema:
    needed = {"required": list(properties)} if required else {}
    return {"type": "object", "properties": properties, **needed}


def _defined(name: str) -> Schema:
    return _from_outside({"$ref": f"#/$defs/{name}"})


def _from_outside(reference: Schema) -> Schema:
    """A reference to a definition, from another file."""
    return {"$ref": f"{DEFINITIONS}.json{reference['$ref']}"}


def _written(path: Path, schema: Schema) -> Path:
    path.write_text(_text(schema) + "\n", encoding="utf-8")
    return path


def _text(value: Any, indent: str = "", before: int = 0) -> str:
    """JSON with each value on one line if it fits, and otherwise one line for each member."""
    plain = json.dumps(value, ensure_ascii=False)
    fits = len(indent) + before + len(plain) < WIDTH
    if fits or not isinstance(value, dict | list):
        return plain
    inner = indent + "  "
    if isinstance(value, list):
        return "[\n" + ",\n".join(inner + _text(one, inner) for one in value) + f"\n{indent}]"
    keys = {json.dumps(key): one for key, one in value.items()}
    lines = [f"{inner}{key}: {_text(one, inner, len(key) + 3)}" for key, one in keys.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
