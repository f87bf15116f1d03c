"""A timeline reads like the table of parallel calls in the sources, also where no status was ever shown."""

import pytest
from places import TRANSCRIBED

from runlock.conformance.families.lifecycle.timeline import CALLS_MAX, render, timeline
from runlock.conformance.trace.trace import Trace

TRANSCRIBED = TRANSCRIBED / "timeline.txt"

TOOLS = [{"name": "asks"}, {"name": "runs"}]


def stimulus(method, **params):
    return {"stimulus": {"method": method, "params": params}}


def seen(kind, **fields):
    return {"observation": {"kind": kind, "run": "r1", **fields}}


def call(name, to):
    return seen("call.status", call=name, to=to)


def run_is(to):
    return seen("run.status", to=to)


REPORT = {"report": {"quiescent": True, "refused": []}}


def asked(*calls):
    """The start of a run whose model asks for some calls."""
    turn = {"kind": "turn", "tool_calls": [{"id": name, "name": tool} for name, tool in calls]}
    return [
        {
            "scenario": {
                "scenario": "s",
                "tools": [{"name": "asks", "permission": "ask"}, {"name": "runs", "permission": "allow"}],
            }
        },
        stimulus("run.start", run="r1", input="go"),
        seen("gate.open", gate="g1", on="model"),
        REPORT,
        stimulus("gate.release", gate="g1", outcome=turn),
    ]


def shaken(observes):
    return {"handshake": {"implementation": {"name": "a", "version": "1"}, "observes": observes}}


THREE = [
    shaken(["run.status", "call.status"]),
    *asked(("A", "asks"), ("B", "asks"), ("C", "runs")),
    run_is("Running"),
    *[call(name, "New") for name in "ABC"],
    call("A", "Suspended"), call("C", "Running"),
    call("A", "Suspended"), call("B", "Suspended"),
    REPORT,
    stimulus("gate.release", gate="tool:C", outcome={"kind": "ok"}),
    call("C", "Succeeded"), run_is("Waiting"),
    REPORT,
    stimulus("decide", run="r1", decisions=[{"id": "d1", "call": "A", "action": "resume"}]),
    call("A", "Resuming"), run_is("Running"),
    call("A", "Succeeded"), run_is("Waiting"),
    REPORT,
    stimulus("decide", run="r1", decisions=[{"id": "d2", "call": "B", "action": "resume"}]),
    call("B", "Resuming"), run_is("Running"),
    call("B", "Succeeded"), run_is("Done"),
    REPORT,
]  # fmt: skip


def test_the_timeline_of_the_sources_comes_out():
    """Fed with the source's own example, the rows are the source's own table."""
    rows = [(*(row.calls.get(name) for name in "ABC"), row.run) for row in timeline(Trace(THREE))]
    table = [tuple(line.split()[2:]) for line in TRANSCRIBED.read_text().splitlines() if line[0] != "#"]

    expected = [tuple("New" if cell == "Created" else cell for cell in row) for row in table]
    assert rows[1:] == expected


SILENT = [
    shaken(["run.finished"]),
    *asked(("c1", "asks"), ("c2", "runs")),
    seen("gate.open", gate="g2", on="tool", call="c2"),
    REPORT,
    stimulus("gate.release", gate="g2", outcome={"kind": "ok"}),
    seen("run.finished", reason={"code": "Suspended"}, pending=["c1"]),
    REPORT,
    stimulus("decide", run="r1", decisions=[{"id": "d1", "call": "c1", "action": "resume"}]),
    seen("gate.open", gate="g3", on="tool", call="c1"),
    REPORT,
    stimulus("gate.release", gate="g3", outcome={"kind": "error"}),
    seen("run.finished", reason={"code": "NaturalEnd"}),
    REPORT,
]


def test_statuses_follow_from_gates_where_none_is_shown():
    """An open tool gate is a running call, a pending one is suspended, an answer is its end."""
    rows = timeline(Trace(SILENT))

    assert [(row.calls.get("c1", ""), row.calls.get("c2", ""), row.run) for row in rows] == [
        ("", "", "Running"),
        ("New", "Running", "Running"),
        ("Suspended", "Succeeded", "Waiting"),
        ("Running", "Succeeded", "Running"),
        ("Failed", "Succeeded", "Done"),
    ]


@pytest.mark.parametrize(
    ("outcome", "status"), [("raise", "Failed"), ("pending", "Suspended"), ("warning", "Succeeded")]
)
def test_every_answer_of_a_tool_has_a_status(outcome, status):
    """What a tool answered says where its call stands."""
    records = [*SILENT[:8], stimulus("gate.release", gate="g2", outcome={"kind": outcome}), REPORT]

    assert timeline(Trace(records))[-1].calls["c2"] == status


def test_after_a_crash_a_status_is_unknown_until_it_is_shown_again():
    """What a runtime claimed before it crashed is no claim of the one that recovers."""
    records = [
        *THREE[:-11], REPORT,
        {"crash": {}}, stimulus("recover", run="r1", store=None), call("A", "Suspended"), REPORT,
    ]  # fmt: skip
    last = timeline(Trace(records))[-1]

    assert (last.calls["A"], last.calls["C"], last.happened) == ("Suspended", "", "crash and recover")


@pytest.mark.parametrize("width", [60, 100])
def test_a_timeline_is_a_table(width, equals_golden):
    """One column for each call, with what holds its tool back, and one for what happened."""
    equals_golden(f"timeline-{width}.txt", "\n".join(render(Trace(SILENT), width)) + "\n")


def test_many_calls_are_counted():
    """Beyond some columns calls are counted, not drawn."""
    calls = [(f"c{number}", "runs") for number in range(1, CALLS_MAX + 4)]
    head, *_, last = render(Trace([shaken([]), *asked(*calls), REPORT]), 200)

    assert head.split()[-4:] == ["more", "run", "what", "happened"]
    assert f"c{CALLS_MAX} " in head
    assert f"c{CALLS_MAX + 1}" not in head
    assert "+3" in last


def test_calls_give_way_to_what_happened():
    """In a narrow terminal fewer calls are drawn, and none of their columns is cut."""
    calls = [(f"c{number}", "runs") for number in range(1, 5)]
    head, *_, last = render(Trace([shaken([]), *asked(*calls), REPORT]), 70)

    assert head.split() == ["t", "c1", "(allow)", "c2", "(allow)", "more", "run", "what", "happened"]
    assert "+2" in last or "c4" in last


def test_a_trace_that_ends_in_the_middle_shows_what_was_in_flight():
    """The last stimulus has a row even if nothing answered it."""
    assert timeline(Trace([*SILENT[:9]]))[-1].happened == "tool c2 answers ok"


def test_what_is_no_observation_is_no_row():
    """A record that fits no protocol changes nothing, and what was refused is reported."""
    records = [
        *SILENT[:5], seen("call.status", call=3), {"report": {"refused": [{"why": "no \x07"}, 3]}},
    ]  # fmt: skip

    assert timeline(Trace(records))[-1].happened == "refused: no \\x07"
