"""Adapters for the tests of the command line: each is one way to be right, wrong or hopeless."""

import asyncio
import os

from runlock.conformance.families.lifecycle.adapter import Segment
from runlock.conformance.families.lifecycle.messages import DecisionSupport, Handshake, OfferedOutcomes
from runlock.conformance.protocol import Control, Party


class Tiny:
    """Asks the model, runs its calls one by one, and parks those that must be decided."""

    name = "tiny"
    version = "1.0"
    profile = "core"
    policies: dict = {}

    @property
    def handshake(self):
        return Handshake(
            implementation=Party(name=self.name, version=self.version),
            profile=self.profile,
            policies=self.policies,
            stimuli=["decide", "run.again"],
            tools=["allow", "ask"],
            outcomes=OfferedOutcomes(model=["turn"], tool=["ok", "error"]),
            decisions=DecisionSupport(live=False, ids=False, payload=False),
        )

    async def open(self, host, scenario):
        self.host, self.thread, self.waiting = host, [], {}
        self.tools = {tool.name: tool.permission for tool in scenario.tools}

    async def start(self, input):
        self.thread.append({"role": "user", "text": input})
        return await self.loop()

    async def decide(self, decisions):
        taken = [(self.waiting.pop(d.call), d.action) for d in decisions if d.call in self.waiting]
        for call, action in taken:
            if self.executes(action):
                await self.execute(call)
            else:
                self.answer(call, "cancelled", "rejected")
        return await self.loop() if taken else None

    def executes(self, action):
        return action == "resume"

    async def loop(self):
        while not self.waiting:
            turn = await self.host.infer(self.thread)
            calls = {call.id: call for call in turn.tool_calls}
            self.thread.append({"role": "assistant", "text": turn.text, "tool_calls": list(calls.values())})
            if not calls:
                return Segment("NaturalEnd")
            for call in calls.values():
                await self.take(call)
        return Segment("Suspended", list(self.waiting))

    async def take(self, call):
        if self.tools.get(call.name) == "ask":
            self.waiting[call.id] = call
        elif call.name in self.tools:
            await self.execute(call)
        else:
            self.answer(call, "error", "there is no such tool")

    async def execute(self, call):
        outcome = await self.host.tool(call.id, call.name, call.args)
        self.answer(call, outcome.kind, str(outcome.content))

    def answer(self, call, status, text):
        self.thread.append({"role": "tool", "call": call.id, "status": status, "text": text})


class TwoFaults(Tiny):
    """Stores each result twice, and runs rejected calls.  Breaks PAIR-3, in nearly every run, and GATE-2."""

    def executes(self, action):
        return True

    def answer(self, call, status, text):
        super().answer(call, status, text)
        super().answer(call, status, text)


class ExecutesRejected(Tiny):
    """Runs a call that was rejected.  Breaks GATE-2."""

    def executes(self, action):
        return True


class ExecutesRejectedTwice(ExecutesRejected):
    """Runs what it decides on twice.  Breaks more than one clause."""

    async def execute(self, call):
        await super().execute(call)
        await super().execute(call)


class ExecutesRejectedInRealTime(ExecutesRejected):
    """The same in a runtime that cannot know when it is at rest."""

    @property
    def handshake(self):
        return super().handshake.model_copy(update={"control": Control(settle="observed")})


class GoesNowhere(Tiny):
    """Does not wait for anything from its start.  Breaks a clause in every schedule."""

    async def start(self, input):
        return Segment("Suspended")


class Prints(ExecutesRejected):
    """Prints to standard output wherever it can."""

    async def open(self, host, scenario):
        print("{printed from Python}")
        os.write(1, b"{written to the descriptor}\n")
        await super().open(host, scenario)


class Hostile(ExecutesRejected):
    """Has a name that would colour, move and turn around what a terminal shows."""

    name = "\x1b[31mevil\x1b[0m [bold]bold[/bold] \u202eback\u202c"
    version = "1\n2\r3"


class EndsItsProcess(Tiny):
    """Ends its process where it should run a tool."""

    async def execute(self, call):
        os._exit(7)


class NeverReturns(Tiny):
    """Keeps its process where it should run a tool."""

    async def execute(self, call):
        while True:
            pass


class EndsAtOnce(Tiny):
    """Ends its process while it is made."""

    def __init__(self):
        os._exit(9)


class UnknownProfile(Tiny):
    profile = "awaken-7"


class UnknownPolicy(Tiny):
    policies = {"round.mixd": "wait"}


class UnknownValue(Tiny):
    policies = {"round.mixed": "stop"}


class _Misdeclared:
    """Half of an adapter with the verbs, which names what it takes and shows."""

    words: dict = {}

    def initialize(self, params):
        return {"implementation": {"name": "misdeclared", "version": "1"}, **self.words}

    def scenario_open(self, params):
        return {}

    run_start = settle = gate_release = scenario_close = scenario_open


class UnknownGate(_Misdeclared):
    words = {"gates": ["model", "premission"]}


class UnknownStimulus(_Misdeclared):
    words = {"stimuli": ["decide", "cancle"]}


class MisspeltObservation(_Misdeclared):
    words = {"observes": ["run.status", "call.statsu"]}


class WithoutStart:
    """Half of an adapter with the verbs."""

    def initialize(self, params):
        return {}


def raises():
    raise RuntimeError("no licence")


def gives_nothing():
    return None


class LeavesATask(Tiny):
    """Ends its runs and leaves a task of each behind."""

    async def start(self, input):
        self.left = asyncio.ensure_future(asyncio.Event().wait())
        return await super().start(input)
