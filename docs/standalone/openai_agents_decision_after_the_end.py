"""openai-agents: an approval that comes again when the run has ended asks the model once more.

A name on the command line shows one bug.

pip install openai-agents==0.24.0

expected: the second approval is refused, and the output stays `done`.
it hurts: a button that is pressed twice is paid for twice, and changes an answer that was final.
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


model = ScriptedModel(
    [
        [function_call("write", {}, call_id="c1")],
        [assistant_message("done")],
        [assistant_message("done again")],
    ]
)
agent = Agent("agent", model=model, tools=[write])


def approved_twice(session=None):
    """What the run comes to when its call is approved, and when it is approved again."""
    found = waiting = Runner.run_sync(agent, "write it", session=session)
    for _ in range(2):
        state = found.to_state()
        state.approve(waiting.interruptions[0])
        found = Runner.run_sync(agent, state, session=session)
        yield found.final_output


def in_a_list():
    """The state is all that is kept."""
    return list(approved_twice())


def in_a_session():
    """A session keeps what was said."""
    return list(approved_twice(SQLiteSession("thread")))


PROGRAMS = {"in_a_list": in_a_list, "in_a_session": in_a_session}

outputs = PROGRAMS[[*sys.argv[1:], *PROGRAMS][0]]()
print("actual: approved, and approved again:", outputs)
raise SystemExit("still there" if outputs == ["done", "done again"] else 0)
