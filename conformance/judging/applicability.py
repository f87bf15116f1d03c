"""Where a clause stands before anything has run: judged, untested for a reason, or not applicable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from runlock.conformance.family.family import Family
from runlock.conformance.protocol import Handshake
from runlock.spec.model import Clause, Policy


@dataclass(frozen=True, slots=True)
class Applicability:
    """Whether a clause can be judged; if not, what it is instead, and why."""

    clause: Clause
    verdict: str = "judged"  # judged | untested | not-applicable
    why: str = ""
    offered: bool = True
    hears_silence: bool = True  # else it may be that something breaks it, and nothing shows that it holds

    @property
    def is_judged(self) -> bool:
        """Whether the judge looks at it."""
        return self.verdict == "judged"


def standings(family: Family, handshake: Handshake, policies: Mapping[str, Any]) -> dict[str, Applicability]:
    """How each clause stands with a runtime that says this of itself."""
    clauses = family.spec.clauses.values()
    return {clause.id: standing_of(family, clause, handshake, policies) for clause in clauses}


def standing_of(
    family: Family, clause: Clause, handshake: Handshake, policies: Mapping[str, Any]
) -> Applicability:
    """How one clause stands with a runtime that says this of itself."""
    return (
        _out_of_scope(family, clause, handshake, policies)
        or _by_policies(family, clause, policies)
        or _by_needs(family, clause, handshake)
        or _by_checks(family, clause, handshake)
    )


def _out_of_scope(
    family: Family, clause: Clause, handshake: Handshake, policies: Mapping[str, Any]
) -> Applicability | None:
    if clause.untestable:
        why = f"it cannot be tested from outside: {clause.untestable}"
        return Applicability(clause, "not-applicable", why)
    if not claims(family, clause, handshake) and not _is_of_declared(clause, policies):
        why = f"the profile {handshake.profile} claims the universal core alone"
        return Applicability(clause, "not-applicable", why)
    if clause.id == family.judging.mixing and not open_policies(family, policies):
        return Applicability(clause, "not-applicable", "every policy is declared")
    return None


def claims(family: Family, clause: Clause, handshake: Handshake) -> bool:
    """Whether the profile of a runtime claims a clause; one without policies claims the core alone."""
    return clause.core or bool(family.spec.profile(handshake.profile).policies)


def _by_policies(family: Family, clause: Clause, policies: Mapping[str, Any]) -> Applicability | None:
    for key, values in clause.applies.items():
        if key not in policies:
            if ruled_out := _ruled_out(family, key, policies):
                return Applicability(clause, "not-applicable", ruled_out)
            return Applicability(clause, "untested", f"the policy {key} is not declared", offered=False)
        declared = policies[key]
        given = declared if isinstance(declared, list | tuple | set | frozenset) else [declared]
        if not set(given) & set(values):
            shown = ", ".join(str(value) for value in given) or "empty"
            return Applicability(clause, "not-applicable", f"the policy {key} is {shown}")
    return None


def _by_needs(family: Family, clause: Clause, handshake: Handshake) -> Applicability | None:
    for need in clause.needs:
        if why := unmet(family, need, handshake):
            if need in family.judging.scoping:
                return Applicability(clause, "not-applicable", family.judging.scoping[need])
            return Applicability(clause, "untested", why, offered=False)
    return None


def _by_checks(family: Family, clause: Clause, handshake: Handshake) -> Applicability:
    if not handshake.control.settles_exactly and clause.id in family.rests_on_silence:
        return Applicability(clause, "untested", SILENT, False)
    if clause.id not in family.checked and clause.level == "MAY":
        return Applicability(clause, "not-applicable", "a permission, which no runtime can break")
    if clause.id not in family.checked:
        return Applicability(clause, "untested", "nothing checks it yet", offered=False)
    hears_silence = handshake.control.settles_exactly or clause.id not in family.held_by_silence
    return Applicability(clause, hears_silence=hears_silence)


def _is_of_declared(clause: Clause, policies: Mapping[str, Any]) -> bool:
    """Whether a clause is about policies that are all declared, so that it binds without a profile too."""
    return bool(clause.applies) and clause.applies.keys() <= policies.keys()


SILENT: Final = "it rests on silence, and the runtime settles as observed"


def open_policies(family: Family, policies: Mapping[str, Any]) -> list[Policy]:
    """The policies with one value each that are not declared."""
    every = family.spec.policies.values()
    return [
        one
        for one in every
        if one.kind == "one of" and one.key not in policies and not one.ruled_out(policies)
    ]


def _ruled_out(family: Family, key: str, policies: Mapping[str, Any]) -> str:
    """Why a policy says nothing of such a runtime, if another policy rules it out."""
    other = family.spec.policy(key).ruled_out(policies)
    return f"the policy {key} says nothing where {other} is {policies[other]}" if other is not None else ""


def unmet(family: Family, need: str, handshake: Handshake) -> str:
    """Why a need of a clause is not met, or an empty string."""
    word, _, what = need.partition(" ")
    if word == "observes":
        return "" if what in handshake.observes else f"the runtime does not show {what}"
    if word == "gate":
        return "" if what in handshake.gates else f"the runtime has no {what} gate"
    if word == "stimulus":
        return "" if what in handshake.stimuli else f"the runtime does not take {what}"
    if word == "control":
        return _unmet_control(what, handshake)
    if word == "either":
        reasons = [unmet(family, one, handshake) for one in what.split(" | ")]
        return "" if "" in reasons else ", and ".join(reasons)
    return family.fitting.unmet(need, handshake)


def _unmet_control(what: str, handshake: Handshake) -> str:
    key, _, value = what.partition("=")
    has = getattr(handshake.control, key)
    met = value in has if isinstance(has, list) else value == has
    if key == "crash" and value == "any":
        return "" if has else handshake.control.uncrashed or "it cannot be crashed"
    return "" if met else f"its control of {key} is not {value}"
