"""The reference tool runner at work: tools that run, streams that are not whole, cancels."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from scripted_runner import (
    HELD,
    Answer,
    Call,
    Piece,
    ScriptedWorld,
    Turn,
    assistant,
    result,
    turn,
    user,
)

from runlock.machines.tool_runner.runtime.choices import policies_of
from runlock.machines.tool_runner.runtime.core import CancelledRun
from runlock.machines.tool_runner.runtime.runner import Runner
from runlock.machines.tool_runner.runtime.world import WorldFault

ASKS = turn("a", "c1", "c2")
TURN = assistant("a", "c1", "c2")


class Bench:
    """A runner that is iterated step by step."""

    def __init__(self, world: ScriptedWorld, policies: dict[str, str], **options: object) -> None:
        self.world = world
        self.runner = Runner(world, {"t0": True}, policies_of("tool-runner", policies), **options)
        self.walk = self.runner.run("hello")

    def step(self) -> asyncio.Task[object]:
        """Take the next item, or the end."""
        return asyncio.ensure_future(anext(self.walk, None))

    async def settle(self) -> None:
        """Run the event loop until it is idle."""
        for _ in range(30):
            await asyncio.sleep(0)


def on_a_bench(
    play: Callable[[Bench], Awaitable[None]],
    turns: list[object],
    policies: dict[str, str] | None = None,
    answers: dict[str, object] | None = None,
    world: type[ScriptedWorld] = ScriptedWorld,
    **options: object,
) -> Bench:
    bench_of: list[Bench] = []

    async def go() -> None:
        bench = Bench(world(turns, answers), policies or {}, **options)
        bench_of.append(bench)
        await play(bench)
        await bench.settle()

    asyncio.run(go())
    return bench_of[0]


BOTH_HELD = {"c1": HELD, "c2": HELD}


# -- executors


@pytest.mark.parametrize(
    ("executor", "order", "results"),
    [("parallel", "call", ["c1", "c2"]), ("parallel", "finish", ["c2", "c1"])],
)
def test_results_of_calls_that_finish_out_of_order(executor, order, results):
    """They are in call order, or in the order in which the calls finished."""

    async def play(bench):
        await bench.step()
        rest = bench.step()
        await bench.settle()
        for call in ("c2", "c1"):
            bench.world.held[call].set_result(Answer("ok", call))
            await bench.settle()
        await rest

    bench = on_a_bench(
        play, [ASKS, turn("end")], {"round.executor": executor, "results.order": order}, BOTH_HELD
    )

    assert [one["call"] for one in bench.world.requests[1][2:]] == results


@pytest.mark.parametrize(("executor", "open_at_once"), [("sequential", ["c1"]), ("parallel", ["c1", "c2"])])
def test_calls_run_one_by_one_or_together(executor, open_at_once):
    """While the first body runs, the second is entered or not."""

    async def play(bench):
        await bench.step()
        rest = bench.step()
        await bench.settle()
        assert bench.world.entries == open_at_once
        bench.world.held["c1"].set_result(Answer())
        await bench.settle()
        assert bench.world.entries == ["c1", "c2"]
        bench.world.held["c2"].set_result(Answer())
        await rest

    on_a_bench(play, [ASKS, turn("end")], {"round.executor": executor}, BOTH_HELD)


# -- cancels


@pytest.mark.parametrize("executor", ["sequential", "parallel"])
def test_an_abort_while_a_tool_runs(executor):
    """The bodies are given up, no other is entered, and the run is cancelled."""

    async def play(bench):
        await bench.step()
        rest = bench.step()
        await bench.settle()
        bench.entered = list(bench.world.entries)
        bench.runner.cancel()
        assert await rest is None
        assert all(one.cancelled() for one in bench.world.held.values())

    bench = on_a_bench(play, [ASKS], {"round.executor": executor, "cancel.inflight": "abort"}, BOTH_HELD)

    assert bench.world.entries == bench.entered
    assert (bench.runner.at, bench.runner.reason) == ("Cancelled", "Cancelled")
    assert [one["status"] for one in bench.runner.state.messages[2:]] == ["error", "error"]


def test_a_drain_while_a_tool_runs():
    """The body that runs ends by itself, its result is kept, and the next is not entered."""

    async def play(bench):
        await bench.step()
        rest = bench.step()
        await bench.settle()
        bench.runner.cancel()
        await bench.settle()
        assert not rest.done()
        bench.world.held["c1"].set_result(Answer("ok", "late"))
        assert await rest is None

    bench = on_a_bench(play, [ASKS], {"round.executor": "sequential", "cancel.inflight": "drain"}, BOTH_HELD)

    assert bench.world.entries == ["c1"]
    assert bench.runner.state.messages[2] == result("c1", "late")
    assert bench.runner.reason == "Cancelled"


def test_a_cancel_while_the_model_is_asked():
    """The request is given up, and nothing is yielded."""

    async def play(bench):
        first = bench.step()
        await bench.settle()
        bench.runner.cancel()
        assert await first is None

    bench = on_a_bench(play, [HELD])

    assert (bench.runner.at, len(bench.world.requests)) == ("Cancelled", 1)


def test_a_cancel_while_a_response_is_made():
    """Under abort the response is given up, and its calls are not entered a second time."""

    async def play(bench):
        await bench.step()
        asked = asyncio.ensure_future(bench.runner.respond())
        await bench.settle()
        bench.runner.cancel()
        assert await asked is None
        assert await bench.step() is None

    bench = on_a_bench(play, [ASKS], {"cancel.inflight": "abort", "cancel.handed_over": "run"}, BOTH_HELD)

    assert bench.world.entries == ["c1", "c2"]
    assert bench.runner.reason == "Cancelled"


def test_a_cancel_of_a_run_that_is_over_changes_nothing():
    """Its status and reason do not change."""

    async def play(bench):
        await bench.step()
        assert await bench.step() is None
        bench.runner.cancel()

    bench = on_a_bench(play, [turn("end")])

    assert (bench.runner.at, bench.runner.reason) == ("Finished", "NaturalEnd")


# -- responses that something overtakes


@pytest.mark.parametrize(("cache", "entries"), [("until_push", 4), ("kept", 2)])
def test_a_push_while_a_response_is_made(cache, entries):
    """The response is given all the same, and kept or not."""

    async def play(bench):
        await bench.step()
        asked = asyncio.ensure_future(bench.runner.respond())
        await bench.settle()
        bench.runner.push([user("x")])
        for one in list(bench.world.held.values()):
            one.set_result(Answer())
        assert await asked == [result("c1"), result("c2")]
        again = asyncio.ensure_future(bench.runner.respond())
        await bench.settle()
        for one in bench.world.held.values():
            if not one.done():
                one.set_result(Answer())
        await again

    bench = on_a_bench(play, [ASKS], {"runner.cache": cache}, BOTH_HELD)

    assert len(bench.world.entries) == entries


def test_a_tool_that_breaks_while_a_response_is_made_ends_the_run_at_the_resume():
    """The response is given up, and the fault ends the walk."""

    async def play(bench):
        await bench.step()
        assert await bench.runner.respond() is None
        with pytest.raises(WorldFault):
            await bench.step()

    bench = on_a_bench(play, [ASKS], answers={"c1": WorldFault("gone")})

    assert bench.runner.at == "Broken"


def test_removing_a_tool_does_not_interrupt_a_call_that_runs():
    """Its result is given."""

    async def play(bench):
        await bench.step()
        asked = asyncio.ensure_future(bench.runner.respond())
        await bench.settle()
        bench.runner.change_tools([], ["t0"])
        await bench.settle()
        for one in bench.world.held.values():
            one.set_result(Answer())
        assert await asked == [result("c1"), result("c2")]

    on_a_bench(play, [ASKS], answers=BOTH_HELD)


# -- streams


class HeldStream(ScriptedWorld):
    """An environment whose stream pauses after its first piece until `whole` is set."""

    async def infer(self, messages, sent, params, tools, on_piece=None):
        self.requests.append(list(messages))
        said = self.turns.pop(0)
        if isinstance(said, Turn) and on_piece is not None and said.text != "end":
            self.whole = asyncio.Event()
            on_piece(Piece(text="a"))
            on_piece(Piece(tool_call=Call("c1")))
            await self.whole.wait()
        if isinstance(said, Exception):
            raise said
        return said


async def pieces_of(item) -> list[object]:
    return [piece.text or piece.tool_call.id async for piece in item.pieces]


def test_pieces_reach_the_reader_when_they_come():
    """The reader has them before the turn is whole, and then the stream ends."""

    async def play(bench):
        item = await bench.step()
        assert item.message is None
        reader = asyncio.ensure_future(pieces_of(item))
        await bench.settle()
        assert not reader.done()
        bench.world.whole.set()
        assert await reader == ["a", "c1"]
        assert await bench.step() is not None

    bench = on_a_bench(play, [ASKS, turn("end")], world=HeldStream, stream=True)

    assert bench.world.requests[1][1:] == [TURN, result("c1"), result("c2")]


def test_a_resume_before_the_turn_is_whole_waits_for_it():
    """Nothing runs until then; no one reads the stream, and it goes on all the same."""

    async def play(bench):
        await bench.step()
        rest = bench.step()
        await bench.settle()
        assert (rest.done(), bench.world.entries) == (False, [])
        bench.world.whole.set()
        await rest

    bench = on_a_bench(play, [ASKS, turn("end")], world=HeldStream, stream=True)

    assert bench.world.entries == ["c1", "c2"]


def test_there_is_no_response_before_the_turn_is_whole():
    """Nothing is received yet."""

    async def play(bench):
        await bench.step()
        assert await bench.runner.respond() is None

    on_a_bench(play, [ASKS], world=HeldStream, stream=True)


def test_a_break_in_the_middle_of_a_stream_gives_up_the_request():
    """The walk is over, and no tool runs."""

    async def play(bench):
        await bench.step()
        await bench.settle()
        await bench.walk.aclose()
        assert bench.runner.request.cancelled()

    bench = on_a_bench(play, [ASKS], world=HeldStream, stream=True)

    assert (bench.runner.at, bench.world.entries) == ("Left", [])


def test_a_cancel_in_the_middle_of_a_stream():
    """The reader's stream ends early, and the run is cancelled at the resume."""

    async def play(bench):
        item = await bench.step()
        reader = asyncio.ensure_future(pieces_of(item))
        await bench.settle()
        bench.runner.cancel()
        with pytest.raises(CancelledRun):
            await reader
        assert await bench.step() is None

    bench = on_a_bench(play, [ASKS], world=HeldStream, stream=True)

    assert bench.runner.reason == "Cancelled"


def test_a_fault_in_a_stream_ends_the_walk_at_the_resume():
    """The reader of the stream meets the fault too."""

    async def play(bench):
        item = await bench.step()
        with pytest.raises(WorldFault):
            await pieces_of(item)
        with pytest.raises(WorldFault):
            await bench.step()

    on_a_bench(play, [WorldFault("down")], world=HeldStream, stream=True)


def test_a_call_may_start_when_its_piece_is_complete():
    """Under streaming the first call runs before the turn is whole, once."""

    async def play(bench):
        await bench.step()
        await bench.settle()
        assert bench.world.entries == ["c1"]
        bench.world.whole.set()
        await bench.step()

    bench = on_a_bench(play, [ASKS, turn("end")], {"tools.start": "streaming"}, world=HeldStream, stream=True)

    assert bench.world.entries == ["c1", "c2"]
    assert bench.world.requests[1][1:] == [TURN, result("c1"), result("c2")]


def test_a_call_that_started_from_the_stream_is_given_up_when_the_user_leaves():
    """Its body is cancelled."""

    async def play(bench):
        await bench.step()
        await bench.settle()
        await bench.walk.aclose()
        await bench.settle()
        assert bench.world.held["c1"].cancelled()

    on_a_bench(play, [ASKS], {"tools.start": "streaming"}, {"c1": HELD}, world=HeldStream, stream=True)


async def left_and_taken_up(bench):
    """The first call starts from the stream, the user leaves the whole turn, and iterates again."""
    await bench.step()
    await bench.settle()
    bench.world.whole.set()
    await bench.settle()
    await bench.walk.aclose()
    await bench.settle()
    bench.walk = bench.runner.again()
    bench.step()


@pytest.mark.parametrize(
    ("answer", "first"), [("done", result("c1")), (HELD, result("c1", "cancelled", "error"))]
)
def test_a_call_that_started_from_the_stream_is_not_entered_again_after_a_break(answer, first):
    """Its result is used when the user iterates again, or the error that it was given up."""
    bench = on_a_bench(
        left_and_taken_up,
        [ASKS, turn("end")],
        {"tools.start": "streaming"},
        {"c1": answer} if answer is HELD else None,
        world=HeldStream,
        stream=True,
    )

    assert bench.world.entries == ["c1", "c2"]
    assert bench.world.requests[1][1:] == [TURN, first, result("c2")]
