"""The adapters of real runtimes, offline: what each of them must show before anything of it is judged.

A runtime that is not installed is skipped: `runlock matrix --install` makes an environment for each.
"""

import contextlib
import importlib

import pytest
from hosted_fakes import OK, TURN, Talk, resume
from places import ROOT

from runlock.conformance.campaign.entries import ThirdParty
from runlock.conformance.campaign.environments import ENVIRONMENTS, Packages
from runlock.conformance.campaign.runtimes import runtimes
from runlock.conformance.campaign.targets import resolve
from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import DEFAULT
from runlock.conformance.protocol import ProtocolError

pytestmark = pytest.mark.filterwarnings("default")  # what a runtime warns of is not ours to fail on

TOOLS = [{"name": "t0"}, {"name": "t1", "permission": "ask"}, {"name": "t2", "permission": "gate"}]
MADE = ROOT / ENVIRONMENTS
"""Where `runlock matrix --install` makes environments: a runtime of npm's is here if it is there."""


class TalkOverThePipe(Talk):
    """The same conversation with a runtime that is a process of its own."""

    def __init__(self, target, **scenario):
        self.sut = resolve(target).open()
        self.sut.request("scenario.open", {"scenario": "s", **scenario})


def conversation(runtime, **scenario):
    """A conversation with a runtime, if it is installed."""
    if isinstance(runtime.lives_in, Packages):
        if not runtime.is_installed(MADE):
            pytest.skip(f"{runtime.name} is not installed here: there is no {runtime.place(MADE)}")
        return TalkOverThePipe(runtime.target(MADE), **scenario)
    module, _, name = runtime.adapter.partition(":")
    try:
        factory = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        pytest.skip(f"{runtime.name} is not installed here: there is no {error.name}")
    return Talk(factory, **scenario)


ADAPTED = [one for one in runtimes() if not isinstance(one, ThirdParty)]
"""Those for which the kit has an adapter."""


@pytest.fixture(params=[one for one in ADAPTED if one.family == DEFAULT], ids=lambda one: one.name)
def talk(request, tmp_path):
    """A conversation with each runtime that is installed."""
    talk = conversation(request.param, tools=TOOLS, data=str(tmp_path))
    yield talk
    with contextlib.suppress(ProtocolError):  # it may be closed by now
        talk("scenario.close")
    talk.sut.close()


def only(report):
    """The one observation of a report, apart from what approvers are shown and what is stored."""
    (seen,) = [one for one in report["observations"] if one["kind"] not in ("call.shown", "checkpoint")]
    return seen


def declared(talk):
    """What a runtime says of itself."""
    return talk("initialize", protocol={"min": 1, "max": 1}, kit={"name": "runlock", "version": "0"})


def asked_about(talk, verdict):
    """The permission gate of a call of the tool that has one, where a hook of the runtime can say this."""
    offered = declared(talk)
    if "gate" not in offered["tools"] or verdict not in offered["outcomes"]["permission"]:
        pytest.skip(f"no hook of it can {verdict} a single call")
    talk.start()
    return only(talk.release("g1", turn(("c1", "t2"))))


def turn(*calls):
    asked = [{"id": call, "name": name, "args": {"k": call}} for call, name in calls]
    return {"kind": "turn", "tool_calls": asked}


def results(gate):
    return {seen["call"]: seen["text"] for seen in gate["messages"] if seen["role"] == "tool"}


def test_a_run_without_tools_ends_naturally(talk):
    """One inference, one answer; then nothing is left over."""
    assert [seen["text"] for seen in only(talk.start())["messages"]] == ["hello"]
    assert only(talk.release("g1", TURN))["reason"] == {"code": "NaturalEnd"}
    assert talk("scenario.close") == {"leaks": []}


def test_what_a_tool_answers_reaches_the_model(talk):
    """The tool's gate shows its call, and the next inference its answer."""
    talk.start()
    gate = only(talk.release("g1", turn(("c1", "t0"))))
    asked = only(talk.release("g2", OK))

    assert [gate["call"], gate["name"], gate["args"]["k"]] == ["c1", "t0", "c1"]
    assert "fine" in results(asked)["c1"]


def test_a_call_that_asks_runs_when_it_is_approved(talk):
    """The segment ends with the call pending; the decision enters its body, and the run goes on."""
    talk.start()
    assert only(talk.release("g1", turn(("c1", "t1"))))["pending"] == ["c1"]
    gate = only(talk.decide(resume("c1")))
    asked = only(talk.release("g2", OK))

    assert [gate["on"], gate["call"], gate["resume"]["decision"]] == ["tool", "c1", "d1"]
    assert "fine" in results(asked)["c1"]
    assert only(talk.release("g3", TURN))["reason"] == {"code": "NaturalEnd"}


def test_a_call_that_was_rejected_never_runs(talk):
    """The model is asked next, and learns something about the call."""
    talk.start()
    talk.release("g1", turn(("c1", "t1")))
    asked = only(talk.decide({"id": "d1", "call": "c1", "action": "cancel"}))

    assert asked["on"] == "model"
    assert "c1" in results(asked)


def test_those_who_decide_are_shown_the_call(talk):
    """Its tool and its arguments, in the segment that leaves it waiting."""
    if "call.shown" not in declared(talk)["observes"]:
        pytest.skip("it shows no call to those who decide")
    talk.start()
    seen = talk.release("g1", turn(("c1", "t1")))["observations"]
    shown = [one for one in seen if one["kind"] == "call.shown"]

    assert [(one["call"], one["name"], one["args"]["k"]) for one in shown] == [("c1", "t1", "c1")]


def test_a_tool_that_answers_pending_waits_and_is_entered_again(talk):
    """Its call waits then; a runtime may have the model go on first."""
    if "pending" not in declared(talk)["outcomes"]["tool"]:
        pytest.skip("its tools have no answer for later")
    talk.start()
    talk.release("g1", turn(("c1", "t0")))
    seen = only(talk.release("g2", {"kind": "pending"}))
    left = seen if seen["kind"] == "run.finished" else only(talk.release(seen["gate"], TURN))
    again = only(talk.decide(resume("c1")))

    assert left["pending"] == ["c1"]
    assert [again["on"], again["call"], again["attempt"]] == ["tool", "c1", 2]


def test_a_call_that_a_hook_allows_runs(talk):
    """The hook is asked about the call with its arguments, and then the body is entered."""
    gate = asked_about(talk, "allow")

    assert [gate["on"], gate["call"], gate["name"], gate["args"]["k"]] == ["permission", "c1", "t2", "c1"]
    assert only(talk.release(gate["gate"], {"kind": "allow"}))["on"] == "tool"


def test_a_call_that_a_hook_suspends_waits_for_its_approval(talk, request):
    """A runtime may ask the hook once more when the approval comes; one then denies what it lets through."""
    denies = request.node.callspec.params["talk"].environment == "vercel-ai-6"
    gate = asked_about(talk, "suspend")
    assert only(talk.release(gate["gate"], {"kind": "suspend"}))["pending"] == ["c1"]
    seen = only(talk.decide(resume("c1")))
    if seen["on"] == "permission":
        seen = only(talk.release(seen["gate"], {"kind": "allow"}))

    assert [seen["on"], seen.get("call")] == (["model", None] if denies else ["tool", "c1"])


@pytest.mark.parametrize("verdict", ["block", "set_result"])
def test_a_call_that_a_hook_answers_does_not_run(talk, verdict):
    """The model is asked next, and is shown a result of the call."""
    gate = asked_about(talk, verdict)
    asked = only(talk.release(gate["gate"], {"kind": verdict, "content": "fine"}))

    assert asked["on"] == "model"
    assert "c1" in results(asked)


def test_the_next_run_sees_the_one_before(talk):
    """The thread goes on."""
    talk.start()
    talk.release("g1", TURN)
    said = [seen["text"] for seen in only(talk.start("r2"))["messages"]]

    assert said == ["hello", "bye", "hello"]


def test_a_run_that_waits_outlives_a_crash(talk):
    """Where a runtime can be lost, the approval is taken by the life after."""
    if "soft" not in declared(talk)["control"]["crash"]:
        pytest.skip("nothing of it is promised to outlive a crash")
    talk.start()
    talk.release("g1", turn(("c1", "t1")))
    talk("crash")

    assert only(talk("recover", run="r1"))["pending"] == ["c1"]
    assert only(talk.decide(resume("c1")))["call"] == "c1"


def test_a_missing_runtime_is_named():
    """An adapter without its runtime says which module is not there."""
    from runlock.conformance.errors import AdapterError

    in_python = (one for one in ADAPTED if not isinstance(one.lives_in, Packages))
    missing = next((one for one in in_python if not _is_here(one)), None)
    if missing is None:
        pytest.skip("every runtime is installed here")
    with pytest.raises((AdapterError, UsageError), match=r"No module named|There is no module"):
        resolve(f"py:{missing.adapter}").open()


def _is_here(runtime):
    try:
        importlib.import_module(runtime.adapter.partition(":")[0])
    except ModuleNotFoundError:
        return False
    return True
