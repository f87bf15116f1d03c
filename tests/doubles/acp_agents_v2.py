"""Agents of version 2 of the Agent Client Protocol: right ones, each in a way of its own, and wrong ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from acp_agents import (
    AsksAfterACancel,
    EndsTheTurnOnACancel,
    FailsOnACancel,
    OneByOne,
    TellsAfterACancel,
)

from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.wires.acp_fronts import ReportingFront
from runlock.conformance.wires.acp_server import AgentSession, ServedAs

IDLE = {"sessionUpdate": "state_update", "state": "idle"}


class Streaming(ReportingFront):
    """The message of the user comes in chunks, and before the response, which has no id."""

    def accept(self, number: Any, message: str) -> None:
        self.number = number

    def report(self, session: str, message: str, content: Any) -> None:
        for part in content:
            self.tell(session, {"sessionUpdate": "user_message_chunk", "messageId": message, "content": part})
        self.peer.answer(self.number, {})


class Whole(ReportingFront):
    """Messages of the agent are sent as a whole."""

    def tell(self, session: str, update: Any) -> None:
        if update["sessionUpdate"] == "agent_message_chunk":
            update = {**update, "sessionUpdate": "agent_message", "content": [update["content"]]}
        super().tell(session, update)


class OfCommands(ReportingFront):
    """A permission is asked for a command, which is associated with a call."""

    def asking(self, call: str) -> Any:
        subject = {"type": "command", "command": "write", "cwd": "/", "toolCallId": call}
        return {"title": "May it run?", "subject": subject}


class Subjectless(ReportingFront):
    """A permission has words alone."""

    def asking(self, call: str) -> Any:
        return {"title": f"May {call} run?", "description": "It writes."}


class Repeating(ReportingFront):
    """States come twice, also the one from before a prompt, and something comes while it is idle."""

    def accept(self, number: Any, message: str) -> None:
        for session in self.agent.sessions:
            if self.states.get(session, "idle") == "idle":
                self.tell(session, IDLE)
        super().accept(number, message)

    def tell(self, session: str, update: Any) -> None:
        super().tell(session, update)
        if update["sessionUpdate"] == "state_update":
            super().tell(session, update)
        if update.get("state") == "idle":
            super().tell(session, {"sessionUpdate": "session_info_update", "title": "idle"})


class Batching(ReportingFront):
    """Its messages come in arrays."""

    def __init__(self, agent: Any, write: Any) -> None:
        super().__init__(agent, lambda line: write(json.dumps([json.loads(line)]).encode() + b"\n"))


class AnswersAtTheEnd(ReportingFront):
    """The response to a prompt waits for the end of its work, and has the stop reason as well."""

    def accept(self, number: Any, message: str) -> None:
        self.numbers = {**getattr(self, "numbers", {}), message.partition("-")[2]: number}

    def end(self, session: str, stop: str, **more: Any) -> None:
        number = self.numbers[str(self.agent.sessions[session].runs)]
        self.peer.answer(number, {"stopReason": stop})
        super().end(session, stop, **more)


class SpeaksOfVersion1(AnswersAtTheEnd):
    """It says that it speaks version 2, and has no state at all."""

    def tell(self, session: str, update: Any) -> None:
        if update["sessionUpdate"] not in ("state_update", "user_message"):
            super().tell(session, update)


class KeepsTheMessage(ReportingFront):
    """It does not report the message of the user."""

    def report(self, session: str, message: str, content: Any) -> None:
        """The client has it."""


class NamesAllAlike(ReportingFront):
    """Each message of the user has one id."""

    def accept(self, number: Any, message: str) -> None:
        super().accept(number, "user")

    def report(self, session: str, message: str, content: Any) -> None:
        super().report(session, "user", content)


class WorksInSilence(ReportingFront):
    """It says when it is idle, and not when it works."""

    async def move(self, session: str, state: str) -> None:
        """It tells nothing."""


class WaitsInSilence(ReportingFront):
    """It is running while it waits."""

    async def move(self, session: str, state: str) -> None:
        await super().move(session, "running")


class WaitsForEver(ReportingFront):
    """It does not say that it goes on."""

    async def move(self, session: str, state: str) -> None:
        if (state, self.states.get(session)) != ("running", "requires_action"):
            await super().move(session, state)


class NamesNoMessage(ReportingFront):
    """What the model says has no id."""

    def tell(self, session: str, update: Any) -> None:
        if update["sessionUpdate"] == "agent_message_chunk":
            del update["messageId"]
        super().tell(session, update)


class DeniedCalls(ReportingFront):
    """A call that was rejected is denied."""

    def tell(self, session: str, update: Any) -> None:
        super().tell(session, {**update, "status": "denied"} if update.get("status") == "failed" else update)


class Untitled(ReportingFront):
    """A permission has no title."""

    def asking(self, call: str) -> Any:
        return {"subject": super().asking(call)["subject"]}


class ReplaysUnasked(ReportingFront):
    """A session that is resumed is replayed."""

    async def resume(self, params: Any) -> Any:
        return await super().resume({**params, "replayFrom": {"type": "start"}})


class TakesTheUnknownForAYes(ReportingFront):
    """What is not cancelled is allowed."""

    def chosen(self, outcome: Any) -> str | None:
        allowed = None if outcome.get("outcome") == "cancelled" else "allow"
        return super().chosen(outcome) or allowed


class ReportsAnError(ReportingFront):
    """The exception of what was aborted is the end of the prompt."""

    def end(self, session: str, stop: str, **more: Any) -> None:
        super().end(session, "error" if stop == "cancelled" else stop, **more)


class StopsForAReasonOfItsOwn(ReportingFront):
    """The end has a word that is none of the protocol."""

    def end(self, session: str, stop: str, **more: Any) -> None:
        super().end(session, "done" if stop == "end_turn" else stop, **more)


def _as(states: type[ReportingFront] | None, session: type[AgentSession] = AgentSession) -> ServedAs:
    return ServedAs(factory("awaken-8", {}), ("write",), ("read",), session, states=states)


RIGHT: Mapping[str, ServedAs] = {
    "right": _as(ReportingFront),
    "one-by-one": _as(ReportingFront, OneByOne),
    "streaming": _as(Streaming),
    "whole": _as(Whole),
    "of-commands": _as(OfCommands),
    "subjectless": _as(Subjectless, OneByOne),
    "repeating": _as(Repeating),
    "batching": _as(Batching),
}
WRONG: Mapping[str, tuple[ServedAs, str]] = {
    "stops-for-a-reason-of-its-own": (_as(StopsForAReasonOfItsOwn), "PROMPT-1"),
    "reports-an-error": (_as(ReportsAnError), "PROMPT-2"),
    "ends-the-turn-on-a-cancel": (_as(ReportingFront, EndsTheTurnOnACancel), "CANCEL-2"),
    "fails-on-a-cancel": (_as(ReportingFront, FailsOnACancel), "CANCEL-2"),
    "tells-after-a-cancel": (_as(ReportingFront, TellsAfterACancel), "PROMPT-3"),
    "asks-after-a-cancel": (_as(ReportingFront, AsksAfterACancel), "PROMPT-7"),
    "answers-at-the-end": (_as(AnswersAtTheEnd), "PROMPT-10"),
    "speaks-of-version-1": (_as(SpeaksOfVersion1), "PROMPT-10"),
    "keeps-the-message": (_as(KeepsTheMessage), "PROMPT-11"),
    "names-all-alike": (_as(NamesAllAlike), "PROMPT-11"),
    "works-in-silence": (_as(WorksInSilence), "PROMPT-12"),
    "names-no-message": (_as(NamesNoMessage), "PROMPT-13"),
    "waits-in-silence": (_as(WaitsInSilence), "PROMPT-14"),
    "waits-for-ever": (_as(WaitsForEver), "PROMPT-14"),
    "denied-calls": (_as(DeniedCalls), "PROMPT-15"),
    "takes-the-unknown-for-a-yes": (_as(TakesTheUnknownForAYes), "PROMPT-18"),
    "untitled": (_as(Untitled), "PROMPT-16"),
}
"""By name: the agent, and the clause that it breaks."""

REPLAYING = _as(ReplaysUnasked)
"""A wrong one that shows it where a session is loaded."""

MUTATED = {
    mutant.name: ServedAs(mutant, ("write",), ("read",))
    for mutant in MUTANTS
    if mutant.name in ("RunsTheRejected", "SaysNothingOfTheRejected")
}
AGENTS = {**RIGHT, **{name: served for name, (served, _) in WRONG.items()}, **MUTATED, "one": _as(None)}
