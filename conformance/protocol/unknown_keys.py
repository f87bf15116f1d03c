"""Keys that no part of the protocol has: a mistake in Python, and a warning on the wire."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Self, Union

from runlock.conformance.protocol.wire import Wire


class Declared(Wire):
    """A part of a handshake; a Python adapter that gives it an unknown key made a slip."""

    def __new__(cls, *args: Any, **given: Any) -> Self:
        for sentence in unknown_keys(cls, given):
            raise TypeError(sentence.removesuffix("."))
        return super().__new__(cls)


def unknown_keys(model: type[Wire], raw: Mapping[str, Any]) -> list[str]:
    """A sentence for each key of a handshake that the protocol does not know, with the nearest known one."""
    return [_sentence(model, path, known) for path, known in _unknown(model, raw, ())]


def _unknown(
    model: type[Wire], raw: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    parts = {name: field.annotation for name, field in model.model_fields.items()}
    known = {field.alias or name: parts[name] for name, field in model.model_fields.items()}
    for key, value in raw.items():
        if key not in known and key not in parts:
            yield (*path, str(key)), list(known)
            continue
        part = _model_in(known.get(key, parts.get(key)))
        if part is not None and isinstance(value, Mapping):
            yield from _unknown(part, value, (*path, str(key)))


def _model_in(annotation: Any) -> type[Wire] | None:
    """The message part that a field holds, if it holds one."""
    if typing.get_origin(annotation) in (Union, types.UnionType):
        return next((one for arg in typing.get_args(annotation) if (one := _model_in(arg))), None)
    return annotation if isinstance(annotation, type) and issubclass(annotation, Wire) else None


def _sentence(model: type[Wire], path: tuple[str, ...], known: list[str]) -> str:
    near = get_close_matches(path[-1], known, n=1)
    right = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(known)}."
    return f"{model.__name__} has no key {'.'.join(path)}; {right}"
