"""openai-agents: a call with the id of one in an earlier run is resumed, and the model is not shown its turn.

A name on the command line shows one bug.

pip install openai-agents==0.24.0

expected: two turns, each with its own result.
it hurts: the model works with a history in which half of what happened is missing.
"""

import sys

from agents import Agent, Runner, SQLiteSession, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

print(__doc__)

set_tracing_disabled(True)


@function_tool(needs_approval=True)
def write() -> str:
    """Write."""
    return "written"


asks = [function_call("write", {}, call_id="c1")]
ends = [assistant_message("done")]
model = ScriptedModel([asks, ends, asks, ends])
agent = Agent("agent", model=model, tools=[write])


def approved(said, session=None):
    """What a run comes to once its call is approved."""
    waiting = Runner.run_sync(agent, said, session=session)
    state = waiting.to_state()
    state.approve(waiting.interruptions[0])
    return Runner.run_sync(agent, state, session=session)


def in_a_list():
    """The list of input that a result gives is handed over with the next run."""
    first = approved("write it")
    approved([*first.to_input_list(), {"role": "user", "content": "write it again"}])


def in_a_session():
    """A session keeps what was said."""
    session = SQLiteSession("thread")
    approved("write it", session)
    approved("write it again", session)


PROGRAMS = {"in_a_list": in_a_list, "in_a_session": in_a_session}

PROGRAMS[[*sys.argv[1:], *PROGRAMS][0]]()
shown = [item.get("type", item.get("role")) for item in model.last_call.input]
print("actual: the model is shown:", shown)
alone = shown.count("function_call") == shown.count("function_call_output") == 1
raise SystemExit("still there" if alone and shown[-1] == "function_call_output" else 0)
