"""Addresses that are kept in a file, `runlock.toml` in the current folder, each under a name of its own.

    [agents.mine]
    url = "http://127.0.0.1:{port}/agent"
    launch = "uvicorn app:app --port {port}"
    ask = ["write"]
    free = ["read"]
    approve = { approved = true }

`runlock check mine` checks it.  An agent that is a child process has `acp = "COMMAND ARGS"` instead of a URL.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from runlock.conformance.errors import UsageError
from runlock.conformance.inputs import toml_of
from runlock.conformance.wires.address import (
    PIPED,
    WIRES,
    Address,
    address_from,
    address_of,
    is_address,
    spelled,
)

FILE: Final = "runlock.toml"
TABLE: Final = "agents"


def address_named(target: str) -> Address | None:
    """The runtime behind a wire that the name of a target means; None if it means none."""
    return address_of(target) if is_address(target) else address_in_file(target)


def address_in_file(name: str) -> Address | None:
    """The address of that name in the file of the current folder; raises a `UsageError` for a wrong one."""
    path = Path(FILE)
    agents = toml_of(path).get(TABLE) if path.is_file() else None
    found = agents.get(name) if isinstance(agents, Mapping) else None
    if found is None:
        return None
    address = address_in_table(found) if isinstance(found, Mapping) else None
    if address is None:
        raise UsageError(f"{FILE} names no URL for {name}.", f"Write `url = …` under [{TABLE}.{name}].")
    return address


def address_in_table(found: Mapping[str, Any]) -> Address | None:
    """The address that a table gives, with its settings; None if it names neither a URL nor a command."""
    if isinstance(found.get(PIPED), str):
        settings = {key: _text(value) for key, value in found.items() if key != PIPED}
        return address_from(PIPED, found[PIPED], settings)
    if not isinstance(found.get("url"), str):
        return None
    settings = {key: _text(value) for key, value in found.items() if key not in ("url", "wire")}
    return address_from(str(found.get("wire", "ag-ui")), found["url"], settings)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    is_list_of_tools = isinstance(value, list) and all(isinstance(one, str) for one in value)
    return ",".join(value) if is_list_of_tools else json.dumps(value)


def with_options(target: str, wire: str | None, given: Mapping[str, str | Sequence[str] | None]) -> str:
    """The name of a target with the options of a command: they are settings of a runtime behind a wire."""
    settings = {name: _joined(value) for name, value in given.items() if value}
    if wire is None and not settings:
        return target
    if not is_address(target):
        option = "wire" if wire is not None else next(iter(settings))
        raise UsageError(
            f"`--{option}` is of a runtime behind a wire, and `{target}` is none.",
            "Name a URL, as in `http://127.0.0.1:8000/agent`.",
        )
    kind, _, rest = target.partition(":")
    named = f"{wire or kind}:{rest}" if kind in WIRES else f"{wire or WIRES[0]}:{target}"
    before, _, known = named.partition("#")
    return str(address_of(f"{before}#{known}&{spelled(settings.items())}"))


def _joined(value: str | Sequence[str] | None) -> str:
    return value if isinstance(value, str) else ",".join(value or ())
