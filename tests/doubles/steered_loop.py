"""A loop that takes messages while it is at work, and its wrong versions; it takes no live decisions."""

from runlock.conformance.adapter import DecisionSupport, Handshake, OfferedOutcomes, Party, Refused, Segment


class Steered:
    """Keeps messages in a queue, and shows all of it before each inference."""

    handshake = Handshake(
        implementation=Party(name="steered", version="1"),
        stimuli=["cancel", "run.input", "run.again", "deliver"],
        tools=["allow"],
        outcomes=OfferedOutcomes(model=["turn"], tool=["ok"]),
        decisions=DecisionSupport(live=False, ids=False, payload=False),
    )

    async def open(self, host, scenario):
        self.host, self.thread, self.queue, self.is_busy = host, [], [], False

    async def start(self, text):
        self.thread.append({"role": "user", "text": text})
        self.is_busy = True
        try:
            return await self.work()
        finally:
            self.is_busy = False
            self.close_open_calls()

    async def work(self):
        while await self.step() or self.queue:
            pass
        return Segment("NaturalEnd")

    async def step(self):
        self.show()
        turn = await self.host.infer(self.thread)
        self.thread.append({"role": "assistant", "text": turn.text, "tool_calls": list(turn.tool_calls)})
        for call in turn.tool_calls:
            await self.execute(call)
        return turn.tool_calls

    async def execute(self, call):
        outcome = await self.host.tool(call.id, call.name, call.args)
        self.answer(call.id, "ok", str(outcome.content))

    def answer(self, call, status, text):
        self.thread.append({"role": "tool", "call": call, "status": status, "text": text})

    def close_open_calls(self):
        """A cancel leaves no call without a result."""
        turn = next((m for m in reversed(self.thread) if m["role"] == "assistant"), {"tool_calls": []})
        answered = {message["call"] for message in self.thread if message["role"] == "tool"}
        for call in turn["tool_calls"]:
            if call.id not in answered:
                self.answer(call.id, "cancelled", "stopped")

    async def input(self, text):
        if not self.is_busy:
            raise Refused("no run is at work")
        self.queue.append(text)

    def show(self):
        self.thread += [{"role": "user", "text": text} for text in self.queue]
        self.queue = []


class LeavesItToTheNextRun(Steered):
    """Ends with messages in its queue, which the next run shows."""

    async def work(self):
        while await self.step():
            pass
        return Segment("NaturalEnd")


class ForgetsAtAStop(Steered):
    """Drops its queue when it is stopped."""

    def close_open_calls(self):
        super().close_open_calls()
        self.queue = []


class RefusesAtWork(Steered):
    """Takes no message at all."""

    async def input(self, text):
        raise Refused("later")


class SkipsWhatIsLeft(Steered):
    """Answers the calls that have not begun with a note that the user spoke."""

    async def execute(self, call):
        if self.queue:
            self.answer(call.id, "cancelled", "skipped, since the user spoke")
        else:
            await super().execute(call)


class ForgetsAtTheEnd(LeavesItToTheNextRun):
    """Drops at the end of a run what came during its last inference."""

    async def work(self):
        segment = await super().work()
        self.queue = []
        return segment


class ForgetsInARound(Steered):
    """Drops what came while its tools ran."""

    async def execute(self, call):
        await super().execute(call)
        self.queue = []


class ShowsAtOnce(Steered):
    """Puts a message into the thread when it comes."""

    async def input(self, text):
        await super().input(text)
        self.show()


class HasOnePlace(Steered):
    """Has room for one message."""

    async def input(self, text):
        await super().input(text)
        self.queue = self.queue[-1:]


class Repeats(Steered):
    """Shows its queue at two inferences."""

    def show(self):
        shown, again = self.queue, getattr(self, "again", [])
        self.thread += [{"role": "user", "text": text} for text in (*again, *shown)]
        self.queue, self.again = [], shown


class IsAwokenByItsQueue(Steered):
    """Begins again after a stop, if there is something in its queue."""

    async def work(self):
        try:
            return await super().work()
        except BaseException:
            if not self.queue:
                raise
            self.close_open_calls()
            return await super().work()


class DropsResultsAtAStop(Steered):
    """Leaves the results of the round out of the thread that a stop cuts off."""

    def close_open_calls(self):
        while self.thread[-1]["role"] == "tool":
            self.thread.pop()
        super().close_open_calls()
