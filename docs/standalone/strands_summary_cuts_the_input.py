"""strands-agents: after an overflow, what the user has just said goes into the summary.

pip install strands-agents==1.62.0

expected: the newest input of the user is shown to the model word for word until it is answered.
it hurts: the model goes on from a summary, and what the user asked for in detail is lost.
"""

import json

from strands import Agent, tool
from strands.agent.conversation_manager import SummarizingConversationManager
from strands.models.model import Model
from strands.types.exceptions import ContextWindowOverflowException

print(__doc__)


class Scripted(Model):
    """Asks for three calls, refuses four messages as too many, and then says that it is done."""

    shown: list = []

    def update_config(self, **more): ...

    def get_config(self):
        return {}

    def structured_output(self, *args, **more): ...

    async def stream(self, messages, *args, **more):
        if not self.shown:
            self.shown = list(messages)
            blocks = [({"toolUse": {"name": "read", "toolUseId": f"c{n}"}}, {}) for n in range(3)]
        elif len(messages) > 2 and len(self.shown) == 1:
            self.shown = ["refused", "once"]
            raise ContextWindowOverflowException("too long")
        else:
            self.shown = list(messages)
            blocks = [({}, "done")]
        yield {"messageStart": {"role": "assistant"}}
        for start, given in blocks:
            delta = {"text": given} if start == {} else {"toolUse": {"input": json.dumps(given)}}
            yield {"contentBlockStart": {"start": start}}
            yield {"contentBlockDelta": {"delta": delta}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if blocks[0][0] == {} else "tool_use"}}


class Summaries(Scripted):
    """Writes every summary."""

    async def stream(self, *args, **more):
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": "something was read"}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


@tool
def read() -> str:
    """Read."""
    return "read"


model = Scripted()
manager = SummarizingConversationManager(summary_ratio=0.5, preserve_recent_messages=2)
agent = Agent(model, tools=[read], conversation_manager=manager, aux_model=Summaries(), callback_handler=None)
agent("read it, and change nothing")

print("actual: the model is shown:", [(one["role"], one["content"]) for one in model.shown])
if "change nothing" not in str(model.shown):
    raise SystemExit("still there")
