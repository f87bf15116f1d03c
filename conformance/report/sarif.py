"""A result as SARIF 2.1.0, for code scanning: a rule and a result for each broken clause and question."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from runlock.conformance.report.stored_result import Stored, StoredClause, StoredQuestion, StoredViolation
from runlock.conformance.text import plain
from runlock.spec.model import SEVERITIES

VERSION: Final = "2.1.0"
SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS: Final = {"MUST": "error", "SHOULD": "warning", "MAY": "note"}
DEFAULT: Final = "warning"
"""What SARIF takes a result for that has no level; a later version of the kit may have more levels."""


def sarif(result: Stored) -> str:
    """The whole document; a clause that is expected to break is a suppressed result."""
    broken = sorted((one for one in result.clauses if one.verdict == "broken"), key=_gravity(result))
    driver = {
        "name": "runlock",
        "version": result.spec,
        "rules": [*(_rule(result, clause) for clause in broken), *map(_rule_asked, result.questions)],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(result)],
        "results": [
            *(_result(result, clause) for clause in broken),
            *map(_question, result.questions),
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
        "message": {"text": plain(clause.why)},
        "locations": _locations(violation),
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


def _question(question: StoredQuestion) -> dict[str, Any]:
    return {
        "ruleId": question.policy,
        "level": DEFAULT,
        "message": {"text": plain(f"{question.question} ({question.reason})")},
        "locations": _locations(question),
    }


def _locations(violation: StoredViolation | None) -> list[dict[str, Any]]:
    """The trace of a violation, if it was stored."""
    if violation is None or violation.trace is None:
        return []
    return [{"physicalLocation": {"artifactLocation": {"uri": violation.trace}}}]


def _invocation(result: Stored) -> dict[str, Any]:
    """Whether everything could be judged, and what could not."""
    what = [
        *result.unexpected,
        *(f"{one.blame}: {one.what}" for one in result.troubles),
        *(one.what for one in result.exceptions),
    ]
    notes = [{"level": "error", "message": {"text": plain(one)}} for one in dict.fromkeys(what)]
    return {"executionSuccessful": not notes, "toolExecutionNotifications": notes}
