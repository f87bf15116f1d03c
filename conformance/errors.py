"""What can go wrong between the kit, the adapter and the runtime under test, and whose fault it is.

In the order of a conversation: the target cannot be resolved (`UsageError`); it cannot be started or
breaks the protocol (`AdapterError`); it does not answer in time (`TimedOut`), says that it does not come to
rest (`Restless`) or dies (`SutDied`).
Each says in one sentence what happened and, in a second one, what would have been right.  None of
them is a verdict: a violation is a value, never an exception.
"""

from __future__ import annotations

from typing import ClassVar, Literal

Blame = Literal["you", "adapter", "SUT", "kit"]


class RunlockError(Exception):
    """Something kept the kit from judging: `what` happened, what would have been `right`."""

    blame: ClassVar[Blame] = "kit"
    exit_code: ClassVar[int] = 3

    def __init__(self, what: str, right: str = "") -> None:
        super().__init__(f"{what} {right}".strip())
        self.what = what
        self.right = right


class UsageError(RunlockError):
    """The command or the call was given something that it cannot use."""

    blame: ClassVar[Blame] = "you"
    exit_code: ClassVar[int] = 2


class AdapterError(RunlockError):
    """The adapter does not speak the protocol, or what it says about itself cannot be."""

    blame: ClassVar[Blame] = "adapter"


class TimedOut(AdapterError):
    """No answer came within the time limit of the protocol."""

    blame: ClassVar[Blame] = "SUT"


class SutDied(AdapterError):
    """The process of the SUT ended, or the SUT said that it crashed, where nobody asked it to."""

    blame: ClassVar[Blame] = "SUT"


class Restless(AdapterError):
    """The SUT kept moving where it had to come to rest."""

    blame: ClassVar[Blame] = "SUT"
