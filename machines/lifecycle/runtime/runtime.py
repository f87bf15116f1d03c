"""The reference runtime: one thread, its runs, and the loop that takes a run from input to end.

There is one loop for every profile.  What differs between profiles are policies, which it reads where
they matter; where it stands is never kept in a local variable but always in the `RunState`, so that a
run that was suspended, or recovered from a checkpoint, goes on by the same code as one that was not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from runlock.machines.lifecycle.runtime.ledger import PENDING_TEXT, PluginEnded, RunCancelled
from runlock.machines.lifecycle.runtime.rounds import RunBlocked
from runlock.machines.lifecycle.runtime.state import (
    Call,
    Decision,
    Reason,
    RunState,
    from_checkpoint,
)
from runlock.machines.lifecycle.runtime.steering import Steering
from runlock.machines.lifecycle.runtime.stops import stop_reason
from runlock.machines.lifecycle.runtime.turns import cut_call, taken_up
from runlock.machines.lifecycle.runtime.world import (
    AskedCall,
    ModelTurn,
    TokensSpent,
    ToolRaised,
    WorldFault,
)

T = TypeVar("T")

RUN_EVENTS = {
    "NaturalEnd": "natural_end",
    "BehaviorRequested": "behavior_requested",
    "Stopped": "stopped",
    "Blocked": "blocked",
    "Cancelled": "cancelled",
    "Error": "failed",
}


class RunStopped(Exception):
    """A stop condition that is met before the round, and keeps the tools of its step from running."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.detail)
        self.reason = reason


class TurnedDown(Exception):
    """A stimulus that the runtime refuses; it has changed nothing."""


@dataclass(frozen=True)
class Segment:
    """How a segment of a run ended, and the calls that wait for a decision."""

    reason: Reason
    pending: tuple[str, ...] = ()
    value: dict[str, Any] | None = None  # a suspended run, where its caller holds it


@dataclass(frozen=True)
class LeftCall:
    """A call that a plugin left in a turn, or put there."""

    id: str
    name: str
    args: dict[str, Any] | str


@dataclass(frozen=True)
class LeftTurn:
    """What a plugin left of a turn of the model."""

    text: str
    tool_calls: Sequence[LeftCall]
    usage: TokensSpent
    stop: str | None


class Runtime(Steering):
    """One thread of runs, one after the other.

    `start`, `decide` and `cancel` return the `Segment` that they ran, or None if they only passed something
    to a segment under way; they raise `TurnedDown` if they refuse.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._draining: set[asyncio.Task[Any]] = set()
        self._leads_on = False  # a replay has ended the wait: the model is asked even if other calls wait

    # -- verbs

    async def start(self, text: str, decisions: Sequence[Decision] = ()) -> Segment:
        """Begin the next run of the thread with the user's input."""
        if self.state.status not in (None, "Done"):
            raise TurnedDown("the run before it is not over")
        self.state = RunState(
            number=self.state.number + 1,
            messages=self.state.messages,
            inputs=self.state.inputs,
            grants=self.grants_left(),
            cut=self.state.cut,
            started_ms=self.world.now_ms(),
        )
        self.cancelling = self.ending = self.failing = False
        self.broken = None
        self.suspending = False
        self.within = {}
        return await self.segment(self._begin(text, decisions))

    async def decide(self, decisions: Sequence[Decision]) -> Segment | None:
        """Take decisions in; a waiting run goes on with what was accepted."""
        for decision, why in self.receive(decisions):
            self.world.refuse(why, decision.id)
        return await self._go_on_if_decided()

    async def time_passed(self) -> Segment | None:
        """End the waits whose time has passed."""
        expired = self.expired() if self.state.status != "Done" else []
        if expired and self.policies["expire.end"] == "run":
            return await self.cancel()
        for decision in expired:
            self.accept(decision)
        return await self._go_on_if_decided() if expired else None

    async def _go_on_if_decided(self) -> Segment | None:
        """A run that waits goes on with what was decided; else it stores that, if it promises to."""
        if self.active or self.state.status != "Waiting":
            return None
        if self.ready():
            return await self.segment(self._resume())
        try:
            await self._keep_decisions()
        except WorldFault as fault:
            if self.state.status == "Waiting" and not self.active:  # nothing else has moved it meanwhile
                return await self.segment(self._end(Reason("Error", str(fault))))
            self.broken = self.broken or fault
        return None

    async def _keep_decisions(self) -> None:
        """Where an accepted decision survives a crash, it is durable before it acts."""
        if self.policies["decision.kept"] == "acceptance" and self.state.decisions:
            await self.commit("DecisionAccepted", "decision")

    async def cancel(self) -> Segment | None:
        """The external cancel signal; it has no effect on a run that is over."""
        if self.state.status in (None, "Done") or self.ending:
            return None
        self.cancelling = True
        await self.cancel_within(busy=True)
        if not self.active:
            return await self.segment(self._end(Reason("Cancelled")))
        aborted = self._waiting - self._draining if self.drains else self._waiting
        for task in sorted(aborted, key=lambda task: task.get_name()):
            task.cancel()
        return None

    async def input(self, text: str) -> Segment | None:
        """New user input for a run that is not over."""
        if self.active or self.state.status != "Waiting":
            self._steer(text)
            return None
        if self.policies["input.waiting"] == "refuse":
            raise TurnedDown("the run waits for decisions, not for input")
        self.move_run("resume")
        if self.policies["input.waiting"] == "supersede":
            self._supersede()
            await self.end_within()
        self._put_aside()
        return await self.segment(self._take_input(text))

    def _steer(self, text: str) -> None:
        """Input for a run at work: the next inference shows it."""
        objection = self.objection_to_input()
        if objection is not None:
            raise TurnedDown(objection)
        self.state.inputs.append(text)

    def give_back(self, value: dict[str, Any] | None) -> None:
        """What its caller holds comes back to a runtime that holds nothing itself."""
        if value is not None and self.state.status is None:
            self.state = from_checkpoint(value)
            self.take_over(value)

    def watch(self, watcher: str, stream: str) -> None:
        """A watcher of the run's events is attached."""
        self.sink.connect(watcher, stream)
        if self.state.status == "Waiting" and not self.active:
            self.show_again()

    def unwatch(self) -> None:
        """The watcher is detached; the run is not affected."""
        self.sink.drop()

    def restore(self, state: dict[str, Any]) -> None:
        """Take a checkpoint over, and say in which statuses this life begins."""
        self.state = from_checkpoint(state)
        resting_status, self.state.status = self.state.status or "Running", None
        self.say_run(resting_status, self.state.reason)
        for call in self.state.calls.values():
            decided = call.id in self.state.decisions  # and not done with: its replay begins again
            unentered = "Suspended" if decided else "New"
            resting = {"Running": unentered, "Resuming": "Suspended"}.get(call.status, call.status)
            if call.expires_at_ms is not None and self.policies["expire.crash"] == "anew":
                call.expires_at_ms = self.ends_at_ms(call)
            self.say_call(call, resting, before=None)
        self.restore_within(state)
        self.give_up_inputs()

    async def go_on(self) -> Segment | None:
        """After `restore`: a run that was Running continues; one that was waiting still waits."""
        if self.state.status == "Created":
            return await self.segment(self._leave_created())
        if self.state.status == "Running":
            self.show_again()
            return await self.segment(self._steps())
        if self.state.status == "Waiting" and self.ready():
            return await self.segment(self._resume())
        if self.state.status == "Waiting":
            self.show_again()
        return None

    def show_again(self) -> None:
        """Who comes later is shown the calls that wait."""
        if self.policies["wait.reshown"] == "yes":
            for held_by, call in self.undecided():
                held_by.say_shown(call)

    def new_run_within(self, call: Call) -> Runtime:
        """A runtime for the run within a call: its tools are those that the agent is offered."""
        offered = self.tools[call.name]["agent"]["tools"]
        tools = {name: tool for name, tool in self.tools.items() if name in offered}
        return Runtime(self.world.within(call.id), tools, (), {**self.policies, "state": "runtime"})

    # -- segments

    async def segment(self, steps: Awaitable[Segment]) -> Segment:
        """Run to the end or to a wait; an error on the way ends the run."""
        self.active = True
        try:
            return self._handed_out(await steps)
        except RunStopped as stopped:
            return await self._end(stopped.reason)
        except RunCancelled:
            return await self._end(Reason("Cancelled"))
        except RunBlocked as blocked:
            return await self._end(Reason("Blocked", str(blocked)))
        except PluginEnded as ended:
            return await self._end(Reason("BehaviorRequested", str(ended)))
        except (WorldFault, ToolRaised) as fault:
            return await self._end(Reason("Error", str(fault)))
        finally:
            self.active = self.suspending = False

    def _handed_out(self, segment: Segment) -> Segment:
        """A suspended run is kept here, or handed out whole to the caller and forgotten."""
        if self.policies["state"] != "caller" or self.state.status != "Waiting":
            return segment
        value, self.state, self.within = self.to_store(None), RunState(), {}
        return replace(segment, value=value)

    async def _begin(self, text: str, decisions: Sequence[Decision]) -> Segment:
        self.say_run("Created" if self.created else "Running")
        message = {"role": "user", "text": text}
        if self.created:
            self.append(message)
            await self.commit("RunCreated", "create")
            return await self._leave_created(decisions)
        await self._start_up()
        self.append(message)
        return await self._enter_loop(decisions)

    async def _start_up(self) -> None:
        """RunStart: watchers are notified, and a plugin may set up state for its later phases."""
        self.phase("RunStart")
        self.publish("run.started")
        self.state.setup = (await self.consult("RunStart"))["state"]

    async def _leave_created(self, decisions: Sequence[Decision] = ()) -> Segment:
        if self.cancelling:
            return await self._end(Reason("Cancelled"))
        self.move_run("begin")
        await self._start_up()
        return await self._enter_loop(decisions)

    async def _enter_loop(self, decisions: Sequence[Decision]) -> Segment:
        await self.commit_at("UserMessage", "run_start")
        if decisions:
            self.receive(decisions)
        return await self._steps()

    async def _resume(self) -> Segment:
        self.move_run("resume")
        await self._keep_decisions()
        if self.reentered:
            await self._start_up()
            waiting = {call.id for call in self.state.in_status("Suspended")}
            await self.apply_decisions("run_start")
            if self.cancelling:
                raise RunCancelled
            again = {call.id for call in self.state.in_status("Suspended")} & waiting
            decided_again = [c for c in again if self.state.calls[c].suspension > self._suspensions[c]]
            if decided_again and self.policies["replay.start"] == "end_if_any":
                return await self._suspend()
            self._leads_on = self.policies["round.mixed"] == "continue" and len(again) < len(waiting)
        return await self._steps()

    def _supersede(self) -> None:
        for call in self.state.in_status("Suspended"):
            self.move_call(call, "cancel")
            self.answer(call, "cancelled", "superseded by new input")

    def _put_aside(self) -> None:
        """What has no result yet, held back or waiting, gets its place in front of the input."""
        for call in [*self.state.in_status("Suspended"), *self.state.in_status("New")]:
            if self._placeholder(call) is None:
                self.answer(call, "pending", PENDING_TEXT)

    async def _take_input(self, text: str) -> Segment:
        if self.reentered:
            self.phase("RunStart")
        self.show_inputs()  # what was said before this, while it was at work
        self.append({"role": "user", "text": text})
        self.state.turn_was_last = False
        await self.commit_at("UserMessage", "run_start")
        return await self._steps()

    async def _steps(self) -> Segment:
        """The loop.  Each iteration decides from the state what comes next."""
        while True:
            await self._settle_decisions()
            if self.cancelling:
                raise RunCancelled
            if self.must_wait() and not self._leads_on:
                return await self._suspend()
            self._leads_on = False
            held_back = self.state.in_status("New")
            if held_back:
                await self._tool_round(held_back)
                continue
            if self.state.steps_ended < self.state.step and not self.ends_first:  # cut short before its end
                await self._step_end()
            if self.state.turn_was_last and not self.goes_on:
                return await self._end(Reason("NaturalEnd"))
            stopped = self._stop() if self.state.step else None
            if stopped is not None:
                return await self._end(stopped)
            await self._step()

    def must_wait(self) -> bool:
        """Whether the run can only wait: by policy one suspended call is enough, or it takes the round."""
        suspended = self.state.in_status("Suspended")
        if not suspended or self.state.user_was_last:
            return False
        if self.policies["round.executor"] == "parallel" and self.state.in_status("New"):
            return False  # a crash cut its round short: none is held back where all run at once
        if self.policies["round.mixed"] == "wait" or self.state.turn_was_last:
            return True
        return all(call.status == "Suspended" for call in self.state.last_round())

    def _stop(self) -> Reason | None:
        exceeds = self.policies["stop.threshold"] == "exceeds"
        return stop_reason(self.stop, self.state, self.world.now_ms(), exceeds)

    # -- one step

    async def _step(self) -> None:
        """One inference, and the round that it asks for."""
        self.state.step += 1
        self.phase("StepStart")
        self.phase("BeforeInference")
        self.record(self.state.in_status("Suspended"))
        request = await self.consult("BeforeInference", system=None, params={}, tools=[*self.tools])
        offered = request.pop("tools")
        self.state.offered = offered if len(offered) < len(self.tools) else None
        request |= {} if self.state.offered is None else {"tools": offered}
        turn = await self._ask(request)
        self.phase("AfterInference")
        calls, ended = await self._look_at_turn(turn)
        if self.ends_first:
            self._end_step()
        await self.commit_at("AssistantTurnCommitted", "step")
        if ended is not None:
            raise ended
        if calls:
            self._preempt()
            await self._tool_round(calls)
        else:
            await self._step_end()

    async def _ask(self, request: dict[str, Any]) -> ModelTurn:
        """Ask the model, with all that the user has said by now."""
        self.heed()
        self.show_inputs()
        self.inferring = True
        try:
            asking = self.world.infer(self.thread_to_show(), self.state.step, request, self.streams)
            return await self.outside(asking)
        finally:
            self.inferring = False

    def streams(self, text: str, call: AskedCall | None) -> None:
        """A piece of a turn has come: only watchers are shown it, and only its text."""
        if text:
            self.publish("model.delta", text=text)

    def _preempt(self) -> None:
        """Where a stop comes before the tools of its step, they do not run."""
        stopped = self._stop() if self.policies["stop.tools"] == "preempted" else None
        if stopped is not None:
            self._end_step()
            raise RunStopped(stopped)

    async def _look_at_turn(self, turn: ModelTurn) -> tuple[list[Call], PluginEnded | None]:
        """Record what a plugin leaves of a turn; an end that it asks for is still to come."""
        asked = [{"id": call.id, "name": call.name, "args": call.args} for call in turn.tool_calls]
        self.inferring = True
        try:
            data = await self.consult("AfterInference", tool_calls=asked)
        except PluginEnded as ended:
            return self._take_turn(turn), ended
        finally:
            self.inferring = False
        left = [LeftCall(**call) for call in data["tool_calls"]]
        return self._take_turn(LeftTurn(turn.text, left, turn.usage, turn.stop)), None

    def _take_turn(self, turn: ModelTurn) -> list[Call]:
        """Record the turn; a call whose id is taken, in the turn or by a live call, is not recorded."""
        calls: dict[str, Call] = {}
        taken: list[dict[str, Any]] = []
        for asked in turn.tool_calls:
            live = self.state.calls.get(asked.id)
            if asked.id not in calls and (live is None or live.is_final):
                calls[asked.id] = call = self.take_up(asked, cut_call(turn))
                call.resume_mode = self.tools.get(asked.name, {}).get("resume_mode", "replay")
                call.step = self.state.step
                taken.append({"id": asked.id, "name": asked.name, "args": asked.args})
        self.append({"role": "assistant", "text": turn.text, "tool_calls": taken})
        self.state.tokens += turn.usage.input + turn.usage.output
        self.producer.spent(turn.usage.input, turn.usage.output)
        self.state.turn_was_last = not calls and turn.stop != "pause"
        for call, asked_for in zip(calls.values(), taken, strict=True):
            self.state.calls.pop(call.id, None)
            self.within.pop(call.id, None)
            self.state.calls[call.id] = call
            call.is_granted = self.is_covered(call)
            self.state.history_of_calls.append([call.name, {k: v for k, v in call.args.items() if k != "k"}])
            self.say_call(call, "New", before=None)
            self.publish("call.asked", call=call.id, tool=call.name, args=asked_for["args"])
        return list(calls.values())

    def take_up(self, asked: AskedCall, cut: str | None) -> Call:
        """The call that the model asks for; `cut` names the one that its turn may have cut off."""
        return taken_up(asked, cut, repairs=self.policies["turn.cut"] == "repaired")

    async def _tool_round(self, calls: list[Call]) -> None:
        await self.run_round(calls)
        await self.commit_at("ToolResultsCommitted", "round")
        await self._settle_decisions()
        if not self.must_wait() and not self.state.in_status("New"):
            await self._step_end()

    async def _step_end(self) -> None:
        self._end_step()
        if not self.triggers:
            await self.commit("StepEnd", "step")

    def _end_step(self) -> None:
        """StepEnd fires once a step, however often the step waits."""
        if self.state.steps_ended < self.state.step:
            self.state.steps_ended = self.state.step
            self.phase("StepEnd")

    # -- waiting and ending

    async def _suspend(self) -> Segment:
        pending = tuple(self.pending())
        reason = Reason("Suspended")
        self._end_step()
        if self.reentered:
            self.phase("RunEnd")
            self.suspending = True
            await self.commit("RunFinished", "suspend", force=True, ending=("Waiting", reason))
            await self._join()
        else:
            trigger = "RunFinished" if self.triggers else "StepEnd"
            await self.commit(trigger, "suspend", force=self.triggers, ending=("Waiting", reason))
        self.suspending = False
        if self.cancelling and not self.reentered:
            raise RunCancelled
        decided = bool(self.ready() or self._concurrent)  # while the store was busy
        if decided and not self.reentered:
            return await self._steps()
        self.move_run("suspend", reason)
        self._announce(reason, pending)
        if not (decided or self.cancelling):
            return Segment(reason, pending)
        # this segment is over all the same; what came while the store was busy enters the next
        self.observe("run.finished", reason=reason.to_wire(), pending=list(pending))
        if self.cancelling:
            raise RunCancelled
        return await self._resume()

    async def _end(self, reason: Reason) -> Segment:
        self.ending = True
        await self._finish_concurrent(drains=self.drains and reason.code == "Cancelled")
        await self.cancel_within(busy=False)
        self._close_live_calls(reason)
        self.settle_inputs(reason)
        if self.state.status != "Created" and not self.suspending:  # it never started, or has fired it
            self.phase("RunEnd")
        ending = ("Done", reason)
        try:
            if self.triggers:
                await self.commit("RunFinished", "end", force=True, ending=ending)
            else:
                await self.commit("StepEnd", "end", ending=ending)
        except WorldFault as fault:
            reason = Reason("Error", str(fault))
        unstarted = self.state.status == "Created" and reason.code != "Cancelled"
        self.move_run("rejected" if unstarted else RUN_EVENTS[reason.code], reason)
        self._announce(reason, ())
        return Segment(reason)

    def _announce(self, reason: Reason, pending: Sequence[str]) -> None:
        """Watchers are notified how the segment ended, before its stream ends."""
        self.publish("run.finished", reason=reason.to_wire(), pending=list(pending))
        self.sink.end_segment(final=self.state.status == "Done")

    def _close_live_calls(self, reason: Reason) -> None:
        """No call outlives its run: the thread that the next run takes over is well-formed."""
        for call in self.state.live():
            unstarted = call.status == "New" and reason.code != "Cancelled"
            if self.policies["end.live"] == "closed" or self._is_aborted(call, reason):
                self.move_call(call, "fail" if unstarted else "cancel")
            self.answer(call, "error" if unstarted else "cancelled", f"the run ended: {reason.code}")

    def _is_aborted(self, call: Call, reason: Reason) -> bool:
        """Whether a cancel of the run takes the call out of its execution: it is not left as it is."""
        return reason.code == "Cancelled" and call.status in ("Running", "Resuming")

    # -- policies and waiting for the outside

    @property
    def triggers(self) -> bool:
        """Whether checkpoints come at the named triggers rather than at the end of a step."""
        return bool(self.policies["checkpoint.at"] == "triggers")

    @property
    def ends_first(self) -> bool:
        """Whether a step ends before its tools run."""
        return bool(self.policies["step.end"] == "before_tools")

    @property
    def created(self) -> bool:
        """Whether a run is Created before it is Running."""
        return bool(self.policies["run.created"] == "yes")

    async def commit_at(self, trigger: str, cause: str) -> None:
        """A checkpoint that only the policy of named triggers has."""
        if self.triggers:
            await self.commit(trigger, cause)

    @property
    def _is_called_off(self) -> bool:
        """Whether nothing more of the run is to begin: something of it broke, or it is cancelled."""
        return self.broken is not None or self.cancelling

    def _why_called_off(
        self,
    ) -> BaseException:  # raised as it is given: a frame that kept it would keep itself
        return self.broken or RunCancelled()

    def heed(self) -> None:
        """Begin nothing once the run is called off."""
        if self._is_called_off:
            raise self._why_called_off()

    async def outside(self, waiting: Coroutine[Any, Any, T], drains: bool = False) -> T:
        """Wait for the outside world; a cancel takes the wait away, unless tools drain."""
        if self._is_called_off:
            waiting.close()  # never entered: not reported
            raise self._why_called_off()
        task = asyncio.current_task()
        assert task is not None  # only coroutines of the loop wait
        self._waiting.add(task)
        if drains:
            self._draining.add(task)
        try:
            return await waiting
        except asyncio.CancelledError:
            if self._is_called_off:
                raise self._why_called_off() from None
            raise
        finally:
            self._waiting.discard(task)
            self._draining.discard(task)
