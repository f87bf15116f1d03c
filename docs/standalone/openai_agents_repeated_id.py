"""openai-agents: a call with the id of one in an earlier run is resumed, and the model is not shown its turn.

With `session` on the command line the thread is kept in a session, and else in the list of input.
"""

import sys

from agents import Agent, Runner, SQLiteSession, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

set_tracing_disabled(True)


@function_tool(needs_approval=True)
def write() -> str:
    """Write."""
    return "written"


asks, ends = [function_call("write", {}, call_id="c1")], [assistant_message("done")]
model = ScriptedModel([asks, ends, asks, ends])
agent = Agent("agent", model=model, tools=[write])


session = SQLiteSession("thread") if "session" in sys.argv else None


def approved(said):
    """What a run comes to once its call is approved."""
    waiting = Runner.run_sync(agent, said, session=session)
    state = waiting.to_state()
    state.approve(waiting.interruptions[0])
    return Runner.run_sync(agent, state, session=session)


first, again = approved("write it"), "write it again"
approved(again if session else [*first.to_input_list(), {"role": "user", "content": again}])
shown = [item.get("type", item.get("role")) for item in model.last_call.input]
print("the model is shown:", shown)
calls, results = shown.count("function_call"), shown.count("function_call_output")
raise SystemExit(0 if calls == results == 1 and shown[-1] == "function_call_output" else "not seen here")
