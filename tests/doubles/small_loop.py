"""A message loop of one page on the hosted interface, which shows as little as a CLI agent does.

It was written from the protocol page alone.  Calls run one after the other, each is asked about
directly before it runs, and an allow for the session covers the tool from then on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from runlock.conformance.families.message_loop.adapter import (
    Answer,
    Handshake,
    LoopHost,
    ModelFault,
    Outcome,
    Prompt,
    PromptFault,
    Reason,
    Request,
    Scenario,
    Segment,
    ToolFault,
    ToolRaised,
    TurnStart,
)

HANDSHAKE: dict[str, Any] = {
    "implementation": {"name": "small", "version": "1"},
    "profile": "message-loop-core",
    "gates": ["model", "tool", "prompt"],
    "observes": ["run.finished"],
    "modes": ["allowlist"],
    "interactors": 1,
    "grants": ["once", "session"],
    "turns": ["chat"],
    "bounds": ["max_iterations"],
    "stimuli": ["cancel", "run.again", "deliver"],
    "outcomes": {
        "model": ["turn", "malformed", "fault"],
        "tool": ["ok", "error", "raise", "fault"],
        "prompt": ["allow", "deny", "defer"],
    },
}
POLICIES: dict[str, Any] = {
    "round.executor": "sequential", "results.order": "call", "tool.raises": "failed_call",
    "call.malformed": "failed_call", "call.terminal": "finish", "prompt.place": "interleaved",
    "prompt.line": "serial", "prompt.unanswered": "deny", "reject.reach": "call",
    "grant.scopes": ["once", "session"], "grant.match": "tool", "bound.counts": "requests",
    "bound.end": "error", "cancel.inflight": "abort", "cancel.results": "kept", "model.fault": "end_run",
    "told": "apart", "rewrite.place": "before_approval",
}  # fmt: skip
"""What it could declare; by itself it declares nothing."""
NOT_RUN = "The tool was not run."


class Over(Exception):
    """The turn ends for this reason."""

    def __init__(self, code: str, detail: str | None = None, stop: str | None = None) -> None:
        super().__init__(code)
        stopped = {"code": stop} if stop is not None else None
        self.reason = Reason.model_validate({"code": code, "detail": detail, "stop": stopped})


class SmallLoop:
    """One session of chat turns."""

    def __init__(self, **declared: Any) -> None:
        self.handshake = Handshake.model_validate({**HANDSHAKE, **declared})
        self.history: list[dict[str, Any]] = []
        self.granted: set[str] = set()

    async def open(self, host: LoopHost, scenario: Scenario) -> None:
        self.host, self.scenario = host, scenario
        self.tools = [tool.name for tool in scenario.tools if tool.offered]
        self.known = {tool.name for tool in scenario.tools}

    async def start(self, turn: TurnStart) -> Segment:
        self.work = asyncio.ensure_future(self.turn(turn.input or ""))
        try:
            return Segment(await self.work)
        except Over as over:
            return Segment(over.reason)
        except asyncio.CancelledError:
            return Segment("Cancelled")

    async def cancel(self) -> None:
        self.work.cancel()

    async def turn(self, text: str) -> Reason:
        """Ask, run the calls, and ask again."""
        self.history.append({"role": "user", "text": text})
        for _ in range(self.scenario.bounds.max_iterations):
            answer = await self.ask()
            calls = [{"id": c.id, "name": c.name, "args": c.args} for c in answer.tool_calls]
            self.history.append({"role": "assistant", "text": answer.text, "tool_calls": calls})
            await self.round(calls)
            if not calls or answer.terminal:
                return Reason(code="NaturalEnd")
        raise Over("Error", "too many rounds; tools may have completed already", "max_iterations")

    async def ask(self) -> Any:
        """One request to the model."""
        system = self.scenario.system
        try:
            return await self.host.infer(Request(list(self.history), system, self.tools))
        except ModelFault as fault:
            raise Over("Error", str(fault)) from fault

    async def round(self, calls: Sequence[dict[str, Any]]) -> None:
        """Run the calls of a response; whatever happens, each of them gets a result."""
        results: dict[str, tuple[str, Any]] = {}
        try:
            for call in calls:
                if call["id"] not in results:
                    await self.one(call, results)
        finally:
            self.settle(calls, results)

    def settle(self, calls: Sequence[dict[str, Any]], results: dict[str, tuple[str, Any]]) -> None:
        """Write the results of a round."""
        for call in dict.fromkeys(call["id"] for call in calls):
            status, text = results.get(call, ("cancelled", "Interrupted by the user."))
            self.history.append({"role": "tool", "call": call, "status": status, "text": text})

    async def one(self, call: dict[str, Any], results: dict[str, tuple[str, Any]]) -> None:
        """Give one call its result."""
        name, args = call["name"], call["args"]
        if name not in self.known or not isinstance(args, dict):
            results[call["id"]] = ("error", NOT_RUN)
            return
        if not await self.may_run(call):
            results[call["id"]] = ("error", NOT_RUN)
            return
        try:
            results[call["id"]] = result_of(await self.host.tool(call["id"], name, args))
        except ToolRaised as raised:
            results[call["id"]] = ("error", str(raised))
        except ToolFault as fault:
            results[call["id"]] = ("error", str(fault))
            raise Over("Error", str(fault)) from fault

    async def may_run(self, call: dict[str, Any]) -> bool:
        """Whether the allowlist, an earlier grant or the person lets a call pass."""
        if call["name"] in self.scenario.allowlist or self.is_granted(call):
            return True
        answer = await self.prompt(call)
        if answer is not None and answer.kind == "allow" and answer.scope == "session":
            self.grant(call)
        return answer is not None and answer.kind == "allow"

    def is_granted(self, call: dict[str, Any]) -> bool:
        """Whether a grant of this session covers a call."""
        return call["name"] in self.granted

    def grant(self, call: dict[str, Any]) -> None:
        """Keep a grant for the session."""
        self.granted.add(call["name"])

    async def prompt(self, call: dict[str, Any]) -> Answer | None:
        """Ask the person about a call, if there is one."""
        if not self.scenario.interactors:
            return None
        question = Prompt(
            f"p-{call['id']}-{len(self.history)}", "mode", call["id"], call["name"], call["args"]
        )
        try:
            return await self.host.ask(self.scenario.interactors[0], question)
        except PromptFault:
            return None


def result_of(outcome: Outcome) -> tuple[str, Any]:
    """Status and text of a result."""
    text = outcome.content if outcome.content is not None else outcome.message
    return ("ok" if outcome.kind == "ok" else "error"), text


def small() -> SmallLoop:
    """The loop as it should be; it declares no policy."""
    return SmallLoop()


def declared() -> SmallLoop:
    """The same loop; it declares its policies."""
    return SmallLoop(policies=POLICIES)
