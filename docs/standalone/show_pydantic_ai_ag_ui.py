"""What pydantic-ai does with the answers of a client of AG-UI, with a scripted model.

A name on the command line shows one bug.

pip install pydantic-ai-slim==2.68.0 ag-ui-protocol==1.0.0
"""

import asyncio
import inspect
import json
import sys

from pydantic_ai import Agent, DeferredToolRequests, ModelRetry
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.ui.ag_ui import AGUIAdapter

TURNS = []  # of the model: a text, or the ids of calls, of `write` unless they name another tool
SHOWN = []  # to the model, with its last request: calls, and results of calls
HISTORY = []
RAN = []
USER = {"id": "u1", "role": "user", "content": "go"}


async def model(messages, info):
    parts = [part for message in messages for part in message.parts]
    HISTORY[:] = messages
    SHOWN[:] = [f"{one.part_kind} {one.tool_call_id}" for one in parts if one.part_kind.startswith("tool-")]
    turn = TURNS.pop(0)
    if isinstance(turn, str):
        yield turn
    else:
        asked = [(one, "write") if isinstance(one, str) else one for one in turn]
        made = [DeltaToolCall(name, json.dumps({"k": call}), tool_call_id=call) for call, name in asked]
        yield dict(enumerate(made))


agent = Agent(FunctionModel(stream_function=model), output_type=[str, DeferredToolRequests])


@agent.tool_plain(requires_approval=True)
def write(k: str) -> str:
    RAN.append(k)
    return "written"


@agent.tool_plain
def read(k: str) -> str:
    raise ModelRetry(f"there is no file {k}")


async def events(name, messages, resume=()):
    """Send a request; gives its events."""
    ids = {"threadId": "thread", "runId": name, "protocolVersion": "1.0"}
    fixed = {"tools": [], "context": [], "state": {}, "forwardedProps": {}}
    body = {**ids, **fixed, "messages": messages, "resume": list(resume)}
    served = AGUIAdapter(agent, AGUIAdapter.build_run_input(json.dumps(body).encode()))
    return [one.model_dump(mode="json", by_alias=True) async for one in served.run_stream()]


async def run(name, messages, resume=()):
    """Send a request; gives how its run ended, and the interrupts of that end by their calls."""
    ended = (await events(name, messages, resume))[-1]
    outcome = ended.get("outcome") or {}
    print(f"actual: the run {name} ends with {ended['type']}, outcome", outcome.get("type"))
    return outcome.get("type"), {one["toolCallId"]: one["id"] for one in outcome.get("interrupts") or ()}


def asked(*calls):
    """The message of the assistant that asks for calls, as a client keeps it."""
    made = [{"name": "write", "arguments": json.dumps({"k": call})} for call in calls]
    pairs = zip(calls, made, strict=True)
    return {
        "id": "a1",
        "role": "assistant",
        "toolCalls": [{"id": call, "type": "function", "function": function} for call, function in pairs],
    }


async def left_out_is_given_up():
    """Two calls wait, and a resume approves one: the other is taken out, and the run ends as a success.

    expected: an error, or a run that ends with the interrupt again that the resume did not answer.
    it hurts: the call that a person was still to decide on is gone, also from what the model is shown.
    """
    TURNS[:] = [["c1", "c2"], "done"]
    _, interrupts = await run("r1", [USER])
    yes = {"interruptId": interrupts["c1"], "status": "resolved", "payload": {"approved": True}}
    outcome, _ = await run("r2", [USER, asked("c1", "c2")], [yes])
    print("actual: c1 and c2 waited, c1 was approved; the model is shown:", SHOWN, "and ran:", RAN)
    return outcome == "success" and RAN == ["c1"] and "tool-return c1" in SHOWN


async def asked_again_without_an_answer():
    """A call waits, and a request brings neither an answer nor a new message: the model is asked at once.

    expected: an error, or a run that ends with the same interrupt.
    it hurts: a page that was loaded again loses the approval that it was to show, and the model goes on.
    """
    TURNS[:] = [["c1"], "I did not."]
    await run("r1", [USER])
    outcome, _ = await run("r2", [USER, asked("c1")])
    print("actual: c1 waited, and nothing was decided; the model was asked, and shown:", SHOWN)
    return outcome == "success" and not TURNS


async def words_of_the_last_failure():
    """A tool that fails in two rounds ends the run, and the stream does not say what it said the second time.

    expected: the result of the second call is "there is no file c2".
    it hurts: what the client keeps, and the model is shown later, does not say why the call failed.
    """
    TURNS[:] = [[("c1", "read")], [("c2", "read")]]
    seen = {one["toolCallId"]: one for one in await events("r1", [USER]) if one["type"] == "TOOL_CALL_RESULT"}
    for call, one in seen.items():
        print(f"actual: the result of {call} is:", one["content"])
    return "c2" in seen and "no file" not in seen["c2"]["content"]


async def two_turns_become_one():
    """A call has no result in what a client sends: its turn and the next one are shown to the model as one.

    expected: the turn with the call, a result that says that it was cut off, and then the turn with the text.
    it hurts: after a crash the model is shown that it asked for a call and answered the user in one breath.
    """
    TURNS[:] = ["done"]
    written = {"id": "a2", "role": "assistant", "content": "written"}
    await run("r1", [USER, asked("c1"), written, {"id": "u2", "role": "user", "content": "and now?"}])
    turns = [[part.part_kind for part in one.parts] for one in HISTORY if one.kind == "response"]
    print("actual: the client sent two turns; the model is shown these:", turns)
    return turns == [["tool-call", "text"]]


async def one_call_two_names():
    """Two calls with one id in one turn are opened on the stream as one call, with two names.

    expected: an id for each call, or an error.
    it hurts: a client that gathers a call by its id shows the arguments of one under the name of the other.
    """
    TURNS[:] = [[("c1", "write"), ("c1", "read")]]
    stream = await events("r1", [USER])
    opened = [(one["toolCallId"], one["toolCallName"]) for one in stream if one["type"] == "TOOL_CALL_START"]
    print("actual: the stream opens:", opened)
    return opened == [("c1", "write"), ("c1", "read")]


PROGRAMS = {
    one.__name__: one
    for one in (
        left_out_is_given_up,
        asked_again_without_an_answer,
        words_of_the_last_failure,
        two_turns_become_one,
        one_call_two_names,
    )
}


async def main():
    still_there = []
    for name in sys.argv[1:] or PROGRAMS:
        print(f"{name}: {inspect.getdoc(PROGRAMS[name])}")
        RAN.clear()
        if await PROGRAMS[name]():
            still_there.append(name)
    raise SystemExit(f"still there: {', '.join(still_there)}" if still_there else 0)


if __name__ == "__main__":
    asyncio.run(main())
