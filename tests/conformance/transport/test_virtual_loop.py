"""What the kit's event loop promises: asyncio's own order, in turns, on a clock that only the kit moves."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from runlock.conformance.transport.virtual_loop import DidNotSettle, VirtualLoop


@pytest.fixture
def loop():
    made = VirtualLoop()
    yield made
    made.bury()


def test_a_turn_runs_exactly_the_batch_that_was_ready(loop):
    """What becomes ready during a turn runs in the next one."""
    ran = []
    loop.call_soon(lambda: (ran.append("first"), loop.call_soon(ran.append, "third")))
    loop.call_soon(ran.append, "second")

    loop.turn()

    assert ran == ["first", "second"]
    assert loop.turn()
    assert ran == ["first", "second", "third"]
    assert not loop.turn()


def test_settling_runs_until_nothing_is_ready(loop):
    """A loop that settled has nothing left to run, and says in how many turns it got there."""

    async def three_steps():
        for _ in range(3):
            await asyncio.sleep(0)

    task = loop.create_task(three_steps())

    assert loop.settle() == 4
    assert task.done()
    assert loop.quiescent()


def test_a_loop_that_never_rests_does_not_settle(loop):
    """A runtime that keeps itself busy is reported, with the limit."""

    async def spin():
        while True:
            await asyncio.sleep(0)

    loop.create_task(spin())

    with pytest.raises(DidNotSettle, match="still busy after 50 turns"):
        loop.settle(limit=50)


def test_a_limited_run_says_whether_it_came_to_rest(loop):
    """At most this many turns run; what is left stays ready."""

    async def two_steps():
        await asyncio.sleep(0)

    task = loop.create_task(two_steps())

    assert not loop.run_turns(0)
    assert not loop.run_turns(1)
    assert not task.done()
    assert loop.run_turns(5)
    assert task.done()


def test_time_passes_only_when_the_kit_says_so(loop):
    """A timer waits for the virtual clock, however long the real one runs."""
    task = loop.create_task(asyncio.sleep(30))

    loop.settle()
    assert not task.done()
    loop.advance(29_999)
    loop.settle()
    assert not task.done()
    loop.advance(1)
    loop.settle()

    assert task.done()
    assert loop.time() == 30.0


def test_a_long_advance_visits_every_timer_in_its_own_time(loop):
    """Time that passes at once passes through each timer, also those set on the way."""
    seen = []

    async def tick():
        while True:
            await asyncio.sleep(1)
            seen.append(loop.time())

    loop.create_task(tick())
    loop.settle()
    loop.advance(3_500)
    loop.settle()

    assert seen == [1.0, 2.0, 3.0]
    assert loop.time() == 3.5


def test_fractions_of_a_second_do_not_delay_a_timer(loop):
    """Rounding of binary fractions never makes a timer late."""

    async def sleep_thrice():
        for _ in range(3):
            await asyncio.sleep(0.1)

    task = loop.create_task(sleep_thrice())
    loop.settle()
    loop.advance(300)
    loop.settle()

    assert task.done()


def test_what_falls_due_first_can_race_with_what_comes_after_the_advance(loop):
    """Stimuli after an advance, before the loop turns, land in the same turn as the first due timer."""
    ran = []
    loop.call_later(1, ran.append, "timer")
    loop.advance(1_000)
    loop.call_soon(ran.append, "after")

    loop.turn()

    assert ran == ["timer", "after"]


def test_a_cancelled_timer_never_runs_and_never_keeps_the_loop_awake(loop):
    """Cancelling a timer leaves nothing behind."""
    ran = []
    loop.call_later(1, ran.append, "cancelled").cancel()
    loop.call_soon(ran.append, "also cancelled").cancel()

    assert loop.quiescent()
    loop.advance(2_000)
    loop.settle()

    assert ran == []


def test_asyncios_own_tools_work_on_it(loop):
    """gather, TaskGroup, timeout, Queue and Event find the loop that they expect."""

    async def everything():
        queue, event = asyncio.Queue(), asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(queue.put("from a group"))
            group.create_task(event.wait())
            event.set()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await asyncio.Event().wait()
        return await asyncio.gather(queue.get(), asyncio.sleep(1, "slept"))

    task = loop.create_task(everything())
    loop.settle()
    loop.advance(6_000)
    loop.settle()

    assert task.result() == ["from a group", "slept"]


def test_anyio_works_on_it(loop):
    """anyio takes the loop for asyncio's."""
    anyio = pytest.importorskip("anyio")
    seen = []

    async def everything():
        with anyio.move_on_after(2):
            async with anyio.create_task_group() as group:
                group.start_soon(anyio.sleep, 1)
                await anyio.sleep(9)
        seen.append(loop.time())

    task = loop.create_task(everything())
    loop.settle()
    loop.advance(3_000)
    loop.settle()

    assert task.done()
    assert seen == [2.0]


def test_a_task_keeps_its_name_and_its_context(loop):
    """Names and context variables are those that the runtime gave."""
    variable = contextvars.ContextVar("variable", default="outer")
    context = contextvars.copy_context()
    context.run(variable.set, "inner")

    async def look():
        return variable.get(), asyncio.current_task().get_name()

    task = loop.create_task(look(), name="looker", context=context)
    loop.settle()

    assert task.result() == ("inner", "looker")


def test_a_task_factory_is_honoured(loop):
    """A runtime that makes its own tasks makes them here too."""
    made = []

    def factory(its_loop, coro, **more):
        made.append(coro)
        return asyncio.Task(coro, loop=its_loop, **more)

    loop.set_task_factory(factory)
    task = loop.create_task(asyncio.sleep(0), name="own")
    loop.settle()

    assert made
    assert task.get_name() == "own"
    assert loop.get_task_factory() is factory


def test_a_task_that_was_made_with_no_word_to_the_loop_is_alive_on_it(loop):
    """Some libraries make their tasks themselves: they are left behind as any other can be."""
    task = asyncio.Task(asyncio.sleep(3600), loop=loop)
    loop.settle()

    assert loop.alive() == {task}

    loop.bury()
    assert loop.alive() == set()


def test_a_task_cancelled_before_its_first_step_never_enters_its_body(loop):
    """Asyncio's trap: no `except CancelledError` of the body can note what happened."""
    entered = []

    async def body():
        entered.append("entered")

    task = loop.create_task(body())
    task.cancel()
    loop.settle()

    assert task.cancelled()
    assert entered == []


def test_settling_waits_for_threads(loop):
    """Work in an executor is under way until its result has reached the loop."""
    go = threading.Event()

    async def ask_a_thread():
        return await asyncio.to_thread(go.wait)

    task = loop.create_task(ask_a_thread())
    loop.turn()
    assert not loop.quiescent()
    threading.Thread(target=go.set).start()
    loop.settle()

    assert task.result() is True


def test_threads_report_in_the_order_in_which_they_began(loop):
    """Whichever thread is quickest, the loop hears of the first one first."""
    second_is_over = threading.Event()
    heard = []

    async def ask(work, name):
        await loop.run_in_executor(None, work)
        heard.append(name)

    loop.create_task(ask(second_is_over.wait, "first"))
    loop.create_task(ask(second_is_over.set, "second"))
    loop.settle()

    assert heard == ["first", "second"]


def test_an_error_in_a_thread_reaches_who_awaits_it(loop):
    """What the work raises is raised where its result is awaited."""

    def break_down():
        raise LookupError("gone")

    future = loop.run_in_executor(None, break_down)
    loop.settle()

    assert str(future.exception()) == "gone"


def test_work_that_an_executor_turns_down_is_not_waited_for(loop):
    """An executor that is shut down raises, and the loop settles without the work."""
    executor = ThreadPoolExecutor(1)
    executor.shutdown()

    with pytest.raises(RuntimeError, match="after shutdown"):
        loop.run_in_executor(executor, print)

    assert loop.quiescent()


def test_a_thread_may_call_into_the_loop(loop):
    """call_soon_threadsafe is heard while the loop waits for the thread."""

    async def answer():
        return "answered"

    def ask():
        return asyncio.run_coroutine_threadsafe(answer(), loop).result()

    future = loop.run_in_executor(None, ask)
    loop.settle()

    assert future.result() == "answered"


def test_an_executor_of_the_runtime_is_used(loop):
    """A runtime's own executor does the work, and is waited for all the same."""

    with ThreadPoolExecutor(1, thread_name_prefix="own") as executor:
        loop.set_default_executor(executor)
        future = loop.run_in_executor(None, lambda: threading.current_thread().name)
        loop.settle()

    assert future.result().startswith("own")


def test_settling_waits_while_the_runtime_says_that_it_is_busy(loop):
    """Work that the loop cannot see is waited for as long as `busy` says."""
    answers = iter([True, True, True])
    loop.outside.busy = lambda: next(answers, False)

    loop.settle()

    assert loop.quiescent()


def test_what_nobody_catches_is_collected(loop):
    """An error in a callback ends nothing; it is kept until it is read."""

    def fail():
        raise ValueError("uncaught")

    loop.call_soon(fail)
    loop.settle()

    assert [str(context["exception"]) for context in loop.errors] == ["uncaught"]


def test_a_handler_of_the_runtime_hears_of_errors_first(loop):
    """A runtime may handle what no one catches."""
    heard = []
    loop.set_exception_handler(lambda _, context: heard.append(context))
    loop.call_soon(lambda: 1 / 0)
    loop.settle()

    assert len(heard) == 1
    assert loop.errors == []
    assert loop.get_exception_handler() is not None


def test_one_coroutine_can_run_while_all_else_stands_still(loop):
    """Looking at a runtime does not move it."""
    moved = []
    loop.call_soon(moved.append, "moved")

    assert loop.run_alone(asyncio.sleep(0, "seen")) == "seen"
    assert moved == []
    loop.settle()
    assert moved == ["moved"]


def test_a_coroutine_that_needs_the_rest_cannot_run_alone(loop):
    """What waits for the runtime itself is reported, instead of letting the runtime move."""

    async def wait_for_ever():
        await asyncio.Event().wait()

    with pytest.raises(DidNotSettle, match="wait_for_ever did not return"):
        loop.run_alone(wait_for_ever())


def test_a_loop_can_run_inside_another():
    """The kit may itself be driven by asyncio."""

    async def outer():
        inner = VirtualLoop()
        assert inner.run_until_complete(asyncio.sleep(0, "inner")) == "inner"
        inner.close()
        return asyncio.get_running_loop()

    assert not isinstance(asyncio.run(outer()), VirtualLoop)


def test_waiting_for_what_nobody_gives_is_said(loop):
    """A coroutine that cannot come to its end is reported."""
    with pytest.raises(DidNotSettle, match=r"^A future waits for something that nobody will give"):
        loop.run_until_complete(loop.create_future())


def test_where_it_waits_is_said_without_a_folder_of_the_machine(loop):
    """The report of a campaign may be kept in a repository."""

    async def waits():
        await loop.create_future()

    with pytest.raises(DidNotSettle, match=r"waits \(test_virtual_loop\.py:\d+\) waits for") as raised:
        loop.run_until_complete(waits())
    assert "/" not in str(raised.value)


def test_an_abandoned_loop_runs_no_clean_up():
    """After a crash no `finally` runs, no matter what is collected or asked of the loop."""
    loop, cleaned = VirtualLoop(), []

    async def hold():
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("cleaned")

    task = loop.create_task(hold())
    loop.settle()
    loop.abandon()
    task.cancel()
    del task
    gc.collect()
    loop.call_soon(cleaned.append, "soon")
    loop.call_soon_threadsafe(cleaned.append, "threadsafe")
    loop.call_later(0, cleaned.append, "later")

    assert not loop.turn()
    assert loop.settle() == 0
    assert loop.is_closed()
    assert cleaned == []
    loop.bury()


def test_burying_a_task_that_was_cancelled_before_it_began_is_silent():
    """The coroutine that it would have awaited was never awaited, which is no fault of who wrote it."""
    loop = VirtualLoop()

    async def work():
        await asyncio.sleep(1)

    async def outer(inner):
        try:
            await inner
        except asyncio.CancelledError:
            return "cancelled"

    task = loop.create_task(outer(work()))
    task.cancel()
    loop.settle()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        loop.bury()

    assert task.cancelled()
    assert warned == []


@pytest.mark.long
def test_burying_a_loop_is_silent():
    """Suspended, unstarted and stubborn coroutines, and generators, go without a warning."""
    loop = VirtualLoop()

    async def stubborn():
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(1)

    async def numbers():
        try:
            yield 1
        finally:
            await asyncio.sleep(1)

    async def take_one():
        async for _ in numbers():
            await asyncio.Event().wait()

    loop.create_task(stubborn())
    loop.create_task(take_one())
    loop.settle()
    loop.create_task(asyncio.sleep(0))
    loop.bury()
    del loop

    assert gc.collect() >= 0


def test_a_generator_that_is_dropped_is_closed_on_the_loop(loop):
    """While the loop lives, a generator's clean-up runs as asyncio would run it."""
    cleaned = []

    async def numbers():
        try:
            yield 1
        finally:
            await asyncio.sleep(0)
            cleaned.append("cleaned")

    async def take_one():
        generator = numbers()
        await anext(generator)

    loop.create_task(take_one())
    loop.settle()
    gc.collect()
    loop.settle()

    assert cleaned == ["cleaned"]


def test_many_tasks_are_not_kept_once_they_have_ended(loop):
    """The loop holds tasks that are alive, and not their history."""

    async def many():
        for _ in range(300):
            await loop.create_task(asyncio.sleep(0))

    loop.create_task(many())
    loop.settle()

    assert len(loop._tasks) <= 64
    assert loop.alive() == set()


def test_small_questions_have_answers(loop):
    """What libraries ask of a loop in passing."""
    loop.set_debug(True)

    assert loop.get_debug()
    assert not loop.is_running()
    assert not loop.is_closed()
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.run_until_complete(loop.shutdown_default_executor())
    with pytest.raises(NotImplementedError):
        loop.add_reader(0, print)
