"""The host for adapters in JavaScript: gates, quiescence, crashes; it shows what the one for Python shows."""

import re
import shutil
from pathlib import Path

import pytest
from hosted_fakes import Talk, resume
from hosted_fakes import toy as hosted
from places import DOUBLES

from runlock.conformance import adapters
from runlock.conformance.families.lifecycle.adapter import Segment
from runlock.conformance.families.lifecycle.messages import Edit
from runlock.conformance.protocol import ProtocolError
from runlock.conformance.transport.stdio import Pipe

NODE = shutil.which("node")
FAKES = [str(DOUBLES / "node_fakes.mjs"), str(Path(adapters.__file__).parent / "node" / "runlock.mjs")]
pytestmark = pytest.mark.skipif(NODE is None, reason="there is no `node` on the PATH")


@pytest.fixture
def toy():
    """A scenario on an adapter whose runs do what their input says; gives what sends a verb."""
    pipe = Pipe([NODE, *FAKES], timeout_scale=6)
    pipe.request("initialize", {"protocol": {"min": 1, "max": 1}, "kit": {"name": "t", "version": "1"}})
    pipe.request("scenario.open", {"scenario": "s", "hold": ["store.put"]})
    yield pipe.request
    pipe.close()


def said(answer):
    """How the segment in an answer ended."""
    ends = [one for one in answer["observations"] if one["kind"] == "run.finished"]
    return ends[0]["reason"].get("detail") if ends else None


def start(toy, what):
    """Begin a run that does this."""
    return toy("run.start", {"run": "r1", "input": what})


def test_what_needs_no_world_is_over_before_the_answer(toy):
    """Files and immediates are waited for, without a clock."""
    assert said(start(toy, "reads")) == "read true"
    assert said(toy("run.start", {"run": "r2", "input": "hurries"})) == "soon"


def test_what_was_stored_before_a_kill_is_older(toy):
    """The time of day does not go back, in the next scenario or process; some runtimes sort by it."""
    toy("clock.advance", {"ms": 2000})
    toy("scenario.close", {})
    toy("scenario.open", {"scenario": "s"})
    before = said(start(toy, "dates"))
    again = Pipe([NODE, *FAKES], timeout_scale=6)
    again.request("scenario.open", {"scenario": "s"})

    assert before.endswith("T00:00:02.000Z")
    assert before < said(start(again.request, "dates"))
    again.close()


def test_time_passes_when_the_kit_says_so(toy):
    """Timers, dates and `performance` stand on the kit's clock, and fire in order."""
    assert said(start(toy, "sleeps")) is None
    assert said(toy("clock.advance", {"ms": 999})) is None
    assert said(toy("clock.advance", {"ms": 1})) == "it is 1000 ms later, by all clocks true"
    assert said(toy("run.start", {"run": "r2", "input": "ticks"})) is None
    assert said(toy("clock.advance", {"ms": 30})) == "ticked"


@pytest.mark.parametrize(
    ("what", "code", "says"),
    [
        ("spins", -32004, "the runtime was still busy after 10000 turns"),
        ("strays", -32005, "the runtime or its adapter crashed: RangeError: nobody awaits this"),
        ("7", -32603, "the adapter's start gave 7; a segment is {reason, pending}"),
    ],
)
def test_what_a_runtime_must_not_do_is_an_error(toy, what, code, says):
    """A runtime that never comes to rest, a rejection without an owner and a wrong segment are reported."""
    with pytest.raises(ProtocolError) as error:
        start(toy, what)

    assert (error.value.code, error.value.message) == (code, says)


def test_what_the_runtime_prints_is_no_answer(toy):
    """Standard output is the protocol's."""
    assert said(start(toy, "prints")) == "printed"


def test_an_exception_ends_the_segment_in_error(toy):
    """What a runtime throws is its word on how its run ended, and a slip is shown with its place."""
    answer = start(toy, "throws")
    (slip,) = [one for one in answer["observations"] if one["kind"] == "adapter.error"]

    assert said(answer) == "TypeError: no such thing"
    assert re.fullmatch(r"TypeError: no such thing \(.*node_fakes\.mjs:\d+:\d+\)", slip["error"])


def test_an_aborted_signal_gives_the_gate_up(toy):
    """An abort signal reaches a caller that waits at a gate, and the kit sees the gate closed."""
    (opened,) = start(toy, "asks")["observations"]
    closed, ended = toy("cancel", {"run": "r1"})["observations"]

    assert (opened["on"], opened["step"]) == ("model", 1)
    assert (closed["kind"], closed["gate"]) == ("gate.closed", opened["gate"])
    assert ended["reason"]["detail"] == "Error: the signal was aborted"


def test_a_tool_that_ignores_the_signal_stays_at_work(toy):
    """Its gate is not closed by the abort, and its answer reaches the runtime."""
    toy("scenario.close", {})
    toy("scenario.open", {"scenario": "s", "tools": [{"name": "t0", "abort": "ignored"}]})
    (opened,) = start(toy, "acts")["observations"]
    aborted = toy("cancel", {"run": "r1"})
    answered = toy("gate.release", {"gate": opened["gate"], "outcome": {"kind": "ok", "content": "late"}})

    assert aborted["observations"] == []
    assert [one["kind"] for one in answered["observations"]] == ["run.finished"]


def test_a_race_is_handed_over_before_the_runtime_runs(toy):
    """A release that comes with a cancel lands, since nothing of the cancel has run yet."""
    (opened,) = start(toy, "asks")["observations"]
    release = {"gate": opened["gate"], "outcome": {"kind": "turn", "text": "in time"}}
    race = [{"method": "cancel", "params": {"run": "r1"}}, {"method": "gate.release", "params": release}]

    assert said(toy("deliver", {"stimuli": race})) == "in time"


def test_a_suspension_is_counted_and_its_decision_shown(toy):
    """A replay bears the decision for its call; one for no one is refused in the runtime's words."""
    suspended, _ = start(toy, "suspends")["observations"]
    refused = toy("decide", {"run": "r1", "decisions": [{"id": "d0", "call": "c9", "action": "resume"}]})
    decided = toy("decide", {"run": "r1", "decisions": [{"id": "d1", "call": "c1", "action": "resume"}]})

    assert suspended["suspension"] == 1
    assert refused["refused"] == [{"stimulus": 0, "decision": "d0", "why": "nobody asked"}]
    (entered,) = decided["observations"]
    assert (entered["attempt"], entered["resume"]["decision"]) == (1, "d1")


def test_a_mistake_in_an_adapter_is_shown_and_not_only_refused(toy):
    """What nothing has touched is turned down, and the mistake is shown with its place."""
    start(toy, "suspends")
    answer = toy("decide", {"run": "r1", "decisions": []})
    (slip,) = answer["observations"]

    assert (slip["kind"], slip["verb"]) == ("adapter.error", "decide")
    assert re.match(r"TypeError: .* \(.*node_fakes\.mjs:\d+:\d+\)", slip["error"])
    assert len(answer["refused"]) == 1


def test_one_decision_of_a_batch_may_be_turned_down(toy):
    """The others of the verb are taken."""
    start(toy, "suspends")
    batch = [{"id": f"d{number}", "call": "c1", "action": "resume"} for number in (1, 2)]
    answer = toy("decide", {"run": "r1", "decisions": batch})

    assert answer["refused"] == [{"stimulus": 0, "decision": "d2", "why": "one at a time"}]
    assert [one["kind"] for one in answer["observations"]] == ["gate.open"]


async def permits(adapter, _):
    """The twin of what the JavaScript toy does, on the Python face."""
    verdict = await adapter.host.permit("c1", "t0", {"v": 1})
    return waits(adapter, verdict.kind)


async def enters(adapter, decisions):
    edit = decisions[0].edit or Edit()
    outcome = await adapter.host.tool("c1", edit.name or "t0", edit.args or {})
    return waits(adapter, outcome.kind) if outcome.kind == "pending" else Segment("NaturalEnd")


def waits(adapter, why):
    adapter.host.observe("call.shown", call="c1", name="t0", args={"why": why})
    return Segment("Suspended", ["c1"])


def test_both_faces_say_the_same_of_a_call_that_is_shown_edited_and_pending(toy):
    """A verdict suspends a call, an edit changes it, its body answers pending, and approvers are shown it."""
    twin = Talk(hosted(start=permits, decide=enters, gates=["model", "permission", "tool"])).sut.request
    decision = resume(edit={"name": "t1", "args": {"v": 2}})
    play = [
        ("run.start", {"run": "r1", "input": "permits"}),
        ("gate.release", {"gate": "g1", "outcome": {"kind": "suspend"}}),
        ("decide", {"run": "r1", "decisions": [decision]}),
        ("gate.release", {"gate": "g2", "outcome": {"kind": "pending"}}),
    ]
    (permit,), shown, (entered,), again = [toy(*one)["observations"] for one in play]

    assert [[permit], shown, [entered], again] == [twin(*one)["observations"] for one in play]
    assert (permit["on"], entered["name"], entered["args"]) == ("permission", "t1", {"v": 2})
    assert [one["args"]["why"] for one in (shown[0], again[0])] == ["suspend", "pending"]


def test_a_plugin_is_held_at_its_phase(toy):
    """A hook is a gate that names its phase and what may be looked at."""
    (held,) = start(toy, "hooks")["observations"]
    ended = toy("gate.release", {"gate": held["gate"], "outcome": {"kind": "continue"}})

    assert (held["on"], held["at"], held["data"]) == ("hook", "RunStart", {"state": {}})
    assert [one["kind"] for one in ended["observations"]] == ["run.finished"]


def test_a_tool_that_tells_something_stays_at_work(toy):
    """The watcher hears of it, and the gate stays open until the tool answers."""
    seated = toy("watch", {"run": "r1", "watcher": "w1", "stream": "native"})["observations"]
    (entered,) = start(toy, "works")["observations"]
    told = toy("gate.release", {"gate": entered["gate"], "outcome": {"kind": "activity", "content": "half"}})
    cut = toy("unwatch", {"run": "r1"})["observations"]
    ended = toy("gate.release", {"gate": entered["gate"], "outcome": {"kind": "ok"}})["observations"]

    assert [(one["name"], one["watcher"]) for one in (*seated, *told["observations"], *cut)] == [
        ("hello", "w1"),
        ("half", "w1"),
        ("gone", "w1"),
    ]
    assert [one["kind"] for one in ended] == ["run.finished"]


def test_what_the_store_takes_is_shown(toy):
    """A checkpoint that is held waits at its gate, and is durable once it is released."""
    (held,) = start(toy, "stores")["observations"]
    stored = toy("gate.release", {"gate": held["gate"], "outcome": {"kind": "ok"}})["observations"]

    assert (held["on"], held["trigger"]) == ("store.put", "UserMessage")
    assert [one["kind"] for one in stored] == ["checkpoint", "run.finished"]


def test_a_crash_drops_everything_but_what_was_kept(toy):
    """No clean-up runs, the next life has what the last one kept, and the inference is asked again."""
    (opened,) = start(toy, "asks")["observations"]
    toy("crash", {})
    with pytest.raises(ProtocolError, match="recover comes first"):
        toy("settle", {})
    (again,) = toy("recover", {"run": "r1", "store": None})["observations"]

    assert (again["on"], again["step"]) == ("model", 1)
    assert again["gate"] != opened["gate"]
    assert toy("inspect", {"run": "r1"})["kept"] == {"asked": True}
    assert toy("settle", {})["observations"] == []


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("gate.release", {"gate": "g9", "outcome": {"kind": "ok"}}, -32003),
        ("scenario.open", {"scenario": "again"}, -32002),
        ("run.input", {"run": "r1", "input": "more"}, -32001),
        ("run.stop", {}, -32601),
    ],
)
def test_a_verb_that_cannot_be_is_an_error(toy, method, params, code):
    """What the kit must not send, and what the adapter lacks, is answered so."""
    with pytest.raises(ProtocolError) as error:
        toy(method, params)

    assert error.value.code == code


def test_a_scenario_that_cannot_be_opened_is_not_open(toy):
    """What throws in `open` is a crash, after which another scenario may come."""
    toy("scenario.close", {})
    with pytest.raises(ProtocolError, match="crashed: Error: we are closed"):
        toy("scenario.open", {"scenario": "closed"})

    assert toy("scenario.open", {"scenario": "s"}) == {}
    assert toy("scenario.close", {}) == {"leaks": []}


def test_the_javascript_handshake_offers_what_there_is(toy):
    """Methods that are missing are not declared, and what the face gives is added."""
    pipe = Pipe([NODE, *FAKES], timeout_scale=6)
    told = pipe.request(
        "initialize", {"protocol": {"min": 1, "max": 1}, "kit": {"name": "t", "version": "1"}}
    )
    pipe.close()

    assert told["stimuli"] == ["decide", "cancel", "cancel.waiting", "run.again", "clock.advance", "deliver"]
    assert told["control"]["crash"] == ["soft"]
    assert told["observes"] == ["call.status", "run.finished", "checkpoint"]


def test_a_body_that_is_entered_with_an_aborted_signal_is_shown(toy):
    """The gate opens and is given up at once; a request to the model that is aborted is never sent."""
    seen = start(toy, "late")["observations"]

    assert [(one["kind"], one.get("on", one.get("name"))) for one in seen] == [
        ("gate.open", "tool"),
        ("gate.closed", None),
        ("event", "GivenUp"),
        ("event", "GivenUp"),
        ("run.finished", None),
    ]


async def nests(adapter, _):
    """The twin of what the JavaScript toy does."""
    inner = adapter.host.within("c1")
    await inner.infer([])
    kind = (await inner.tool("c2", "t0", {})).kind
    inner.observe("call.status", call="c2", origin="Running", to="Suspended")
    await adapter.host.infer([])
    adapter.host.observe("call.shown", call="c1", name="t0", args={"why": kind})
    return Segment("Suspended", ["c1"])


def test_both_hosts_show_the_same_of_a_run_within_a_call(toy):
    """Its gates have its own run and steps, and the numbers of the gates go on."""
    twin = Talk(hosted(start=nests)).sut.request
    turn = {"kind": "turn", "text": "", "tool_calls": [], "usage": {"input": 0, "output": 0}}
    play = [
        ("run.start", {"run": "r1", "input": "nests"}),
        ("gate.release", {"gate": "g1", "outcome": turn}),
        ("gate.release", {"gate": "g2", "outcome": {"kind": "pending"}}),
        ("gate.release", {"gate": "g3", "outcome": turn}),
    ]
    seen = [toy(*one)["observations"] for one in play]

    assert seen == [twin(*one)["observations"] for one in play]
    assert [one["run"] for report in seen for one in report] == ["r1/c1"] * 3 + ["r1"] * 3
