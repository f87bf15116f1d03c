"""LlamaIndex behind AG-UI: two calls with one id in one turn give the model two results under that id.

pip install llama-index-protocols-ag-ui==0.6.0 llama-index-llms-openai-like==0.8.1

expected: one result for the id.
it hurts: providers refuse a history with two results for one call, in this request and all later ones.
"""

import asyncio

from ag_ui.core import RunAgentInput
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.core.llms.llm import ToolSelection
from llama_index.llms.openai_like import OpenAILike
from llama_index.protocols.ag_ui.agent import AGUIChatWorkflow

print(__doc__)

CALL = ToolCallBlock(tool_call_id="c1", tool_name="read", tool_kwargs={})
TURNS = [
    ChatMessage(role="assistant", blocks=[CALL, CALL]),
    ChatMessage(role="assistant", content="done"),
]
SHOWN = []  # to the model, with its last request: the ids of results


class Scripted(OpenAILike):
    """Gives its turns one after the other."""

    async def astream_chat_with_tools(self, tools, chat_history=None, **more):
        SHOWN[:] = [one.additional_kwargs["tool_call_id"] for one in chat_history if one.role.value == "tool"]

        async def answer():
            yield ChatResponse(message=TURNS.pop(0), delta="")

        return answer()

    def get_tool_calls_from_response(self, response, **more):
        calls = [one for one in response.message.blocks if isinstance(one, ToolCallBlock)]
        return [ToolSelection(tool_id=one.tool_call_id, tool_name="read", tool_kwargs={}) for one in calls]


def read() -> str:
    """Read."""
    return "read"


async def main():
    fixed = {"tools": [], "context": [], "state": {}, "forwardedProps": {}}
    said = [{"id": "u1", "role": "user", "content": "read both"}]
    asked = RunAgentInput.model_validate({"threadId": "t", "runId": "r", "messages": said, **fixed})
    model = Scripted(model="any", api_key="any", is_chat_model=True, is_function_calling_model=True)
    handler = AGUIChatWorkflow(llm=model, backend_tools=[read]).run(input_data=asked)
    async for _ in handler.stream_events():
        pass
    await handler
    print("actual: the model is shown results for:", SHOWN)
    return SHOWN == ["c1", "c1"]


raise SystemExit("still there" if asyncio.run(main()) else 0)
