"""The known schedules that reach a clause: a clause that none of them can reach is not asked of a runtime.

`needs` of a clause say what its checks read.  What has to happen before is in the schedules: the file
`occasions.toml` of a family names, for each clause, scripts and witnesses that reach it on any runtime that
offers what they need.  The file is derived: CONTRIBUTING.md says how.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from runlock.conformance.driving.strategies.scripted import Script, applicable, corpus, known_scripts
from runlock.conformance.family.family import Family, family_named
from runlock.conformance.judging.applicability import Applicability
from runlock.conformance.protocol import Handshake

FILE: Final = "occasions.toml"


def occasions(family: Family, clause: str) -> tuple[Script, ...]:
    """The known schedules that reach a clause, scripts first; none if nothing is known of it."""
    known = known_scripts(family)
    return tuple(known[name] for name in _listed(family.name).get(clause, ()))


def reached(family: Family) -> list[str]:
    """The clauses of which a schedule is known that reaches them."""
    return [clause for clause in family.spec.clauses if _listed(family.name).get(clause)]


@cache
def _listed(name: str) -> Mapping[str, Any]:
    file = family_named(name).files / FILE
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


def out_of_reach(family: Family, clause: str, handshake: Handshake) -> str:
    """Why no known schedule that reaches the clause fits a runtime, or an empty string."""
    if value := _exception(family, clause, handshake):
        return f"the policy {value[0]} is {value[1]}"
    whys = [applicable(family, one, handshake) for one in occasions(family, clause)]
    return whys[0] if whys and all(whys) else ""


def _exception(family: Family, clause: str, handshake: Handshake) -> tuple[str, str] | None:
    """The declared policy value under which no known schedule reaches the clause."""
    listed = _listed(family.name).get("unless", {}).get(clause, ())
    policies = family.spec.policies_of(handshake.profile, handshake.policies) if listed else {}
    pairs = (tuple(one.split("=")) for one in listed)
    return next(((key, value) for key, value in pairs if policies.get(key) == value), None)


def fitting(family: Family, clause: str, handshake: Handshake) -> Script | None:
    """The first known schedule that reaches the clause and fits a runtime."""
    known = occasions(family, clause)
    return next((one for one in known if not applicable(family, one, handshake)), None)


def only_witnesses(
    family: Family, standings: Mapping[str, Applicability], handshake: Handshake
) -> list[Script]:
    """For each clause that no script reaches on such a runtime, the first witness that does."""
    scripts, found = {one.name for one in corpus(family)}, dict[str, Script]()
    for clause, standing in standings.items():
        first = fitting(family, clause, handshake) if standing.is_judged else None
        if first is not None and first.name not in scripts:
            found[first.name] = first
    return list(found.values())
