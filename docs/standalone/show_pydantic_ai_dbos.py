"""What pydantic-ai does on DBOS, with a scripted model.

A name on the command line shows one bug.

pip install pydantic-ai-slim==2.68.0 dbos==3.4.0
"""

import asyncio
import inspect
import sys
import tempfile

from dbos import DBOS
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, capture_run_messages
from pydantic_ai.durable_exec.dbos import DBOSDurability
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

TURNS = []  # of the model: a text, or the ids and names of calls
SHOWN = []  # to the model, with its last request
RAN = []


def model(messages, info):
    SHOWN[:] = [part for message in messages for part in message.parts]
    turn = TURNS.pop(0)
    if isinstance(turn, str):
        return ModelResponse([TextPart(turn)])
    return ModelResponse([ToolCallPart(name, {}, tool_call_id=call) for call, name in turn])


agent = Agent(
    FunctionModel(model),
    name="agent",
    output_type=[str, DeferredToolRequests],
    capabilities=[DBOSDurability()],
)


@agent.tool
@DBOS.step()
async def read(ctx):
    RAN.append(ctx.tool_call_id)
    return "read"


@agent.tool(requires_approval=True)
@DBOS.step()
async def write(ctx):
    RAN.append(ctx.tool_call_id)
    return "written"


@DBOS.workflow()
async def go(text, history, results=None):
    """A run of the agent; gives its messages, and what it asks for or its error."""
    with capture_run_messages() as messages:
        try:
            done = await agent.run(text, message_history=history, deferred_tool_results=results)
        except UserError:
            raise
        except Exception as error:
            return [*messages], error
    return done.all_messages(), done.output


def results():
    """The results that the model was shown last."""
    return [(part.tool_call_id, part.content) for part in SHOWN if part.part_kind == "tool-return"]


async def input_while_waiting(turn):
    """What a new prompt does to a run that waits for the approval of c1, and what its approval does then."""
    TURNS[:] = [turn, "never minded", "done"]
    history, _ = await go("go", [])
    try:
        history, _ = await go("never mind", history)
    except UserError as error:
        return f"refused: {str(error)[:75]} ..."
    try:
        await go(None, history, DeferredToolResults(approvals={"c1": True}))
    except UserError as error:
        return f"taken; the model is shown {results()}; and the approval is refused: {error}"
    return f"taken; the approval runs {RAN}"


async def approval_is_lost():
    """A new prompt is refused while c1 waits, but taken if another call of its turn has run.

    expected: the prompt is refused in both cases, as `repair_messages` documents, or taken in both.
    it hurts: the approval that the user was asked for is given, and is refused.
    """
    alone = await input_while_waiting([("c1", "write")])
    print("actual: c1 alone:", alone)
    after = await input_while_waiting([("c0", "read"), ("c1", "write")])
    print("actual: c0 has run:", after)
    return alone.startswith("refused") and "approval is refused" in after


async def repeated_id():
    """A turn with one id twice ends its run, and the next run shows two results under that id.

    expected: one result for the id.
    it hurts: providers refuse a history with two results for one call, in this request and all later ones.
    """
    TURNS[:] = [[("c1", "read"), ("c1", "read")], "done"]
    history, error = await go("read both", [])
    print("actual: the first run:", error)
    await go("again", history)
    print("actual: the second run shows the model:", results())
    return len(results()) == 2


PROGRAMS = {one.__name__: one for one in (approval_is_lost, repeated_id)}


async def main():
    with tempfile.TemporaryDirectory() as folder:
        DBOS(
            config={
                "name": "show",
                "system_database_url": f"sqlite:///{folder}/dbos",
                "log_level": "CRITICAL",
            }
        )
        DBOS.launch()
        still_there = []
        for name in sys.argv[1:] or PROGRAMS:
            print(f"{name}: {inspect.getdoc(PROGRAMS[name])}")
            if await PROGRAMS[name]():
                still_there.append(name)
        DBOS.destroy()
        raise SystemExit(f"still there: {', '.join(still_there)}" if still_there else 0)


if __name__ == "__main__":
    asyncio.run(main())
