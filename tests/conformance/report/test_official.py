"""Reports name the requirement of another kit that asks for the same as a clause."""

import json
from dataclasses import replace

from sample_result import FILES, RESULT

from runlock.conformance.campaign.result import ClauseVerdict
from runlock.conformance.report.clause_sheet import of_clause
from runlock.conformance.report.result_json import as_json
from runlock.conformance.report.sarif import sarif
from runlock.conformance.report.sheet import Said
from runlock.conformance.report.stored_result import Stored

IDS = {"PROMPT-2": ["ACP-CANCEL-001", "ACP-CANCEL-203"], "GATE-2": []}
BROKEN = replace(
    RESULT,
    clauses=[ClauseVerdict(one, "MUST", "broken", "it broke") for one in IDS],
    witnesses=[replace(RESULT.witnesses[0], clause=one) for one in IDS],
)


def test_the_object_has_the_ids_of_each_clause():
    """A clause that no other kit asks for has none."""
    found = {one["id"]: one["official"] for one in as_json(BROKEN, FILES, 1)["clauses"]}

    assert found == {"PROMPT-2": {"acp-tck": IDS["PROMPT-2"]}, "GATE-2": {}}


def test_code_scanning_has_them_as_a_property_of_the_rule():
    """A rule without any has no properties."""
    stored = Stored.model_validate(as_json(BROKEN, FILES, 1))
    rules = {one["id"]: one for one in json.loads(sarif(stored))["runs"][0]["tool"]["driver"]["rules"]}

    assert rules["PROMPT-2"]["properties"] == {"official": {"acp-tck": IDS["PROMPT-2"]}}
    assert "properties" not in rules["GATE-2"]


def test_a_result_of_an_earlier_version_is_read():
    """It has no ids."""
    stored = as_json(BROKEN, FILES, 1)
    for one in stored["clauses"]:
        del one["official"]

    assert Stored.model_validate(stored).clauses[0].official == {}


def test_the_sheet_of_a_clause_has_them():
    """Next to what it needs."""
    family = RESULT.family
    parts = of_clause(family, family.spec.clause("PROMPT-2")).parts

    assert Said("official", ["acp-tck ACP-CANCEL-001, ACP-CANCEL-203"]) in parts
