"""pydantic-ai's adapters for user interfaces, offline: each request has a stream, the client the thread."""

import pytest
from hosted_fakes import OK, TURN, Talk, kinds, only, resume

pytest.importorskip("pydantic_ai")
pytest.importorskip("ag_ui")

from runlock.conformance.adapters.pydantic_ai_ui import OnAgUi, OnVercelAI

pytestmark = pytest.mark.filterwarnings("default")  # what a library warns of is not ours to fail on

TOOLS = [{"name": "t0"}, {"name": "t1", "permission": "ask"}]
BOTH = {"ag-ui": OnAgUi, "ai-sdk-v6": OnVercelAI}
ENDS = {"ag-ui": "RUN_FINISHED", "ai-sdk-v6": "finish"}
ASK = {
    "kind": "turn",
    "tool_calls": [{"id": call, "name": "t1", "args": {"k": call}} for call in ("c1", "c2")],
}
REJECT = {"id": "d9", "call": "c2", "action": "cancel"}


@pytest.fixture(params=BOTH)
def stream(request):
    return request.param


@pytest.fixture
def begin():
    """Begins conversations, which end with the test."""
    begun = []

    def talk(stream):
        begun.append(Talk(BOTH[stream], tools=TOOLS))
        return begun[-1]

    yield talk
    for one in begun:
        one("scenario.close")
        one.sut.close()


@pytest.fixture
def talk(begin, stream):
    return begin(stream)


def waits(talk, **more):
    """The report of a run that comes to wait for c1 and c2."""
    talk.start(**more)
    return talk.release("g1", ASK)["observations"]


def events(observations):
    return [seen for seen in observations if seen["kind"] == "event"]


def of_calls(observations):
    """The events of calls, each with its call."""
    data = [seen["data"] for seen in events(observations)]
    return [(one["type"], one["toolCallId"]) for one in data if "toolCallId" in one]


def results(gate):
    return {seen["call"]: seen["status"] for seen in gate["messages"] if seen["role"] == "tool"}


def test_a_watcher_comes_with_a_request_alone(talk, stream):
    """The handshake says so, and which stream there is; a crash is not promised."""
    answer = talk("initialize", kit={"name": "runlock", "version": "0"})

    assert [one for one in answer["stimuli"] if "watch" in one] == ["watch.request"]
    assert answer["streams"] == [stream]
    assert answer["control"]["crash"] == []


def test_a_request_has_a_stream_that_ends_with_its_segment(talk, stream):
    """The watcher receives every event, told by its type; the stream closes before the segment is over."""
    seen = waits(talk, watcher="w1", stream=stream)

    assert {event["watcher"] for event in events(seen)} == {"w1"}
    assert {(event["stream"], event["name"] == event["data"]["type"]) for event in events(seen)} == {
        (stream, True)
    }
    assert events(seen)[-1]["name"] == ENDS[stream]
    assert [one["kind"] for one in seen][-4:] == ["stream.closed", "call.shown", "call.shown", "run.finished"]
    assert seen[-1]["pending"] == ["c1", "c2"]


def test_without_a_watcher_nothing_is_reported(talk):
    """The library streams all the same: the client has the calls."""
    assert [one["kind"] for one in waits(talk)] == ["call.shown", "call.shown", "run.finished"]


def test_an_approved_call_runs_and_a_denied_one_does_not(talk):
    """Both decisions are sent at once, and both results follow the model's turn."""
    waits(talk)
    gate = only(talk.decide(resume("c1"), REJECT))
    asked = only(talk.release(gate["gate"], OK))

    assert [gate["call"], gate["resume"]["decision"]] == ["c1", "d1"]
    assert results(asked) == {"c1": "ok", "c2": "cancelled"}
    assert only(talk.release(asked["gate"], TURN))["reason"] == {"code": "NaturalEnd"}


def test_a_call_that_is_not_on_the_page_cannot_be_decided(talk):
    """The client refuses it; the others wait on."""
    waits(talk)

    assert talk.decide(resume("c9"))["refused"]
    assert only(talk.decide(resume("c1"), REJECT))["call"] == "c1"


def test_ag_ui_answers_all_interrupts_at_once(begin):
    """As its client does; a text does not go out either while one is open."""
    talk = begin("ag-ui")
    waits(talk)

    assert "c1, c2" in talk.decide(resume("c1"))["refused"][0]["why"]
    assert "c1, c2" in talk("run.input", run="r1", input="never mind")["refused"][0]["why"]


def test_a_page_of_the_ai_sdk_collects_its_answers(begin):
    """Nothing happens before the last one."""
    talk = begin("ai-sdk-v6")
    waits(talk)

    assert talk.decide(resume("c1")) == {"observations": [], "quiescent": True, "refused": []}
    assert only(talk.decide(REJECT))["call"] == "c1"


def test_ag_ui_takes_other_arguments(begin):
    """They go with the answer to the interrupt."""
    talk = begin("ag-ui")
    waits(talk)
    edited = {**resume("c1"), "edit": {"args": {"k": "c1", "v": 1}}}

    assert only(talk.decide(edited, REJECT))["args"] == {"k": "c1", "v": 1}


def test_ag_ui_streams_a_decided_call_no_second_time(begin):
    """The request that decides has nothing but the results."""
    talk = begin("ag-ui")
    waits(talk)
    denied = talk.decide(resume("c1"), REJECT, watcher="w2", stream="ag-ui")["observations"]
    done = talk.release("g2", OK)["observations"]

    assert sorted(of_calls([*denied, *done])) == [("TOOL_CALL_RESULT", "c1"), ("TOOL_CALL_RESULT", "c2")]


def test_the_ai_sdk_is_streamed_the_input_of_an_approved_call_again(begin):
    """What WIRE-60 finds."""
    talk = begin("ai-sdk-v6")
    waits(talk)
    decided = talk.decide(resume("c1"), REJECT, watcher="w2", stream="ai-sdk-v6")["observations"]

    assert ("tool-input-available", "c1") in of_calls(decided)
    assert ("tool-input-available", "c2") not in of_calls(decided)


def test_an_error_ends_the_run_and_not_the_thread(talk):
    """The stream tells of it, and the next run has what the client has."""
    talk.start()
    ended = only(talk.release("g1", {"kind": "fault", "message": "down"}))

    assert ended["reason"] == {"code": "Error", "detail": "down"}
    assert [seen["text"] for seen in only(talk.start("r2"))["messages"]] == ["hello", "hello"]


def test_a_cancel_ends_the_stream(talk, stream):
    """The library's own token cancels the run; the tool at work is given up."""
    talk.start(watcher="w1", stream=stream)
    talk.release("g1", {"kind": "turn", "tool_calls": [{"id": "c1", "name": "t0", "args": {"k": "c1"}}]})
    report = talk("cancel", run="r1")

    assert kinds(report)[-2:] == ["stream.closed", "run.finished"]
    assert report["observations"][-1]["reason"] == {"code": "Cancelled"}
