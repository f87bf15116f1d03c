"""A life of the reference in a scripted outside world, with a journal of what happened in it."""

import asyncio
import contextlib
import hashlib
import json
import os
from dataclasses import dataclass, field
from types import SimpleNamespace

from runlock.machines.lifecycle.runtime.choices import policies_of
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.state import Decision
from runlock.machines.lifecycle.runtime.store import Store

THREAD, RUN = "t1", "r1"


@dataclass(frozen=True)
class Case:
    """The reference under a profile, with other policies."""

    profile: str
    policies: dict[str, str] = field(default_factory=dict)
    runtime: type = Runtime
    store: type = Store

    @property
    def by_call(self):
        """Whether only what is in flight may be lost."""
        return self.policies.get("durability") == "call"

    @property
    def one_by_one(self):
        """Whether one call is executed after the other."""
        return self.policies.get("round.executor") == "sequential"


TOOLS = {
    "read": {"permission": "allow", "resume_mode": "replay"},
    "write": {"permission": "ask", "resume_mode": "replay"},
    "look": {"permission": "gate", "resume_mode": "replay"},
    "send": {"permission": "allow", "resume_mode": "replay"},  # answers pending until it is resumed
    "fill": {"permission": "ask", "resume_mode": "use_as_result"},
}
SCRIPT = (
    (("c1", "read"), ("c2", "write"), ("c3", "send"), ("c4", "look")),
    (("c5", "fill"), ("c6", "write"), ("c7", "read")),
    (),
)
REJECTED = "c6"


class Journal:
    """What happened outside, one line each, flushed before anything else happens."""

    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(self.file, b"\n")  # a death in the middle of a line leaves half of one

    def note(self, what, *about):
        """Append a line."""
        os.write(self.file, json.dumps([what, *about]).encode() + b"\n")
        os.fsync(self.file)

    def close(self):
        """Give the file back."""
        os.close(self.file)


class World:
    """Follows the script, and notes what the runtime makes it do."""

    def __init__(self, store, journal):
        self.store, self.journal = store, journal

    async def infer(self, messages, step, request, streams):
        """The next turn of the script is the one after those that the thread shows."""
        self.journal.note("ask", step)
        await asyncio.sleep(0)
        turn = sum(message["role"] == "assistant" for message in messages)
        asked = SCRIPT[min(turn, len(SCRIPT) - 1)]  # where it is asked while calls wait, it adds nothing
        calls = [SimpleNamespace(id=call, name=name, args={"k": call}) for call, name in asked]
        usage = SimpleNamespace(input=1, output=1)
        return SimpleNamespace(text="", tool_calls=calls, usage=usage, stop=None)

    async def permit(self, call, name, args, resume):
        """Whatever asks may go on."""
        await asyncio.sleep(0)
        return SimpleNamespace(kind="allow", content=None, message=None)

    async def execute(self, call, name, args, resume, tells):
        """A body that takes the longer the earlier it was asked for, so that the last one ends first."""
        entry = [call, resume and resume["decision"]]
        self.journal.note("enter", *entry)
        for _ in range(9 - int(call[1:])):
            await asyncio.sleep(0)
        self.journal.note("finish", *entry)
        kind = "pending" if name == "send" and resume is None else "ok"
        return SimpleNamespace(kind=kind, content=f"<{call}>", message=None)

    async def commit(self, trigger, cause, force, state):
        """Into the store, noted before and after."""
        self.journal.note("put", digest(state))
        self.store.put(THREAD, RUN, trigger, cause, state)
        self.journal.note("kept", digest(state))

    def observe(self, kind, **fields):
        """No one watches."""

    def refuse(self, why, decision):
        """Every decision is taken: one that was taken before, and forgotten, would be refused."""
        raise AssertionError(f"decision {decision} was refused: {why}")

    def now_ms(self):
        """Time stands still."""
        return 0


def digest(state):
    """What tells one state from another."""
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()[:16]


async def live(folder, case):
    """One life: begin, or go on from the store, and decide two calls at a time until the run is Done."""
    with contextlib.ExitStack() as held:
        store = held.enter_context(contextlib.closing(case.store(folder / "runs.sqlite")))
        journal = held.enter_context(contextlib.closing(Journal(folder / "journal")))
        found = store.last(THREAD, RUN)
        journal.note("born", found)
        policies = policies_of(case.profile, case.policies)
        runtime = case.runtime(World(store, journal), TOOLS, [], policies)
        if found is None:
            await runtime.start("hello")
        else:
            runtime.restore(found)
            await runtime.go_on()
        while waiting := runtime.state.in_status("Suspended"):
            await runtime.decide([_decision(call) for call in waiting[:2]])
        journal.note("over", runtime.state.to_checkpoint())


def _decision(call):
    action = "cancel" if call.id == REJECTED else "resume"
    return Decision(f"d-{call.id}-{call.suspension}", call.id, action, f"<{call.id}>")
