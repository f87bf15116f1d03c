"""What an agent of the Agent Client Protocol says from a prompt to its end, read once for all its clauses.

This is version 1, in which the end of a prompt is its response.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import Prompted

STOP_REASONS: Final = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")
FINAL: Final = ("completed", "failed")
TOLD: Final = (
    "tool_call", "tool_call_update", "tool_call_content_chunk", "agent_message", "agent_message_chunk",
    "agent_thought", "agent_thought_chunk", "plan", "plan_update",
)  # fmt: skip
"""Updates that have content, or are about calls."""

Event = Mapping[str, Any]


class Reader:
    """Reads the prompts of a session, and notes by clause the reason why it is broken, or an empty one."""

    final: tuple[str, ...] = FINAL

    def __init__(self) -> None:
        self.notes: dict[str, list[str]] = defaultdict(list)
        self.known: set[Any] = set()  # calls that were announced, or asked about
        self.statuses: dict[Any, str] = {}
        self.asked: dict[Any, Event] = {}  # permissions, by their ids
        self.rejected: set[Any] = set()
        self.is_cancelled = self.is_answered = self.is_racing = False

    def read(self, seen: Prompted) -> None:
        """Take in one prompt; the notes are of it alone."""
        self.notes = defaultdict(list)
        for event in seen.events:
            take = getattr(self, f"_{event.get('type')}".replace("/", "_"), None)
            self._tell(event)
            if take is not None:
                take(event)

    def forget(self) -> None:
        """A crash has come: names that were given may be lost, and given again."""

    def _note(self, number: int, is_right: bool, reason: str) -> None:
        self.notes[f"PROMPT-{number}"].append("" if is_right else reason)

    def _prompt(self, event: Event) -> None:
        self.is_cancelled = self.is_answered = False

    def _cancel(self, event: Event) -> None:
        self.is_cancelled = True
        self.is_racing = bool(event.get("races"))

    def _response(self, event: Event) -> None:
        self._end(event)

    def _end(self, event: Event) -> None:
        """The prompt is over."""
        self.is_answered = True
        if "error" in event:
            self._note(2, not self.is_cancelled, f"the cancelled prompt is answered with {event['error']}")
        else:
            self._stop(event.get("stopReason"))
            if self.is_cancelled:
                self._note(2, True, "")
        if self.is_cancelled:
            self._note(3, True, "")
            if not self.is_racing:
                self._note(7, True, "")

    def _stop(self, stop: Any) -> None:
        self._note(1, stop in STOP_REASONS, f"the prompt is answered with the stop reason {stop}")

    def _tell(self, event: Event) -> None:
        if event.get("type") in TOLD and self.is_cancelled and self.is_answered:
            self._note(3, False, f"{event['type']} comes after the response to the cancelled prompt")

    def _tool_call(self, event: Event) -> None:
        call = event.get("toolCallId")
        self.known.add(call)
        self.rejected.discard(call)
        self.statuses[call] = str(event.get("status") or "pending")

    def _tool_call_update(self, event: Event) -> None:
        call, status = event.get("toolCallId"), event.get("status")
        self._announced(call)
        if status is None:
            return
        before = self.statuses.get(call, "pending")
        if before in self.final:
            self._note(5, status == before, f"call {call} was {before}, and is {status}")
        elif status in self.final:
            self._note(5, True, "")
        if call in self.rejected and status in self.final:
            self._note(6, status != "completed", f"call {call} was rejected, and is reported as completed")
        self.statuses[call] = str(status)

    def _announced(self, call: Any) -> None:
        is_known = call in self.known
        self._note(4, is_known, f"call {call} is updated, and was neither announced nor asked about")

    def _permission(self, event: Event) -> None:
        self.known.add(event.get("toolCallId"))
        self.asked[event.get("id")] = event
        ids = [one.get("optionId") for one in event.get("options") or () if isinstance(one, Mapping)]
        self._note(8, bool(ids), "a permission has no options")
        if ids:
            self._note(8, len({*ids}) == len(ids), f"two options of a permission have one id: {ids}")
        if self.is_cancelled and not (self.is_answered or self.is_racing):
            self._note(7, False, f"a permission for call {event.get('toolCallId')} is asked after the cancel")

    def _answer(self, event: Event) -> None:
        asked = self.asked.pop(event.get("id"), None)
        kinds = {one.get("optionId"): one.get("kind") for one in (asked or {}).get("options") or ()}
        if asked is not None and str(kinds.get(event.get("optionId"))).startswith("reject"):
            self.rejected.add(asked.get("toolCallId"))

    def _request(self, event: Event) -> None:
        method = event.get("method")
        self._note(9, False, f"the client is asked for {method}, and has not said that it can do that")

    def _garbage(self, event: Event) -> None:
        line = event.get("line")
        what = "a line that is no message" if '"id"' not in str(line) else "an answer to no request"
        self._note(9, False, f"its output has {what}: {line}")
