"""Wrong in one part of a message or of a stored call, where all other parts are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.state import Message, Reason
from runlock.machines.lifecycle.runtime.world import ModelTurn, World


class _Retold:
    """The world of a runtime that shows the model another history than its own."""

    def __init__(self, world: World, runtime: ShowsAnotherHistory) -> None:
        self._world, self._runtime = world, runtime

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

    async def infer(self, messages: Sequence[Message], *rest: Any) -> ModelTurn:
        return await self._world.infer(self._runtime.retold([*messages]), *rest)


class ShowsAnotherHistory(Runtime):
    """A runtime that changes the history on its way to the model."""

    def __init__(self, world: World, *args: Any, **kwargs: Any) -> None:
        retold: Any = _Retold(world, self)
        super().__init__(retold, *args, **kwargs)

    def retold(self, messages: list[Message]) -> list[Message]:
        """The messages that the model is shown."""
        return messages


@fault("PAIR-4", "yet the model is shown pending", also=("ROUND-2",))
class ShowsAnswersAsPending(ShowsAnotherHistory):
    """What a tool answered is shown to the model as if it were still to come."""

    def retold(self, messages: list[Message]) -> list[Message]:
        return [{**one, "status": "pending"} if one.get("status") == "ok" else one for one in messages]


@fault("PAIR-7", "is Cancelled, yet the model is shown error")
class ShowsRejectionsAsErrors(ShowsAnotherHistory):
    """A rejected call is shown to the model as one whose tool failed."""

    def retold(self, messages: list[Message]) -> list[Message]:
        return [{**one, "status": "error"} if one.get("text") == "rejected" else one for one in messages]


@fault("PAIR-8", "the history that the model was shown has changed")
class ForgetsTheFirstQuestion(ShowsAnotherHistory):
    """From the second inference on, the model is not shown what the user said first."""

    def retold(self, messages: list[Message]) -> list[Message]:
        return messages[1:] if len(messages) > 1 else messages


@fault("PAIR-8", "the model is shown other calls than it asked for")
class ShowsOtherArguments(ShowsAnotherHistory):
    """The calls of an earlier turn are shown to the model with other arguments."""

    def retold(self, messages: list[Message]) -> list[Message]:
        return [_with_other_arguments(one) if one.get("tool_calls") else one for one in messages]


@fault("RECOVER-3", "which is not in the checkpoint")
class ForgesATurnAfterACrash(ShowsAnotherHistory):
    """The first inference after a crash is shown a turn that the model has not taken."""

    forges = False

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.forges = True

    def retold(self, messages: list[Message]) -> list[Message]:
        forged, self.forges = self.forges, False
        return [*messages, {"role": "assistant", "text": "I have seen to it"}] if forged else messages


@fault("PHASE-82", "yet the model is shown it")
class ShowsWhatWasTakenOut(ShowsAnotherHistory):
    """A call that a plugin took out of a turn is shown to the model, with a result that is made up."""

    taken_out: Sequence[Any] = ()

    async def _look_at_turn(self, turn: ModelTurn) -> Any:
        seen = await super()._look_at_turn(turn)
        left = {call.id for call in seen[0]}
        self.taken_out = [call for call in turn.tool_calls if call.id not in left]
        return seen

    def retold(self, messages: list[Message]) -> list[Message]:
        out, last = self.taken_out, messages[-1]
        if not out or last["role"] == "user":
            return messages
        made_up = [{"role": "tool", "call": one.id, "status": "ok", "text": "done"} for one in out]
        turn = max(at for at, one in enumerate(messages) if one["role"] == "assistant")
        asked = [{"id": one.id, "name": one.name, "args": dict(one.args)} for one in out]
        whole = {**messages[turn], "tool_calls": [*messages[turn].get("tool_calls", ()), *asked]}
        return [*messages[:turn], whole, *messages[turn + 1 :], *made_up]


def _with_other_arguments(message: Message) -> Message:
    return {**message, "tool_calls": [{**one, "args": {"k": "another"}} for one in message["tool_calls"]]}


class StoresOtherwise(Runtime):
    """A runtime that changes its state on the way to the store."""

    def to_store(self, ending: tuple[str, Reason | None] | None) -> dict[str, Any]:
        state = super().to_store(ending)
        return {**state, **self.otherwise(state)}

    def otherwise(self, state: dict[str, Any]) -> dict[str, Any]:
        """The parts that are stored in another form."""
        return {}


@fault("STORE-20", "yet the checkpoint says args {}")
class StoresOtherArguments(StoresOtherwise):
    """A call that does not wait is stored without its arguments."""

    def otherwise(self, state: dict[str, Any]) -> dict[str, Any]:
        return {"calls": {name: _bared(call) for name, call in state["calls"].items()}}


def _bared(call: dict[str, Any]) -> dict[str, Any]:
    return call if call["status"] == "Suspended" else {**call, "args": {}}


@fault("STORE-8", "is Suspended, yet the checkpoint says that it is New")
class StoresWaitsAsNew(StoresOtherwise):
    """A call that waits is stored as one that nothing has happened to."""

    def otherwise(self, state: dict[str, Any]) -> dict[str, Any]:
        waits = {name: call for name, call in state["calls"].items() if call["status"] == "Suspended"}
        return {
            "calls": {**state["calls"], **{name: {**one, "status": "New"} for name, one in waits.items()}}
        }


@fault("STORE-17", "yet the checkpoint holds other calls")
class StoresTheFirstCallOfATurn(StoresOtherwise):
    """Of the calls that a turn asks for, the first one alone is stored in the message."""

    def otherwise(self, state: dict[str, Any]) -> dict[str, Any]:
        cut = [
            {**one, "tool_calls": one["tool_calls"][:1]} if one.get("tool_calls") else one
            for one in state["messages"]
        ]
        return {"messages": cut}


@fault("STORE-17", "in another order than they joined the thread", also=("STORE-1",))
class StoresMessagesInAnotherOrder(StoresOtherwise):
    """What the user said last is stored in front of everything else."""

    def otherwise(self, state: dict[str, Any]) -> dict[str, Any]:
        return {"messages": [*state["messages"][-1:], *state["messages"][:-1]]}


@fault("STORE-10", "the checkpoint says Stopped by another")
class StoresAnotherStop(StoresOtherwise):
    """A run that is stopped is stored as stopped by another condition."""

    def otherwise(self, state: dict[str, Any]) -> dict[str, Any]:
        reason = state["run"]["reason"] or {}
        if "stop" not in reason:
            return {}
        return {"run": {**state["run"], "reason": {**reason, "stop": {**reason["stop"], "code": "another"}}}}


@fault("STORE-12", "does not say which of its suspensions this is")
class NumbersOneSuspensionOfTwo(StoresOtherwise):
    """Of the calls that wait, the last one is stored without the number of its suspension."""

    def otherwise(self, state: dict[str, Any]) -> dict[str, Any]:
        waits = [name for name, call in state["calls"].items() if call["status"] == "Suspended"]
        if len(waits) < 2:
            return {}
        last = {key: one for key, one in state["calls"][waits[-1]].items() if key != "suspension"}
        return {"calls": {**state["calls"], waits[-1]: last}}


@fault("STORE-2", "yet nothing was stored since it waits")
class StoresTheFirstWaitAlone(Runtime):
    """That a call waits once more is announced, and not stored."""

    async def commit(self, trigger: str, cause: str, **how: Any) -> None:
        again = any(call.suspension > 1 for call in self.state.in_status("Suspended"))
        if not (cause == "suspend" and again):
            await super().commit(trigger, cause, **how)


@fault("RUN-22", "yet the run is reported Done as NaturalEnd", also=("DERIVE-7", "STREAM-18"))
class ReportsErrorsAsNaturalEnds(Runtime):
    """A run that ended in Error is reported Done for a natural end."""

    def say_run(self, target: str, reason: Reason | None = None) -> None:
        failed = target == "Done" and reason is not None and reason.code == "Error"
        super().say_run(target, Reason("NaturalEnd") if failed else reason)


@fault("STREAM-18", "tells its watcher NaturalEnd")
class TellsErrorsAsNaturalEnds(Runtime):
    """A watcher of a run that ends in Error learns of a natural end."""

    def publish(self, name: str, **data: Any) -> None:
        reason: Mapping[str, Any] = data.get("reason") or {}
        if reason.get("code") == "Error":
            data["reason"] = {"code": "NaturalEnd", "detail": None}
        super().publish(name, **data)
