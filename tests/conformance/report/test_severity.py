"""Each report shows the severity of a finding, and sorts the findings by it."""

import io
import json
import re
from dataclasses import replace
from xml.etree import ElementTree

from sample_result import FILES, RESULT

from runlock.conformance.campaign.causes import Rejudged, with_causes
from runlock.conformance.campaign.result import ClauseVerdict
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.rank import Rank
from runlock.conformance.report.console import Page
from runlock.conformance.report.html import web
from runlock.conformance.report.junit import junit
from runlock.conformance.report.markdown import markdown
from runlock.conformance.report.result_json import as_json
from runlock.conformance.report.sarif import sarif
from runlock.conformance.report.stored_result import Stored
from runlock.conformance.report.text import write_report

WORST_FIRST = {
    "GATE-2": "runs without consent",
    "ONCE-1": "runs twice",
    "PAIR-1": "thread dead",
    "STREAM-1": "cosmetic",
}
(SAMPLE,) = RESULT.witnesses
BROKEN = replace(
    RESULT,
    clauses=[ClauseVerdict(one, "MUST", "broken", "it broke") for one in reversed(WORST_FIRST)],
    witnesses=[replace(SAMPLE, clause=one) for one in WORST_FIRST],
)
STORED = Stored.model_validate(as_json(BROKEN, FILES, 1))


def gravity(clause: str) -> int:
    """The place of the severity of a clause."""
    return RESULT.family.spec.clauses[clause].gravity


def test_findings_are_sorted_by_severity():
    """A milder clause that was blamed more directly comes after a worse one."""
    alone = [
        Rejudged(replace(SAMPLE, clause=one), frozenset({one}), one, Rank.CONSENT, gravity(one))
        for one in reversed(WORST_FIRST)
    ]

    assert [one.clause for one in with_causes(alone, Tally(schedules=10))] == [*WORST_FIRST]


def test_the_text_lists_the_findings_with_their_severity():
    """The list at the top has a line for each, and each finding says it again."""
    stream = io.StringIO()
    write_report(BROKEN, Page(stream, 120), FILES, BROKEN.target)
    text = stream.getvalue()

    assert re.findall(r"^  ([A-Z]+-\d+) +([a-z ]+):", text, re.MULTILINE) == [*WORST_FIRST.items()]
    assert re.findall(r"^  severity  (.*)$", text, re.MULTILINE) == [*WORST_FIRST.values()]


def test_the_object_has_it_for_each_clause_and_each_violation():
    """A program reads it without the specification."""
    found = as_json(BROKEN, FILES, 1)

    assert {one["clause"]: one["severity"] for one in found["violations"]} == WORST_FIRST
    assert {one["id"]: one["severity"] for one in found["clauses"]} == WORST_FIRST


def test_a_test_report_has_it_as_a_property():
    """JUnit has properties of a testcase."""
    cases = ElementTree.fromstring(junit(STORED)).iter("testcase")
    found = {
        case.get("name").partition(":")[0]: case.find("properties/property[@name='severity']").get("value")
        for case in cases
        if case.find("failure") is not None
    }

    assert found == WORST_FIRST


def test_code_scanning_has_it_as_a_priority():
    """SARIF has a rank from 100 to 0; the level stays that of the clause."""
    results = [one for one in json.loads(sarif(STORED))["runs"][0]["results"] if "rank" in one]

    assert [(one["ruleId"], one["properties"]["severity"]) for one in results] == [*WORST_FIRST.items()]
    assert [one["rank"] for one in results] == [100.0, 83.3, 33.3, 0.0]
    assert {one["level"] for one in results} == {"error"}


def test_pages_have_it_with_each_finding():
    """For a pull request, and for a browser."""
    assert re.findall(r"^severity: (.*)$", markdown(STORED), re.MULTILINE) == [*WORST_FIRST.values()]
    assert re.findall(r"<p>Severity: <bdi>(.*?)</bdi>", web(STORED)) == [*WORST_FIRST.values()]
