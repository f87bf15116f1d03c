"""Small agents with nothing declared: they limit the time of a tool, shorten their thread, or end a round."""

import asyncio

from runlock.conformance.adapter import (
    DecisionSupport,
    Handshake,
    ModelFault,
    OfferedOutcomes,
    Party,
    Segment,
)


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


class Refuses(Agent):
    """Refuses what was cut off and what does not parse, and asks the model once more if its stream breaks."""

    handshake = Agent.handshake.model_copy(
        update={
            "policies": {"turn.cut": "refused"},
            "outcomes": OfferedOutcomes(
                model=["turn", "fault", "length", "malformed", "delta"], tool=["ok", "error"]
            ),
        }
    )

    async def loop(self):
        while True:
            turn = await self.ask()
            self.thread.append({"role": "assistant", "text": turn.text, "tool_calls": self.asked(turn)})
            if not turn.tool_calls:
                return Segment("NaturalEnd")
            await self.round_of(turn)

    async def ask(self):
        try:
            return await self.host.infer(self.thread)
        except ModelFault:
            return await self.host.infer(self.thread)

    def asked(self, turn):
        return turn.tool_calls

    async def round_of(self, turn):
        for call in turn.tool_calls:
            is_cut = turn.stop == "length" and call is turn.tool_calls[-1]
            if is_cut or isinstance(call.args, str):
                self.answer(call, "error", "It was cut off.")
            else:
                await self.execute(call)


class ReadsNoStop(Refuses):
    """Executes the calls of each turn as they stand."""

    async def round_of(self, turn):
        await self.round(turn.tool_calls)


class EmptiesArguments(Refuses):
    """Arguments that do not parse are none."""

    async def execute(self, call):
        args = {} if isinstance(call.args, str) else call.args
        outcome = await self.host.tool(call.id, call.name, args)
        self.answer(call, outcome.kind, str(outcome.content))

    async def round_of(self, turn):
        await self.round(turn.tool_calls)


class KeepsPieces(Refuses):
    """What was streamed before a stream broke stays in the thread."""

    async def ask(self):
        pieces = []
        try:
            return await self.host.infer(self.thread, delta=pieces.append)
        except ModelFault:
            calls = [piece.tool_call for piece in pieces if piece.tool_call is not None]
            text = "".join(piece.text for piece in pieces)
            self.thread.append({"role": "assistant", "text": text, "tool_calls": calls})
            for call in calls:
                self.answer(call, "error", "The stream broke.")
            return await self.host.infer(self.thread)


class Asks(Agent):
    """A tool waits for a decision, which those who watch are shown, also a watcher that comes later."""

    handshake = Agent.handshake.model_copy(
        update={
            "policies": {"wait.reshown": "yes"},
            "tools": ["ask"],
            "stimuli": ["decide", "run.again", "watch"],
            "observes": ["call.shown", "event"],
        }
    )

    async def open(self, host, scenario):
        await super().open(host, scenario)
        self.waiting, self.watcher = {}, None

    async def round(self, calls):
        for call in calls:
            self.waiting[call.id] = call
            self.show(call)

    async def loop(self):
        while not self.waiting:
            turn = await self.host.infer(self.thread)
            self.thread.append({"role": "assistant", "text": turn.text, "tool_calls": turn.tool_calls})
            if not turn.tool_calls:
                return Segment("NaturalEnd")
            await self.round(turn.tool_calls)
        return Segment("Suspended", list(self.waiting))

    async def decide(self, decisions):
        for decision in decisions:
            call = self.waiting.pop(decision.call)
            if decision.action == "resume":
                await self.execute(call)
            else:
                self.answer(call, "cancelled", "Rejected.")
        return await self.loop()

    def watch(self, watcher, stream):
        self.watcher = watcher
        for call in self.waiting.values():
            self.show(call)

    def unwatch(self):
        self.watcher = None

    def show(self, call):
        self.host.observe("call.shown", call=call.id, name=call.name, args=call.args)


class AsksOnce(Asks):
    """A newcomer is shown nothing."""

    def watch(self, watcher, stream):
        self.watcher = watcher


class TellsAgain(AsksOnce):
    """A watcher that comes later is sent an event for what waits."""

    def watch(self, watcher, stream):
        self.watcher = watcher
        waiting = [{"toolCallId": call.id} for call in self.waiting.values()]
        self.host.observe("event", stream=stream, name="approvals", data={"open": waiting}, watcher=watcher)
