"""A second message loop, written from the protocol page alone: every turn, every event, every policy.

It shares no code with the reference and is built in another way: one task for each turn, plain
cancellation of tasks, and results that are collected in a table.  `knobs` are freedoms of the page that
no policy names.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from rich_loop_parts import POLICIES, Over, Pass, nursery
from rich_loop_stages import Stages

from runlock.conformance.families.message_loop.adapter import (
    Checkpoint,
    CommitFault,
    Handshake,
    LoopHost,
    Refused,
    Scenario,
    Segment,
    Snapshot,
    StageStart,
    TurnStart,
)
from runlock.conformance.families.message_loop.messages import EVENTS, GATES, SLOTS

HANDSHAKE: dict[str, Any] = {
    "implementation": {"name": "rich", "version": "1"},
    "profile": "message-loop",
    "gates": list(GATES),
    "observes": ["message", "checkpoint", "event", "run.finished"],
    "events": [name for name in EVENTS if name not in ("StageCheckGateResult", "WorkflowExit")],
    "hooks": list(SLOTS),
    "interactors": 3,
}


class RichLoop(Stages):
    """One session."""

    def __init__(self, policies: Mapping[str, Any] | None = None, **knobs: Any) -> None:
        self.policy = {**POLICIES, **(policies or {})}
        self.knobs = knobs
        declared = {"policies": self.policy, "grants": list(self.policy["grant.scopes"])}
        self.handshake = Handshake.model_validate({**HANDSHAKE, **declared, **knobs.get("declare", {})})

    # -- the verbs

    async def open(self, host: LoopHost, scenario: Scenario) -> None:
        self.host, self.scenario = host, scenario
        self.interactors = list(scenario.interactors)
        self.history: list[dict[str, Any]] = []
        self.standing: list[dict[str, Any]] = []
        self.slots: dict[str, Any] = {}
        self.listener: Any = None
        self.turns = self.passes = self.prompts = self.requests = 0
        self.asking: dict[str, Any] = {}
        self.work: asyncio.Future[Any] | None = None
        self.last: list[Pass] = []
        self.reason: Any = None
        self.is_cancelled = False
        self.prompt_lock, self.stages = asyncio.Lock(), {}

    async def start(self, turn: TurnStart) -> Segment:
        self.turns += 1
        self.turn_id, self.last, self.reason, self.is_cancelled = f"T{self.turns}", [], None, False
        self.started = self.ended = self.rendered = False
        self.prompt_lock, self.stages = asyncio.Lock(), {}
        if turn.input is None or self.policy["turn.bracket"] == "outside":
            self.announce_start(None)
        self.work = asyncio.ensure_future(self.run(turn))
        code, detail, stop = await self.outcome()
        code, detail, stop = await self.finish(code, detail, stop)
        self.reason = {"code": code, "detail": detail, "stop": {"code": stop} if stop else None}
        return Segment(Snapshot.model_validate({"reason": self.reason}).reason or "Error")

    async def outcome(self) -> tuple[str, str | None, str | None]:
        """How the work of the turn ended."""
        assert self.work is not None
        try:
            await self.work
        except Over as over:
            return over.code, over.detail, over.stop
        except asyncio.CancelledError:
            return "Cancelled", None, None
        return "NaturalEnd", None, None

    async def finish(self, code: str, detail: str | None, stop: str | None) -> tuple[str, Any, Any]:
        """Announce the end, and store the session once more."""
        if self.rendered or self.policy["turn.end"] == "always":
            self.announce_end(None)
        if code == "Cancelled" and not self.knobs.get("commits_after_cancel", True):
            return code, detail, stop
        try:
            await self.commit("RunFinished", "end", None)
        except Over as over:
            return over.code, over.detail, over.stop
        except asyncio.CancelledError:
            return "Cancelled", None, None
        return code, detail, stop

    async def cancel(self) -> None:
        if self.work is not None and not self.work.done():
            self.is_cancelled = True
            self.work.cancel()

    async def gone(self, interactor: str) -> None:
        if interactor in self.interactors:
            self.interactors.remove(interactor)
        for asks in self.asking.values():
            if interactor in asks and not asks[interactor].done():
                asks[interactor].cancel()

    async def late(self, on: str, key: str, outcome: Any) -> None:
        if self.policy["late.answer"] == "refused":
            raise Refused("too late")

    def watch(self, watcher: Any) -> None:
        self.listener = watcher

    def inspect(self) -> Snapshot:
        p = self.last[-1] if self.last else None
        status = None if not self.turns else "Done" if self.reason else "Running"
        return Snapshot.model_validate({
            "status": status, "reason": self.reason, "step": p.step if p else 0,
            "rounds": p.rounds if p else 0, "messages": self.history, "prompts": list(self.asking),
            "calls": {id: {"status": status} for p in self.last for id, status in p.statuses.items()},
            "standing": [{key: one[key] for key in ("tool", "scope", "stage")} for one in self.standing],
            "stages": self.stages,
        })  # fmt: skip

    # -- what it shows

    def say(self, name: str, p: Pass | None, /, **data: Any) -> None:
        """Publish an event."""
        more = {"correlationId": p.id} if p is not None else {}
        said = {"turnId": self.turn_id, **more, **data}
        self.host.event(name, **said)
        if self.listener is not None:
            with suppress(Exception):  # a watcher is none of the loop's business
                self.listener(name, said)

    def announce_start(self, p: Pass | None) -> None:
        """SessionTurnStart, once."""
        self.started = True
        self.say("SessionTurnStart", p)

    def announce_end(self, p: Pass | None) -> None:
        """SessionTurnEnd, once."""
        if self.started and not self.ended:
            self.ended = True
            self.say("SessionTurnEnd", p)

    def append(self, p: Pass, message: dict[str, Any]) -> None:
        """Append a message to the transcript of a pass, and show it."""
        p.transcript.append(message)
        kind: Any = "stage" if p.stage else "session"
        self.host.message(message, transcript=kind, stage=p.stage)

    async def commit(self, trigger: str, cause: str, stage: str | None) -> None:
        """Store history and slots."""
        state = {"messages": list(self.history), "slots": dict(self.slots)}
        try:
            await self.host.commit(Checkpoint(trigger, cause, state, None, stage))
        except CommitFault as fault:
            raise Over("Error", str(fault)) from fault

    # -- turns

    async def run(self, turn: TurnStart) -> None:
        """The work of a turn; a stage execution or a group counts as rendered once it has exited."""
        if turn.stage is not None:
            await self.execution(turn.stage)
        elif turn.group:
            await self.group(turn)
        else:
            await self.chat(turn.input or "")
        if self.is_cancelled:
            raise asyncio.CancelledError
        self.rendered = self.rendered or turn.input is None

    async def chat(self, text: str) -> None:
        """A chat turn."""
        p = self.new_pass(self.history, None, None)
        if await self.one_pass(p, text):
            code = "Error" if self.policy["bound.end"] == "error" else "Stopped"
            raise Over(
                code, "the limit of rounds; earlier tool calls may already have completed", "max_iterations"
            )

    def new_pass(self, transcript: list[dict[str, Any]], stage: str | None, spec: Any) -> Pass:
        """A pass with an id of its own."""
        self.passes += 1
        self.last.append(Pass(f"C{self.passes}", transcript, stage, spec))
        return self.last[-1]

    async def group(self, turn: TurnStart) -> None:
        """Siblings at the same time, then the join."""
        async with nursery() as tasks:
            for one in turn.group:
                tasks.create_task(self.execution(one))
        if turn.join is not None:
            await self.execution(turn.join)

    async def execution(self, start: StageStart) -> None:
        """A stage execution, with its attempts."""
        spec = self.scenario.stage(start.name)
        assert spec is not None
        shown = {"name": start.name, "status": "Running", "attempt": 1, "cap_hit": False, "transcript": []}
        self.stages[start.id] = shown
        self.say("StageEntered", None, execution=start.id)
        try:
            await self.attempts(start, spec, shown)
        except asyncio.CancelledError:
            shown["status"] = "Cancelled"
            self.say("StageCancelled", None, execution=start.id)
            raise
        except BaseException:
            shown["status"] = "Failed"
            raise

    async def attempts(self, start: StageStart, spec: Any, shown: dict[str, Any]) -> None:
        """Act and Assert until the assertion wants no more, then Exit."""
        transcript: list[dict[str, Any]] = []
        tokens = [[token.tool, token.uses] for token in spec.grants]
        while True:
            if self.policy["assert.retry"] == "fresh":
                transcript = []
            p = self.new_pass(transcript, start.id, spec)
            p.tokens, shown["transcript"] = tokens, transcript
            capped = shown["cap_hit"] = await self.one_pass(p, spec.body)
            self.say("ActEnded", p, execution=start.id, capHit=capped)
            verdict = await self.ask_assertion(p, capped)
            self.say("StageAssertOutcome", p, execution=start.id, outcome=verdict.kind)
            if verdict.kind != "retry":
                break
            shown["attempt"] += 1
        if verdict.kind == "ok" or self.policy["exit.on_fail"] == "yes":
            await self.leave(start, verdict)
        if verdict.kind != "ok":
            raise Over("Error", "the assertion failed")
        shown["status"] = "Exited"

    async def leave(self, start: StageStart, verdict: Any) -> None:
        """Exit: the slot is stored."""
        self.slots[start.name] = verdict.slot
        await self.commit("StepEnd", "exit", start.id)
        self.say("StageExited", None, execution=start.id)

    # -- a pass

    async def one_pass(self, p: Pass, text: str) -> bool:
        """The stages of a pass; returns whether it ended at its bound."""
        await self.receive(p, text)
        while True:
            request = await self.compose(p)
            answer = await self.respond(p, request)
            if not answer.tool_calls:
                break
            await self.round(p, answer)
            p.rounds += 1
            if answer.terminal:
                if self.policy["call.terminal"] == "finish":
                    return False
                break
            if self.is_at_bound(p):
                return True
        await self.render(p, answer)
        return False

    def is_at_bound(self, p: Pass) -> bool:
        """Whether no further request may go out."""
        limit = p.spec.turn_cap if p.spec is not None else self.scenario.bounds.max_iterations
        return (p.rounds > limit) if self.policy["bound.counts"] == "continuations" else (p.rounds >= limit)


OTHER = {
    "round.executor": "sequential", "results.order": "call", "prompt.place": "first",
    "prompt.siblings": "one", "prompt.defer": "passes", "prompt.unanswered": "deny",
    "grant.match": "arguments", "grant.spent": "approval", "rewrite.place": "before_approval",
    "hook.order": "listed", "hook.fault": "deny", "input.refused": "dropped", "bound.counts": "continuations",
    "turn.bracket": "outside", "persist.results": "round", "partial.text": "kept", "late.answer": "refused",
    "told": "alike", "context.over": "cut", "stage.render": "yes", "stage.history": "none",
    "exit.on_fail": "no", "assert.retry": "fresh", "call.terminal": "render",
}  # fmt: skip
