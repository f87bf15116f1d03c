"""The host of a hosted message loop: gates, counts, cancels, watchers, late answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import pytest

from runlock.conformance.families.message_loop.adapter import (
    Checkpoint,
    LoopHost,
    Prompt,
    Refused,
    Request,
    Segment,
    TurnStart,
    Watcher,
)
from runlock.conformance.families.message_loop.host.hosted import Hosted
from runlock.conformance.families.message_loop.messages import Handshake, Scenario, Turn
from runlock.conformance.protocol import ILLEGAL_STIMULUS, NO_SUCH_GATE, Party, ProtocolError


class Loop:
    """A message loop of a few lines: it streams, asks one person about each call, and runs it."""

    handshake = Handshake(
        implementation=Party(name="little", version="1"), gates=["model", "tool", "prompt", "store.put"]
    )

    async def open(self, host: LoopHost, scenario: Scenario) -> None:
        self.host, self.scenario = host, scenario
        self.watcher: Watcher | None = None
        self.late_answers: list[tuple[str, str, str]] = []

    async def start(self, turn: TurnStart) -> Segment:
        history: list[Mapping[str, Any]] = [{"role": "user", "text": turn.input, "tool_calls": []}]
        self.host.message(history[0])
        await self.host.commit(Checkpoint("UserMessage", "input", {"messages": history, "slots": {}}))
        while (said := await self._respond(history)).tool_calls:
            history.append({"role": "assistant", "text": said.text, "tool_calls": said.tool_calls})
            for call in said.tool_calls:
                history.append(await self._settle(call.id, call.name, call.args))
        return Segment("NaturalEnd")

    async def _respond(self, history: list[Mapping[str, Any]]) -> Turn:
        async for part in self.host.stream(Request(history, tools=["t0"])):
            self._publish("ProviderTokensStreamed", text=part.text)
            if isinstance(part, Turn):
                return part
        raise AssertionError("the last part is the whole response")

    async def _settle(self, call: str, name: str, args: Any) -> Mapping[str, Any]:
        answer = await self.host.ask("i1", Prompt("p1", "mode", call, name, args))
        if answer.kind != "allow":
            return {"role": "tool", "call": call, "text": "denied", "status": "error"}
        outcome = await self.host.tool(call, name, args)
        return {"role": "tool", "call": call, "text": outcome.content, "status": "ok"}

    def _publish(self, name: str, **data: Any) -> None:
        self.host.event(name, **data)
        if self.watcher is not None:
            with suppress(RuntimeError):
                self.watcher(name, data)

    async def late(self, on: str, key: str, outcome: Any) -> None:
        self.late_answers.append((on, key, outcome.kind))
        raise Refused("it is too late")

    def watch(self, watcher: Watcher | None) -> None:
        self.watcher = watcher


@pytest.fixture
def sut() -> Iterator[Hosted]:
    hosted = Hosted(Loop)
    scenario = {"scenario": "s", "tools": [{"name": "t0"}], "mode": "ask", "interactors": ["i1"]}
    hosted.request("scenario.open", scenario)
    yield hosted
    hosted.close()


def kinds(report: dict[str, Any]) -> list[str]:
    """The kinds of the reported observations; gates by their `on`."""
    return [
        one.get("on", one["kind"]) if one["kind"] == "gate.open" else one["kind"]
        for one in report["observations"]
    ]


def started(sut: Hosted) -> dict[str, Any]:
    """A turn has begun."""
    return sut.request("run.start", {"run": "r1", "input": "hello"})


CALL = {"id": "c1", "name": "t0", "args": {"k": "c1"}}


def released(sut: Hosted, gate: str, **outcome: Any) -> dict[str, Any]:
    """A gate is released."""
    return sut.request("gate.release", {"gate": gate, "outcome": outcome})


def test_a_handshake_gets_what_the_loop_gives() -> None:
    shown = Hosted(Loop).request("initialize", {"kit": {"name": "k", "version": "1"}})
    assert shown["control"] == {
        "settle": "exact", "clock": "virtual", "step": "turns", "crash": [], "store": "kit",
    }  # fmt: skip
    assert "interactor.gone" not in shown["stimuli"]  # the adapter has no `gone`
    assert "late" in shown["stimuli"]


def test_a_turn_goes_from_gate_to_gate(sut: Hosted) -> None:
    assert kinds(started(sut)) == ["message", "checkpoint", "model"]
    asked = released(sut, "g1", kind="turn", tool_calls=[CALL])
    assert kinds(asked) == ["event", "prompt"]
    assert asked["observations"][-1]["args"] == {"k": "c1"}
    entered = released(sut, "g2", kind="allow")
    assert kinds(entered) == ["tool"]
    assert entered["observations"][0]["attempt"] == 1
    again = released(sut, "g3", kind="ok", content="one")
    assert again["observations"][0]["step"] == 2
    assert again["observations"][0]["messages"][-1]["text"] == "one"
    assert kinds(released(sut, "g4", kind="turn", text="done")) == ["event", "run.finished"]


def test_a_delta_leaves_the_model_gate_open(sut: Hosted) -> None:
    started(sut)
    assert kinds(released(sut, "g1", kind="delta", text="Hel")) == ["event"]
    assert kinds(released(sut, "g1", kind="turn", text="Hello")) == ["event", "run.finished"]


def test_a_cancel_without_a_verb_cancels_the_task(sut: Hosted) -> None:
    started(sut)
    report = sut.request("cancel", {"run": "r1"})
    assert kinds(report) == ["gate.closed", "run.finished"]
    assert report["observations"][-1]["reason"]["code"] == "Cancelled"


def test_a_cancel_of_a_turn_that_is_over_is_refused(sut: Hosted) -> None:
    started(sut)
    released(sut, "g1", kind="turn", text="done")
    assert sut.request("cancel", {"run": "r1"})["refused"] == [{"stimulus": 0, "why": "turn r1 is over"}]


def test_a_late_answer_is_addressed_by_its_prompt(sut: Hosted) -> None:
    started(sut)
    released(sut, "g1", kind="turn", tool_calls=[CALL])
    sut.request("cancel", {"run": "r1"})
    report = sut.request("late", {"gate": "g2", "outcome": {"kind": "allow"}})
    assert report["refused"] == [{"stimulus": 0, "why": "it is too late"}]
    assert report["observations"] == []


def test_a_gate_that_was_not_given_up_gets_no_late_answer(sut: Hosted) -> None:
    started(sut)
    with pytest.raises(ProtocolError) as caught:
        sut.request("late", {"gate": "g1", "outcome": {"kind": "allow"}})
    assert caught.value.code == NO_SUCH_GATE


def test_one_turn_at_a_time(sut: Hosted) -> None:
    started(sut)
    with pytest.raises(ProtocolError) as caught:
        sut.request("run.start", {"run": "r2", "input": "hello again"})
    assert caught.value.code == ILLEGAL_STIMULUS


def test_watchers_get_copies_and_may_fail(sut: Hosted) -> None:
    sut.request("watch", {"watcher": "w1", "fails": False})
    sut.request("watch", {"watcher": "w2", "fails": True})
    started(sut)
    report = released(sut, "g1", kind="delta", text="Hel")
    assert [one["watcher"] for one in report["observations"]] == [None, "w1", "w2"]
    sut.request("unwatch", {"watcher": "w2"})
    report = released(sut, "g1", kind="delta", text="lo")
    assert [one["watcher"] for one in report["observations"]] == [None, "w1"]


def test_turns_stop_the_runtime_at_work(sut: Hosted) -> None:
    report = sut.request("run.start", {"run": "r1", "input": "hello", "turns": 0})
    assert (report["observations"], report["quiescent"]) == ([], False)
    assert kinds(sut.request("settle", {})) == ["message", "checkpoint", "model"]


def test_a_fault_of_the_model_ends_the_turn_in_error(sut: Hosted) -> None:
    started(sut)
    report = released(sut, "g1", kind="fault", message="no network")
    assert report["observations"][-1]["reason"] == {"code": "Error", "detail": "ModelFault: no network"}


def test_a_held_commit_is_durable_once_it_is_released() -> None:
    sut = Hosted(Loop)
    sut.request("scenario.open", {"scenario": "s", "mode": "yolo", "hold": ["store.put"]})
    assert kinds(started(sut)) == ["message", "store.put"]
    assert kinds(released(sut, "g1", kind="ok")) == ["checkpoint", "model"]
    sut.close()


class Leaky(Loop):
    """An adapter that leaks a task and a gate."""

    async def start(self, turn: TurnStart) -> Segment:
        self.left = asyncio.ensure_future(self.host.tool("c1", "t0", {}))
        await asyncio.sleep(0)
        return Segment("NaturalEnd")


def test_what_is_left_behind_is_a_leak() -> None:
    sut = Hosted(Leaky)
    sut.request("scenario.open", {"scenario": "s", "tools": [{"name": "t0"}], "mode": "yolo"})
    started(sut)
    leaks = sut.request("scenario.close", {})["leaks"]
    assert {"gate": "g1", "on": "tool", "call": "c1"} in leaks
    assert any("task" in leak for leak in leaks)
