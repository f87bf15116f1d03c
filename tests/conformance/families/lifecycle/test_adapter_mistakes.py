"""A violation that looks like a mistake of the adapter says so; one of the runtime does not."""

import pytest

from runlock.conformance.families.lifecycle.adapter_mistakes import mistake
from runlock.conformance.trace.trace import Trace
from runlock.conformance.transport.virtual_loop import VirtualLoop


def trace(*answers, end=(), tools=({"name": "write", "expires_ms": 5000},)):
    """A trace of stimuli, each with what was shown and refused."""
    records = [{"scenario": {"scenario": "s", "tools": list(tools)}}]
    for method, params, shown, refused in answers:
        records.append({"stimulus": {"method": method, "params": params}})
        records += ({"observation": one} for one in shown)
        records.append({"report": {"quiescent": True, "refused": refused}})
    return Trace([*records, {"end": {"leaks": [], **dict(end)}}])


def status(origin, to, call=None):
    if call is None:
        return {"kind": "run.status", "run": "r1", "from": origin, "to": to}
    return {"kind": "call.status", "call": call, "from": origin, "to": to}


def start(*shown):
    return ("run.start", {"run": "r1", "input": "hello"}, shown, [])


def advance(ms):
    return ("clock.advance", {"ms": ms}, [], [])


def decide(call, shown=(), refused=()):
    return (
        "decide",
        {"run": "r1", "decisions": [{"id": "d1", "call": call, "action": "resume"}]},
        shown,
        refused,
    )


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        ([status("Created", "Running")], "the run goes from Created to Running, and no status was shown"),
        ([status(None, "Running"), status("Waiting", "Done")], "from Waiting to Done, and Running was shown"),
        (
            [status(None, "New", "c1"), status(None, "Running", "c1")],
            "call c1 goes from None to Running, and New",
        ),
    ],
)
def test_a_status_with_another_origin(shown, said):
    """The field names the status before it, and None is for the first one alone."""
    assert mistake(trace(start(*shown))).startswith("this looks like the adapter: it shows that ")
    assert said in mistake(trace(start(*shown)))


@pytest.mark.parametrize(
    "answers",
    [
        [start(status(None, "Running"), status("Running", "Done"), status(None, "Running"))],
        [start(status(None, "New", "c1"), status("New", "Failed", "c1"), status(None, "New", "c1"))],
        [start({"kind": "run.status", "run": "r1", "to": "Running"})],
        [start(status(None, "Running")), ("recover", {}, [status(None, "Running")], [])],
        [start(status("Created", "Running")), advance(1)],
    ],
)
def test_an_origin_that_is_right(answers):
    """Another run, a call whose id comes again, a runtime after a crash; and what came earlier."""
    assert mistake(trace(*answers)) == ""


WAITS = start(status(None, "Suspended", "c1"), {"kind": "run.finished", "run": "r1", "pending": ["c2"]})


def test_a_refusal_that_was_not_passed_on():
    """Nothing came of a decision for a call that does not wait."""
    said = mistake(trace(WAITS, decide("c7")))

    assert "given decision d1 for call c7, which does not wait, and nothing came of it" in said
    assert "calls `host.refuse`" in said


@pytest.mark.parametrize(
    "decision",
    [
        decide("c1"),
        decide("c2"),
        decide("c7", refused=[{"stimulus": 0, "why": "no such call"}]),
        decide("c7", shown=[status("Waiting", "Running")]),
    ],
)
def test_a_decision_that_was_the_runtimes_to_lose(decision):
    """A call that waits, a refusal, and something that came of it are no mistake of the adapter."""
    assert "decision d1" not in mistake(trace(WAITS, decision))


def test_a_clock_that_was_never_read():
    """Only where a tool has a limit, and where the loop says so."""
    unread = {"clock": "unread"}

    said = mistake(trace(WAITS, advance(4000), advance(2000), end=unread))
    assert "the clock was advanced by 6000 ms, and the runtime never looked at it" in said
    assert mistake(trace(WAITS, advance(4000), advance(2000))) == ""
    assert mistake(trace(WAITS, advance(4000), end=unread, tools=[{"name": "write"}])) == ""


@pytest.mark.parametrize(
    ("before", "after", "is_unread"),
    [
        (lambda loop: None, lambda loop: None, True),
        (lambda loop: loop.time(), lambda loop: None, True),
        (lambda loop: None, lambda loop: loop.time(), False),
        (lambda loop: loop.call_later(1, print), lambda loop: None, False),
    ],
)
def test_the_loop_knows_whether_its_clock_was_read(before, after, is_unread):
    """A read before the first advance sees no time pass; a timer sees all of it."""
    loop = VirtualLoop()
    before(loop)
    assert not loop.is_unread
    loop.advance(500)
    after(loop)

    assert loop.is_unread is is_unread
