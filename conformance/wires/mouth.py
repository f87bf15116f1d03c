"""What the mouths of all wires share: a schedule as the ends see it, whose gates the kit opens.

A mouth is a guest of the ends.  Requests to the model and calls of tools are gates, by the names that the
kit has for them.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from runlock.conformance.families.lifecycle.adapter import Host, Refused, Segment, ToolRaised
from runlock.conformance.families.lifecycle.messages import Reason, Scenario
from runlock.conformance.protocol import Turn
from runlock.conformance.wires.address import Address
from runlock.conformance.wires.identity import Identity
from runlock.conformance.wires.model_apis.api import ModelRequest
from runlock.conformance.wires.rest import ENTRY, Resting
from runlock.conformance.wires.ui_clients import Json
from runlock.conformance.wires.wiring import Wiring

W = TypeVar("W", bound=Wiring)

RANDOM: Final = re.compile(
    r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)"
)
"""What a runtime makes anew each time: ids of messages, and times of day."""


class Mouth(Generic[W]):
    """One thread of a runtime, and its client."""

    identity: Identity

    def __init__(self, wire: W) -> None:
        self.wire = wire
        self.address = wire.address
        self.aliases: dict[str, str] = {}  # a name for each text that a runtime makes anew

    def sit_down(self, host: Host, mark: str) -> None:
        """Be a guest of the ends from now on; nothing is under way."""
        self.host = host
        self.mark = mark
        self.entered: set[str] = set()  # calls of the newest turn
        self.approved: set[str] = set()  # by the newest decisions
        self.untold: set[str] = set()  # calls that were answered, of which the runtime may still tell
        self.requests_open = self.tools_open = 0
        self.is_touched = False
        self.tasks: set[asyncio.Task[Any]] = set()
        kit = asyncio.get_running_loop()
        self.rest = Resting(self.wire.real, kit, self.wire.pace, self._owes, self._is_left)
        self.wire.ends.seat(self)

    def asides(self) -> list[str]:
        """What the runtime asked that belonged to no schedule."""
        return self.wire.ends.taken_asides()

    def busy(self) -> bool:
        """Whether the runtime may still move."""
        return hasattr(self, "rest") and self.rest.busy()

    async def close(self) -> None:
        if hasattr(self, "rest"):
            self.wire.ends.unseat(self)
            self.wire.real.loop.call_soon_threadsafe(self._give_up)

    def _give_up(self) -> None:
        for task in self.tasks:
            task.cancel()

    # What a wire has in its own way.

    def _is_left(self) -> bool:
        """Whether the client has given up what is under way."""
        raise NotImplementedError

    def _not_entered(self) -> set[str]:
        """The calls of the newest turn that may still be entered."""
        raise NotImplementedError

    def _owes(self) -> str:
        """What may still come: nothing if the model is asked, or each call was entered and told of."""
        raise NotImplementedError

    # How a request ends that touched nothing.

    def _failed(self, error: str) -> Segment:
        return Segment(Reason(code="Error", detail=error))

    def _refused(self, error: str) -> Segment:
        raise Refused(error)

    # What the runtime does.

    async def model(self, request: ModelRequest) -> Turn:
        """The runtime asks its model: a gate."""
        self.is_touched = True
        self.requests_open += 1
        try:
            said = [self.identity.seen(one) for one in request.messages]
            turn = await self._kept(self.rest.ask(self.host.infer(said)))
        finally:
            self.requests_open -= 1
        self._new_round()
        return Turn(text=turn.text, tool_calls=self.identity.asked(list(turn.tool_calls)))

    def _new_round(self) -> None:
        """The model has answered: nothing of its turn is entered yet."""
        self.entered, self.approved, self.untold = set(), set(), set()

    async def tool(self, name: str, args: dict[str, Any]) -> tuple[str, bool]:
        """The runtime enters a tool: a gate, whose outcome is the result."""
        self.is_touched = True
        call = self.identity.call_of(args, "unknown")
        self.entered.add(call)
        if len(self.entered) > 1 and not self.untold and not self._not_entered():
            self.wire.pace.habits[ENTRY].kept += 1  # all of them, before one has ended
        named, plain = self.identity.name(call, name, args), self.identity.arguments(call, args)
        self.tools_open += 1
        try:
            outcome = await self._kept(self.rest.ask(self.host.tool(call, named, plain)))
        except ToolRaised as error:
            return str(error), True
        finally:
            self.tools_open -= 1
            self.untold.add(call)
        content = outcome.content if isinstance(outcome.content, str) else json.dumps(outcome.content)
        return content, outcome.kind == "error"

    async def _kept(self, work: Any) -> Any:
        """Await something that ends with the schedule."""
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return await task

    # What is shown.

    def _show(self, call: str, name: str, args: Any) -> None:
        named, plain = self.identity.name(call, name, args), self.identity.arguments(call, args)
        self.host.observe("call.shown", call=call, name=named, args=plain)

    def _known(self, text: str) -> Json:
        """What a text says, with a name for all that is made anew each time."""
        found: Json = json.loads(RANDOM.sub(self._alias, text))
        return found

    def _alias(self, found: re.Match[str]) -> str:
        return self.aliases.setdefault(found[0], f"random-{len(self.aliases) + 1}")


def tools_for(scenario: Scenario, address: Address) -> dict[str, str]:
    """The tool of the kit that stands for each tool of a scenario: one that needs the same permission."""
    found: dict[str, str] = {}
    for permission, offered in (("ask", address.ask), ("allow", address.free)):
        tools = [tool.name for tool in scenario.tools if tool.permission == permission]
        found |= {name: offered[at % len(offered)] for at, name in enumerate(tools) if offered}
    return found


Wrong = Callable[[str], Segment]
"""What an error comes to that touched nothing."""
