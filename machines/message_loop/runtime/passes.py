"""A pass: the stages, with their continuations and their bound."""

from __future__ import annotations

from typing import Final

from runlock.machines.message_loop.runtime.hooking import Occasion
from runlock.machines.message_loop.runtime.records import PassRecord, Reason, Refusal, Response, TurnFault
from runlock.machines.message_loop.runtime.rounds import Rounds
from runlock.machines.message_loop.runtime.scopes import ScopeStopped

MAY_HAVE_COMPLETED: Final = "the bound of the turn was reached; earlier tool calls may already have completed"


class Passes(Rounds):
    """Runs passes."""

    async def run_pass(self, p: PassRecord) -> Reason | None:
        """Run the stages; returns a reason unless the pass ended by itself or at its bound."""
        self.turn.passes.append(p)
        try:
            await self.walk(p)
        except Refusal as refusal:
            p.chart.send("halt" if p.chart.state == "TOOL_CALL" else "refuse")
            return Reason("Blocked", str(refusal))
        except TurnFault as fault:
            p.chart.send("fault")
            return Reason("Error", str(fault))
        except ScopeStopped as stopped:
            p.chart.send("interrupt")
            return Reason("Cancelled", stopped.cause)
        return None

    async def walk(self, p: PassRecord) -> None:
        """Run the stages of a pass in order."""
        await self.receive_input(p)
        p.chart.send("compose")
        while True:
            request = await self.compose(p)
            p.chart.send("dispatch")
            response = await self.respond(p, request)
            if not response.calls:
                p.chart.send("no_calls")
                break
            if not await self.continues(p, response):
                break
        if p.chart.state == "RENDER":
            await self.render(p, response)
        if not p.bound.is_final:
            p.bound.send("pass_over")

    async def continues(self, p: PassRecord, response: Response) -> bool:
        """Settle the calls of a response; returns whether the pass goes back to COMPOSE_REQUEST."""
        p.scope.heed()
        p.chart.send("has_calls")
        self.append_response(p, response)
        await self.tool_stage(p, response)
        p.rounds += 1
        if response.terminal:
            p.chart.send("terminal", {"renders_terminal": self.policies["call.terminal"] == "render"})
            return False
        if not self.is_below_bound(p):
            p.bound.send("continuation")
            p.chart.send("bound")
            return False
        p.bound.send("continuation", {"below_bound"})
        p.chart.send("proceed")
        return True

    def append_response(self, p: PassRecord, response: Response) -> None:
        """Append a response to the transcript."""
        calls = [{"id": c.id, "name": c.name, "args": c.args} for c in response.calls]
        message = {"role": "assistant", "text": response.text}
        self.append(p, {**message, "tool_calls": calls} if calls else message)

    def bound_of(self, p: PassRecord) -> int:
        """The bound of a pass."""
        return p.execution.spec.turn_cap if p.execution is not None else self.settings.max_iterations

    def is_below_bound(self, p: PassRecord) -> bool:
        """Whether one more continuation may begin."""
        counted = p.rounds if self.policies["bound.counts"] == "continuations" else p.rounds + 1
        return counted <= self.bound_of(p)

    def bound_reason(self) -> Reason:
        """How a chat turn ends at its bound."""
        code = "Error" if self.policies["bound.end"] == "error" else "Stopped"
        return Reason(code, MAY_HAVE_COMPLETED, "max_iterations")

    # -- the end of a pass

    async def render(self, p: PassRecord, response: Response) -> None:
        """RENDER: persist the response, and publish its payload to the UI."""
        occasion = Occasion("RENDER", {"text": response.text}, p.scope)
        async with self.stage(p, "RENDER"):
            await self.ask_hooks(p, occasion, "pre")
            occasion.chart.send("begin")
            await self.persist_response(p, response)
            self.hand_over(p, str(occasion.data["text"]))
            occasion.chart.send("complete")
            await self.ask_hooks(p, occasion, "post")
            occasion.chart.send("finish")
            p.chart.send("rendered")
            self.announce_end_inside(p)

    async def persist_response(self, p: PassRecord, response: Response) -> None:
        """Append the last response to the transcript; a chat turn stores it."""
        if not response.calls:
            self.append_response(p, response)
        if p.execution is not None:
            return
        if p.has_uncommitted_results:
            p.has_uncommitted_results = False
            await self.commit(p, "ToolResultsCommitted", "results")
        await self.commit(p, "AssistantTurnCommitted", "render")

    def hand_over(self, p: PassRecord, text: str) -> None:
        """Publish the payload to the subscribers."""
        if p.execution is None or self.policies["stage.render"] == "yes":
            self.publish("Rendered", p, text=text)

    def announce_end_inside(self, p: PassRecord) -> None:
        """Publish SessionTurnEnd here if the policy places it inside this stage."""
        if p.execution is None and self.policies["turn.bracket"] == "inside":
            self.turn.is_rendered = True
            self.announce_end(p)

    def announce_end(self, p: PassRecord | None = None) -> None:
        """Announce the end of a turn, once; not at all if only rendered turns announce it."""
        self.turn.chart.send("work_over")
        if self.turn.is_rendered or self.policies["turn.end"] == "always":
            self.turn.chart.send("announce_end")
            self.publish("SessionTurnEnd", p)
        else:
            self.turn.chart.send("end_silently")
