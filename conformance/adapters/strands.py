"""strands-agents behind the hosted interface, offline: a model that asks the kit, and a hook that interrupts.

The hook interrupts before each call that needs approval, and a decision answers its interrupt by id.  The
thread lies in the files of the library's own session manager.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pydantic import JsonValue
from strands import Agent, ToolContext, tool
from strands.agent.conversation_manager import ConversationManager, SummarizingConversationManager
from strands.hooks import BeforeToolCallEvent
from strands.session.file_session_manager import FileSessionManager

from runlock.conformance.adapter import Decision, Host, Message, Refused, Scenario, Segment, ToolSpec
from runlock.conformance.adapters.libraries import ABSENT, YES_OR_NO, Thread, given, offers
from runlock.conformance.adapters.models.strands import KitModel, Summaries, seen


class Strands(Thread):
    """One thread of an agent."""

    handshake = offers(
        "strands-agents",
        "strands-agents",
        tool=["ok", "error", "raise", "pending"],
        permission=["allow", "block", "suspend"],
        model=["length", "refusal", "malformed"],
        policies={
            # At https://strandsagents.com/docs/user-guide/ sdk/interrupts: a session keeps interrupts.
            "state": "runtime",
            # sdk/tools/executors: the calls of a turn run at the same time.
            "round.executor": "parallel",
            # concepts/agents/agent-loop: a failure goes back to the model, and a cancel is looked at before
            # tools begin, not while they run.
            "tool.raises": "failed_call",
            "round.failure": "isolated",
            "cancel.inflight": "drain",
            "cancel.results": "kept",
            # concepts/agents/hooks: a hook that cancels a tool gives the model an error in its place.
            "round.block": "fail_call",
            # sdk/interrupts: an answer lets its call run; what is answered goes on, and the rest waits again;
            # an agent that is interrupted takes nothing but answers, and refuses all of them for one that
            # is unknown.
            "decision.modes": ["replay"],
            "decision.batch": "atomic",
            "resume": "partial",
            "round.mixed": "wait",
            "input.waiting": "refuse",
        },
        keeps_waits=True,
        # https://strandsagents.com/docs/user-guide/sdk/agents/hooks/: a hook may change the input of a call.
        decisions=YES_OR_NO.model_copy(update={"edit": ["args"]}),
        observes=["call.shown"],
        tools=["unabortable"],  # a signal is set, which the tools of the kit do not look at
    )

    async def open(self, host: Host, scenario: Scenario) -> None:
        await super().open(host, scenario)
        self.permissions = {spec.name: spec.permission for spec in scenario.tools}
        self.held: set[str] = set()  # the calls that the hook interrupted on a verdict
        self.pended: Counter[str] = Counter()  # how often the body of a call has interrupted it
        self.edited: dict[str, Any] = {}  # arguments that an answer to a body gave, by the call
        self.agent = Agent(
            model=KitModel(host, scenario.agent.compact_above),
            tools=[self._tool(spec) for spec in scenario.tools],
            conversation_manager=self._manager(scenario.agent.compact_above),
            session_manager=FileSessionManager("thread", storage_dir=scenario.data),
            callback_handler=None,
            agent_id="agent",
            aux_model=Summaries(),
        )
        self.agent.add_hook(self._ask, BeforeToolCallEvent)

    def _manager(self, most: int | None) -> ConversationManager | None:
        """What bounds the thread; left out, the default of the library."""
        return None

    async def start(self, text: str) -> Segment:
        self.held.clear()
        self.pended.clear()
        self.edited.clear()
        return await self._run(text)

    async def input(self, text: str) -> Segment:
        return await self._run(text)

    async def decide(self, decisions: Sequence[Decision]) -> Segment:
        answers = [
            {"interruptId": self.asked.get(one.call, one.call), "response": _response(one)}
            for one in decisions
        ]
        return await self._run([{"interruptResponse": answer} for answer in answers])

    async def cancel(self) -> None:
        self.agent.cancel()

    async def checkpoint(self) -> Any:
        return self.asked, self.waiting, set(self.held), Counter(self.pended), dict(self.edited)

    async def restore(self, host: Host, scenario: Scenario, checkpoint: Any) -> None:
        await self.open(host, scenario)
        self.asked, self.waiting, self.held, self.pended, self.edited = checkpoint
        if not self.agent.messages:
            raise Refused("nothing was durable")

    async def resume_run(self, run: str) -> Segment:
        try:
            return await self._run(None)
        except TypeError:  # a session that is interrupted takes nothing but answers
            return Segment("Suspended", self.waiting)

    async def _run(self, prompt: Any) -> Segment:
        answer = await self.agent.invoke_async(prompt)
        requests = [(one.reason["toolUseId"], one.id) for one in answer.interrupts or ()]
        for one in answer.interrupts or ():
            self.show(one.reason["toolUseId"], one.reason["name"], one.reason["input"])
        return self.ended(requests, "Cancelled" if answer.stop_reason == "cancelled" else "NaturalEnd")

    async def _ask(self, event: BeforeToolCallEvent) -> None:
        call, permission = event.tool_use, self.permissions.get(event.tool_use["name"])
        is_replayed = call["toolUseId"] in self.held or self.pended[call["toolUseId"]]
        if permission == "gate" and not is_replayed:
            verdict = await self.host.permit(call["toolUseId"], call["name"], call["input"])
            if verdict.kind == "block":
                event.cancel_tool = "blocked"
            elif verdict.kind == "suspend":
                self.held.add(call["toolUseId"])
        if permission == "ask" or call["toolUseId"] in self.held:
            answer = event.interrupt("hook", dict(call))
            if answer["action"] != "resume":
                event.cancel_tool = "rejected"
            elif answer["args"] is not None:
                event.tool_use = {**call, "input": answer["args"]}
            self.held.discard(call["toolUseId"])

    def _is_over(self, call: str) -> None:
        del self.pended[call]
        self.edited.pop(call, None)

    def _tool(self, spec: ToolSpec) -> Any:
        async def body(tool_context: ToolContext, k: str = ABSENT, v: JsonValue = ABSENT) -> Any:
            use = tool_context.tool_use
            call, waits = use["toolUseId"], self.pended[use["toolUseId"]]
            decided: Any = {"action": "resume", "args": None}
            if waits:
                decided = tool_context.interrupt(f"body {waits}", use)
            if decided["action"] != "resume":
                self._is_over(call)
                return {"status": "error", "content": [{"text": "rejected"}]}
            if decided["args"] is not None:
                self.edited[call] = decided["args"]
            args = self.edited.get(call, given(k=k, v=v))
            try:
                answer = await self.host.tool(call, spec.name, args)
            except Exception:
                self._is_over(call)
                raise
            if answer.kind == "pending":
                self.pended[call] = waits + 1
                tool_context.interrupt(f"body {waits + 1}", {**use, "input": args})
            self._is_over(call)  # not before: a crash may come while it is at work
            status = "error" if answer.kind == "error" else "success"
            return {"status": status, "content": [{"text": str(answer.content)}]}

        return tool(name=spec.name, description=spec.name, context=True)(body)


def _response(decision: Decision) -> dict[str, Any]:
    """The answer to an interrupt, for the hook or the body that raised it."""
    return {"action": decision.action, "args": decision.edit.args if decision.edit is not None else None}


class SummarizingStrands(Strands):
    """An agent that puts a summary in the place of what its model refuses as too long."""

    handshake = Strands.handshake.model_copy(
        update={"edits": ["compaction"], "observes": [*Strands.handshake.observes, "thread.edited"]}
    )

    def _manager(self, most: int | None) -> ConversationManager | None:
        return None if most is None else Summarizing(self.host, most)


class Summarizing(SummarizingConversationManager):
    """The manager of the library, which shows what it cut."""

    def __init__(self, host: Host, most: int) -> None:
        super().__init__(summary_ratio=0.5, preserve_recent_messages=most // 2)
        self.host = host

    def reduce_context(self, agent: Any, e: Exception | None = None, **more: Any) -> None:
        before = list(agent.messages)
        super().reduce_context(agent, e, **more)
        after = list(agent.messages)
        cut, instead = _new_in(before, after), _new_in(after, before)
        self.host.observe("thread.edited", why="compaction", at=0, cut=cut, instead=instead)


def _new_in(some: list[Any], others: list[Any]) -> list[Message]:
    """The messages, in the protocol's words, that are not among the others."""
    known = set(map(id, others))
    return [one for message in some if id(message) not in known for one in seen(message)]
