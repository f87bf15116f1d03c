"""Why an adapter leaves something undeclared, in the words of `adapters/undeclared.toml`.

A table is named after a runtime, a library, a wire or a family; the first of these that has an entry counts.
Those under `absent` are about what a library or a protocol does not have: clauses about it do not apply.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

from runlock.conformance.campaign.environments import ADAPTERS
from runlock.conformance.campaign.runtimes import runtimes
from runlock.conformance.trace.scenario_file import DEFAULT_FAMILY

Object = Mapping[str, Any]


@cache
def tables() -> Mapping[str, Any]:
    """The file: in each table, sentences by the reason that the kit gives; the same under `absent`."""
    return tomllib.loads(ADAPTERS.joinpath("undeclared.toml").read_text("utf-8"))


def sentence(column: Object, reason: str) -> str:
    """Why the clauses with this reason are untested in a column; "" where the file is silent."""
    return _found(column, reason)[1]


def is_absent(column: Object, reason: str) -> bool:
    """Whether the library or the protocol of a column does not have what these clauses are about."""
    return _found(column, reason)[0]


def _found(column: Object, reason: str) -> tuple[bool, str]:
    """Whether what the clauses are about is absent, and the sentence that says why they are untested."""
    for place in places(column):
        for absent, every in ((False, tables()), (True, tables().get("absent", {}))):
            if reason in every.get(place, {}):
                return absent, every[place][reason]
    return False, ""


def places(column: Object) -> tuple[str, ...]:
    """The tables that are about a column, the first of which counts."""
    return (*_own(column["name"]), column.get("family", DEFAULT_FAMILY))


@cache
def _own(name: str) -> tuple[str, ...]:
    """The tables about a runtime, apart from its family's; one that the kit does not list has its own."""
    own = [(one.name, one.library, one.wire) for one in runtimes() if one.name == name]
    return own[0] if own else (name,)
