"""openai-agents: the turn that ended a run in an error is in no list, so that the next run is not shown it.

pip install openai-agents==0.24.0

expected: the items of a run that ended in an error hold the turn of the model that led to it.
it hurts: the model asked for a tool that does not exist, and is not told of it: it asks again and again.
"""

import asyncio

from agents import Agent, ModelBehaviorError, Runner, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

print(__doc__)
set_tracing_disabled(True)

model = ScriptedModel([[function_call("fly", {}, call_id="c1")], [assistant_message("done")]])
agent = Agent("agent", model=model)


async def main():
    run = Runner.run_streamed(agent, "fly")
    try:
        async for _ in run.stream_events():
            pass
    except ModelBehaviorError as error:
        print("actual: the run ends with an error:", error)
    items = run.to_input_list()
    print("actual: its items:", [one.get("type") or one.get("role") for one in items])
    return any(one.get("call_id") == "c1" for one in items)


raise SystemExit(0 if asyncio.run(main()) else "still there")
