"""Wrong about a run within a call: what waits there, what a decision does, and what is left of it."""

from __future__ import annotations

from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.agents import Agents
from runlock.machines.lifecycle.runtime.rounds import Left, Resume
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.state import Call, Reason
from runlock.machines.lifecycle.runtime.world import Answer, ToolRaised, WorldFault


@fault("NEST-1", "waits, yet the run around it names it not")
class NamesTheAgentAlone(Runtime):
    """A run that waits names the call of the agent, and not the call within that has to be decided."""

    def pending(self) -> list[str]:
        return [call.id for call in self.state.in_status("Suspended")]


@fault("NEST-1", "waits, yet the model is shown a result of it")
class TakesAWaitForAResult(Runtime):
    """A run within a call that waits is taken for one that has ended."""

    async def enter(self, call: Call, args: dict[str, Any], resume: Resume) -> Answer:
        answer = await super().enter(call, args, resume)
        waits = self.is_agent(call.id) and answer.kind == "pending"
        return Left("ok", "it waits for an approval") if waits else answer


@fault("NEST-2", "yet it began anew", also=("NEST-6",))
class BeginsAnew(Runtime):
    """On a decision, the run within the call is begun once more."""

    async def enter(self, call: Call, args: dict[str, Any], resume: Resume) -> Answer:
        if resume is not None:
            self.within.pop(call.id, None)
        return await super().enter(call, args, resume)


@fault("NEST-2", "was rejected, yet it was executed")
class ApprovesWithTheAgent(Runtime):
    """A rejection of a call within lets the agent go on, and with it the call."""

    def take(self, decision: Any) -> None:
        if self.holder(decision.call) is not None:
            decision.action = "resume"
        super().take(decision)


@fault("NEST-2", "had answered", also=("NEST-6",))
class RunsWhatFinishedAgain(Runtime):
    """When the run within a call goes on, its whole round is executed again."""

    async def enter(self, call: Call, args: dict[str, Any], resume: Resume) -> Answer:
        inner = self.within.get(call.id)
        for one in inner.state.last_round() if inner is not None and resume is not None else ():
            if one.status in ("Succeeded", "Failed") and inner is not None:
                await inner.world.execute(one.id, one.name, one.args, None)
        return await super().enter(call, args, resume)


@fault("NEST-3", "within it is open")
class CancelsItselfAlone(Runtime):
    """A cancel does not reach the run within a call that is at work."""

    async def cancel_within(self, *, busy: bool) -> None:
        if not busy:
            await super().cancel_within(busy=busy)


@fault("NEST-4", "in run r1/c1, the model was shown call")
class ForgetsWhatFinished(Runtime):
    """When the run within a call goes on, its history has lost what had finished there."""

    async def enter(self, call: Call, args: dict[str, Any], resume: Resume) -> Answer:
        inner = self.within.get(call.id)
        if inner is not None and resume is not None:
            inner.state.messages = [one for one in inner.state.messages if one["role"] != "tool"]
        return await super().enter(call, args, resume)


@fault("NEST-4", "the model of run r1 was shown call")
class WritesItAllAround(Runtime):
    """What the run within a call did is written to the history of the run around it."""

    async def enter(self, call: Call, args: dict[str, Any], resume: Resume) -> Answer:
        answer = await super().enter(call, args, resume)
        if self.is_agent(call.id) and answer.kind == "ok":
            for message in self.within[call.id].state.messages[1:-1]:
                self.append(message)
        return answer


@fault("NEST-5", "yet its result is")
class AnswersWithTheFirstTurn(Runtime):
    """The result of the call is what the model within it said first."""

    async def enter(self, call: Call, args: dict[str, Any], resume: Resume) -> Answer:
        answer = await super().enter(call, args, resume)
        said = [one["text"] for one in _messages(self.within.get(call.id)) if one["role"] == "assistant"]
        return Left("ok", said[0]) if said and answer.kind == "ok" else answer


@fault("NEST-5", "a run within a call failed, and with it run")
class BreaksWithTheRunWithin(Runtime):
    """A run within a call that fails breaks the run around it."""

    async def enter(self, call: Call, args: dict[str, Any], resume: Resume) -> Answer:
        try:
            return await super().enter(call, args, resume)
        except ToolRaised as raised:
            if self.is_agent(call.id):
                raise WorldFault(str(raised)) from raised
            raise


@fault("NEST-6", "was turned down")
class StoresNothingWithin(Runtime):
    """A checkpoint holds nothing of the run within a call."""

    def to_store(self, ending: tuple[str, Reason | None] | None) -> dict[str, Any]:
        stored = super().to_store(ending)
        stored["own"].pop("within", None)
        return stored


@fault("NEST-6", "yet it began anew", also=("NEST-4",))
class RecoversTheBeginning(Runtime):
    """Of the run within a call, a checkpoint holds that a call waits, and nothing that was before."""

    def restore_within(self, state: Any) -> None:
        super().restore_within(state)
        for inner in self.within.values():
            inner.state.messages = inner.state.messages[:1]


def _messages(inner: Agents | None) -> list[dict[str, Any]]:
    return [] if inner is None else inner.state.messages
