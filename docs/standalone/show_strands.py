"""What strands-agents does, with a scripted model.

A name on the command line shows one bug.

pip install strands-agents==1.62.0
"""

import asyncio
import inspect
import json
import sys

from strands import Agent, ToolContext, tool
from strands.hooks import BeforeToolCallEvent
from strands.models.model import Model
from strands.types.exceptions import MaxTokensReachedException


class Scripted(Model):
    """Gives its turns one after the other: text, or the ids and names of calls."""

    def __init__(self, *turns):
        self.turns, self.shown = list(turns), []

    def update_config(self, **more): ...

    def get_config(self):
        return {}

    def structured_output(self, *args, **more):
        raise NotImplementedError

    async def stream(self, messages, *args, **more):
        self.shown = json.loads(json.dumps(messages))
        turn = self.turns.pop(0)
        yield {"messageStart": {"role": "assistant"}}
        for call, name in [] if isinstance(turn, str) else turn:
            yield {"contentBlockStart": {"start": {"toolUse": {"name": name, "toolUseId": call}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": "{}"}}}}
            yield {"contentBlockStop": {}}
        if isinstance(turn, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": turn}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(turn, str) else "tool_use"}}


async def repeated_id():
    """Two calls with one id in one turn give the model two results under that id.

    expected: one result for the id.
    it hurts: providers refuse a history with two results for one call, in this request and all later ones.
    """

    @tool
    def read() -> str:
        """Read."""
        return "read"

    model = Scripted([("c1", "read"), ("c1", "read")], "done")
    await Agent(model=model, tools=[read], callback_handler=None).invoke_async("read both")
    results = [part["toolResult"]["toolUseId"] for part in model.shown[-1]["content"]]
    print("actual: the model is shown results for:", results)
    return results == ["c1", "c1"]


async def cancel_after_the_end():
    """A cancel that comes after a run has ended cancels the next one.

    expected: the second run ends as end_turn.
    it hurts: a stop button that is pressed too late stops the user's next question.
    """
    agent = Agent(model=Scripted("done", "done again"), callback_handler=None)
    print("actual: the first run ends as", (await agent.invoke_async("hello")).stop_reason)
    agent.cancel()
    stopped = (await agent.invoke_async("hello again")).stop_reason
    print("actual: the second run, which nobody cancelled, ends as", stopped)
    return stopped == "cancelled"


async def cancel_while_the_model_answers():
    """What the library says of a cancel stands in the history as a turn of the model.

    expected: the turns that the model gave, and no other.
    it hurts: the model is shown words that it never said, and continues from them.
    """
    agent = Agent(model=Scripted("done", "done again"), callback_handler=None)
    first = agent.stream_async("hello")
    async for _ in first:
        agent.cancel()
    await agent.invoke_async("hello again")
    said = [message["content"][0].get("text") for message in agent.messages if message["role"] == "assistant"]
    print("actual: the model said 'done again' alone, and is shown as its turns:", said)
    return any(one not in ("done", "done again") for one in said)


async def cancel_in_a_resume():
    """A cancel while an approved call runs is lost if another call still waits for approval.

    expected: the run ends as cancelled.
    it hurts: the user has stopped the run, and is asked to approve its next call.
    """
    begun, may_end = asyncio.Event(), asyncio.Event()

    @tool
    async def write() -> str:
        """Write."""
        begun.set()
        await may_end.wait()
        return "written"

    def ask(event):
        if event.interrupt(event.tool_use["toolUseId"]) != "yes":
            event.cancel_tool = "rejected"

    model = Scripted([("c1", "write"), ("c2", "write")], "done")
    agent = Agent(model=model, tools=[write], callback_handler=None)
    agent.add_hook(ask, BeforeToolCallEvent)
    first = (await agent.invoke_async("write both")).interrupts[0]
    answer = [{"interruptResponse": {"interruptId": first.id, "response": "yes"}}]
    resumed = asyncio.create_task(agent.invoke_async(answer))
    await begun.wait()
    agent.cancel()
    may_end.set()
    stopped = (await resumed).stop_reason
    print("actual: the run that was cancelled ends as", stopped)
    return stopped == "interrupt"


async def cancel_in_a_hook():
    """A cancel while a hook decides about a call does not keep the tool from running.

    expected: nothing ran, since an agent stops before the execution of tools.
    it hurts: the user presses stop while a policy service is asked about a call, and it is executed.
    """
    ran = []

    @tool
    def write() -> str:
        """Write."""
        ran.append("write")
        return "written"

    async def check(event):
        event.agent.cancel()

    agent = Agent(model=Scripted([("c1", "write")], "done"), tools=[write], callback_handler=None)
    agent.add_hook(check, BeforeToolCallEvent)
    stopped = (await agent.invoke_async("write it")).stop_reason
    print("actual: after the cancel, these ran:", ran, "and the run ends as", stopped)
    return ran == ["write"]


async def refused_batch_acts_later():
    """A batch with an unknown interrupt is turned down, yet its other answer acts with the next one.

    expected: only c2 runs, since the batch with the yes to c1 was refused as a whole.
    it hurts: a call runs whose approval was answered with an error.
    """
    ran = []

    @tool(context=True)
    async def write(tool_context: ToolContext) -> str:
        """Write."""
        ran.append(tool_context.tool_use["toolUseId"])
        return "written"

    def ask(event):
        if event.interrupt(event.tool_use["toolUseId"]) != "yes":
            event.cancel_tool = "rejected"

    def answers(*interrupts):
        return [{"interruptResponse": {"interruptId": one, "response": "yes"}} for one in interrupts]

    model = Scripted([("c1", "write"), ("c2", "write")], "done")
    agent = Agent(model=model, tools=[write], callback_handler=None)
    agent.add_hook(ask, BeforeToolCallEvent)
    first, second = (await agent.invoke_async("write both")).interrupts
    try:
        await agent.invoke_async(answers(first.id, "nobody"))
    except KeyError as error:
        print("actual: yes to c1 and to nobody:", error)
    await agent.invoke_async(answers(second.id))
    print("actual: yes to c2 alone: these ran:", sorted(ran))
    return sorted(ran) == ["c1", "c2"]


async def broken_arguments_run_empty():
    """Arguments that do not parse are replaced by none, and the tool is executed with these.

    expected: the call fails, and the model is shown that its arguments could not be read.
    it hurts: a tool whose parameters have defaults does something that the model did not ask for.
    """
    ran = []

    @tool
    def delete(folder: str = "everything") -> str:
        """Delete a folder."""
        ran.append(folder)
        return "deleted"

    class Broken(Scripted):
        async def stream(self, messages, *args, **more):
            async for event in super().stream(messages):
                delta = event.get("contentBlockDelta", {}).get("delta", {})
                if "toolUse" in delta:
                    delta["toolUse"]["input"] = '{"folder": "logs'
                yield event

    model = Broken([("c1", "delete")], "done")
    await Agent(model=model, tools=[delete], callback_handler=None).invoke_async("delete the logs")
    print("actual: the tool ran with", ran, "and the model is shown the input", model.shown[1]["content"])
    return ran == ["everything"]


async def prompt_after_a_cancelled_resume():
    """A run that was cancelled in its resume takes no prompt any more.

    expected: the run is over, and the next prompt is taken.
    it hurts: the user has stopped the run, and every later message fails with an error about interrupts.
    """

    @tool
    def write() -> str:
        """Write."""
        agent.cancel()
        return "written"

    agent = Agent(model=Scripted([("c1", "write")], "done"), tools=[write], callback_handler=None)
    agent.add_hook(lambda event: event.interrupt("approve"), BeforeToolCallEvent)
    [asked] = (await agent.invoke_async("write it")).interrupts
    answer = [{"interruptResponse": {"interruptId": asked.id, "response": "yes"}}]
    print("actual: the resumed run ends as", (await agent.invoke_async(answer)).stop_reason)
    try:
        await agent.invoke_async("what now?")
    except TypeError as error:
        print("actual: the next prompt fails:", error)
        return True
    return False


async def cut_off_call_becomes_a_text():
    """A call with which a turn ended for its length stands in the history as a text of the model.

    expected: the history shows the call that the model asked for, as one that failed.
    it hurts: the model is shown words that it never said, and no longer that it asked for the call.
    """

    class CutOff(Scripted):
        async def stream(self, messages, *args, **more):
            async for event in super().stream(messages):
                if "messageStop" in event and len(messages) == 1:
                    event["messageStop"]["stopReason"] = "max_tokens"
                yield event

    model = CutOff([("c1", "read")], "done")
    agent = Agent(model=model, callback_handler=None)
    try:
        await agent.invoke_async("read it")
    except MaxTokensReachedException as error:
        print("actual: the run ends in an error:", str(error)[:60])
    await agent.invoke_async("go on")
    print("actual: the model is shown as its turn:", model.shown[1]["content"])
    return "text" in model.shown[1]["content"][0]


async def call_is_lost_in_a_cancel():
    """A cancel while the model answers discards its turn: what it asked for is shown nowhere.

    expected: the history shows the call, as one that was cancelled.
    it hurts: the model is not shown what it had begun to do when the user stopped it.
    """

    @tool
    def read() -> str:
        """Read."""
        return "read"

    model = Scripted([("c1", "read")], "done")
    agent = Agent(model=model, tools=[read], callback_handler=None)
    async for _ in agent.stream_async("read it"):
        agent.cancel()
    await agent.invoke_async("go on")
    print("actual: the model is shown", [message["content"] for message in model.shown])
    return "toolUse" not in str(model.shown)


PROGRAMS = {
    one.__name__: one
    for one in (
        repeated_id,
        cancel_after_the_end,
        cancel_while_the_model_answers,
        cancel_in_a_resume,
        cancel_in_a_hook,
        refused_batch_acts_later,
        broken_arguments_run_empty,
        prompt_after_a_cancelled_resume,
        cut_off_call_becomes_a_text,
        call_is_lost_in_a_cancel,
    )
}


if __name__ == "__main__":
    still_there = []
    for name in sys.argv[1:] or PROGRAMS:
        print(f"{name}: {inspect.getdoc(PROGRAMS[name])}")
        if asyncio.run(PROGRAMS[name]()):
            still_there.append(name)
    raise SystemExit(f"still there: {', '.join(still_there)}" if still_there else 0)
