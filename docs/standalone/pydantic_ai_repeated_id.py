"""pydantic-ai: a turn with one id twice ends its run, and the next run shows two results under that id.

pip install pydantic-ai-slim==2.68.0

expected: one result for the id.
it hurts: providers refuse a history with two results for one call, in this request and all later ones.
"""

from pydantic_ai import Agent, UnexpectedModelBehavior, capture_run_messages
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

print(__doc__)

shown = []


def model(messages, info):
    shown[:] = messages
    if len(messages) == 1:
        return ModelResponse([ToolCallPart("read", {"what": w}, tool_call_id="c1") for w in ("a", "b")])
    return ModelResponse([TextPart("done")])


agent = Agent(FunctionModel(model))


@agent.tool_plain
def read(what: str) -> str:
    return f"read {what}"


with capture_run_messages() as history:
    try:
        agent.run_sync("read both")
    except UnexpectedModelBehavior as error:
        print("actual: the first run:", error)

agent.run_sync("again", message_history=list(history))
results = [p for message in shown for p in message.parts if p.part_kind == "tool-return"]
print("actual: the second run shows the model:", [(part.tool_call_id, part.content) for part in results])
raise SystemExit("still there" if len(results) == 2 else 0)
