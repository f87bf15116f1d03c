"""A result as SARIF 2.1.0, for code scanning: a rule and a result for each finding.

A finding is a broken clause, an exception or a question.  It is located in the user's own code where that is
known, and else in its trace, which is a related location otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from runlock.conformance.report.stored_result import (
    Stored,
    StoredClause,
    StoredException,
    StoredQuestion,
    StoredViolation,
)
from runlock.conformance.report.user_code import Place, place_of_exception, place_of_target
from runlock.conformance.text import plain
from runlock.spec.model import SEVERITIES

VERSION: Final = "2.1.0"
SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS: Final = {"MUST": "error", "SHOULD": "warning", "MAY": "note"}
DEFAULT: Final = "warning"
"""What SARIF takes a result for that has no level; a later version of the kit may have more levels."""


EXCEPTION: Final = "exception"
RULE_OF_EXCEPTIONS: Final = {
    "id": EXCEPTION,
    "defaultConfiguration": {"level": "error"},
    "shortDescription": {"text": "the adapter or the runtime raised an exception"},
}


def sarif(result: Stored) -> str:
    """The whole document; a clause that is expected to break is a suppressed result."""
    broken = sorted((one for one in result.clauses if one.verdict == "broken"), key=_gravity(result))
    driver = {
        "name": "runlock",
        "version": result.spec,
        "rules": [
            *(_rule(result, clause) for clause in broken),
            *([RULE_OF_EXCEPTIONS] if result.exceptions else []),
            *map(_rule_asked, result.questions),
        ],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(result)],
        "results": [
            *(_result(result, clause) for clause in broken),
            *map(_exception, result.exceptions),
            *(_question(result, question) for question in result.questions),
        ],
    }
    return json.dumps({"$schema": SCHEMA, "version": VERSION, "runs": [run]}, indent=1) + "\n"


def _gravity(result: Stored) -> Callable[[StoredClause], int]:
    """The place of a clause in the order of severity; one that this kit does not know comes last."""
    places: dict[str, int] = {word: place for place, word in enumerate(SEVERITIES)}
    return lambda clause: places.get(result.severity(clause.id), len(places))


def _severity(result: Stored, clause: StoredClause) -> dict[str, Any]:
    """The severity in words, and as the priority of SARIF, from 100 for the worst to 0."""
    words = result.severity(clause.id)
    if not words:
        return {}
    left = len(SEVERITIES) - 1 - _gravity(result)(clause)
    return {"rank": round(100 * left / (len(SEVERITIES) - 1), 1), "properties": {"severity": words}}


def _rule(result: Stored, clause: StoredClause) -> dict[str, Any]:
    family = result.known_family
    known = family.spec.clauses.get(clause.id) if family is not None else None
    rule: dict[str, Any] = {
        "id": clause.id,
        "defaultConfiguration": {"level": LEVELS.get(clause.level, DEFAULT)},
    }
    if known is not None:
        rule["shortDescription"] = {"text": result.title(clause.id) or clause.id}
        rule["fullDescription"] = {"text": known.sentence}
    if clause.official:
        rule["properties"] = {"official": clause.official}
    return rule


def _result(result: Stored, clause: StoredClause) -> dict[str, Any]:
    violation = result.of_clause(clause.id)
    found: dict[str, Any] = {
        "ruleId": clause.id,
        "level": LEVELS.get(clause.level, DEFAULT),
        "message": {"text": plain(_said(clause, violation))},
        **_locations(result, violation),
        **_severity(result, clause),
    }
    if clause.id in result.expected:
        found["suppressions"] = [{"kind": "external", "justification": plain(result.expected[clause.id])}]
    return found


def _rule_asked(question: StoredQuestion) -> dict[str, Any]:
    return {
        "id": question.policy,
        "defaultConfiguration": {"level": DEFAULT},
        "shortDescription": {"text": f"the policy {question.policy} is not declared"},
    }


def _said(clause: StoredClause, violation: StoredViolation | None) -> str:
    looks = violation.adapter if violation is not None else ""
    return f"{clause.why}. {looks[:1].upper()}{looks[1:]}" if looks else clause.why


def _exception(raised: StoredException) -> dict[str, Any]:
    return {
        "ruleId": EXCEPTION,
        "level": "error",
        "message": {"text": plain(raised.what)},
        **_located(place_of_exception(raised.error), raised.trace),
    }


def _question(result: Stored, question: StoredQuestion) -> dict[str, Any]:
    return {
        "ruleId": question.policy,
        "level": DEFAULT,
        "message": {"text": plain(f"{question.question} ({question.reason})")},
        **_locations(result, question),
    }


def _locations(result: Stored, violation: StoredViolation | None) -> dict[str, Any]:
    """The method of the adapter that took the last stimulus of a witness, and its trace."""
    if violation is None:
        return {"locations": []}
    last = violation.witness[-1].method if violation.witness else ""
    family = result.known_family
    method = family.wording.taken_by.get(last, "") if family is not None else ""
    return _located(place_of_target(result.target, method), violation.trace)


def _located(place: Place | None, trace: str | None) -> dict[str, Any]:
    stored = [] if trace is None else [{"physicalLocation": {"artifactLocation": {"uri": trace}}}]
    if place is None:
        return {"locations": stored}
    region = {"artifactLocation": {"uri": place.file}, "region": {"startLine": place.line}}
    related = [{"id": number, **one} for number, one in enumerate(stored, 1)]
    return {"locations": [{"physicalLocation": region}], "relatedLocations": related}


def _invocation(result: Stored) -> dict[str, Any]:
    """Whether everything could be judged, and what could not."""
    what = [
        *result.unexpected,
        *(f"{one.blame}: {one.what}" for one in result.troubles),
        *(one.what for one in result.exceptions),
    ]
    notes = [{"level": "error", "message": {"text": plain(one)}} for one in dict.fromkeys(what)]
    return {"executionSuccessful": not notes, "toolExecutionNotifications": notes}
