"""What waits at a server of AG-UI, and the request that answers it.

A call waits in one of three ways: as an interrupt of its own, in an interrupt that names no call and asks
about one or several of the round, or as a call without a result, which the client gives.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from runlock.conformance.families.lifecycle.actions.decisions import ELSEWHERE
from runlock.conformance.families.lifecycle.adapter import Refused
from runlock.conformance.families.lifecycle.messages import Decision
from runlock.conformance.families.lifecycle.messages.stimuli import ABANDONED
from runlock.conformance.wires.address import Address
from runlock.conformance.wires.ag_ui_client import LEGACY, HttpClient
from runlock.conformance.wires.dialects import payload
from runlock.conformance.wires.identity import Identity
from runlock.conformance.wires.ui_clients import Json


class Approvals:
    """What waits in one thread; `by_result` says that calls wait for a result of the client."""

    def __init__(self, address: Address, identity: Identity, *, by_result: bool) -> None:
        self._address = address
        self._identity = identity
        self._by_result = by_result
        self._interrupts: dict[str, str] = {}  # the newest one of each call, also after it was answered
        self._kept: dict[str, Decision] = {}  # decisions, until an interrupt for a round can be answered
        self._is_sent = False  # whether the newest request has brought them
        self.refuse: Callable[[str, str], None] = lambda why, decision: None  # the client takes none of it

    def waiting(self, client: HttpClient) -> dict[str, str]:
        """The calls that wait, each with the id that the runtime has for it."""
        ids = [one["toolCallId"] for one in client.interrupts if one.get("toolCallId")]
        is_for_round = len(ids) < len(client.interrupts)
        if is_for_round or (not client.interrupts and self._by_result):
            left = client.unanswered()
            asking = [one for one in left if client.call(one)[0] in self._address.ask]
            ids = asking or (left if client.interrupts else [])  # one id may hide the call that asks
        found = {self._call_of(client, one): one for one in ids}
        asked = self._asked(client.interrupts, found)
        self._interrupts |= dict.fromkeys(found, "")
        self._interrupts |= {call: str(one["id"]) for one, calls in reversed(asked) for call in calls}
        return found

    def _call_of(self, client: HttpClient, called: str) -> str:
        """The kit's id of a call: by its arguments, or by those that its interrupt shows."""
        args = client.call(called)[1]
        text = json.dumps([one for one in client.interrupts if one.get("toolCallId") == called])
        newest = [one.id for one in self._identity.newest]
        shown = [one for one in newest if args is None and f"{one}{self._identity.mark}" in text]
        return shown[0] if shown else self._identity.call_of(args, called)

    def _asked(self, interrupts: Sequence[Json], waiting: dict[str, str]) -> list[tuple[Json, list[str]]]:
        """Each interrupt with the calls that it asks about.

        One that names no call may show one. Those that do neither ask about all calls that are left.
        """
        shown = [
            [call for call, one in waiting.items() if self._shows(each, call, one)] for each in interrupts
        ]
        known = {call for calls in shown for call in calls}
        left = [call for call in waiting if call not in known]
        pairs = zip(interrupts, shown, strict=True)
        return [(each, calls or ([] if each.get("toolCallId") else left)) for each, calls in pairs]

    def _shows(self, interrupt: Json, call: str, called: str) -> bool:
        """Whether an interrupt names the call, or has its id or its arguments somewhere."""
        if interrupt.get("toolCallId"):
            return bool(interrupt["toolCallId"] == called)
        text = json.dumps(interrupt)
        return json.dumps(called) in text or f"{call}{self._identity.mark}" in text

    def taken(self, client: HttpClient) -> None:
        """The runtime has taken a request: what it brought is kept no longer, nor what waits no more."""
        waiting = {} if self._is_sent else self.waiting(client)
        self._kept = {call: one for call, one in self._kept.items() if call in waiting}
        self._is_sent = False

    def answers(self, client: HttpClient, decisions: Sequence[Decision]) -> Json | None:
        """What a request adds that brings these decisions; None if the client waits for more of them.

        A call that has no interrupt is answered by an id that no interrupt has, and one whose interrupt is
        answered already by the same id again.
        """
        waiting = self.waiting(client)
        if not client.interrupts and self._by_result:
            for one in decisions:
                client.answer(waiting.get(one.call, one.call), self._payload({}, one))
            return {}
        if not all(one.get("toolCallId") for one in client.interrupts):
            return self._answer_for_round(client.interrupts, waiting, decisions)
        known = {one["id"]: one for one in client.interrupts}
        ids = [(self._interrupts.get(one.call, f"no-interrupt-of-{one.call}"), one) for one in decisions]
        return {"resume": [self._answer(name, known.get(name, {}), one) for name, one in ids]}

    def elsewhere(self, client: HttpClient, decision: Decision) -> Json:
        """What a request of another thread adds that answers what a call of this one waits for."""
        call = decision.call.removeprefix(ELSEWHERE)
        if self._by_result:
            client.answer(call, self._payload({}, decision))
            return {}
        if self._interrupts.get(call, "").startswith(LEGACY):
            return {"forwardedProps": {"command": {"resume": self._payload({}, decision)}}}
        return {"resume": [self._answer(self._interrupts.get(call, call), {}, decision)]}

    def _answer(self, name: str, interrupt: Json, decision: Decision) -> Json:
        if decision.action == "cancel" and decision.payload == ABANDONED:
            return {"interruptId": name, "status": "cancelled"}
        return _entry(name, self._payload(interrupt, decision))

    def _answer_for_round(
        self, interrupts: Sequence[Json], waiting: dict[str, str], decisions: Sequence[Decision]
    ) -> Json | None:
        """An answer to each interrupt, once each of the calls is decided."""
        if any(one.call not in waiting for one in decisions):
            raise Refused("no interrupt asks about it")
        self._keep(decisions)
        if waiting.keys() - self._kept.keys():
            return None
        self._is_sent = True
        if LEGACY in interrupts[0]:
            return {"forwardedProps": {"command": {"resume": self._whole(interrupts[0], [*waiting])}}}
        asked = self._asked(interrupts, waiting)
        return {"resume": [_entry(one["id"], self._whole(one, calls)) for one, calls in asked if calls]}

    def _keep(self, decisions: Sequence[Decision]) -> None:
        """Keep the first answer to each call: the runtime has not seen it, and cannot refuse another one."""
        again = [one for one in decisions if one.call in self._kept]
        for one in again if len(again) < len(decisions) else ():
            self.refuse("the client has an answer for it", one.id)
        if again and len(again) == len(decisions):
            raise Refused("the client has an answer for it")
        self._kept |= {one.call: one for one in decisions if one not in again}

    def _whole(self, interrupt: Json, calls: Sequence[str]) -> Any:
        """What answers an interrupt about these calls: a list of decisions, or one that stands for all."""
        made = [self._payload(interrupt, self._kept[call]) for call in calls]
        first = made[0] if isinstance(made[0], dict) else {}
        if name := next((key for key, value in first.items() if isinstance(value, list)), None):
            return {name: [item for one in made for item in one[name]]}
        if any(one != made[0] for one in made):
            for call in calls:
                self._kept.pop(call)
            raise Refused("one answer stands for several calls, and they were decided differently")
        return made[0]

    def _payload(self, interrupt: Json, decision: Decision) -> Any:
        return payload(self._address, interrupt, decision.action == "resume")


def _entry(interrupt: str, answer: Any) -> Json:
    return {"interruptId": interrupt, "status": "resolved", "payload": answer}
