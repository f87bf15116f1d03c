"""The adapters of real tool runners, offline: what each must show before anything of it is judged.

A runtime that is not installed is skipped: `runlock matrix --install` makes an environment for each.
"""

import contextlib
import importlib

import pytest
from driven_runner import Driven
from places import ROOT

from runlock.conformance.campaign.environments import ENVIRONMENTS, Packages
from runlock.conformance.campaign.order import Sampled
from runlock.conformance.campaign.runtimes import runtimes
from runlock.conformance.campaign.targets import resolve
from runlock.conformance.families.tool_runner.family import FAMILY
from runlock.conformance.families.tool_runner.host.hosted import HostedRunner
from runlock.conformance.protocol import Initialize, Party, ProtocolError
from runlock.conformance.selftest.mutation_testing import MutantRun, portions

pytestmark = pytest.mark.filterwarnings("default")  # what a runtime warns of is not ours to fail on

C1 = {"id": "c1", "name": "t0", "args": {"k": "c1"}}
C2 = {"id": "c2", "name": "t0", "args": {"k": "c2"}}
ALL = [one for one in runtimes() if one.family == FAMILY.name]
RUNNERS = [one for one in ALL if not isinstance(one.lives_in, Packages)]
IN_NODE = [one for one in ALL if isinstance(one.lives_in, Packages)]
MADE = ROOT / ENVIRONMENTS
"""Where `runlock matrix --install` makes environments."""


OPEN = []


class Conversation(Driven):
    """A conversation that is closed after its test."""

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        OPEN.append(self.sut)


@pytest.fixture(autouse=True)
def _closed():
    """Close every scenario: the generators of an SDK clean up before something else is collected."""
    yield
    while OPEN:
        sut = OPEN.pop()
        with contextlib.suppress(ProtocolError):  # it may be closed by now
            sut.request("scenario.close", {})
        sut.close()


def factory_of(runtime):
    """The factory of a runtime's adapter, if the runtime is installed."""
    module, _, name = runtime.adapter.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        pytest.skip(f"{runtime.name} is not installed here: there is no {error.name}")


@pytest.fixture(params=RUNNERS, ids=lambda one: one.name)
def make(request):
    """The factory of each tool runner that is installed."""
    return factory_of(request.param)


@pytest.fixture
def streaming(make):
    """The factory of each tool runner that yields streams which the user reads."""
    offered = make().handshake.runner
    if True not in offered.stream or "all" not in offered.read:
        pytest.skip("its user reads no streams")
    return make


def sent(one):
    """The messages of the newest request, in short."""
    requests = [seen for seen in one.seen if seen["kind"] == "gate.open" and seen["on"] == "model"]
    return [(seen["role"], seen.get("call") or seen["text"]) for seen in requests[-1]["messages"]]


def closed(one):
    """What is left when the scenario is closed."""
    return one.sut.request("scenario.close", {})


def test_a_final_turn_ends_the_run(make):
    """A request, a yield and the end; then nothing is left over."""
    one = Conversation(make)

    assert one.start() == ["model 1"]
    assert one.says(text="bye") == ["yield 1"]
    assert one.release("yield", kind="resume") == ["end NaturalEnd"]
    assert one.last("run.finished")["message"]["text"] == "bye"
    assert closed(one) == {"leaks": []}


def test_what_a_tool_answers_reaches_the_model(make):
    """The result stands after the turn, and the calls run one after the other."""
    one = Conversation(make)
    one.start()
    one.says(C1, C2)

    assert one.release("yield", kind="resume") == ["tool 1"]
    assert one.release("tool", kind="ok", content="fine") == ["tool 1"]
    assert one.release("tool", kind="error", content="no") == ["model 2"]
    assert sent(one) == [("user", "hello"), ("assistant", ""), ("tool", "c1"), ("tool", "c2")]
    results = one.last("gate.open")["messages"][2:]
    assert [(seen["text"], seen["status"]) for seen in results] == [("fine", "ok"), ("no", "error")]


def test_the_user_owns_the_history_after_a_push(make):
    """The runner adds neither the turn nor its results."""
    one = Conversation(make)
    one.start()
    one.says(C1)
    one.send("runner.push", messages=[{"role": "user", "text": "instead"}])
    one.release("yield", kind="resume")
    one.release("tool", kind="ok", content="fine")

    assert sent(one) == [("user", "hello"), ("user", "instead")]


def test_the_state_is_shown_without_a_change(make):
    """Looking at it neither sets nor counts as a set."""
    one = Conversation(make)
    one.start()
    one.says(C1)
    one.send("runner.set", params={"max_tokens": 7})
    shown = one.sut.request("inspect", {"run": "r1"})

    assert [seen["text"] for seen in shown["messages"]] == ["hello"]
    assert shown["params"]["max_tokens"] == 7


def test_a_fault_of_the_model_ends_the_run(make):
    """Whether or not it comes in a stream."""
    for stream in make().handshake.runner.stream:
        one = Conversation(make, stream=stream, read="none")
        one.start()

        assert one.release("model", kind="fault", message="down") == ["end Error"]
        assert "down" in one.last("run.finished")["reason"]["detail"]


def test_a_stream_reaches_its_reader(streaming):
    """Piece by piece, and then as a whole."""
    one = Conversation(streaming, stream=True)
    one.start()

    assert one.release("model", kind="delta", text="by") == ["yield 1", "delta by"]
    assert one.release("model", kind="delta", text="e") == ["delta e"]
    assert one.says(text="bye now") == ["end bye now"]
    assert one.release("yield", kind="resume") == ["end NaturalEnd"]


def test_leaving_a_stream_gives_the_request_up(make):
    """Also if no piece of it was read."""
    if True not in make().handshake.runner.stream:
        pytest.skip("it yields no streams")
    for read in make().handshake.runner.read:
        one = Conversation(make, stream=True, read=read)
        one.start()
        one.release("model", kind="delta", text="by")

        assert one.release("yield", kind="break") == ["gate.closed", "end BehaviorRequested"]
        assert closed(one) == {"leaks": []}


# -- those of npm, over the pipe


@pytest.fixture(params=IN_NODE, ids=lambda one: one.name)
def piped(request):
    """Opens a conversation with each tool runner of npm's that is installed."""
    runtime = request.param
    if not runtime.is_installed(MADE):
        pytest.skip(f"{runtime.name} is not installed here: there is no {runtime.place(MADE)}")

    return lambda **runner: Conversation(sut=resolve(runtime.target(MADE)).open(), **runner)


def offered(piped):
    """What the runner over the pipe declares in its handshake."""
    hello = Initialize(kit=Party(name="kit", version="1"))
    return piped().sut.request("initialize", hello.model_dump(mode="json", exclude_none=True))


def test_a_call_and_a_final_turn_over_the_pipe(piped):
    """The result reaches the model, and nothing is left over."""
    one = piped()
    one.start()
    one.says(C1)

    assert one.release("yield", kind="resume") == ["tool 1"]
    assert one.release("tool", kind="ok", content="fine") == ["model 2"]
    assert sent(one) == [("user", "hello"), ("assistant", ""), ("tool", "c1")]
    assert one.says(text="bye") == ["yield 2"]
    assert one.release("yield", kind="resume") == ["end NaturalEnd"]
    assert closed(one) == {"leaks": []}


def test_a_stream_over_the_pipe(piped):
    """The pieces reach the reader, and leaving gives the request up."""
    if True not in offered(piped)["runner"]["stream"]:
        pytest.skip("it yields no streams")
    one = piped(stream=True)
    one.start()

    assert one.release("model", kind="delta", text="by") == ["delta by"]
    assert set(one.release("yield", kind="break")) == {"gate.closed", "end BehaviorRequested"}


def test_a_history_that_does_not_pair_is_refused_over_the_pipe(piped):
    """The kit sees the request, and the SDK meets the error of the API."""
    if "runner.push" not in offered(piped)["stimuli"]:
        pytest.skip("its user cannot push")
    one = piped()
    one.start()
    one.says(text="bye")
    one.send("runner.push", messages=[ORPHAN])

    assert one.release("yield", kind="resume") == ["model 2", "gate.closed", "end Error"]
    assert "invalid_request_error" in one.last("run.finished")["reason"]["detail"]


# -- the endpoint for anthropic

ORPHAN = {"role": "tool", "call": "x1", "status": "ok", "text": "of no call"}
TURN = {"role": "assistant", "text": "", "tool_calls": [C1]}
DONE = {"role": "tool", "call": "c1", "status": "ok", "text": "done"}
NOTE = {"role": "user", "text": "note"}


@pytest.mark.parametrize(
    ("pushed", "why"),
    [
        ([ORPHAN], "unexpected `tool_use_id` found in `tool_result` blocks: x1"),
        ([TURN], "`tool_use` ids were found without `tool_result` blocks immediately after: c1"),
        ([TURN, NOTE, DONE], "`tool_result` blocks must come first"),
        ([TURN, DONE, DONE], "each tool_use must have a single result"),
        ([TURN, DONE, NOTE], ""),
        ([NOTE], ""),
    ],
)
def test_the_endpoint_refuses_a_history_that_does_not_pair(pushed, why):
    """The kit sees the request, whose gate is given up; the SDK meets the error of the API."""
    one = Conversation(factory_of(RUNNERS[0]))
    one.start()
    one.says(C1)
    one.send("runner.push", messages=pushed)
    one.release("yield", kind="resume")
    after = one.release("tool", kind="ok", content="fine")

    assert after == (["model 2", "gate.closed", "end Error"] if why else ["model 2"])
    if why:
        detail = one.last("run.finished")["reason"]["detail"]
        assert "invalid_request_error" in detail
        assert why in detail


def test_calls_of_a_paused_turn_need_no_result():
    """The turn goes back as it is."""
    one = Conversation(factory_of(RUNNERS[0]))
    one.start()
    one.release("model", kind="turn", tool_calls=[C1], stop_reason="pause_turn")

    assert one.release("yield", kind="resume") == ["model 2"]
    assert sent(one) == [("user", "hello"), ("assistant", "")]


# -- faults that are planted in the SDK

EXAMPLES = 60


def forgetful(sdk):
    """A runner that loses the last result of a turn."""

    class Forgetful(sdk.BetaAsyncToolRunner):
        async def _generate_tool_call_response(self):
            response = await super()._generate_tool_call_response()
            return None if response is None else {**response, "content": response["content"][:-1]}

    return Forgetful


def repeating(sdk):
    """A runner that runs each call twice."""

    class Repeating(sdk.BetaAsyncToolRunner):
        async def _run_tool(self, tool, tool_use):
            await super()._run_tool(tool, tool_use)
            return await super()._run_tool(tool, tool_use)

    return Repeating


def confused(sdk):
    """A runner that puts results under each other's calls."""

    class Confused(sdk.BetaAsyncToolRunner):
        async def _generate_tool_call_response(self):
            response = await super()._generate_tool_call_response()
            blocks = [] if response is None else response["content"]
            turned = zip(blocks, reversed(blocks), strict=True)
            moved = [{**one, "tool_use_id": other["tool_use_id"]} for one, other in turned]
            return None if response is None else {**response, "content": moved}

    return Confused


@pytest.mark.parametrize(
    ("fault", "clause", "says"),
    [
        (forgetful, "PAIR-1", "without its result"),
        (repeating, "ONCE-1", "was entered"),
        (confused, "ROUND-2", "is that of"),
    ],
    ids=lambda one: getattr(one, "__name__", None),
)
def test_a_fault_that_is_planted_in_the_sdk_is_blamed(fault, clause, says):
    """The class of the runner is another one, and nothing of the adapter is."""
    adapter = factory_of(RUNNERS[0])
    faulty = fault(importlib.import_module("anthropic.lib.tools"))

    class Planted(adapter):
        def run(self, input):
            items = super().run(input)
            self.runner.__class__ = faulty
            return items

    hunt = MutantRun(lambda: HostedRunner(Planted), clause)
    try:
        hunt.run(portions(FAMILY, Sampled(EXAMPLES)))
    finally:
        hunt.close()

    assert hunt.found is not None, hunt.blamed
    assert says in hunt.found.violation.reason
