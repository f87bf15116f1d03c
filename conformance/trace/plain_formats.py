"""Line formats made from the messages of a family: as they declare their lines, or word = method or kind.

Where no line is declared, required text fields are positional, in the order of the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, get_args, get_origin

from pydantic import TypeAdapter
from pydantic.fields import FieldInfo

from runlock.conformance.protocol import Handshake, Observation, Scenario, Wire
from runlock.conformance.protocol.declared import Declared, kinds_of
from runlock.conformance.protocol.outcomes import GateOutcome
from runlock.conformance.trace.line_formats import (
    RELEASE,
    LineFormat,
    LineFormats,
    ListFormat,
    MemberFormat,
    fields_of,
    named_by,
    no_fields,
)

SESSION_METHODS: Final = frozenset({"initialize", "scenario.open", "scenario.close", "shutdown", "crash"})
"""Methods that a trace stores under their own key, or not at all."""

TEXT_FIELDS: Final = ("text", "content", "message", "data")
"""Fields of an outcome that can be positional: the first of these that it has."""

START: Final = "start"
"""The word for `run.start`."""

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
    lines: Mapping[str, str] | None = None,
    lists: Mapping[str, ListFormat] | None = None,
    members: Mapping[str, MemberFormat] | None = None,
    released: Sequence[type[GateOutcome]] = (),
    keeps_open: frozenset[str] = frozenset(),
    gate_name: Callable[[Mapping[str, Any]], str] | None = None,
    codes: Mapping[str, Callable[[str], Any]] | None = None,
    call_gate: Callable[[str], Mapping[str, Any]] = no_fields,
) -> LineFormats:
    """Formats for a family with these messages.

    `lines` are those of shared messages that this family writes in another way, and `lists` the lists that
    a method has in its line.  `released` are the outcomes that declare something of themselves.
    """
    derived, fields = _outcomes(outcomes)
    own = lines or {}
    stimuli = {
        method: _stimulus(method, model, own.get(method), (lists or {}).get(method))
        for method, (model, _) in methods.items()
        if method not in SESSION_METHODS
    }
    starts = {method for method, line in stimuli.items() if "run" in line.positions}
    return LineFormats(
        family=family,
        handshake=LineFormat("handshake", (), (handshake,)),
        scenario=LineFormat("scenario", _texts(scenario), (scenario,)),
        stimuli=stimuli,
        observations={kind: _observation(kind, model, own.get(kind)) for kind, model in observations.items()},
        outcome=LineFormat(RELEASE, listed=fields),
        gate_name=gate_name or named_by("on", "call"),
        members=members if members is not None else dict(_members(scenario)),
        outcome_text=_as_released(derived, released),
        keeps_open=keeps_open.union(*(one.declared.keeps_open for one in released)),
        begins_run=frozenset({*starts, "recover"}),
        codes=codes or {},
        call_gate=call_gate,
    )


# --- stimuli and observations -------------------------------------------------------------------


def _stimulus(method: str, model: type[Wire], line: str | None, items: ListFormat | None) -> LineFormat:
    word, positions = _as_declared(line or _declared(model).line) or _derived(method, model)
    is_implied = "run" in fields_of(model) and "run" not in positions
    return LineFormat(word, positions, (model,), about_a_run=is_implied, items=items)


def _derived(method: str, model: type[Wire]) -> tuple[str, tuple[str, ...]]:
    """What starts a run names it; any other stimulus is about the newest one."""
    texts = _texts(model)
    return (START, texts) if method == "run.start" else (method, tuple(one for one in texts if one != "run"))


def _observation(kind: str, model: type[Observation], line: str | None) -> LineFormat:
    fields = {info.alias or name: info for name, info in model.model_fields.items()}
    is_change = {"from", "to"} <= fields.keys()
    inner = _model_of(fields[kind]) if kind in fields else None
    left_out = {"kind", "run", *(("from", "to") if is_change else ())}
    derived = _texts(inner) if inner else tuple(name for name in _texts(model) if name not in left_out)
    declared = _as_declared(line or model.declared.line)
    return LineFormat(
        kind,
        declared[1] if declared else derived,
        (model, inner) if inner else (model,),
        implied=model.declared.implied,
        about_a_run=True,
        inner=kind if inner else "",
        is_change=is_change,
    )


def _declared(model: type[Wire]) -> Declared:
    found: Declared = getattr(model, "declared", Declared())
    return found


def _as_declared(line: str) -> tuple[str, tuple[str, ...]] | None:
    """The word of a declared line, and its fields."""
    return (line.split(maxsplit=1)[0], tuple(re.findall(r"{(\w+)}", line))) if line else None


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


def _as_released(derived: Mapping[str, str], released: Sequence[type[GateOutcome]]) -> dict[str, str]:
    """The positional field of each kind: as its outcome declares it, where that declares any."""
    declaring = [one for one in released if one.declared.text]
    known = {kind for one in declaring for kind in kinds_of(one)}
    kept = {kind: name for kind, name in derived.items() if kind not in known}
    return kept | {kind: name for one in declaring for kind, name in one.declared.text.items()}


def _outcomes(outcomes: Mapping[str, TypeAdapter[Any]]) -> tuple[dict[str, str], frozenset[str]]:
    """The positional field of each kind of outcome, and all fields of all outcomes."""
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
