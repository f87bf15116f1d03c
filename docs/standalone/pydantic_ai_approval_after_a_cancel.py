"""pydantic-ai: a run is cancelled while an approved call runs; a second approval executes the call again.

pip install pydantic-ai-slim==2.68.0

expected: the second approval is refused: the run is over, and its call was approved and begun.
it hurts: a click that comes late does once more what had been begun and stopped.
"""

import asyncio

from pydantic_ai import Agent, CancellationToken, DeferredToolRequests, DeferredToolResults, RunCancelled
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

print(__doc__)

ran = []
token = CancellationToken()


def model(messages, info):
    if len(messages) == 1:
        return ModelResponse([ToolCallPart("write", {}, tool_call_id="c1")])
    return ModelResponse([TextPart("done")])


agent = Agent(FunctionModel(model), output_type=[str, DeferredToolRequests])


@agent.tool_plain(requires_approval=True)
async def write() -> str:
    ran.append("write")
    if len(ran) == 1:
        token.cancel()
        await asyncio.Event().wait()
    return "written"


async def main():
    yes = DeferredToolResults(approvals={"c1": True})
    waits = await agent.run("write")
    try:
        await agent.run(
            message_history=waits.all_messages(), deferred_tool_results=yes, cancellation_token=token
        )
    except RunCancelled as cancelled:
        history = cancelled.all_messages()
    try:
        await agent.run(message_history=history, deferred_tool_results=yes)
    except Exception as error:
        print("actual: the second approval is refused:", error)


asyncio.run(main())
print("actual: the tool was executed", len(ran), "times")
raise SystemExit("still there" if len(ran) > 1 else 0)
