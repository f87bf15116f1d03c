"""A result as JUnit XML for continuous integration: one testcase for each clause that applies."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from runlock.conformance.report.stored_result import Stored, StoredClause, StoredViolation
from runlock.conformance.text import plain


def junit(result: Stored) -> str:
    """The whole document; invisible characters are shown by their code, since XML cannot hold them."""
    suites = Element("testsuites", name="runlock")
    suite = SubElement(suites, "testsuite", name=plain(f"{result.target} {result.profile}"))
    for sentence in result.unexpected:
        case = SubElement(
            suite, "testcase", classname="schedules", name="nothing happened that was not asked"
        )
        SubElement(case, "error", message=plain(sentence))
    for raised in result.exceptions:
        case = SubElement(suite, "testcase", classname="schedules", name="an exception was raised")
        SubElement(case, "error", message=plain(raised.what))
    for clause in result.clauses:
        if clause.verdict != "not-applicable":
            _testcase(suite, clause, result)
    for blame, what in dict.fromkeys((one.blame, one.what) for one in result.troubles):
        case = SubElement(suite, "testcase", classname="schedules", name="a schedule could not be judged")
        SubElement(case, "error", type=plain(blame), message=plain(f"blame the {blame}: {what}"))
    for question in result.questions:
        case = SubElement(
            suite, "testcase", classname="policies", name=plain(f"{question.policy} is not declared")
        )
        skipped = SubElement(case, "skipped", message=plain(question.question))
        skipped.text = "\n".join(_witness(result, question))
    for about, sentence in result.complaints.items():
        case = SubElement(suite, "testcase", classname="baseline", name=plain(about))
        SubElement(case, "failure", message=plain(sentence))
    _count(suite)
    indent(suites)
    text = tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _testcase(suite: Element, clause: StoredClause, result: Stored) -> None:
    title = result.title(clause.id)
    name = f"{clause.id}: {title}" if title else clause.id
    case = SubElement(suite, "testcase", classname=plain(clause.area), name=plain(name))
    if clause.verdict == "held":
        return
    violation = result.of_clause(clause.id)
    if clause.id in result.expected:
        SubElement(case, "skipped", message=plain(f"expected to break: {result.expected[clause.id]}"))
    elif clause.verdict == "broken":
        properties = SubElement(case, "properties")
        SubElement(properties, "property", name="severity", value=result.severity(clause.id))
        failure = SubElement(case, "failure", type=plain(clause.level), message=plain(clause.why))
        failure.text = "\n".join(_witness(result, violation)) if violation is not None else None
    elif clause.verdict == "error":
        SubElement(case, "error", message=plain(clause.why))
    else:
        SubElement(case, "skipped", message=plain(f"untested: {clause.why}" if clause.why else "untested"))


def _witness(result: Stored, violation: StoredViolation) -> Iterator[str]:
    yield f"because {plain(violation.reason)}"
    yield from filter(None, [result.severity(violation.clause), plain(violation.adapter)])
    yield from result.steps(violation)
    yield from filter(None, [result.replay(violation)])


def _count(suite: Element) -> None:
    """Add a summary to the properties of the suite."""
    suite.set("tests", str(len(suite)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(sum(case.find(tag) is not None for case in suite)))
