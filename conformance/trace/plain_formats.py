"""Line formats made from the models of a family: word = method or kind, fields by name.

Required text fields stand without a name, in the order of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal, get_args, get_origin

from pydantic import TypeAdapter
from pydantic.fields import FieldInfo

from runlock.conformance.protocol import Handshake, Observation, Scenario, Wire
from runlock.conformance.trace.line_formats import (
    RELEASE,
    SHARED_WORDS,
    LineFormat,
    LineFormats,
    MemberFormat,
    fields_of,
    named_by,
    no_fields,
)

SESSION_METHODS: Final = frozenset({"initialize", "scenario.open", "scenario.close", "shutdown", "crash"})
"""Methods that a trace keeps under a key of their own, or does not keep."""

TEXT_FIELDS: Final = ("text", "content", "message", "data")
"""Fields of an outcome that can stand without a name: the first of these that it has."""

ERROR_TEXT: Final[Mapping[str, str]] = {"raise": "message", "fault": "message"}

Models = Mapping[str, tuple[type[Wire], type[Wire]]]


def plain_formats(
    family: str,
    methods: Models,
    observations: Mapping[str, type[Observation]],
    scenario: type[Scenario],
    outcomes: Mapping[str, TypeAdapter[Any]],
    *,
    handshake: type[Handshake] = Handshake,
    words: Mapping[str, str] | None = None,
    outcome_text: Mapping[str, str] | None = None,
    keeps_open: frozenset[str] = frozenset(),
    begins_run: frozenset[str] = frozenset({"run.start", "recover"}),
    gate_name: Callable[[Mapping[str, Any]], str] | None = None,
    codes: Mapping[str, Callable[[str], Any]] | None = None,
    call_gate: Callable[[str], Mapping[str, Any]] = no_fields,
) -> LineFormats:
    """Formats for a family whose messages are these models; `words` gives methods other words."""
    kinds, fields = _outcomes(outcomes)
    chosen = {**SHARED_WORDS, **(words or {})}
    members = dict(_members(scenario))
    return LineFormats(
        family=family,
        handshake=LineFormat("handshake", (), (handshake,)),
        scenario=LineFormat("scenario", _texts(scenario), (scenario,)),
        stimuli={
            method: _stimulus(chosen.get(method, method), method, params, begins_run)
            for method, (params, _) in methods.items()
            if method not in SESSION_METHODS
        },
        observations={kind: _observation(kind, model) for kind, model in observations.items()},
        outcome=LineFormat(RELEASE, listed=fields),
        gate_name=gate_name or named_by("on", "call"),
        members=members,
        outcome_text={**kinds, **(outcome_text or {})},
        keeps_open=keeps_open,
        begins_run=begins_run,
        codes=codes or {},
        call_gate=call_gate,
    )


# --- stimuli and observations -------------------------------------------------------------------


def _stimulus(word: str, method: str, model: type[Wire], begins_run: frozenset[str]) -> LineFormat:
    if method in ("gate.release", "deliver"):
        return LineFormat(word, (), (model,))
    has_run = "run" in fields_of(model)
    is_implied = has_run and (method not in begins_run or method == "recover")
    positions = tuple(name for name in _texts(model) if not (is_implied and name == "run"))
    return LineFormat(word, positions, (model,), about_a_run=is_implied)


def _observation(kind: str, model: type[Observation]) -> LineFormat:
    fields = {info.alias or name: info for name, info in model.model_fields.items()}
    is_change = {"from", "to"} <= fields.keys()
    inner = _model_of(fields[kind]) if kind in fields else None
    if inner is not None:
        return LineFormat(kind, _texts(inner), (model, inner), about_a_run=True, inner=kind)
    left_out = {"kind", "run", *(("from", "to") if is_change else ())}
    positions = tuple(name for name in _texts(model) if name not in left_out)
    return LineFormat(kind, positions, (model,), about_a_run=True, is_change=is_change)


def _texts(model: type[Wire]) -> tuple[str, ...]:
    """The required fields that hold text."""
    infos = model.model_fields.items()
    return tuple(
        info.alias or name for name, info in infos if info.is_required() and _is_text(info.annotation)
    )


def _is_text(annotation: Any) -> bool:
    if get_origin(annotation) is Literal:
        return all(isinstance(value, str) for value in get_args(annotation))
    return annotation is str


def _model_of(info: FieldInfo) -> type[Wire] | None:
    annotation = info.annotation
    return annotation if isinstance(annotation, type) and issubclass(annotation, Wire) else None


# --- scenarios ----------------------------------------------------------------------------------


def _members(scenario: type[Scenario]) -> Iterator[tuple[str, MemberFormat]]:
    """An indented line for each list of a scenario: of objects one a line, of texts all in one line."""
    for name, info in scenario.model_fields.items():
        if get_origin(info.annotation) is not list:
            continue
        (item,) = get_args(info.annotation)
        path = (info.alias or name,)
        if isinstance(item, type) and issubclass(item, Wire):
            word = path[0].removesuffix("s")
            yield word, MemberFormat(path, LineFormat(word, _texts(item), (item,)))
        elif item is str:
            yield path[0], MemberFormat(path)


# --- outcomes -----------------------------------------------------------------------------------


def _outcomes(outcomes: Mapping[str, TypeAdapter[Any]]) -> tuple[dict[str, str], frozenset[str]]:
    """The field of each kind of outcome that needs no name, and all fields of all outcomes."""
    texts: dict[str, str] = {}
    fields: set[str] = set()
    for properties in (found for adapter in outcomes.values() for found in _objects(adapter.json_schema())):
        fields |= properties.keys()
        text = next((name for name in TEXT_FIELDS if name in properties), None)
        for kind in _kinds(properties.get("kind", {})):
            preferred = ERROR_TEXT.get(kind)
            if chosen := preferred if preferred in properties else text:
                texts[kind] = chosen
    return texts, frozenset(fields)


def _objects(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The properties of the objects in a schema that have a kind."""
    for found in (schema, *schema.get("$defs", {}).values()):
        if "kind" in found.get("properties", {}):
            yield found["properties"]


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    return list(schema.get("enum", [schema["const"]] if "const" in schema else []))
