"""Publication and storage: events with their ids, messages of the history, checkpoints.

Events are projections.  A watcher that fails stays subscribed and affects nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from typing import Any

from runlock.machines.message_loop.runtime.records import (
    Call,
    Message,
    PassRecord,
    Settings,
    StandingGrant,
    Turn,
    TurnFault,
)
from runlock.machines.message_loop.runtime.world import World, WorldFault

Watcher = Callable[[str, Mapping[str, Any]], None]


class Publishing:
    """The session and its publication."""

    def __init__(self, world: World, settings: Settings, policies: Mapping[str, Any]) -> None:
        self.world = world
        self.settings = settings
        self.policies = policies
        self.history: list[Message] = []
        self.slots: dict[str, Any] = {}
        self.standing: list[StandingGrant] = []
        self.interactors = list(settings.interactors)
        self.turn = Turn("turn-0")
        self.watcher: Watcher | None = None
        self.turns = 0
        self.requests = 0

    # -- events

    def publish(self, event: str, p: PassRecord | None = None, /, **data: Any) -> None:
        """Publish an event to the bus, and to the watcher if there is one."""
        shown = {**self.ids(p), **data}
        self.world.event(event, shown)
        if self.watcher is not None:
            with suppress(Exception):
                self.watcher(event, shown)

    def ids(self, p: PassRecord | None) -> dict[str, str]:
        """The ids that correlate events: of the turn, and of the pass."""
        return {"turnId": self.turn.id} | ({"correlationId": p.id} if p is not None else {})

    def publish_call(self, event: str, p: PassRecord, call: Call, /, **data: Any) -> None:
        """Publish an event of a call."""
        self.publish(event, p, call=call.id, **data)

    # -- statuses

    def move_call(self, p: PassRecord, call: Call, event: str) -> None:
        """Move the status of a call along its chart, and report it."""
        before = call.status.state
        row = call.status.send(event)
        self.show_status("call.status", stage=p.stage, call=call.id, origin=before, to=row.target)

    def show_status(self, kind: str, /, **fields: Any) -> None:
        """Report that a status has changed."""
        self.world.status(kind, fields)

    # -- messages

    def append(self, p: PassRecord, message: Message) -> None:
        """Append a message to the transcript of a pass, which is the session history in a chat turn."""
        p.transcript.append(message)
        transcript = "session" if p.execution is None else "stage"
        self.world.message(deepcopy(message), transcript, p.stage)

    # -- checkpoints

    def state(self) -> dict[str, Any]:
        """The content of a checkpoint."""
        return {"messages": deepcopy(self.history), "slots": deepcopy(self.slots)}

    async def commit(self, p: PassRecord, trigger: str, cause: str) -> None:
        """Store the session; a fault of the store ends the turn."""
        try:
            await p.scope.outside(self.world.commit(trigger, cause, False, self.state(), p.stage))
        except WorldFault as fault:
            raise TurnFault(f"the store failed: {fault}") from fault
