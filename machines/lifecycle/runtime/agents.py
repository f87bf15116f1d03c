"""How the reference runtime carries out a call of an agent: by a run of its own, within the call.

The run within has a runtime of its own over the same world.  While a call of it waits, the call that it is
in is Suspended, and a decision about the former wakes the latter.  What is durable of it is in the
checkpoints of the run around it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runlock.machines.lifecycle.runtime.inbox import Inbox
from runlock.machines.lifecycle.runtime.replays import Replays
from runlock.machines.lifecycle.runtime.rounds import Left, Resume
from runlock.machines.lifecycle.runtime.state import Call, Decision, Reason, from_checkpoint
from runlock.machines.lifecycle.runtime.world import Answer, ToolRaised

FAILURES = ("Error", "Blocked", "Cancelled")


class Agents(Replays):
    """Carries out calls of agents; `within` holds the runs within calls, by the ids of these."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.within: dict[str, Agents] = {}

    @abstractmethod
    def new_run_within(self, call: Call) -> Agents:
        """A runtime for the run within a call, before its first run."""

    @abstractmethod
    async def start(self, text: str, decisions: Sequence[Decision] = ()) -> Any:
        """Begin a run."""

    @abstractmethod
    async def go_on(self) -> Any:
        """Continue a run that has not ended."""

    @abstractmethod
    async def cancel(self) -> Any:
        """End a run."""

    def is_agent(self, call: str) -> bool:
        """Whether a call of this run is one of an agent."""
        known = self.state.calls.get(call)
        return known is not None and self.tools.get(known.name, {}).get("agent") is not None

    # -- executing

    async def enter(self, call: Call, args: dict[str, Any], resume: Resume) -> Answer:
        """Run, or go on with, the run within the call; it answers when it ends or waits."""
        if not self.is_agent(call.id):
            return await super().enter(call, args, resume)
        inner = self.within.get(call.id)
        if inner is None:
            inner = self.within[call.id] = self.new_run_within(call)
            await inner.start(str(args.get("v", "")))
        else:
            await inner.go_on()
        self.heed()
        return _answer_of(inner)

    def interrupt(self) -> None:
        """Something of the run broke: what runs within its calls breaks with it."""
        super().interrupt()
        for inner in self.within.values():
            if inner.active:
                inner.broken = inner.broken or self.broken
                inner.interrupt()

    async def cancel_within(self, *, busy: bool) -> None:
        """A cancel reaches the runs that are under way, or those that only wait."""
        for inner in self.within.values():
            if inner.active == busy:
                await inner.cancel()

    async def end_within(self) -> None:
        """The calls of these runs are over, and so are they."""
        for call, inner in self.within.items():
            if self.state.calls[call].is_final:
                await inner.cancel()

    # -- deciding

    def holder(self, call: str) -> tuple[Call, Agents] | None:
        """The call within which another call is, and the run there."""
        if call in self.state.calls:
            return None
        for own, inner in self.within.items():
            if call in inner.state.calls or inner.holder(call) is not None:
                return self.state.calls[own], inner
        return None

    def objection(self, decision: Decision) -> str | None:
        """A decision for a call of a run within a call is for that run to judge."""
        held = self.holder(decision.call)
        if held is None:
            agent = f"call {decision.call} is one of an agent, and has no decision of its own"
            return super().objection(decision) or (agent if self.is_agent(decision.call) else None)
        call, inner = held
        if self.is_coming_down or self.state.status == "Done" or call.is_final:
            return f"call {call.id} is over"
        return inner.objection(decision)

    def take(self, decision: Decision) -> None:
        """The run within takes the decision, and its call goes on where that is all it needs."""
        held = self.holder(decision.call)
        if held is None:
            super().take(decision)
            return
        call, inner = held
        inner.take(decision)
        self._go_on_within(call, inner, decision)

    def accept(self, decision: Decision) -> None:
        """A decision that the clock takes may be for a call of a run within a call."""
        held = self.holder(decision.call)
        if held is None:
            super().accept(decision)
            return
        call, inner = held
        inner.accept(decision)
        self._go_on_within(call, inner, decision)

    def _go_on_within(self, call: Call, inner: Agents, decision: Decision) -> None:
        undecided = call.status == "Suspended" and call.id not in self.state.decisions
        if undecided and inner.ready():
            self.accept(Decision(decision.id, call.id, "resume"))

    def dispose(self, decision: Decision, disposition: str) -> None:
        """Whose call it is says what became of a decision."""
        held = self.holder(decision.call)
        if held is not None:
            held[1].dispose(decision, disposition)
        elif disposition != "accepted" or not self.is_agent(decision.call):
            super().dispose(decision, disposition)

    def pending(self) -> list[str]:
        """The calls that wait for a decision, with those of the runs within calls."""
        waiting = super().pending()
        inner = {call: self.within[call].pending() for call in waiting if call in self.within}
        return [one for call in waiting for one in inner.get(call, [call])]

    def undecided(self) -> Iterator[tuple[Inbox, Call]]:
        """A call of an agent waits as the calls of its run do."""
        for call in self.state.in_status("Suspended"):
            inner = self.within.get(call.id)
            if inner is not None:
                yield from inner.undecided()
            elif call.id not in self.state.decisions:
                yield self, call

    def decided(self) -> set[str]:
        """The calls that have a decision, with those of the runs within calls."""
        inner = (one.decided() for one in self.within.values())
        return super().decided().union(*inner)

    # -- storing

    def to_store(self, ending: tuple[str, Reason | None] | None) -> dict[str, Any]:
        """The runs within calls that are not over are in the checkpoint of the run around them."""
        stored = super().to_store(ending)
        live = {call.id for call in self.state.live()} & self.within.keys()
        if live:
            stored["own"] |= {"within": {call: self.within[call].to_store(None) for call in sorted(live)}}
        return stored

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Take a checkpoint over, and say in which statuses this life begins."""

    def restore_within(self, state: Mapping[str, Any]) -> None:
        """The runs within calls say as well in which statuses this life begins."""
        for call, inner in self.take_over(state).items():
            inner.restore(state["own"]["within"][call])

    def take_over(self, state: Mapping[str, Any]) -> dict[str, Agents]:
        """The runs within calls that a stored state holds."""
        stored = state["own"].get("within", {})
        self.within = {call: self.new_run_within(self.state.calls[call]) for call in stored}
        for call, inner in self.within.items():
            inner.state = from_checkpoint(stored[call])
            inner.take_over(stored[call])
        return self.within


def _answer_of(inner: Agents) -> Answer:
    """What a run within a call answers to the run around it."""
    if inner.state.status != "Done":
        return Left("pending", None)
    reason = inner.state.reason
    if reason is not None and reason.code in FAILURES:
        raise ToolRaised(f"the run within the call ended as {reason.code}: {reason.detail}")
    said = [message["text"] for message in inner.state.messages if message["role"] == "assistant"]
    return Left("ok", said[-1] if said else "")
