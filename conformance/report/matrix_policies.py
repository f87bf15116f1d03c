"""The policies of a runtime in the matrix: what its adapter declares, and what `runlock infer` finds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from typing import Any, Final

from runlock.conformance.campaign.inference.result import Inferred
from runlock.conformance.text import in_markdown, plain

CONTRADICTION: Final = "**contradicts the declaration**"
MIXED: Final = "**mixed**"
OPEN: Final = "not inferred"

DURATION: Final = re.compile(r"\b\d+\.\d+ ?s\b")
"""How long something took, as an agent may tell its model: it differs from run to run."""

Object = Mapping[str, Any]


def inferred(found: Inferred) -> dict[str, Any]:
    """The policies that were inferred or are declared, with the evidence against each other value."""
    told = [one.key for one in found.policies if len(found.left(one.key)) < 2 or one.key in found.declared]
    return {"schedules": found.schedules, "policies": {key: _policy(found, key) for key in told}}


def _policy(found: Inferred, key: str) -> dict[str, Any]:
    """The values left, and what rules the others out: value, clause and reason."""
    against = [
        [value, why.clause, DURATION.sub("N s", why.reason)]
        for (of, value), why in found.against.items()
        if of == key
    ]
    return {"values": found.left(key), "against": sorted(against)}


def section(found: Object, pages: Mapping[str, str]) -> Iterator[str]:
    """The policies as a table that can be unfolded."""
    declared, seen = found["policies"], found.get("inferred", {}).get("policies", {})
    keys = sorted({*declared, *seen})
    if not keys:
        return
    broken = {one["clause"] for one in found.get("violations", ())}
    rows = [_row(key, declared, seen, pages, broken) for key in keys]
    yield f'<details markdown="1"><summary>{_summary(found, rows)}</summary>\n'
    yield "What the runtime did rules values out: under such a value, the clause in brackets forbids it.\n"
    yield "| policy | declared | found | evidence |"
    yield "|---|---|---|---|"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield "\n</details>\n"


def _summary(found: Object, rows: list[tuple[str, ...]]) -> str:
    promised = sum(bool(row[1]) for row in rows)
    words = [f"Policies: {promised} declared"]
    if "inferred" in found:
        told = sum(len(one["values"]) == 1 for one in found["inferred"]["policies"].values())
        words.append(f"{told} inferred from {found['inferred']['schedules']} schedules")
    wrong = sum(CONTRADICTION in row[2] for row in rows)
    return ", ".join([*words, f"{wrong or 'no'} {'contradiction' if wrong < 2 else 'contradictions'}"])


def _row(
    key: str, declared: Object, seen: Object, pages: Mapping[str, str], broken: Set[str]
) -> tuple[str, ...]:
    said = _words(declared[key]) if key in declared else ""
    linked = f"[{said}]({pages[key]})" if key in pages and said else said
    if key not in seen:
        return f"`{key}`", linked, OPEN, ""
    one = seen[key]
    evidence = "; ".join(f"`{value}` is ruled out: {_reason(*why)}" for value, *why in one["against"])
    known = sorted(broken & {clause for _, clause, _ in one["against"]})
    return f"`{key}`", linked, _found(declared.get(key), one["values"], known), evidence


def _found(declared: Any, values: list[str], known: list[str]) -> str:
    """The values left, whether the declared one is among them, and the known violations if it is not."""
    words = " or ".join(values) or MIXED
    if not isinstance(declared, str) or declared in values:
        return words
    return f"{words}, {CONTRADICTION}" + "".join(f", as its violation of {clause} shows" for clause in known)


def _reason(clause: str, reason: str) -> str:
    return in_markdown(plain(reason)) + (f" ({clause})" if clause else "")


def _words(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
