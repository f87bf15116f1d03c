"""Small agents with nothing declared: they limit the time of a tool, shorten their thread, or end a round."""

import asyncio

from runlock.conformance.adapter import DecisionSupport, Handshake, OfferedOutcomes, Party, Segment


class Agent:
    """Asks, executes one call after the other, and asks again."""

    handshake = Handshake(
        implementation=Party(name="short-agent", version="1"),
        stimuli=["cancel", "run.again", "clock.advance", "deliver"],
        tools=["allow"],
        outcomes=OfferedOutcomes(model=["turn"], tool=["ok", "error"]),
        decisions=DecisionSupport(live=False, ids=False, payload=False),
    )

    async def open(self, host, scenario):
        self.host, self.thread, self.task = host, [], None

    async def start(self, input):
        self.thread.append({"role": "user", "text": input})
        self.task = asyncio.ensure_future(self.loop())
        try:
            return await self.task
        except asyncio.CancelledError:
            return Segment("Cancelled")

    async def cancel(self):
        self.task.cancel()

    async def loop(self):
        while True:
            turn = await self.host.infer(self.shortened())
            self.thread.append({"role": "assistant", "text": turn.text, "tool_calls": turn.tool_calls})
            if not turn.tool_calls:
                return Segment("NaturalEnd")
            await self.round(turn.tool_calls)

    def shortened(self):
        return self.thread

    async def round(self, calls):
        for call in calls:
            await self.execute(call)

    async def execute(self, call):
        outcome = await self.host.tool(call.id, call.name, call.args)
        self.answer(call, outcome.kind, str(outcome.content))

    def answer(self, call, status, text):
        self.thread.append({"role": "tool", "call": call.id, "status": status, "text": text})


class Limits(Agent):
    """A tool has two seconds."""

    async def execute(self, call):
        try:
            async with asyncio.timeout(2):
                await super().execute(call)
        except TimeoutError:
            self.answer(call, "error", "it took too long")


class LimitsTheWait(Agent):
    """The wait for a tool has two seconds, and the tool goes on."""

    async def execute(self, call):
        body = asyncio.ensure_future(self.host.tool(call.id, call.name, call.args))
        done, _ = await asyncio.wait([body], timeout=2)
        self.answer(call, "ok" if done else "error", str(body.result().content) if done else "too long")


class SumsUp(Agent):
    """Of more than six messages all but the newest round give way to a note."""

    def shortened(self):
        if len(self.thread) > 6:
            self.thread = [
                {"role": "user", "text": "What came before, in short."},
                *self.thread[self.cut() :],
            ]
        return self.thread

    def cut(self):
        return max(at for at, message in enumerate(self.thread) if message["role"] == "assistant")


class SumsUpHalfARound(SumsUp):
    """All but the newest message."""

    def cut(self):
        return len(self.thread) - 1


class EndsTheRound(Agent):
    """What comes after a failed call of a round is left out."""

    async def round(self, calls):
        for at, call in enumerate(calls):
            await self.execute(call)
            if self.thread[-1]["status"] == "error":
                for left in calls[at + 1 :]:
                    self.answer(left, "cancelled", "left out")
                return


class EndsEveryOtherRound(EndsTheRound):
    """It does so in every other round."""

    rounds = 0

    async def round(self, calls):
        self.rounds += 1
        await (EndsTheRound if self.rounds % 2 else Agent).round(self, calls)
