"""Hosted runners: the kit iterates, acts as the user, counts, and derives the end reason."""

import pytest
from driven_runner import Driven
from plain_runner import PlainRunner

from runlock.conformance.families.tool_runner.host.hosted import HostedRunner
from runlock.conformance.families.tool_runner.reference import ReferenceAdapter, reference
from runlock.conformance.protocol import ILLEGAL_STIMULUS, NO_SUCH_GATE, UNSUPPORTED, ProtocolError
from runlock.machines.tool_runner.runtime.runner import Runner

C1 = {"id": "c1", "name": "t0", "args": {"k": "c1"}}


def test_the_kit_iterates_and_counts():
    """Requests and yields are counted, and the end names the last turn."""
    one = Driven()

    assert one.start() == ["model 1"]
    assert one.says(C1) == ["yield 1"]
    assert one.release("yield", kind="resume") == ["tool 1"]
    assert one.last("gate.open") | {"gate": ""} == {
        "kind": "gate.open", "run": "r1", "gate": "", "on": "tool", "step": 1, "call": "c1", "name": "t0",
        "args": {"k": "c1"}, "attempt": 1, "version": 1,
    }  # fmt: skip
    assert one.release("tool", kind="ok", content="done") == ["model 2"]
    assert [message["role"] for message in one.last("gate.open")["messages"]] == ["user", "assistant", "tool"]
    assert one.says(text="bye") == ["yield 2"]
    assert one.last("gate.open")["iteration"] == 2
    assert one.release("yield", kind="resume") == ["end NaturalEnd"]
    assert one.last("run.finished")["message"]["text"] == "bye"
    assert one.sut.request("scenario.close", {}) == {"leaks": []}


def test_a_break_closes_the_iterator():
    """Its clean-up runs, and the end reason is that of a user break."""
    one = Driven()
    one.start()
    one.says(C1)

    assert one.release("yield", kind="break") == ["end BehaviorRequested"]
    assert one.made[-1].closed == 1


class Slipping(Runner):
    """A runner whose clean-up is wrong."""

    async def leave(self):
        await super().leave()
        raise AttributeError("no such request")


def test_an_exception_at_the_close_of_the_iterator_is_shown():
    """It would reach the user who leaves the loop."""
    one = Driven(lambda: ReferenceAdapter(make=Slipping))
    one.start()
    one.says(C1)
    one.release("yield", kind="break")

    assert "no such request" in one.last("adapter.error")["error"]
    assert one.last("run.finished")["reason"]["code"] == "BehaviorRequested"


def test_acts_are_performed_in_order_before_the_release_of_the_same_race():
    """A push and the resume arrive together; a push after the resume is refused."""
    one = Driven()
    one.start()
    one.says(C1)
    push = {"method": "runner.push", "params": {"messages": [{"role": "user", "text": "note"}]}}
    resume = {"method": "gate.release", "params": {"gate": one.gates["yield"], "outcome": {"kind": "resume"}}}

    assert one.send("deliver", stimuli=[push, resume, push]) == ["model 2"]
    assert [message["text"] for message in one.last("gate.open")["messages"]] == ["hello", "note"]
    assert one.refused == [{"stimulus": 2, "why": "no yield is open"}]


@pytest.mark.parametrize("push_at", [0, 1])
def test_an_act_that_races_with_a_fault_of_the_stream_is_performed(push_at):
    """The yield is still open when the push arrives, so it is neither lost nor refused."""
    one = Driven(reference(), stream=True, read="all")
    one.start()
    fault = {"kind": "fault", "message": "broken"}
    race = [{"method": "gate.release", "params": {"gate": one.gates["model"], "outcome": fault}}]
    race.insert(
        push_at, {"method": "runner.push", "params": {"messages": [{"role": "user", "text": "note"}]}}
    )

    assert one.send("deliver", stimuli=race) == ["gate.closed", "run.status", "end Error"]
    one.send("runner.again", run="r2")
    request = next(seen for seen in reversed(one.seen) if seen.get("on") == "model")
    assert [message["text"] for message in request["messages"]] == ["hello", "note"]
    assert one.refused == []
    assert one.sut.request("scenario.close", {}) == {"leaks": []}


def test_an_act_without_a_yield_is_refused():
    """It has changed nothing."""
    one = Driven()
    one.start()

    assert one.send("runner.push", messages=[{"role": "user", "text": "early"}]) == []
    assert [refusal["why"] for refusal in one.refused] == ["no yield is open"]


def test_an_act_that_fails_is_refused():
    """The refusal contains the message of its exception."""
    one = Driven()
    one.start()
    one.says(C1)
    one.send("runner.tools", remove=["t0"])

    assert [refusal["why"] for refusal in one.refused] == ["its tools are fixed"]


def test_a_response_is_made_while_the_yield_stays_open():
    """It is cached only if no tool ran for it."""
    one = Driven()
    one.start()
    one.says(C1)

    assert one.send("runner.respond") == ["tool 1"]
    assert one.release("tool", kind="raise", message="no") == ["runner.response"]
    shown = one.last("runner.response")
    assert (shown["cached"], shown["messages"][0]["status"]) == (False, "error")
    assert one.send("runner.respond") == ["tool 1"]
    assert one.last("gate.open")["attempt"] == 2


def test_a_refused_walk_is_no_run():
    """A runner that refuses to continue starts no run."""
    one = Driven()
    one.start()
    one.says(C1)
    one.release("yield", kind="break")

    assert one.send("runner.again", run="r2") == []
    assert one.refused == [{"stimulus": 0, "why": "a generator that was closed is over"}]
    assert one.sut.request("inspect", {"run": "r1"})["status"] == "Done"


@pytest.mark.parametrize("at", ["model", "tool"])
def test_a_fault_ends_the_run_in_error(at):
    """The exception passes through the runner."""
    one = Driven()
    one.start()
    if at == "tool":
        one.says(C1)
        one.release("yield", kind="resume")

    assert one.release(at, kind="fault", message="broken") == ["end Error"]
    assert "broken" in one.last("run.finished")["reason"]["detail"]


def test_a_stream_is_read_piece_by_piece():
    """Each piece is an event, and so is the end while the user has the turn."""
    one = Driven(stream=True, read="all")

    assert sorted(one.start()) == ["model 1", "yield 1"]
    assert one.release("model", kind="delta", text="by") == ["delta by"]
    assert one.says(text="bye") == ["end bye"]
    assert one.release("yield", kind="resume") == ["end NaturalEnd"]


def test_a_resume_before_the_turn_is_whole_waits_for_it():
    """Nothing happens until the turn is whole."""
    one = Driven(stream=True, read="none")
    one.start()

    assert one.release("yield", kind="resume") == []
    assert one.release("model", kind="delta", text="by") == []
    assert one.says(text="bye") == ["end NaturalEnd"]


def test_a_break_before_the_turn_is_whole_gives_the_request_up():
    """The model gate is closed, and the run ends."""
    one = Driven(stream=True, read="all")
    one.start()
    one.release("model", kind="delta", text="by")

    assert sorted(one.release("yield", kind="break")) == ["end BehaviorRequested", "gate.closed"]


def test_a_user_whose_read_fails_takes_the_next_item():
    """The runner says what becomes of the fault: here it ends the run, there it goes on."""

    class GoesOn(PlainRunner):
        """A runner that yields another stream after one that broke."""

        async def run(self, input):
            for _ in range(2):
                yield None, self.pieces(self.host.stream([], sent=0, params={}), [])

    plain, lenient = Driven(stream=True, read="all"), Driven(GoesOn, stream=True, read="all")
    for one in (plain, lenient):
        one.start()

    assert plain.release("model", kind="fault", message="broken") == ["gate.closed", "end Error"]
    assert lenient.release("model", kind="fault", message="broken") == ["gate.closed", "model 2", "yield 2"]
    assert lenient.sut.request("scenario.close", {}) == {"leaks": []}


def test_turns_bound_what_the_runner_does():
    """With zero turns of the loop, the stimulus is delivered and nothing else happens."""
    one = Driven()

    assert one.send("run.start", run="r1", input="hello", turns=0) == []
    assert one.send("settle") == ["model 1"]


def test_what_the_kit_may_not_do_is_an_error():
    """Each error has the code that the protocol defines."""
    one = Driven()
    one.start()
    for code, method, params in [
        (NO_SUCH_GATE, "gate.release", {"gate": "g9", "outcome": {"kind": "resume"}}),
        (ILLEGAL_STIMULUS, "run.start", {"run": "r2", "input": "twice"}),
        (ILLEGAL_STIMULUS, "runner.again", {"run": "r2"}),
    ]:
        with pytest.raises(ProtocolError) as caught:
            one.sut.request(method, params)
        assert caught.value.code == code


class Bare(PlainRunner):
    """An adapter without optional methods."""

    push = set = respond = tools = cancel = again = snapshot = None


def test_what_an_adapter_lacks_is_not_declared():
    """A missing method is answered as unsupported."""
    kit = {
        "protocol": {"min": 1, "max": 1},
        "kit": {"name": "runlock", "version": "0"},
        "spec": {"revision": "1.0"},
    }
    one = Driven(Bare)
    one.start()

    assert HostedRunner(Bare).request("initialize", kit)["stimuli"] == ["deliver"]
    assert HostedRunner(PlainRunner).request("initialize", kit)["control"]["settle"] == "exact"
    for method, params in [("cancel", {"run": "r1"}), ("inspect", {"run": "r1"}), ("runner.respond", {})]:
        with pytest.raises(ProtocolError) as caught:
            one.sut.request(method, params)
        assert caught.value.code == UNSUPPORTED


def test_what_is_left_behind_is_a_leak():
    """A task that the adapter started and did not end is reported as a leak."""

    class Leaking(PlainRunner):
        """An adapter that leaks a task."""

        async def run(self, input):
            import asyncio

            self.task = asyncio.ensure_future(asyncio.Event().wait())
            async for item in super().run(input):
                yield item

    one = Driven(Leaking)
    one.start()
    one.says(text="bye")
    one.release("yield", kind="resume")

    assert one.sut.request("scenario.close", {}) == {"leaks": [{"task": "Event.wait"}]}


def test_a_gate_is_released_once_in_a_race():
    """Two releases of one gate in a deliver are an error of the kit, and neither is delivered."""
    one = Driven()
    one.start()
    gate = one.gates["model"]
    release = {"method": "gate.release", "params": {"gate": gate, "outcome": {"kind": "turn"}}}

    with pytest.raises(ProtocolError) as caught:
        one.send("deliver", stimuli=[release, release])

    assert caught.value.code == ILLEGAL_STIMULUS
    assert one.says() == ["yield 1"]
