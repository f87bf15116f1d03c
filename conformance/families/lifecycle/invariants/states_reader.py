"""What an agent of version 2 of the Agent Client Protocol says: updates tell how far the work on a prompt is.

Version 2 is a draft, and what one revision of it allows is not blamed by another: see E-119 of the errata.
"""

from __future__ import annotations

from typing import Any, Final

from runlock.conformance.families.lifecycle.invariants.prompt_reader import (
    FINAL,
    STOP_REASONS,
    Event,
    Reader,
)

STATUSES: Final = ("pending", "in_progress", "completed", "failed", "cancelled")
GIVEN_UP: Final = -32800
"""The code of an error that answers a request which was cancelled."""

MESSAGES: Final = ("user_message", "agent_message", "agent_thought")
"""How the names of updates begin that tell of a message."""

OWN: Final = "_"
"""How a word begins that is none of the protocol."""


class StatesReader(Reader):
    """Reads the prompts of a session whose work has a state; the first update of a call announces it."""

    final = (*FINAL, "cancelled")

    def __init__(self) -> None:
        super().__init__()
        self.replayed: list[Any] = []  # what a session was resumed with
        self.users: set[Any] = set()  # ids of the user's messages, of earlier prompts
        self.ids: set[Any] = set()  # those of this prompt
        self._begin()

    def forget(self) -> None:
        super().forget()
        self.users, self.ids = set(), set()

    def _begin(self) -> None:
        self.is_accepted = self.has_run = False
        self.ids = set()
        self.named: Any = None  # the id in the response
        self.state = "idle"
        self.is_waiting = self.is_reported = self.is_decided = False

    def _prompt(self, event: Event) -> None:
        if self.is_answered and not self.is_accepted:
            self._note(10, False, "the prompt before was never answered")
        self.users |= self.ids
        super()._prompt(event)
        self._begin()

    def _undecided(self, event: Event) -> None:
        """In a session before, a permission was answered in a word that no agent knows."""
        is_right = not event.get("entered")
        self._note(18, is_right, "the tool was entered after an answer that the agent does not know")

    # A session that is resumed without its replay.

    def _replay(self, event: Event) -> None:
        if str(event.get("update")).startswith(MESSAGES):
            self.replayed.append(event["update"])

    def _resumed(self, event: Event) -> None:
        what = ", ".join(dict.fromkeys(map(str, self.replayed)))
        self._note(17, not self.replayed, f"the session is replayed, and no replay was asked for: {what}")
        self.replayed = []

    # Its answer, and its end.

    def _response(self, event: Event) -> None:
        error = event.get("error")
        if error is None:
            is_late = self.is_answered or "stopReason" in event
            self._note(10, not is_late, "the prompt is answered when the work on it is over")
            self.is_accepted, self.named = True, event.get("messageId")
        elif not self.is_answered:
            self.is_accepted = True
            is_in_time = error.get("code") == GIVEN_UP and not (self.has_run or self.ids)
            self._end({"stopReason": "cancelled"} if is_in_time and self.is_cancelled else event)

    def _state_update(self, event: Event) -> None:
        if event.get("state") != "idle":
            self.has_run = True
            self._move(str(event.get("state")))
        elif not self.is_answered and (self.is_accepted or self.has_run):
            self._finish(event)
            self.state = "idle"

    def _finish(self, event: Event) -> None:
        """The work is over: what was to be said before has been said."""
        self._note(11, bool(self.ids - self.users), "the message of the user is not reported under a new id")
        if self.named is not None:
            self._note(
                11, self.named in self.ids, f"the message of the user has another id than {self.named}"
            )
        if not self.is_cancelled:
            self._note(12, self.has_run, "the work is over, and was never reported as running")
        self._judge_wait()
        self._end({"error": event.get("error") or "error"} if event.get("stopReason") == "error" else event)

    def _stop(self, stop: Any) -> None:
        is_right = stop in STOP_REASONS or str(stop).startswith(OWN)
        if stop is not None:
            self._note(1, is_right, f"the work is over for the reason {stop}")

    # Messages, calls and permissions.

    def _message(self, event: Event) -> None:
        name = event.get("messageId")
        self._note(13, bool(name), f"{event['type']} has no id of its message")
        if str(event["type"]).startswith("user_message") and name:
            self.ids.add(name)

    _user_message = _user_message_chunk = _message

    def _output(self, event: Event) -> None:
        self._message(event)
        self._go_on()

    _agent_message = _agent_message_chunk = _agent_thought = _agent_thought_chunk = _output

    def _tool_call_update(self, event: Event) -> None:
        call, status = event.get("toolCallId"), event.get("status")
        is_known = status is None or status in STATUSES or str(status).startswith(OWN)
        self._note(15, is_known, f"call {call} has the status {status}")
        if call not in self.known or status == "pending":  # a model may use an id again
            self._tool_call(event)
            return
        if status not in (None, "pending"):
            self._go_on()
        super()._tool_call_update(event)

    def _announced(self, call: Any) -> None:
        """Its first update did it."""

    def _permission(self, event: Event) -> None:
        super()._permission(event)
        title = event.get("title")
        is_titled = isinstance(title, str) and bool(title.strip())
        self._note(16, is_titled, f"the permission {event.get('id')} has no title")

    # The work waits.

    def _waits(self, event: Event) -> None:
        """Nothing is under way but permissions, as the client knows."""
        self._judge_wait()
        self.is_waiting, self.is_decided = True, False
        self.is_reported = self.state == "requires_action"

    def _answer(self, event: Event) -> None:
        super()._answer(event)
        self.is_decided = event.get("outcome") == "selected"

    def _move(self, state: str) -> None:
        if state == "running" and self.is_waiting and self.is_decided:
            self._judge_wait()
        self.state = state
        self.is_reported |= state == "requires_action"

    def _go_on(self) -> None:
        """Something is done: work that was reported as waiting has to be reported as running before."""
        if self.is_waiting and self.is_decided and self.state == "requires_action":
            self._note(14, False, "the work goes on, and is still reported as waiting")
            self.is_waiting = False

    def _judge_wait(self) -> None:
        if self.is_waiting:
            self._note(
                14, self.is_reported, "the work waits for a permission, and is not reported as waiting"
            )
        self.is_waiting = False
