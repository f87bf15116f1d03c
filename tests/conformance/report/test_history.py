"""The history of a finding: first seen, last seen, fixed; and when nothing is known of it."""

from dataclasses import replace

import pytest

from runlock.conformance.campaign.runtime import Known
from runlock.conformance.campaign.runtimes import runtimes
from runlock.conformance.report.history import changes, dates, merged
from runlock.conformance.report.summary import text

AGNO = next(one for one in runtimes() if one.name == "agno")
HEAD = ["scenario s", " tool write ask", ""]
APPROVED = [*HEAD, 'start r1 "write"', "release model turn c1:write", "decide d1 resume c1"]
CANCELLED = [*HEAD, 'start r1 "write"', "release model turn c1:write", "cancel"]


def at(version, *seen, name="agno"):
    """A configuration of a library in a release, with what is known of its violations."""
    return replace(
        AGNO, name=name, library="agno", lives_in=AGNO.lives_in.at((f"agno=={version}",)), seen=seen
    )


def column(verdict="held", name="agno", witness=APPROVED):
    """A column in which one clause has a verdict; None: it could not be judged."""
    violation = {"clause": "GATE-2", "because": "it ran", "witness": witness}
    return {
        "name": name,
        "verdict": verdict and "broken",
        "family": "lifecycle",
        "clauses": {verdict: {"": ["GATE-2"]}},
        "violations": [violation] if verdict == "broken" else [],
    }


def after(*nights):
    """The records after nights, each of which has the release and the column of one runtime."""
    records = []
    for number, (version, found) in enumerate(nights, 1):
        runtime = version if isinstance(version, type(AGNO)) else at(version)
        records = merged(records, {"runtimes": [found]}, [runtime], {"agno"}, f"day {number}")
    return records


def moments(record):
    """The releases of a record, without their days."""
    found = (record[name] for name in ("first", "last", "fixed", "undecided"))
    return [one and one["release"].removeprefix("agno==") for one in found]


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        ("broken", ["1.0", "2.0", None, None]),
        ("held", ["1.0", "1.0", "2.0", None]),
        ("untested", ["1.0", "1.0", None, "2.0"]),  # the release offers no approvals any more, perhaps
        (None, ["1.0", "1.0", None, "2.0"]),  # it could not be judged
    ],
)
def test_only_a_clause_that_is_held_is_fixed(then, expected):
    """What was not tested is not fixed."""
    (record,) = after(("1.0", column("broken")), ("2.0", column(then)))

    assert moments(record) == expected


def test_a_clause_that_another_fault_breaks_hides_the_first_one():
    """The first one may be there still."""
    records = after(("1.0", column("broken")), ("2.0", column("broken", witness=CANCELLED)))

    assert {tuple(one["situation"]): moments(one) for one in records} == {
        ("decide resume",): ["1.0", "1.0", None, "2.0"],
        ("cancel",): ["2.0", "2.0", None, None],
    }


def test_what_is_fixed_breaks_none_of_its_clauses():
    """Its worst clause is held, and another one is broken in another way: the fault may be there still."""
    both = column("broken")
    both = {**both, "violations": [*both["violations"], {**both["violations"][0], "clause": "GATE-1"}]}
    left = {**both["violations"][1], "witness": CANCELLED}
    then = {**column("held"), "clauses": {"held": {"": ["GATE-2"]}, "broken": {"": ["GATE-1"]}}}
    (record,) = after(("1.0", both))
    records = after(("1.0", both), ("2.0", {**then, "verdict": "broken", "violations": [left]}))

    assert record["clauses"] == ["GATE-2", "GATE-1"]
    assert [moments(one) for one in records if len(one["clauses"]) == 2] == [["1.0", "1.0", None, "2.0"]]


def test_a_finding_may_come_back():
    """It was first seen where it was first seen, and is open again."""
    nights = [("1.0", column("broken")), ("2.0", column("held")), ("3.0", column("broken"))]
    before, (record,) = after(*nights[:2]), after(*nights)

    assert moments(record) == ["1.0", "3.0", None, None]
    assert changes(before, [record]) == [
        {"finding": "agno: GATE-2 (runs without consent), decide resume", "what": "is back in agno==3.0"}
    ]
    assert moments(after(*nights[:2], ("4.0", column("held")))[0]) == ["1.0", "1.0", "2.0", None]


def test_a_column_that_was_reused_changes_nothing():
    """The release was not looked at again."""
    records = after(("1.0", column("broken")))

    assert merged(records, {"runtimes": [column("broken")]}, [at("1.0")], (), "later") == records


def test_a_finding_is_fixed_where_no_configuration_shows_it():
    """As long as one that showed it cannot be judged, nothing is known."""
    two = [at("1.0"), at("1.0", name="other")]
    records = merged(
        [], {"runtimes": [column("broken"), column("broken", "other")]}, two, {"agno", "other"}, "1"
    )
    for number, verdict, expected in (("2", None, None), ("3", "held", "agno==1.0")):
        report = {"runtimes": [column("held"), column(verdict, "other")]}
        records = merged(records, report, two, {"agno", "other"}, number)
        assert (records[0]["fixed"] or {}).get("release") == expected


def test_a_release_that_stays_undecided_is_news_once():
    """It is tried again every night."""
    nights = [("1.0", column("broken")), ("2.0", column(None)), ("2.0", column(None))]

    assert [one["what"] for one in changes(after(*nights[:1]), after(*nights[:2]))] == [
        "not decided in agno==2.0"
    ]
    assert changes(after(*nights[:2]), after(*nights)) == []


def test_a_finding_keeps_its_history_when_a_program_shows_it():
    """From then on it has the name of the program."""
    shown = at("2.0", Known("GATE-2", "It runs.", "a.py"))
    (record,) = after(("1.0", column("broken")), (shown, column("broken")))

    assert (record["program"], *moments(record)) == ("a.py", "1.0", "2.0", None, None)


def test_the_page_and_the_summary_have_the_dates():
    """In one line, with the day of each."""
    records = after(("1.0", column("broken")), ("2.0", column("untested")))

    assert dates(records[0]) == (
        "First seen in agno==1.0 (day 1), last seen in agno==1.0 (day 1), fixed in: not yet. "
        "Not decided in agno==2.0 (day 2)."
    )
    summary = text({"findings": records, "nights": []})
    assert "- Findings: 0 open, 0 fixed." in summary
    assert "so that the adapter is suspected first: 1 open, 0 fixed." in summary
    assert "| agno: GATE-2 (runs without consent), decide resume | agno==1.0, day 1 |" in summary


def test_the_summary_has_what_is_open_first_and_then_the_most_severe():
    """What is documented, and what no program shows yet, is counted apart."""
    (record,) = after((at("1.0", Known("GATE-2", "It runs.", "a.py")), column("broken")))
    records = [
        {**record, "fixed": record["last"], "library": "fixed"},
        {**record, "program": None, "library": "unshown"},
        {**record, "against": "documented", "library": "documented"},
        {**record, "severity": "cosmetic", "library": "mild"},
        record,
    ]
    summary = text({"findings": records, "nights": []})

    rows = [
        line[2:].partition(":")[0] for line in summary.splitlines() if "a.py" in line or "unshown" in line
    ]
    assert rows == ["agno", "mild", "documented", "unshown", "fixed"]
    assert "- Findings: 2 open, 1 fixed.\n- Documented, and we disagree: 1 open, 0 fixed.\n" in summary
