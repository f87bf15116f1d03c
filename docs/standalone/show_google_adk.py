"""What google-adk does, with a scripted model.

A name on the command line shows one bug.

pip install google-adk==2.13.0
"""

import asyncio
import inspect
import logging
import sys
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

logging.disable(logging.CRITICAL)


class Scripted(BaseLlm):
    """Gives its turns one after the other: text, or the ids and names of calls."""

    turns: list[Any]
    shown: list[Any] = []

    async def generate_content_async(self, request, stream=False):
        self.shown[:] = request.contents
        turn = self.turns.pop(0)
        if isinstance(turn, str):
            parts = [types.Part(text=turn)]
        else:
            calls = [types.FunctionCall(id=call, name=name, args={}) for call, name in turn]
            parts = [types.Part(function_call=call) for call in calls]
        yield LlmResponse(content=types.Content(role="model", parts=parts))

    def results(self):
        """The ids of the results that it was shown last."""
        parts = [part for content in self.shown for part in content.parts]
        return [part.function_response.id for part in parts if part.function_response]


class Thread:
    """One session of an app around a model and tools."""

    def __init__(self, model, tools):
        agent = LlmAgent(name="agent", model=model, tools=tools)
        self.runner = InMemoryRunner(app=App(name="app", root_agent=agent))

    async def send(self, *parts, **more):
        """Send a message, or nothing; gives the ids of the requests for confirmation, by the call."""
        who, asked = {"user_id": "u", "session_id": "s"}, {}
        if not await self.runner.session_service.get_session(app_name="app", **who):
            await self.runner.session_service.create_session(app_name="app", **who)
        message = types.Content(role="user", parts=list(parts)) if parts else None
        async for event in self.runner.run_async(**who, new_message=message, **more):
            for call in event.get_function_calls():
                if call.name == "adk_request_confirmation":
                    asked[call.args["originalFunctionCall"]["id"]] = call.id
        return asked


def said(text):
    return types.Part(text=text)


def confirmed(request, *, yes=True):
    answer = types.FunctionResponse(id=request, name="adk_request_confirmation", response={"confirmed": yes})
    return types.Part(function_response=answer)


def write() -> str:
    """Write."""
    return "written"


def read() -> str:
    """Read."""
    return "read"


async def repeated_id():
    """Two calls with one id in one turn give the model two results under that id.

    expected: one result for the id.
    it hurts: providers refuse a history with two results for one call, in this request and all later ones.
    """
    model = Scripted(model="scripted", turns=[[("c1", "read"), ("c1", "read")], "done"])
    await Thread(model, [read]).send(said("read both"))
    print("actual: the model is shown results for:", model.results())
    return model.results() == ["c1", "c1"]


async def later_results_lost():
    """A confirmation that comes late takes from the model what other calls answered in the meantime.

    expected: the model is shown the results for c1 and c2.
    it hurts: the model does not know what was done meanwhile, and does it again.
    """
    model = Scripted(model="scripted", turns=[[("c1", "write")], [("c2", "read")], "done", "done again"])
    thread = Thread(model, [FunctionTool(write, require_confirmation=True), read])
    asked = await thread.send(said("write it"))
    await thread.send(said("never mind, read it"))
    print("actual: the model is shown results for:", model.results())
    await thread.send(confirmed(asked["c1"]))
    print("actual: after the confirmation of c1, for:", model.results())
    return "c2" not in model.results()


async def nothing_given():
    """A run that is given nothing raises no error, and asks the model while a call waits.

    expected: an error, as the docstring of the runner says, and one turn that is left.
    it hurts: the model goes on as if the user had answered, though the call still waits for a confirmation.
    """
    model = Scripted(model="scripted", turns=[[("c1", "write")], "done"])
    thread = Thread(model, [FunctionTool(write, require_confirmation=True)])
    asked = await thread.send(said("write it"))
    print("actual: waits for:", list(asked))
    await thread.send()
    print("actual: turns of the model that are left:", len(model.turns))
    return not model.turns


async def answer_after_an_abort():
    """A confirmation that is answered once more after its run was aborted makes the run ask the model.

    expected: the answer is refused, and one turn is left.
    it hurts: a run that the user has stopped begins again.
    """
    abort = asyncio.Event()

    async def hang() -> str:
        """Hang."""
        abort.set()
        await asyncio.Event().wait()
        return "never"

    model = Scripted(model="scripted", turns=[[("c1", "hang")], "done"])
    thread = Thread(model, [FunctionTool(hang, require_confirmation=True)])
    asked = await thread.send(said("do it"))
    await thread.send(confirmed(asked["c1"]), abort_signal=abort)
    print("actual: after the abort, turns of the model that are left:", len(model.turns))
    await thread.send(confirmed(asked["c1"], yes=False))
    print("actual: after one more answer:", len(model.turns))
    return not model.turns


async def confirmed_together():
    """Two confirmations in one message, of calls of two turns, give the model two results for each call.

    expected: one result for each of c1, c2 and c3.
    it hurts: a call has two results, and one comes before its call; providers refuse such a history.
    """
    turns = [[("c1", "write"), ("c2", "write")], [("c3", "write")], "done", "hello"]
    model = Scripted(model="scripted", turns=turns)
    thread = Thread(model, [FunctionTool(write, require_confirmation=True)])
    asked = await thread.send(said("write both"))
    asked |= await thread.send(confirmed(asked["c1"], yes=False))
    await thread.send(confirmed(asked["c2"]), confirmed(asked["c3"]))
    await thread.send(said("hello"))
    print("actual: the model is shown results for:", model.results())
    return len(model.results()) > len(set(model.results()))


async def second_request_is_not_sent():
    """A tool that asks for a confirmation again, in the run that the first one resumed, asks no one.

    expected: asked about c1 again.
    it hurts: the model learns that the call waits for an approval that no one was asked for.
    """

    entered = []

    def write(tool_context: ToolContext) -> str:
        """Write."""
        entered.append("write")
        tool_context.request_confirmation()
        return "an approval is required"

    model = Scripted(model="scripted", turns=[[("c1", "write")], "it waits", "done"])
    thread = Thread(model, [write])
    asked = await thread.send(said("write it"))
    print("actual: asked about", list(asked))
    again = await thread.send(confirmed(asked["c1"]))
    print("actual: after the confirmation, asked about", list(again), "and turns left:", len(model.turns))
    await thread.send(confirmed(asked["c1"]))
    print("actual: after one more answer to the first request, the tool was entered", len(entered), "times")
    return not again


async def rejected_call_runs():
    """A rejected call runs if the function that decides who needs a confirmation says no by then.

    expected: nothing ran, since the user has rejected the call.
    it hurts: a rule is relaxed while a request is open, and what the user rejects is done.
    """
    ran, is_strict = [], [True]

    def write() -> str:
        """Write."""
        ran.append("write")
        return "written"

    def asks() -> bool:
        return is_strict[0]

    model = Scripted(model="scripted", turns=[[("c1", "write")], "done"])
    thread = Thread(model, [FunctionTool(write, require_confirmation=asks)])
    asked = await thread.send(said("write it"))
    is_strict[0] = False
    await thread.send(confirmed(asked["c1"], yes=False))
    print("actual: after the rejection, these ran:", ran)
    return ran == ["write"]


async def unfinished_call_is_left_out():
    """A tool raises, which ends the run: the next one is not shown its call.

    expected: the call is shown, with a result that says what has become of it.
    it hurts: the model does not know that it has tried, nor what the tool had done until then.
    """

    def fail() -> str:
        """Fail."""
        raise OSError("the disk is full")

    model = Scripted(model="scripted", turns=[[("c1", "fail")], "done"])
    thread = Thread(model, [fail])
    try:
        await thread.send(said("do it"))
    except OSError as error:
        print("actual: the run ends with:", error)
    await thread.send(said("and now?"))
    parts = [part for content in model.shown for part in content.parts]
    print("actual: the model is shown:", [part.text or part for part in parts])
    return not any(part.function_call for part in parts)


async def cut_off_call_runs():
    """A turn that was cut off at the limit of tokens has a call, which runs as it stands.

    expected: the call does not run, since its arguments may be cut off.
    it hurts: a half of a text is written over a whole file.
    """
    ran = []

    def write() -> str:
        """Write."""
        ran.append("write")
        return "written"

    class Cut(Scripted):
        async def generate_content_async(self, request, stream=False):
            async for one in super().generate_content_async(request, stream):
                is_call = one.content.parts[0].function_call is not None
                one.finish_reason = types.FinishReason.MAX_TOKENS if is_call else types.FinishReason.STOP
                yield one

    await Thread(Cut(model="scripted", turns=[[("c1", "write")], "done"]), [write]).send(said("write it"))
    print("actual: these ran:", ran)
    return ran == ["write"]


async def failure_next_to_an_abort():
    """A tool fails just after its run was aborted, next to another one: the run never ends.

    expected: the run ends.
    it hurts: who awaits the run waits for ever, though no tool is at work any more.
    """

    async def ends(turns):
        """Whether the run ends if the tool fails after this number of turns of the event loop."""
        abort, failing, entered = asyncio.Event(), asyncio.Event(), []

        async def wait() -> str:
            """Wait."""
            entered.append("wait")
            await asyncio.sleep(60)

        async def fail() -> str:
            """Fail."""
            entered.append("fail")
            await failing.wait()
            raise OSError("the disk is full")

        model = Scripted(model="scripted", turns=[[("c1", "wait"), ("c2", "fail")], "done"])
        run = asyncio.create_task(Thread(model, [wait, fail]).send(said("do both"), abort_signal=abort))
        while len(entered) < 2:
            await asyncio.sleep(0)
        abort.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        failing.set()
        done, _ = await asyncio.wait({run}, timeout=3)
        return bool(done)

    found = {turns: await ends(turns) for turns in range(10)}
    print("actual: the run ends, by the turns of the event loop between abort and failure:", found)
    return not all(found.values())


PROGRAMS = {
    one.__name__: one
    for one in (
        repeated_id,
        later_results_lost,
        nothing_given,
        answer_after_an_abort,
        confirmed_together,
        second_request_is_not_sent,
        rejected_call_runs,
        unfinished_call_is_left_out,
        cut_off_call_runs,
        failure_next_to_an_abort,
    )
}


if __name__ == "__main__":
    still_there = []
    for name in sys.argv[1:] or PROGRAMS:
        print(f"{name}: {inspect.getdoc(PROGRAMS[name])}")
        if asyncio.run(PROGRAMS[name]()):
            still_there.append(name)
    raise SystemExit(f"still there: {', '.join(still_there)}" if still_there else 0)
