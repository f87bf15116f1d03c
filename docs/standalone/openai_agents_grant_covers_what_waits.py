"""openai-agents: an approval for the rest of the run executes a call that waits, and that no one approved.

pip install openai-agents==0.24.0

expected: it stands for future calls, as its documentation says; a call that waits is still to be decided.
it hurts: the user approves one payment, and a second one, which was shown next to it, is executed too.
"""

from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

print(__doc__)
set_tracing_disabled(True)

paid = []


@function_tool(needs_approval=True)
def pay(whom: str) -> str:
    """Pay."""
    paid.append(whom)
    return "paid"


both = [function_call("pay", {"whom": whom}, call_id=call) for call, whom in (("c1", "Ann"), ("c2", "Bob"))]
agent = Agent("agent", model=ScriptedModel([both, [assistant_message("done")]]), tools=[pay])

waiting = Runner.run_sync(agent, "pay both")
print("actual: these wait:", [item.raw_item.call_id for item in waiting.interruptions])
state = waiting.to_state()
state.approve(waiting.interruptions[0], always_approve=True)
Runner.run_sync(agent, state)

print("actual: the payment to Ann was approved, and these were made:", paid)
raise SystemExit("still there" if "Bob" in paid else 0)
