"""Legal variants whose behaviour is allowed by the spec but not named by a policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runlock.machines.message_loop.runtime.loop import MessageLoop
from runlock.machines.message_loop.runtime.records import (
    Call,
    Execution,
    PassRecord,
    Reason,
    Response,
    TurnFault,
)
from runlock.machines.message_loop.runtime.world import PersonAnswer, WorldFault


class Chatty(MessageLoop):
    """Reports observations and events that the protocol does not define."""

    def publish(self, event: str, p: PassRecord | None = None, /, **data: Any) -> None:
        self.world.status("acme.progress", {"percent": 50})
        super().publish(event, p, **{**data, "acme": {"nested": ["thing"]}})


class KeepsTheRendered(MessageLoop):
    """Stores in the history the payload as the transforms of RENDER rewrote it."""

    async def persist_response(self, p: PassRecord, response: Response) -> None:
        text = self.payload if not response.calls else response.text
        await super().persist_response(p, Response(text, response.calls, response.terminal))

    def rewrite(self, occasion: Any, data: Any) -> None:
        super().rewrite(occasion, data)
        if occasion.at == "RENDER":
            self.payload = str(occasion.data["text"])

    async def render(self, p: PassRecord, response: Response) -> None:
        self.payload = response.text
        await super().render(p, response)


class ReportsBoth(MessageLoop):
    """Reports a denied call as failed too."""

    def deny_call(self, p: PassRecord, call: Call, code: str, why: str) -> None:
        super().deny_call(p, call, code, why)
        self.publish_call("ToolInvocationFailed", p, call, name=call.name)


class OtherIds(MessageLoop):
    """Uses another format for the ids of its events."""

    def ids(self, p: PassRecord | None) -> dict[str, str]:
        return {key: f"acme/{value}" for key, value in super().ids(p).items()}


@dataclass(frozen=True)
class Standing:
    """The answer of a standing grant."""

    kind: str = "allow"
    scope: str = "once"
    message: str | None = None


class LooksAgain(MessageLoop):
    """Looks for a standing grant once more when a call's turn to be asked about has come."""

    async def prompt_now(self, p: PassRecord, call: Call, ask: str) -> PersonAnswer | None:
        return Standing() if self.stands(p, call, ask) else await super().prompt_now(p, call, ask)


class StoresMore(MessageLoop):
    """Stores the session at the start of each attempt of a stage execution."""

    async def act(self, x: Execution) -> Reason | None:
        try:
            await x.scope.outside(self.world.commit("AcmeBegan", "acme", False, self.state(), x.id))
        except WorldFault as fault:
            raise TurnFault(f"the store failed: {fault}") from fault
        return await super().act(x)
