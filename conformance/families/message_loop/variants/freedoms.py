"""Loops that take a freedom which no policy names."""

from __future__ import annotations

from typing import Any

from runlock.machines.message_loop.runtime.loop import MessageLoop
from runlock.machines.message_loop.runtime.records import Call, Execution, PassRecord, Reason, Response


class Chatty(MessageLoop):
    """Shows observations and events of its own."""

    def publish(self, event: str, p: PassRecord | None = None, /, **data: Any) -> None:
        self.world.status("acme.progress", {"percent": 50})
        super().publish(event, p, **{**data, "acme": {"nested": ["thing"]}})


class KeepsTheRendered(MessageLoop):
    """Keeps the payload in the history that the transforms of RENDER left."""

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
    """Reports a denied call as failed as well."""

    def deny_call(self, p: PassRecord, call: Call, code: str, why: str) -> None:
        super().deny_call(p, call, code, why)
        self.publish_call("ToolInvocationFailed", p, call, name=call.name)


class OtherIds(MessageLoop):
    """Makes ids of another kind for its events."""

    def ids(self, p: PassRecord | None) -> dict[str, str]:
        return {key: f"acme/{value}" for key, value in super().ids(p).items()}


class StoresMore(MessageLoop):
    """Stores the session when a stage execution begins an attempt."""

    async def act(self, x: Execution) -> Reason | None:
        await x.scope.outside(self.world.commit("AcmeBegan", "acme", False, self.state(), x.id))
        return await super().act(x)
