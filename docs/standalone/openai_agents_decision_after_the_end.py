"""openai-agents: an approval that comes again when the run has ended asks the model once more.

A name on the command line says where the thread is kept.
"""

import sys

from agents import Agent, Runner, SQLiteSession, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

set_tracing_disabled(True)
ran = []


@function_tool(needs_approval=True)
def write() -> str:
    """Write."""
    ran.append("write")
    return "written"


model = ScriptedModel(
    [
        [function_call("write", {}, call_id="c1")],
        [assistant_message("done")],
        [assistant_message("done again")],
    ]
)
agent = Agent("agent", model=model, tools=[write])
session = {"in_a_list": None, "in_a_session": SQLiteSession("thread")}[sys.argv[1]]

waiting = Runner.run_sync(agent, "write it", session=session)
state = waiting.to_state()
state.approve(waiting.interruptions[0])
ended = Runner.run_sync(agent, state, session=session)
print("approved:", ended.final_output, "after", ran)

state = ended.to_state()
state.approve(waiting.interruptions[0])
again = Runner.run_sync(agent, state, session=session)
print("approved once more:", again.final_output, "after", ran)
raise SystemExit(0 if again.final_output == "done again" else "not seen here")
