"""google-adk behind the hosted interface: a model that asks the kit, and tools that need confirmation.

A call that waits has a request for its confirmation in the session's events, and a decision is the function
response to that.  `Resumable` is the same app with its invocations made resumable.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Sequence
from typing import Any, ClassVar

from google.adk.agents import LlmAgent
from google.adk.apps.app import App, ResumabilityConfig
from google.adk.runners import InMemoryRunner
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from pydantic import JsonValue

from runlock.conformance.adapter import Control, Decision, Host, Refused, Scenario, Segment, ToolSpec
from runlock.conformance.adapters.libraries import ABSENT, YES_OR_NO, Thread, given, offers
from runlock.conformance.adapters.models.google_adk import KitModel

ASKED = "adk_request_confirmation"
PENDING = "This tool call requires confirmation."
KEPT = ["asked", "requests", "invocation", "invocations", "verdicts", "asks_itself"]  # by the caller
SESSION: Any = {"user_id": "user", "session_id": "thread"}


class Adk(Thread):
    """One session of an app."""

    is_resumable: ClassVar[bool] = False

    handshake = offers(
        "google-adk",
        "google-adk",
        tool=["ok", "error", "raise", "fault", "pending"],
        permission=["allow", "block", "suspend", "set_result"],
        # https://google.github.io/adk-docs/tools-custom/confirmation: the tool gets the payload of an answer.
        # https://google.github.io/adk-docs/tools-custom/performance: the calls of a turn run in parallel.
        # https://google.github.io/adk-docs/sessions/session: the events of a thread lie in a session service.
        # https://google.github.io/adk-docs/callbacks/types-of-callbacks: a callback before a tool gives the
        # result in its place, and is asked before each execution; without one for errors, they are raised.
        policies={
            "state": "runtime",
            "decision.modes": ["replay", "pass_to_tool"],
            "decision.batch": "atomic",
            "round.executor": "parallel",
            "round.block": "fail_call",
            "replay.gate": "yes",
            "resume": "partial",
            "tool.raises": "end_run",
            "input.waiting": "placeholder",
            "cancel.inflight": "abort",
            "cancel.results": "dropped",
        },
        model=["length", "refusal"],
        decisions=YES_OR_NO.model_copy(update={"payload": True}),
        observes=["call.shown"],
    )

    async def open(self, host: Host, scenario: Scenario) -> None:
        await super().open(host, scenario)
        self.requests: dict[str, str] = {}  # those without an answer, by their calls
        self.invocation: str | None = None  # the newest
        self.invocations: dict[str, str | None] = {}  # in which a call was asked about
        self.verdicts: dict[str, str] = {}  # what was said of each call last
        self.asks_itself: set[str] = set()  # the calls whose bodies asked for a confirmation
        self.abort = asyncio.Event()
        model = KitModel(model="kit", host=host)
        self.gated = [spec.name for spec in scenario.tools if spec.permission == "gate"]
        tools = [self._tool(spec) for spec in scenario.tools]
        agent = LlmAgent(name="agent", model=model, tools=tools, before_tool_callback=self._permit)
        resumability = ResumabilityConfig(is_resumable=self.is_resumable)
        self.runner = InMemoryRunner(app=App(name="app", root_agent=agent, resumability_config=resumability))
        await self.runner.session_service.create_session(app_name="app", **SESSION)

    async def start(self, text: str) -> Segment:
        self.requests = {}
        return await self.input(text)

    async def input(self, text: str) -> Segment:
        return await self._run(types.Part(text=text))

    async def decide(self, decisions: Sequence[Decision]) -> Segment:
        asked = [self.invocations[one.call] for one in decisions if one.call in self.invocations]
        invocation = asked[-1] if asked else self.invocation
        return await self._run(*map(self._answer, decisions), invocation=invocation)

    async def cancel(self) -> None:
        self.abort.set()

    async def _run(self, *parts: types.Part, invocation: str | None = None) -> Segment:
        self.abort = asyncio.Event()
        error, is_told = None, False
        async for event in self.runner.run_async(
            **SESSION,
            invocation_id=invocation,
            new_message=types.Content(role="user", parts=list(parts)) if parts else None,
            abort_signal=self.abort,
        ):
            self._note(event)
            error = event.error_code or error
            is_told = is_told or event.content is not None or error is not None
        if not (is_told or self.abort.is_set()):
            raise Refused("the session took it in, and nothing came of it")
        if error is not None:
            return Segment("Cancelled" if self.abort.is_set() else "Error")
        return self.ended(self.requests.items())

    def _note(self, event: Any) -> None:
        """Keep which calls wait: their requests stand in the events, and so do their results."""
        self.invocation = event.invocation_id if self.is_resumable else None
        for call in event.get_function_calls():
            if call.name == ASKED:
                asked = call.args["originalFunctionCall"]
                self.requests[asked["id"]] = call.id
                self.invocations[asked["id"]] = self.invocation
                self.show(asked["id"], asked["name"], asked["args"])
        self.asked |= self.requests
        for one in event.get_function_responses():
            if one.id in self.requests and one.id not in event.actions.requested_tool_confirmations:
                del self.requests[one.id]

    def _answer(self, decision: Decision) -> types.Part:
        request = self.asked.get(decision.call, f"nobody asked about {decision.call}")
        confirmed = {"confirmed": decision.action == "resume", "payload": decision.payload}
        return types.Part(
            function_response=types.FunctionResponse(id=request, name=ASKED, response=confirmed)
        )

    async def _permit(self, tool: Any, args: Any, tool_context: ToolContext) -> dict[str, Any] | None:
        """A callback before each call; the confirmation that it may want is for the tool to require."""
        if tool.name not in self.gated:
            return None
        call = str(tool_context.function_call_id)
        verdict = await self.host.permit(call, tool.name, args)
        self.verdicts[call] = verdict.kind
        if verdict.kind == "set_result":
            return {"result": verdict.content}
        return {"error": "blocked"} if verdict.kind == "block" else None

    def _tool(self, spec: ToolSpec) -> FunctionTool:
        async def body(tool_context: ToolContext, k: str = ABSENT, v: JsonValue = ABSENT) -> dict[str, Any]:
            call, confirmation = str(tool_context.function_call_id), tool_context.tool_confirmation
            if call in self.asks_itself and confirmation and not confirmation.confirmed:
                return {"error": "rejected"}
            is_given = spec.resume_mode == "pass_to_tool" and confirmation
            args = given(k=k, v=confirmation.payload if is_given else v)
            answer = await self.host.tool(call, spec.name, args)
            if answer.kind == "pending":
                self.asks_itself.add(call)
                tool_context.request_confirmation()
                return {"error": PENDING}
            return {"error" if answer.kind == "error" else "result": answer.content}

        def asks(tool_context: ToolContext, k: str = ABSENT, v: JsonValue = ABSENT) -> bool:
            return self.verdicts[str(tool_context.function_call_id)] == "suspend"

        body.__name__ = body.__doc__ = spec.name
        return FunctionTool(
            body, require_confirmation=asks if spec.permission == "gate" else spec.permission == "ask"
        )


class Resumable(Adk):
    """One session of an app whose invocations can be resumed."""

    is_resumable = True

    # https://google.github.io/adk-docs/runtime/resume: what stopped is taken up there.
    handshake = Adk.handshake.model_copy(
        update={
            "decisions": YES_OR_NO.model_copy(update={"payload": True, "after_error": False}),
            "policies": {**Adk.handshake.policies, "round.mixed": "wait"},
            "control": Control(told="kept"),
        }
    )

    async def checkpoint(self) -> Any:
        if self.invocation is None:
            return None
        return copy.deepcopy((self.runner.session_service, {name: getattr(self, name) for name in KEPT}))

    async def restore(self, host: Host, scenario: Scenario, checkpoint: Any) -> None:
        await self.open(host, scenario)
        self.runner.session_service, kept = checkpoint
        vars(self).update(kept)

    async def resume_run(self, run: str) -> Segment:
        if self.requests:  # its caller still has them
            return self.waiting_again(list(self.requests))
        return await self._run(invocation=self.invocation)
