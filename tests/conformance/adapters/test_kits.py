"""The kits for adapters in other languages: their examples hold, and a slip in one is found and named."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hosted_fakes import Talk, resume
from hosted_fakes import toy as hosted
from places import DOUBLES

from runlock.conformance import adapters
from runlock.conformance.campaign.stages import Order
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.adapter import Segment
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.messages import Edit
from runlock.conformance.protocol import ProtocolError
from runlock.conformance.selftest.mutation_testing import MutantRun, portions
from runlock.conformance.transport.stdio import Pipe

KITS = Path(adapters.__file__).parent
NODE, CARGO = shutil.which("node"), shutil.which("cargo")
needs_node = pytest.mark.skipif(NODE is None, reason="there is no `node` on the PATH")
needs_cargo = pytest.mark.skipif(CARGO is None, reason="there is no `cargo` on the PATH")
EXAMPLES = 160


def node(folder, name):
    """Makes pipes to an adapter of the JavaScript kit."""
    return lambda: Pipe([NODE, str(folder / name)], timeout_scale=6)


def built(folder):
    """Makes pipes to the Rust adapter in a folder, built with nothing but the standard library."""
    target = folder / "target"
    words = [CARGO, "build", "--offline", "--quiet", "--manifest-path", str(folder / "Cargo.toml")]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target), "RUSTFLAGS": "-Dwarnings"}
    ran = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return lambda: Pipe([str(target / "debug" / "adapter")], timeout_scale=6)


def with_a_slip(kit, folder, name, line, slip):
    """A copy of a kit with one line changed."""
    shutil.copytree(KITS / kit, folder)
    text = (folder / name).read_text()
    assert text.count(line) == 1
    (folder / name).write_text(text.replace(line, slip))
    return folder


def found(open_sut):
    """What a short campaign says is broken, what could not be judged, and how much was exercised."""
    bench, tally = Bench(open_sut), Tally()
    try:
        for stage, unit in portions(FAMILY, Order("", EXAMPLES)):
            tally.add(stage.play(bench, unit))
    finally:
        bench.close()
    return list(tally.found), tally.troubles, [clause for clause, count in tally.exercised.items() if count]


def blamed(open_sut, clause):
    """Why a clause is broken, as soon as it is."""
    hunt = MutantRun(open_sut, clause)
    try:
        hunt.run(portions(FAMILY, Order("", EXAMPLES)))
    finally:
        hunt.close()
    return hunt.found.violation.reason if hunt.found else f"it is not; {list(hunt.blamed)} is"


@pytest.mark.kits
@needs_node
@pytest.mark.parametrize("name", ["example.mjs", "adapter.mjs"])
def test_the_javascript_examples_hold(name):
    """A runtime that knows nothing of the kit, and the tiny agent, keep the universal core."""
    broken, troubles, exercised = found(node(KITS / "node", name))

    assert (broken, troubles) == ([], [])
    assert len(exercised) > 20


@pytest.mark.kits
@needs_cargo
def test_the_rust_example_holds(tmp_path):
    """An agent without a library, in a language that awaits nothing, keeps the universal core."""
    shutil.copytree(KITS / "rust", tmp_path / "rust")
    broken, troubles, exercised = found(built(tmp_path / "rust"))

    assert (broken, troubles) == ([], [])
    assert len(exercised) > 20


@pytest.mark.kits
@needs_node
@pytest.mark.parametrize(
    ("line", "slip", "clause", "says"),
    [
        (
            "if (approvals.get(work.call.id)?.approved) return",
            "if (approvals.has(work.call.id)) return",
            "GATE-2",
            "was cancelled by decision",
        ),
        (
            'if (work.status === "over") return;\n    work.status = "over"',
            'work.status = "over"',
            "PAIR-3",
            "the model was shown two results for call",
        ),
    ],
    ids=["executes what was rejected", "says a result twice"],
)  # fmt: skip
def test_a_slip_in_the_javascript_example_is_blamed_on_its_clause(tmp_path, line, slip, clause, says):
    """One line changed in the runtime, none in its adapter, and the kit says which clause breaks, and why."""
    folder = with_a_slip("node", tmp_path / "node", "runtime.mjs", line, slip)

    assert says in blamed(node(folder, "example.mjs"), clause)


@pytest.mark.kits
@needs_cargo
def test_a_slip_in_the_rust_example_is_blamed_on_its_clause(tmp_path):
    """A call that answered pending and is not parked leaves the model without a result for it."""
    line, slip = '"pending" => self.set(id, Status::Waits)', '"pending" => self.set(id, Status::Over)'
    folder = with_a_slip("rust", tmp_path / "rust", "src/agent.rs", line, slip)

    assert re.search(r"was shown call c\d+ without a result", blamed(built(folder), "PAIR-1"))


# --- the JavaScript face, verb by verb ------------------------------------------------------------

TOYS = DOUBLES / "node_fakes.mjs"


@pytest.fixture
def toy():
    """A scenario on the toys after the JavaScript face; gives what sends a verb."""
    pipe = Pipe([NODE, str(TOYS), str(KITS / "node" / "runlock.mjs")], timeout_scale=6)
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


@needs_node
def test_what_needs_no_world_is_over_before_the_answer(toy):
    """Files and immediates are waited for, without a clock."""
    assert said(start(toy, "reads")) == "read true"
    assert said(toy("run.start", {"run": "r2", "input": "hurries"})) == "soon"


@needs_node
def test_what_was_stored_before_a_kill_is_older(toy):
    """The time of day does not go back, in the next scenario or process; some runtimes sort by it."""
    toy("clock.advance", {"ms": 2000})
    toy("scenario.close", {})
    toy("scenario.open", {"scenario": "s"})
    before = said(start(toy, "dates"))
    again = Pipe([NODE, str(TOYS), str(KITS / "node" / "runlock.mjs")], timeout_scale=6)
    again.request("scenario.open", {"scenario": "s"})

    assert before.endswith("T00:00:02.000Z")
    assert before < said(start(again.request, "dates"))
    again.close()


@needs_node
def test_time_passes_when_the_kit_says_so(toy):
    """Timers, dates and `performance` stand on the kit's clock, and fire in order."""
    assert said(start(toy, "sleeps")) is None
    assert said(toy("clock.advance", {"ms": 999})) is None
    assert said(toy("clock.advance", {"ms": 1})) == "it is 1000 ms later, by all clocks true"
    assert said(toy("run.start", {"run": "r2", "input": "ticks"})) is None
    assert said(toy("clock.advance", {"ms": 30})) == "ticked"


@needs_node
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


@needs_node
def test_what_the_runtime_prints_is_no_answer(toy):
    """Standard output is the protocol's."""
    assert said(start(toy, "prints")) == "printed"


@needs_node
def test_an_exception_ends_the_segment_in_error(toy):
    """What a runtime throws is its word on how its run ended, and a slip is shown with its place."""
    answer = start(toy, "throws")
    (slip,) = [one for one in answer["observations"] if one["kind"] == "adapter.error"]

    assert said(answer) == "TypeError: no such thing"
    assert re.fullmatch(r"TypeError: no such thing \(.*node_fakes\.mjs:\d+:\d+\)", slip["error"])


@needs_node
def test_an_aborted_signal_gives_the_gate_up(toy):
    """An abort signal reaches a caller that waits at a gate, and the kit sees the gate closed."""
    (opened,) = start(toy, "asks")["observations"]
    closed, ended = toy("cancel", {"run": "r1"})["observations"]

    assert (opened["on"], opened["step"]) == ("model", 1)
    assert (closed["kind"], closed["gate"]) == ("gate.closed", opened["gate"])
    assert ended["reason"]["detail"] == "Error: the signal was aborted"


@needs_node
def test_a_race_is_handed_over_before_the_runtime_runs(toy):
    """A release that comes with a cancel lands, since nothing of the cancel has run yet."""
    (opened,) = start(toy, "asks")["observations"]
    release = {"gate": opened["gate"], "outcome": {"kind": "turn", "text": "in time"}}
    race = [{"method": "cancel", "params": {"run": "r1"}}, {"method": "gate.release", "params": release}]

    assert said(toy("deliver", {"stimuli": race})) == "in time"


@needs_node
def test_a_suspension_is_counted_and_its_decision_shown(toy):
    """A replay bears the decision for its call; one for no one is refused in the runtime's words."""
    suspended, _ = start(toy, "suspends")["observations"]
    refused = toy("decide", {"run": "r1", "decisions": [{"id": "d0", "call": "c9", "action": "resume"}]})
    decided = toy("decide", {"run": "r1", "decisions": [{"id": "d1", "call": "c1", "action": "resume"}]})

    assert suspended["suspension"] == 1
    assert refused["refused"] == [{"stimulus": 0, "decision": "d0", "why": "nobody asked"}]
    (entered,) = decided["observations"]
    assert (entered["attempt"], entered["resume"]["decision"]) == (1, "d1")


@needs_node
def test_a_mistake_in_an_adapter_is_shown_and_not_only_refused(toy):
    """What nothing has touched is turned down, and the mistake is shown with its place."""
    start(toy, "suspends")
    answer = toy("decide", {"run": "r1", "decisions": []})
    (slip,) = answer["observations"]

    assert (slip["kind"], slip["verb"]) == ("adapter.error", "decide")
    assert re.match(r"TypeError: .* \(.*node_fakes\.mjs:\d+:\d+\)", slip["error"])
    assert len(answer["refused"]) == 1


@needs_node
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


@needs_node
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


@needs_node
def test_a_plugin_is_held_at_its_phase(toy):
    """A hook is a gate that names its phase and what may be looked at."""
    (held,) = start(toy, "hooks")["observations"]
    ended = toy("gate.release", {"gate": held["gate"], "outcome": {"kind": "continue"}})

    assert (held["on"], held["at"], held["data"]) == ("hook", "RunStart", {"state": {}})
    assert [one["kind"] for one in ended["observations"]] == ["run.finished"]


@needs_node
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


@needs_node
def test_what_the_store_takes_is_shown(toy):
    """A checkpoint that is held waits at its gate, and is durable once it is released."""
    (held,) = start(toy, "stores")["observations"]
    stored = toy("gate.release", {"gate": held["gate"], "outcome": {"kind": "ok"}})["observations"]

    assert (held["on"], held["trigger"]) == ("store.put", "UserMessage")
    assert [one["kind"] for one in stored] == ["checkpoint", "run.finished"]


@needs_node
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


@needs_node
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


@needs_node
def test_a_scenario_that_cannot_be_opened_is_not_open(toy):
    """What throws in `open` is a crash, after which another scenario may come."""
    toy("scenario.close", {})
    with pytest.raises(ProtocolError, match="crashed: Error: we are closed"):
        toy("scenario.open", {"scenario": "closed"})

    assert toy("scenario.open", {"scenario": "s"}) == {}
    assert toy("scenario.close", {}) == {"leaks": []}


@needs_node
def test_the_javascript_handshake_offers_what_there_is(toy):
    """Methods that are missing are not declared, and what the face gives is added."""
    pipe = Pipe([NODE, str(TOYS), str(KITS / "node" / "runlock.mjs")], timeout_scale=6)
    told = pipe.request(
        "initialize", {"protocol": {"min": 1, "max": 1}, "kit": {"name": "t", "version": "1"}}
    )
    pipe.close()

    assert told["stimuli"] == ["decide", "cancel", "cancel.waiting", "run.again", "clock.advance", "deliver"]
    assert told["control"]["crash"] == ["soft"]
    assert told["observes"] == ["call.status", "run.finished", "checkpoint"]
