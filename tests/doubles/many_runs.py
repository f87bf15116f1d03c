"""Many runs of the reference in one process and one store, all suspended at once, then decided."""

import asyncio
import random
from types import SimpleNamespace

from runlock.machines.lifecycle.runtime.choices import policies_of
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.state import Decision
from runlock.machines.lifecycle.runtime.store import Store

TOOLS = {
    "read": {"permission": "allow", "resume_mode": "replay"},
    "write": {"permission": "ask", "resume_mode": "replay"},
}
ASKED = (("c1", "read"), ("c2", "write"), ("c3", "write"))
WAITING = ("c2", "c3")
RUN = "r1"


class World:
    """The outside world of one thread; `entered` is what its tools were made to do."""

    def __init__(self, thread, store):
        self.thread, self.store = thread, store
        self.entered = []

    async def infer(self, messages, step, request, streams):
        """One round, then the last words."""
        asked = ASKED if len(messages) == 1 else ()
        calls = [SimpleNamespace(id=call, name=name, args={"k": call}) for call, name in asked]
        usage = SimpleNamespace(input=1, output=1)
        return SimpleNamespace(text=self.thread, tool_calls=calls, usage=usage, stop=None)

    async def execute(self, call, name, args, resume, tells):
        """A result that says whose it is."""
        self.entered.append(call)
        return SimpleNamespace(kind="ok", content=f"{self.thread} {call}", message=None)

    async def commit(self, trigger, cause, force, state):
        """Into the store that all share."""
        self.store.put(self.thread, RUN, trigger, cause, state)

    def observe(self, kind, **fields):
        """No one watches."""

    def refuse(self, why, decision):
        """Every decision is good."""
        raise AssertionError(f"decision {decision} was refused: {why}")

    def now_ms(self):
        """Time stands still."""
        return 0


class Crowd:
    """This many runs, each on a thread of its own, in one process."""

    def __init__(self, size, path, profile="awaken-9"):
        self.store = Store(path)
        self.policies = policies_of(profile, {})
        self.runtimes = {f"t{number}": None for number in range(size)}

    async def suspend(self):
        """Start every run; each comes to wait for its decisions."""
        for thread in self.runtimes:
            runtime = Runtime(World(thread, self.store), TOOLS, [], self.policies)
            self.runtimes[thread] = runtime
            await runtime.start(f"hello from {thread}")

    def suspended(self):
        """How many wait, in memory and in the store."""
        return sum(
            runtime.state.status == self.store.last(thread)["run"]["status"] == "Waiting"
            for thread, runtime in self.runtimes.items()
        )

    async def decide(self, seed):
        """Every decision, those of all runs shuffled; all of one moment are under way together."""
        due = [(thread, call) for thread in self.runtimes for call in WAITING]
        random.Random(seed).shuffle(due)
        for start in range(0, len(due), 50):
            await asyncio.gather(*(self._decide(*one) for one in due[start : start + 50]))

    async def _decide(self, thread, call):
        await self.runtimes[thread].decide([Decision(f"d-{call}", call, "resume")])

    def wrong(self):
        """What was lost, run twice, mixed up or left behind, in memory and in the store."""
        for thread, runtime in self.runtimes.items():
            right = [("read", f"{thread} c1"), ("write", f"{thread} c2"), ("write", f"{thread} c3")]
            names = dict(ASKED)
            kept = self.store.last(thread, RUN)
            said = sorted((names[m["call"]], m["text"]) for m in kept["messages"] if m["role"] == "tool")
            if kept != runtime.state.to_checkpoint() or kept["run"]["status"] != "Done":
                yield f"{thread} is stored as {kept['run']}, and is {runtime.state.status}"
            if sorted(runtime.world.entered) != [call for call, _ in ASKED]:
                yield f"{thread} entered {runtime.world.entered}"
            if said != right:
                yield f"{thread} has the results {said}"

    def close(self):
        """Give the file back."""
        self.store.close()
