"""openai-agents: input after the list of a run that waits leaves its call without a result.

pip install openai-agents==0.24.0

expected: the call has a result, or is left out as it is with a session.
it hurts: the API refuses a request in which a call has no result, so that the thread is stuck.
"""

from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

print(__doc__)

set_tracing_disabled(True)


@function_tool(needs_approval=True)
def write() -> str:
    """Write."""
    return "written"


model = ScriptedModel([[function_call("write", {}, call_id="c1")], [assistant_message("done")]])
agent = Agent("agent", model=model, tools=[write])

waiting = Runner.run_sync(agent, "write it")
print("actual: waits for:", [item.name for item in waiting.interruptions])
Runner.run_sync(agent, [*waiting.to_input_list(), {"role": "user", "content": "never mind, do this instead"}])
shown = [item.get("type", item.get("role")) for item in model.last_call.input]
print("actual: the model is shown:", shown)
raise SystemExit("still there" if "function_call" in shown and "function_call_output" not in shown else 0)
