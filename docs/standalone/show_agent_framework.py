"""What agent-framework does, with a scripted client.

A name on the command line shows one bug.

pip install agent-framework-core==1.23.0
"""

import asyncio
import inspect
import sys

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    FunctionTool,
    Message,
)


class Turns(BaseChatClient):
    """Gives its turns one after the other: text, an exception, or the ids and names of calls.

    Each ends for the reason `ends`.
    """

    ends = None

    def _inner_get_response(self, *, messages, stream, options, **more):
        return self._answer(messages)

    async def _answer(self, messages):
        self.shown = [(part.type, part.call_id or part.text) for one in messages for part in one.contents]
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        if isinstance(turn, str):
            parts = [Content.from_text(turn)]
        else:
            parts = [
                Content.from_function_call(call_id=call, name=name, arguments="{}") for call, name in turn
            ]
        return ChatResponse(messages=[Message(role="assistant", contents=parts)], finish_reason=self.ends)


class Scripted(FunctionInvocationLayer, Turns):
    """The same, with the library's layer that runs tools."""

    def __init__(self, *turns):
        super().__init__()
        self.turns, self.shown = list(turns), []

    def kinds(self, kind):
        """The ids of what it was shown last, of one kind."""
        return [call for one, call in self.shown if one == kind]


async def read() -> str:
    return "read"


async def write() -> str:
    return "written"


TOOLS = [
    FunctionTool(name="read", description="read", func=read),
    FunctionTool(name="write", description="write", func=write, approval_mode="always_require"),
]


async def repeated_id():
    """Two calls with one id in one turn give the model two results under that id.

    expected: one result for the id.
    it hurts: providers refuse a history with two results for one call, in this request and all later ones.
    """
    client = Scripted([("c1", "read"), ("c1", "read")], "done")
    await Agent(client=client, tools=TOOLS).run("read both")
    print("actual: the model is shown results for:", client.kinds("function_result"))
    return client.kinds("function_result") == ["c1", "c1"]


async def results_lost():
    """When the model breaks, the session forgets the tools that had run, and what they answered.

    expected: the second run shows the model that c1 was called, and its result.
    it hurts: the model runs the tool again: a payment that has gone out is made twice.
    """
    client = Scripted([("c1", "read")], ConnectionError("the model broke"), "done")
    agent = Agent(client=client, tools=TOOLS)
    session = agent.create_session()
    try:
        await agent.run("read it", session=session)
    except ConnectionError as error:
        print("actual: the first run:", error, "- after the results for", client.kinds("function_result"))
    await agent.run("what does it say?", session=session)
    print("actual: the second run shows the model:", client.shown)
    return not client.kinds("function_result")


async def answer_after_the_end():
    """An answer to a request that comes when the run has ended asks the model once more.

    expected: the answer is refused, and one turn of the model is left.
    it hurts: a button that is pressed twice is paid for twice, and the thread has two answers.
    """
    client = Scripted([("c1", "write")], "done", "done again")
    agent = Agent(client=client, tools=TOOLS)
    session = agent.create_session()
    waiting = await agent.run("write it", session=session)
    answer = Message("user", [waiting.user_input_requests[0].to_function_approval_response(True)])
    for _ in range(2):
        end = await agent.run(answer, session=session)
        print("actual:", end.text, "- turns of the model that are left:", len(client.turns))
    return not client.turns


async def cut_off_call_runs():
    """A call is executed although its turn ended for its length.

    expected: the call is refused with an error that the model is shown.
    it hurts: a file is written with the half of its text that the model came to.
    """
    ran = []

    async def save(text: str = "") -> str:
        ran.append(text)
        return "saved"

    client = Scripted([("c1", "save")], "done")
    client.ends = "length"
    tool = FunctionTool(name="save", description="save", func=save)
    await Agent(client=client, tools=[tool]).run("save it")
    print("actual: a turn that ended for its length, of which this ran:", ran)
    return ran == [""]


async def input_leaves_calls_out():
    """After new input to a run that waits, later runs are not shown what the model had called.

    expected: they are shown the calls, each with a result that says it did not run.
    it hurts: the model does not know any more what it called, and calls it again or says that it was done.
    """
    client = Scripted([("c1", "read"), ("c2", "write")], "done", "done again")
    agent = Agent(client=client, tools=TOOLS)
    session = agent.create_session()
    for text in ("read and write", "never mind", "what did you do?"):
        await agent.run(text, session=session)
    print("actual: the last run shows the model:", client.shown)
    return not client.kinds("function_call")


async def unknown_decision():
    """An approval for an unknown call sends a waiting run on to the model.

    expected: the approval is refused, or the run still waits for c1.
    it hurts: a mistyped or outdated id sends the run on, and the call that the user was asked about never
      runs.
    """
    client = Scripted([("c1", "write")], "done")
    agent = Agent(client=client, tools=TOOLS)
    session = agent.create_session()
    waiting = await agent.run("write it", session=session)
    print("actual: waits for:", [request.function_call.call_id for request in waiting.user_input_requests])
    call = Content.from_function_call(call_id="c9", name="write", arguments="{}")
    unknown = Content.from_function_approval_request(id="c9", function_call=call)
    await agent.run(Message("user", [unknown.to_function_approval_response(True)]), session=session)
    print("actual: turns of the model that are left:", len(client.turns))
    return not client.turns


async def calls_left_out():
    """After the answer to a request that was never made, the model is shown its turn without the calls.

    expected: the answer is refused, and the turn of the model stays whole.
    it hurts: the model does not know any more what it called, and calls it again or says that it was done.
    """
    client = Scripted([("c1", "read"), ("c2", "write")], "done")
    agent = Agent(client=client, tools=TOOLS)
    session = agent.create_session()
    await agent.run("read and write", session=session)
    call = Content.from_function_call(call_id="c1", name="nothing", arguments="{}")
    unknown = Content.from_function_approval_request(id="c1", function_call=call)
    await agent.run(Message("user", [unknown.to_function_approval_response(False)]), session=session)
    print("actual: the model is shown:", client.shown)
    return not client.turns and not client.kinds("function_call")


async def approved_unknown_tool():
    """A call of an unknown tool waits for approval with another one; both approved, it has no result.

    expected: each call gets a result; the unknown tool's is an error.
    it hurts: most providers refuse a history in which a call has no result, so that the conversation is lost.
    """
    client = Scripted([("c1", "write"), ("c2", "nothing")], "done")
    agent = Agent(client=client, tools=TOOLS)
    session = agent.create_session()
    waiting = await agent.run("write it", session=session)
    answers = [request.to_function_approval_response(True) for request in waiting.user_input_requests]
    await agent.run(Message("user", answers), session=session)
    print("actual: the model is shown calls", client.kinds("function_call"), end=" ")
    print("and results for", client.kinds("function_result"))
    return client.kinds("function_result") == ["c1"]


async def results_after_the_input():
    """Input between two approvals of one turn stands between its calls and their results.

    expected: the results follow their calls, and the input comes after them.
    it hurts: most providers refuse a history in which something stands between a call and its result.
    """
    client = Scripted([("c1", "write"), ("c2", "write")], "done")
    agent = Agent(client=client, tools=TOOLS)
    session = agent.create_session()
    first, second = (await agent.run("write both", session=session)).user_input_requests
    await agent.run(Message("user", [second.to_function_approval_response(True)]), session=session)
    await agent.run("never mind, do this instead", session=session)
    await agent.run(Message("user", [first.to_function_approval_response(True)]), session=session)
    print("actual: the model is shown:", client.shown)
    kinds = [kind for kind, _ in client.shown]
    return "text" in kinds[kinds.index("function_call") : kinds.index("function_result")]


PROGRAMS = {
    one.__name__: one
    for one in (
        repeated_id,
        results_lost,
        unknown_decision,
        calls_left_out,
        approved_unknown_tool,
        results_after_the_input,
        answer_after_the_end,
        cut_off_call_runs,
        input_leaves_calls_out,
    )
}


if __name__ == "__main__":
    still_there = []
    for name in sys.argv[1:] or PROGRAMS:
        print(f"{name}: {inspect.getdoc(PROGRAMS[name])}")
        if asyncio.run(PROGRAMS[name]()):
            still_there.append(name)
    raise SystemExit(f"still there: {', '.join(still_there)}" if still_there else 0)
