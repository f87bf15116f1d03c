"""pydantic-ai: a prompt is taken while a call waits for its approval, if another call of its turn has run.

pip install pydantic-ai-slim==2.68.0

expected: the prompt is refused, as it is where no other call has run, or the approval is still taken.
it hurts: the approver says yes, and gets an error; the call is never executed.
"""

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

print(__doc__)


def model(messages, info):
    if len(messages) == 1:
        calls = [ToolCallPart("read", {}, tool_call_id="c1"), ToolCallPart("write", {}, tool_call_id="c2")]
        return ModelResponse(calls)
    return ModelResponse([TextPart("done")])


agent = Agent(FunctionModel(model), output_type=[str, DeferredToolRequests])


@agent.tool_plain
def read() -> str:
    return "read"


@agent.tool_plain(requires_approval=True)
def write() -> str:
    return "written"


def attempt(what, **given):
    try:
        done = agent.run_sync(**given)
    except UserError as error:
        print(f"actual: {what} is refused:", error)
        return None
    print(f"actual: {what} is taken:", done.output)
    return done


waits = agent.run_sync("write")
assert [call.tool_call_id for call in waits.output.approvals] == ["c2"]
said = attempt("a prompt", user_prompt="never mind", message_history=waits.all_messages())
if said is None:
    raise SystemExit(0)
approved = DeferredToolResults(approvals={"c2": True})
late = attempt("the approval after it", message_history=said.all_messages(), deferred_tool_results=approved)
raise SystemExit("still there" if late is None else 0)
