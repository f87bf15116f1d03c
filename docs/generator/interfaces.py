"""The pages that come from code: the schemas of the protocol, the command line, and the Python API."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from enum import Enum
from html import escape
from importlib import import_module, resources
from importlib.resources.abc import Traversable
from typing import Any, Final

import typer

from runlock.conformance import protocol
from runlock.conformance.cli.app import app

from .markdown import table, text

MODULES = {
    "runlock.conformance.protocol": "The messages, as models.",
    "runlock.conformance.trace.trace": "Traces.",
    "runlock.conformance.family.recordings": "Scenario files.",
    "runlock.conformance.errors": "What can go wrong, and whose fault it is.",
    "runlock.machines.chart": "How a chart is written.",
    "runlock.machines.table": "A chart as a table.",
    "runlock.machines.catalogue": "Every chart.",
    "runlock.spec.model": "The words of the spec.",
    "runlock.diagrams.charts.picture": "What there is to draw of a chart.",
}

LATE: Final = re.compile(r"(.*); (\S+)\.")
"""The help of an option whose default is decided only when the command runs."""


def pages() -> Iterator[tuple[str, str]]:
    """One page each."""
    yield "reference/schemas.md", _schemas()
    yield "reference/command-line.md", _command_line()
    yield "reference/python.md", _python()


# --- schemas ------------------------------------------------------------------------------------


def files() -> Iterator[tuple[str, str]]:
    """The schemas as files."""
    for name, schema in schemas():
        yield f"schemas/{name}", schema
    for name, schema in _in(RUNNER_SCHEMAS):
        yield f"schemas/tool-runner/{name}", schema


def schemas() -> Iterator[tuple[str, str]]:
    """Each schema by its file's name."""
    yield from _in(resources.files("runlock.conformance.protocol.json_schema"))


RUNNER_SCHEMAS = resources.files("runlock.conformance.families.tool_runner").joinpath("json_schema")


def _in(folder: Traversable) -> Iterator[tuple[str, str]]:
    for one in sorted(folder.iterdir(), key=lambda file: file.name):
        if one.name.endswith(".json"):
            yield one.name, one.read_text("utf-8")


def _schemas() -> str:
    known = {name: json.loads(schema) for name, schema in schemas()}
    defined = known.pop("definitions.json")["$defs"]
    methods: dict[str, list[str]] = {}
    for name in known:
        methods.setdefault(re.sub(r"\.(params|answer)\.json$|\.json$", "", name), []).append(name)
    for names in methods.values():
        names.sort(reverse=True)  # parameters of a method before its answer
    parts = [
        _method(method, {name: known[name] for name in names}, defined) for method, names in methods.items()
    ]
    return f"""# Schemas of the protocol

Protocol version {protocol.PROTOCOL_VERSION}. These schemas are made from the models that the kit itself
reads and writes with, so that an adapter in any language can be checked against them. Fields that a schema
does not name are ignored by both sides. What the messages mean stands in [the protocol](../protocol.md).

The files lie in `schemas/` of this site, those of tool runners in `schemas/tool-runner/`. Each refers to
[`definitions.json`](../schemas/definitions.json) by a relative reference, so a validator needs that file
next to it.

{"".join(parts)}
## Definitions {{ data-search-exclude }}

Each is a schema of [`definitions.json`](../schemas/definitions.json).

{"".join(_definition(name, one) for name, one in defined.items())}"""


def _method(method: str, found: dict[str, Any], defined: dict[str, Any]) -> str:
    parts = [_side(name, schema, defined) for name, schema in found.items()]
    return f"## {method} {{ data-search-exclude }}\n\n{''.join(parts)}\n"


def _side(name: str, schema: dict[str, Any], defined: dict[str, Any]) -> str:
    if "$ref" not in schema:
        return f"{_file(name)}: an object with one of these keys.\n\n{_fields(schema)}\n"
    about = defined[schema["$ref"].rpartition("/")[2]].get("description", "")
    return f"{_file(name)}: {_type(schema)}. {text(about)}\n\n"


def _file(name: str) -> str:
    return f"[`{name}`](../schemas/{name})"


def _definition(name: str, one: dict[str, Any]) -> str:
    about = text(one.get("description", ""))
    return f"### {name} {{ #part-{name.lower()} data-search-exclude }}\n\n{about}\n\n{_fields(one)}\n"


def _fields(schema: dict[str, Any]) -> str:
    properties = schema.get("properties", {})
    needed = schema.get("required", [])
    if "anyOf" in schema or "oneOf" in schema:
        return f"One of: {_type(schema)}.\n"
    rows = [(f"`{key}`", _type(one), "yes" if key in needed else "") for key, one in properties.items()]
    return table(("field", "type", "required"), rows) if rows else "It has no fields of its own.\n"


def _type(one: dict[str, Any]) -> str:
    if "$ref" in one:
        name = str(one["$ref"]).rpartition("/")[2]
        return f"[{name}](#part-{name.lower()})"
    if "anyOf" in one or "oneOf" in one:
        return " or ".join(_type(each) for each in one.get("anyOf", one.get("oneOf", [])))
    if "enum" in one:
        return ", ".join(f"`{each}`" for each in one["enum"])
    if "const" in one:
        return f"`{one['const']}`"
    if one.get("type") == "array":
        return f"list of {_type(one.get('items', {}))}"
    return str(one.get("type", "anything"))


# --- the command line ---------------------------------------------------------------------------


def _command_line() -> str:
    parts = [_command(name, command) for name, command in _commands(typer.main.get_command(app))]
    return f"""# The command line

{"".join(parts)}
## Exit codes

| code | what it means |
|---|---|
| 0 | nothing is broken, and every clause that the handshake makes testable was exercised |
| 1 | a clause is broken that the baseline does not expect, or an entry of the baseline is not true any more |
| 2 | the command line cannot be used as it is |
| 3 | it could not be decided |
| 70 | a bug of the kit |
"""


def _commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Each command by its words, including those of groups."""
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def _command(name: str, command: Any) -> str:
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    usage = " ".join(one.metavar or one.name for one in shown if one.param_type_name == "argument")
    rows = [(_written(one), *_meaning(one)) for one in shown]
    return f"""## runlock {name} {{ #{name.replace(" ", "-")} }}

{text(command.help or "")}

```text
runlock {name} {usage}
```

{table(("argument", "meaning", "default"), rows)}
"""


def _written(one: Any) -> str:
    if one.param_type_name == "argument":
        return f"`{one.metavar or one.name}`"
    names = ", ".join(f"`{each}`" for each in one.opts)
    return names if one.is_flag else f"{names} `{(one.metavar or one.name).upper()}`"


def _meaning(one: Any) -> tuple[str, str]:
    """The help of an option, and its default, which may stand in one word at the end of the help."""
    said = one.help or ""
    if found := LATE.fullmatch(said):
        return f"{text(found[1])}.", f"`{found[2]}`"
    has_none = one.default in (None, False, ()) or callable(one.default)
    return text(said), "" if has_none else f"`{one.default}`"


# --- Python -------------------------------------------------------------------------------------


def _python() -> str:
    return "# The Python API\n\n" + "".join(_module(name, about) for name, about in MODULES.items())


def _module(name: str, about: str) -> str:
    module = import_module(name)
    public = getattr(module, "__all__", None) or [
        key for key, value in vars(module).items() if _is_own(key, value, name)
    ]
    parts = "".join(
        _thing(key, getattr(module, key)) for key in public if _is_own(key, getattr(module, key), name)
    )
    return f"## {name}\n\n{about} {text(_first(inspect.getdoc(module)))}\n\n{parts}\n"


def _is_own(key: str, value: Any, module: str) -> bool:
    is_thing = inspect.isclass(value) or inspect.isfunction(value)
    return is_thing and not key.startswith("_") and f"{value.__module__}.".startswith(f"{module}.")


def _first(words: str | None) -> str:
    return " ".join((words or "").partition("\n\n")[0].split())


def _thing(name: str, value: Any) -> str:
    if inspect.isfunction(value):
        shown = f"```python\n{name}{_signature(value)}\n```"
        return f"### {name}\n\n{shown}\n\n{text(_first(inspect.getdoc(value)))}\n\n"
    members = [(key, one) for key, one in vars(value).items() if _is_method(key, one)]
    rows = [(f"`{key}{_brief(one)}`", text(_first(inspect.getdoc(one)))) for key, one in members]
    fields = [(f"`{key}`", code(_named(kind))) for key, kind in _annotations(value).items()]
    below = table(("field", "type"), fields) + "\n" if fields and not issubclass(value, Enum) else ""
    below += table(("method", "what it does"), rows) + "\n" if rows else ""
    return f"### {name}\n\n{text(_first(value.__doc__))}\n\n{below}"


def code(words: str) -> str:
    """Code in a table cell, with pipes escaped."""
    return f"<code>{escape(words).replace('|', '&#124;')}</code>"


def _annotations(value: type) -> dict[str, Any]:
    found = inspect.get_annotations(value)
    return {
        key: kind for key, kind in found.items() if not key.startswith("_") and "ClassVar" not in str(kind)
    }


def _named(kind: Any) -> str:
    return re.sub(
        r"\b(?:\w+\.)+(\w+)", r"\1", kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))
    )


def _is_method(key: str, one: Any) -> bool:
    return not key.startswith("_") and (inspect.isfunction(one) or isinstance(one, property | classmethod))


def _brief(one: Any) -> str:
    if isinstance(one, property):
        return ""
    function = one.__func__ if isinstance(one, classmethod) else one
    names = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
    return f"({', '.join(names)})"


def _signature(value: Any) -> str:
    return re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", str(inspect.signature(value)).replace("'", ""))
