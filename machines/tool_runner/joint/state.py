"""What a joint state of a tool runner is made of: a `Control` (the runner and its iteration) and the calls.

Messages are not in it.  What matters of them is: whether the received turn stands in the state and who put it
there, what the user pushed last, and for each call who put a result into the state.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

__all__ = ["ENDED", "NOT_ASKED", "OVER", "STOPS", "WITH_THE_USER", "Call", "Control"]

STOPS: Final = ("tool_use", "end_turn", "max_tokens", "refusal", "pause_turn")
"""Why the model stopped.  A turn has the calls of the exploration, but for `end_turn`, which has none."""

ENDED: Final = frozenset({"Succeeded", "Failed", "Cancelled"})
"""The statuses of a call that has a result, which may be an error."""

WITH_THE_USER: Final = ("Streaming", "Yielded")
"""Where a yield is open."""

OVER: Final = frozenset({"Left", "Broken", "Finished", "Limited", "Cancelled", "Over"})
"""Where the run is Done; after a break or a fault, the user may iterate the runner again."""


class Call(NamedTuple):
    """One call of a turn: its status, how often its body was entered in the iteration, and its results."""

    status: str
    entered: int = 0  # two stands for more
    result: str = ""  # who put one into the state: user, runner or both
    early: bool = False  # started from the stream, and its result was not used yet

    def __str__(self) -> str:
        if not self.status:
            return "not asked for"
        again = " again" if self.entered > 1 else ""
        return f"{self.status}{again}{f' ({self.result})' if self.result else ''}"

    @property
    def words(self) -> str:
        """The call as a picture names it."""
        by = {"": "", "both": ", two results"}.get(self.result, f", result by {self.result}")
        again = " again" if self.entered > 1 else ""
        return f"call {self.status or 'not asked for'}{again}{by}"

    @property
    def seen(self) -> dict[str, Any]:
        """What the report of a path shows of it."""
        return {"status": self.status or None, "entered": self.entered, "result": self.result or None}


NOT_ASKED: Final = Call("")
"""A call that the model has not asked for."""


class Control(NamedTuple):
    """What there is once in a joint state: the runner, and what is known of its iteration."""

    runner: str
    response: str = ""  # of this iteration; none before the first request
    stop: str = ""  # of the received turn, once it is whole
    pushed: bool = False  # by the user, in this iteration
    was_set: bool = False
    stands: str = ""  # who put the received turn into the state: user or runner
    last: str = ""  # what the user pushed last, if it is the turn, its results or another turn
    target: str = ""  # the turn whose calls are handled: received or other
    left: int = -1  # how much of the limit is left; -1 without a limit
    cancel: str = "may come"  # then asked; over if there is none
    broken: str = ""  # a tool's fault or raise that ends the run
    stale: bool = False  # the state changed after the response was asked for
    dropped: bool = False  # a response was dropped or given up, so that calls may run again
    resumed: bool = False  # the user resumed before the turn was whole
    again: str = ""  # the user iterated the runner again after a break or a fault

    @property
    def shown(self) -> dict[str, str]:
        """What an observer can see of it, by subject."""
        return {"run": self.runner, "response": self.response or "none"}

    @property
    def title(self) -> str:
        """The runner as a picture names it."""
        return f"run {self.runner}" + (f"\nresponse {self.response}" if self.response else "")

    @property
    def at(self) -> dict[str, Any]:
        """The rest of it for a report: the turn, what the user changed, and the limit."""
        return {
            "stop": self.stop or None,
            "pushed": self.pushed,
            "set": self.was_set,
            "turn_in_state": self.stands or None,
            "limit_left": self.left if self.left >= 0 else None,
            "cancelled": self.cancel == "asked",
        }

    @property
    def fill(self) -> str:
        """The colour of a picture's box."""
        if self.runner in OVER:
            return "good"
        return "wait" if self.runner in WITH_THE_USER else "state"
