"""What a joint state of a message loop is made of: a `Control` (the turn) and the calls of a response.

Texts and arguments are not in it.  What matters of them is: whether the tool of a call is on the list,
whether its arguments were rewritten after its approval, and how many standing grants there are.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

__all__ = ["ENDED", "NOT_ASKED", "OVER", "Call", "Control"]

ENDED: Final = frozenset({"Succeeded", "Failed", "Cancelled"})
"""The statuses of a call that has a result, which may be an error."""

OVER: Final = frozenset({"Rendered", "Finished", "Bounded", "Blocked", "Cancelled", "Failed"})
"""Where a pass is over."""


class Call(NamedTuple):
    """One call of a response: its status, and where it stands in the authority stack."""

    status: str
    stack: str = ""
    listed: bool = False  # the mode lets its tool pass without a question
    by: str = ""  # the approval that it has: mode, standing or person
    open: int = 0  # how many interactors are asked
    guarded: bool = False  # its guard has let it pass
    ready: bool = False  # the hooks after its approval are answered
    rewritten: bool = False  # after its approval
    granted: bool = False  # its approval is a standing grant
    denied: str = ""  # by: guard, person, no answer or round
    entered: int = 0  # how often its tool was entered; two stands for more

    def __str__(self) -> str:
        if not self.status:
            return "not asked for"
        ended = f" ({self.status})" if self.stack == "Executed" else ""
        again = " again" if self.entered > 1 else ""
        return f"{self.stack}{ended}{again}"

    @property
    def words(self) -> str:
        """The call as a picture names it."""
        by = f", by {self.denied}" if self.denied else f", approved by {self.by}" if self.by else ""
        return f"call {self}{by}"

    @property
    def seen(self) -> dict[str, Any]:
        """What the report of a path shows of it."""
        return {
            "status": self.status or None,
            "stack": self.stack or None,
            "approved_by": self.by or None,
            "denied_by": self.denied or None,
            "interactors_asked": self.open,
            "rewritten": self.rewritten,
            "entered": self.entered,
        }


NOT_ASKED: Final = Call("")
"""A call that the model has not asked for."""


class Control(NamedTuple):
    """What there is once in a joint state: the turn, its pass, its bound and its cancel."""

    run: str
    stage: str
    bound: str
    cancel: str = ""  # none yet
    cancels: int = 0  # how many may still come
    left: int = 0  # continuations that the bound still allows
    active: int = 1  # interactors
    standing: int = 0  # grants that outlast their call; two stands for more
    terminal: bool = False  # the provider ends the turn after this response
    streamed: bool = False  # some of the response has come
    rejected: bool = False  # a person denied a call of this round
    unanswered: bool = False  # no interactor answered for a call of this round
    reaching: bool = False  # a denial has not yet reached the calls that it reaches
    broken: str = ""  # what ends the turn in Error: fault, raise, malformed or hook
    prompts: int = 0  # open prompts
    running: int = 0  # tools that run
    reason: str = ""  # with which the turn ended

    @property
    def shown(self) -> dict[str, str]:
        """What an observer can see of it, by subject."""
        return {
            "run": self.run,
            "pass": self.stage,
            "bound": self.bound,
            "cancel": self.cancel or "none",
        }

    @property
    def title(self) -> str:
        """The turn as a picture names it."""
        return f"run {self.reason or self.run}\npass {self.stage}" + (
            f"\ncancel {self.cancel}" if self.cancel else ""
        )

    @property
    def at(self) -> dict[str, Any]:
        """The rest of it for a report: what the bound allows, who can be asked, and the reason of the end."""
        return {
            "continuations_left": self.left,
            "interactors": self.active,
            "standing_grants": self.standing,
            "terminal": self.terminal,
            "broken_by": self.broken or None,
            "reason": self.reason or None,
        }

    @property
    def fill(self) -> str:
        """The colour of a picture's box."""
        if self.run == "Done":
            return "good"
        return "wait" if self.prompts else "state"
