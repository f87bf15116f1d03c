"""A world for the reference message loop in which every wait is a gate that the test releases by its name."""

import asyncio
from copy import deepcopy
from types import SimpleNamespace

from runlock.machines.message_loop.runtime.choices import policies_of
from runlock.machines.message_loop.runtime.loop import MessageLoop, Start
from runlock.machines.message_loop.runtime.records import HookSpec, Settings, StageSpec
from runlock.machines.message_loop.runtime.world import ToolRaised, WorldFault

TURNS = 60
"""Turns of the event loop after which nothing of these tests can move."""


def call(id, name="t0", **args):
    """A call as the model asks for it."""
    return SimpleNamespace(id=id, name=name, args=args or {"k": id})


class LoopWorld:
    """Gates by name, and everything that the loop showed."""

    def __init__(self, held=()):
        self.held = set(held)
        self.gates = {}
        self.shown = {}
        self.opened = []
        self.events = []
        self.messages = []
        self.commits = []
        self.statuses = []

    async def stream(self, request, stage):
        name = self._name("model", stage)
        queue = self._open(name, deepcopy(request))
        try:
            while True:
                part = await queue.get()
                if isinstance(part, Exception):
                    raise part
                yield part
                if part.kind == "turn":
                    return
        finally:
            self.gates.pop(name, None)

    async def tool(self, call, name, args, stage):
        return await self._wait(self._name(f"tool:{call}", stage), {"name": name, "args": deepcopy(args)})

    async def ask(self, interactor, prompt):
        return await self._wait(f"prompt:{prompt['call']}:{interactor}", prompt)

    async def hook(self, hook, data, call, stage):
        name = f"hook:{hook}:{call}" if call else f"hook:{hook}"
        return await self._wait(self._name(name, stage), data)

    async def judge(self, call, name, args, stage):
        return (await self._wait(f"sm:{call}", {"name": name, "args": args})).kind

    async def context(self, provider, budget, stage):
        return (await self._wait(f"context:{provider}", {"budget": budget})).slices

    async def check(self, stage, transcript, cap_hit):
        return await self._wait(f"assert:{stage}", {"transcript": deepcopy(transcript), "cap_hit": cap_hit})

    async def commit(self, trigger, cause, force, state, stage):
        if cause in self.held:
            await self._wait(f"store:{cause}", state)
        self.commits.append((trigger, cause, state))

    def event(self, name, data):
        self.events.append((name, dict(data)))

    def message(self, message, transcript, stage):
        self.messages.append((transcript, message))

    def status(self, kind, fields):
        self.statuses.append((kind, fields))

    def _name(self, name, stage):
        return f"{name}@{stage}" if stage else name

    def _open(self, name, shown):
        queue = asyncio.Queue()
        self.gates[name], self.shown[name] = queue, shown
        self.opened.append(name)
        return queue

    async def _wait(self, name, shown):
        queue = self._open(name, shown)
        try:
            answer = await queue.get()
        finally:
            self.gates.pop(name, None)
        if isinstance(answer, Exception):
            raise answer
        return answer


class LoopTalk:
    """Drives a loop from outside, one stimulus after the other."""

    def __init__(self, policies=None, held=(), make=MessageLoop, hooks=(), stages=None, **settings):
        specs = tuple(HookSpec(*hook) for hook in hooks)
        made = {name: StageSpec(f"do {name}", **spec) for name, spec in (stages or {}).items()}
        given = {"tools": {"t0": True, "t1": True}, "interactors": ("i1",), **settings}
        self.world = LoopWorld(held)
        self.loop = make(
            self.world,
            Settings(hooks=specs, stages=made, **given),
            policies_of("message-loop-core", policies or {}),
        )
        self.events = asyncio.new_event_loop()
        self.turn = None

    def close(self):
        """End what still runs."""
        for task in asyncio.all_tasks(self.events):
            task.cancel()
        self._settle()
        self.events.close()

    def start(self, input="hello", **what):
        """Begin a turn; gives the names of the open gates."""
        start = Start(**what) if what else Start(input)
        self.turn = self.events.create_task(self.loop.start(start))
        return self._settle()

    def release(self, name, kind="ok", **fields):
        """Answer a gate; gives the names of the open gates."""
        blank = {"content": None, "message": None, "scope": "once", "data": None, "slot": None}
        self.world.gates[name].put_nowait(SimpleNamespace(**{**blank, "kind": kind, **fields}))
        return self._settle()

    def respond(self, *calls, text="done", gate="model", terminal=False):
        """The model answers with the whole response."""
        return self.release(gate, "turn", text=text, tool_calls=list(calls), terminal=terminal)

    def say(self, text, gate="model"):
        """The model sends a beginning of its text."""
        return self.release(gate, "delta", text=text)

    def fault(self, name):
        """The outside world breaks at a gate."""
        self.world.gates[name].put_nowait(WorldFault("broke"))
        return self._settle()

    def throw(self, name):
        """The body of a tool throws."""
        self.world.gates[name].put_nowait(ToolRaised("thrown"))
        return self._settle()

    def cancel(self):
        """The user interrupts."""
        self.events.create_task(self.loop.cancel())
        return self._settle()

    def gone(self, interactor):
        """An interactor goes."""
        self.events.create_task(self.loop.gone(interactor))
        return self._settle()

    @property
    def reason(self):
        """Why the turn ended, or None while it runs."""
        return self.turn.result() if self.turn.done() else None

    @property
    def history(self):
        """The session history in short: role, and the text, the calls or the status of the result."""
        return [_short(message) for message in self.loop.history]

    def names(self, *wanted):
        """The names of the events so far, of these kinds if any are named."""
        return [name for name, _ in self.world.events if not wanted or name in wanted]

    def _settle(self):
        async def spin():
            for _ in range(TURNS):
                await asyncio.sleep(0)

        self.events.run_until_complete(spin())
        return sorted(self.world.gates)


def _short(message):
    if message["role"] == "tool":
        return message["call"], message["status"]
    asked = [one["id"] for one in message.get("tool_calls", ())]
    return (message["role"], asked) if asked else (message["role"], message["text"])
