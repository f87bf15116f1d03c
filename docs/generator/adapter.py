"""The page of an adapter and its host: every method and every field, from the code, each with an example."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from runlock.conformance import adapter
from runlock.conformance.families.lifecycle import reference
from runlock.conformance.families.lifecycle.messages import DecisionSupport, Handshake, InputSupport
from runlock.conformance.family.family import DEFAULT, family_named
from runlock.conformance.judging.applicability import standings
from runlock.conformance.protocol import Control, Party
from runlock.conformance.protocol.declared import OneOf
from runlock.conformance.report.clause_names import grouped
from runlock.conformance.wires import acp, ag_ui

from .interfaces import code
from .markdown import table, text

EXAMPLES: Final = (
    Path(__file__).parent.parent / "examples" / "every_method.py",
    Path(inspect.getfile(reference)),
    Path(inspect.getfile(ag_ui)),
    Path(inspect.getfile(acp)),
)
"""Where the examples are from; the first that has a method gives the example of it."""

DECLARED: Final = (Handshake, Party, Control, adapter.OfferedOutcomes, DecisionSupport, InputSupport)
GIVEN: Final = (
    adapter.Scenario, adapter.ToolSpec, adapter.Decision, adapter.Turn, adapter.ToolCall, adapter.Delta,
    adapter.Outcome, adapter.Verdict, adapter.HookAnswer,
)  # fmt: skip
RETURNED: Final = (
    adapter.Segment, adapter.Reason, adapter.Checkpoint, adapter.Message, adapter.Resumption,
    adapter.Snapshot, adapter.CallSnapshot,
)  # fmt: skip
RAISED: Final = (
    adapter.Refused, adapter.ModelFault, adapter.ToolRaised, adapter.ToolFault, adapter.PermissionFault,
    adapter.HookFault, adapter.CommitFault,
)  # fmt: skip

LEAST: Final = Handshake(
    implementation=Party(name="tiny-agent", version="1.0"),
    stimuli=["decide", "run.again"],
    tools=["allow", "ask"],
    outcomes=adapter.OfferedOutcomes(model=["turn"], tool=["ok", "error"]),
    decisions=DecisionSupport(live=False, ids=False, payload=False),
    observes=["run.finished"],
)
"""What the adapter of the first tutorial declares, and what the kit shows of each."""

MOST: Final = 5
"""Declarations that are listed as those which open most clauses."""


def pages() -> Iterator[tuple[str, str]]:
    """The one page."""
    yield "reference/adapter.md", _page()


def files() -> Iterator[tuple[str, str]]:
    """The program that most examples are from."""
    yield "examples/every_method.txt", EXAMPLES[0].read_text("utf-8")


def _page() -> str:
    return f"""# The adapter, method by method

An adapter is a Python object with these methods, and the kit gives it a *host*, whose methods it awaits
where the runtime would call the outside world. What is marked as required is needed; each other method is
declared by being there. [Write an adapter](../adapters.md) explains how to begin, and has a section about
[synchronous Python](../adapters.md#synchronous-python) and one about [the clock](../adapters.md#the-clock).

Each example is a part of a program that the kit checks. Most are from
<a href="../examples/every_method.txt">a complete agent with its adapter</a>, the others from the kit's own.

## The methods of an adapter

{_interface(adapter.HostedAdapter)}
## The methods of its host

What is awaited here waits at a gate until the kit releases it.

{_interface(adapter.Host)}
## What a handshake declares

{_most()}
{_models(DECLARED)}
## What an adapter is given

{_models(GIVEN)}
## What an adapter returns or shows

{_models(RETURNED)}
## What an adapter raises or lets pass

An exception that the host raises belongs to the runtime: let it pass.

{_exceptions()}"""


# --- methods ------------------------------------------------------------------------------------


def _interface(kind: type) -> str:
    return "".join(_member(kind, name, one) for name, one in _members(kind))


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties of an interface, those that it inherits first."""
    for base in reversed(kind.__mro__):
        if base.__module__ == kind.__module__:
            yield from ((name, one) for name, one in vars(base).items() if _is_member(name, one))


def _is_member(name: str, one: Any) -> bool:
    return not name.startswith("_") and (inspect.isfunction(one) or isinstance(one, property))


def _member(kind: type, name: str, one: Any) -> str:
    is_value = isinstance(one, property)
    function = one.fget if is_value else one
    about = text(" ".join((inspect.getdoc(function) or "").split()))
    is_needed = name in vars(adapter.RequiredAdapter)
    needed = " **Required.**" if kind is adapter.HostedAdapter and is_needed else ""
    shown = example(kind is adapter.Host, name)
    return f"""### {name} {{ #{_anchor(kind, name)} }}

```python
{_signature(function, name if is_value else "")}
```

{about}{needed}

{_block(shown)}"""


def _anchor(kind: type, name: str) -> str:
    return f"{'host' if kind is adapter.Host else 'adapter'}-{name}"


def _signature(function: Any, value: str) -> str:
    """The head of a method as it stands in the code, without `self`; of a value its name and type."""
    [found] = ast.parse(dedent(inspect.getsource(function))).body
    assert isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef))
    if value:
        return f"{value}: {ast.unparse(found.returns)}" if found.returns else value
    found.args.args = [one for one in found.args.args if one.arg != "self"]
    found.body, found.decorator_list = [ast.Expr(ast.Constant(...))], []
    words = ast.unparse(found).removesuffix("    ...").rstrip().removesuffix(":")
    return _broken(re.sub(r"(?<=\w)=(?=None|\.\.\.)|(?<=\])=(?=None|\.\.\.)", " = ", words))


def _broken(line: str) -> str:
    """A long signature with one parameter a line."""
    if len(line) <= LINE_MAX:
        return line
    head, _, rest = line.partition("(")
    inner, _, end = rest.rpartition(")")
    parameters = re.split(r", (?=\*|\w+[:=])", inner)
    return f"{head}(\n" + "".join(f"    {one},\n" for one in parameters) + f"){end}"


LINE_MAX: Final = 88


def _block(code: str) -> str:
    return f'```python title="Example"\n{code}\n```\n\n' if code else ""


# --- examples -----------------------------------------------------------------------------------


def example(is_host: bool, name: str) -> str:
    """The code that shows a method: a definition of it, or the statement that calls it on the host."""
    found = (_called(path, name) if is_host else _defined(path, name) for path in EXAMPLES)
    return next(filter(None, found), "")


@cache
def _parsed(path: Path) -> tuple[str, ast.Module]:
    source = path.read_text("utf-8")
    return source, ast.parse(source)


def _defined(path: Path, name: str) -> str:
    """A method of an adapter's class, or a value of it."""
    source, module = _parsed(path)
    for one in _in_adapters(module):
        named = one.targets[0] if isinstance(one, ast.Assign) else one
        if getattr(named, "name", getattr(named, "id", "")) == name:
            return _text(source, one)
    return ""


def _in_adapters(module: ast.Module) -> Iterator[ast.stmt]:
    for kind in module.body:
        if isinstance(kind, ast.ClassDef) and not kind.name.endswith(("World", "Agent")):
            yield from kind.body


def _called(path: Path, name: str) -> str:
    """The shortest statement in which the host is asked or told."""
    source, module = _parsed(path)
    simple = (one for one in ast.walk(module) if isinstance(one, ast.stmt) and not hasattr(one, "body"))
    every = [_text(source, one) for one in simple if any(_is_of_host(part, name) for part in ast.walk(one))]
    return min(every, key=len, default="")


def _is_of_host(node: ast.AST, name: str) -> bool:
    if not isinstance(node, ast.Attribute) or node.attr != name:
        return False
    return ast.unparse(node.value) in ("self.host", "self.told")


def _text(source: str, node: ast.stmt) -> str:
    lines = source.splitlines()[node.lineno - 1 : node.end_lineno]
    return dedent("\n".join(lines))


# --- fields -------------------------------------------------------------------------------------


def _models(kinds: Iterable[type]) -> str:
    return "".join(_model(kind) for kind in kinds)


def _model(kind: type) -> str:
    about = text(" ".join((inspect.getdoc(kind) or "").split()))
    rows = [(f"`{name}`", code(type_), default, text(why)) for name, type_, default, why in fields(kind)]
    return f"### {kind.__name__} {{ #{kind.__name__.lower()} }}\n\n{about}\n\n" + (
        table(("field", "type", "default", "what it is"), rows) + "\n"
    )


def fields(kind: type) -> Iterator[tuple[str, str, str, str]]:
    """Each field: its name on the wire, its type as written, its default, and what it is."""
    said = {name: one for base in reversed(kind.__mro__) for name, one in _written(base)}
    models = (
        kind.model_fields if issubclass(kind, BaseModel) else dict.fromkeys(inspect.get_annotations(kind))
    )
    hints = get_type_hints(kind, include_extras=True)
    for name, one in models.items():
        type_, value, why = said[name]
        alias = getattr(one, "alias", None)
        yield alias or name, type_, _default(value), _with_words(why, type_, hints[name])


def _with_words(why: str, type_: str, hint: Any) -> str:
    """What a field is, with the words that it takes, where its type is only the name of them."""
    listed = [] if "Literal" in type_ else [f"`{word}`" for word in words_of(hint)]
    return ": ".join(filter(None, [why, ", ".join(listed)]))


def words_of(hint: Any) -> Sequence[Any]:
    """The words that a type takes, if they are all that it takes."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    for one in getattr(hint, "__metadata__", ()):
        if isinstance(one, OneOf):
            return one.words
    inner = [one for one in get_args(hint) if one is not type(None)]
    return words_of(inner[0]) if len(inner) == 1 else ()


def _written(kind: type) -> Iterator[tuple[str, tuple[str, ast.expr | None, str]]]:
    """The fields that a class itself defines, as the code has them, each with its comment."""
    if not kind.__module__.startswith("runlock."):
        return
    lines = dedent(inspect.getsource(kind)).splitlines()
    [found] = ast.parse("\n".join(lines)).body
    for one in found.body if isinstance(found, ast.ClassDef) else ():
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            yield one.target.id, (ast.unparse(one.annotation), one.value, _comment(lines, one))


def _comment(lines: list[str], one: ast.AnnAssign) -> str:
    """The comment at the end of a field, or above it."""
    after = lines[(one.end_lineno or one.lineno) - 1][one.end_col_offset :]
    above = lines[one.lineno - 2].strip()
    for found in (after.partition("# ")[2], above.removeprefix("# ") if above.startswith("# ") else ""):
        if found and not found.startswith(("type:", "fmt:", "noqa")):
            return found
    return ""


def _default(value: ast.expr | None) -> str:
    if value is None:
        return "*required*"
    if isinstance(value, ast.Call) and (given := {one.arg: one.value for one in value.keywords}):
        value = given.get("default", given.get("default_factory", value))
    words = ast.unparse(value)
    return "" if words == "None" else f"`{EMPTY.get(words, words)}`"


EMPTY: Final = {"list": "[]", "dict": "{}"}


def _exceptions() -> str:
    rows = [(f"`{one.__name__}`", text(" ".join((inspect.getdoc(one) or "").split()))) for one in RAISED]
    return table(("exception", "what it means"), rows)


# --- what to declare first ----------------------------------------------------------------------


def _most() -> str:
    """The declarations that open most clauses to an adapter which declares the least."""
    family = family_named(DEFAULT)
    opened: dict[str, list[str]] = {}
    for name, standing in standings(family, LEAST, family.spec.policies_of("core", {})).items():
        if standing.why and not standing.offered and standing.verdict != "not-applicable":
            opened.setdefault(standing.why, []).append(name)
    first = sorted(opened.items(), key=lambda pair: (-len(pair[1]), pair[0]))[:MOST]
    rows = [(why, str(len(names)), grouped(names)) for why, names in first]
    return f"""Declare little at first. For an adapter that declares only decisions and tools that ask, these
{MOST} additions test most; `smoke` and `check` list them for yours.

{table(("what it lacks", "clauses", "which"), rows)}"""
