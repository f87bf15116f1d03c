"""Errors between the kit, the adapter and the runtime under test, by whose fault they are.

In the order of a conversation: the target cannot be resolved (`UsageError`); it cannot be started or
breaks the protocol (`AdapterError`); it does not answer in time (`TimedOut`), reports that it does not
settle (`Restless`) or dies (`SutDied`).
Each error states in one sentence what happened and, in a second one, what would have been right.  None of
them is a verdict: a violation is a value, never an exception.
"""

from __future__ import annotations

from typing import ClassVar, Literal

Blame = Literal["you", "adapter", "SUT", "kit"]


class RunlockError(Exception):
    """The kit could not judge: `what` happened, and what would have been `right`."""

    blame: ClassVar[Blame] = "kit"
    exit_code: ClassVar[int] = 3

    def __init__(self, what: str, right: str = "") -> None:
        super().__init__(f"{what} {right}".strip())
        self.what = what
        self.right = right


class UsageError(RunlockError):
    """The command or the call has an argument that cannot be used."""

    blame: ClassVar[Blame] = "you"
    exit_code: ClassVar[int] = 2


class AdapterError(RunlockError):
    """The adapter does not speak the protocol, or its handshake is contradictory."""

    blame: ClassVar[Blame] = "adapter"


class TimedOut(AdapterError):
    """No answer came within the time limit of the protocol."""

    blame: ClassVar[Blame] = "SUT"


class SutDied(AdapterError):
    """The process of the SUT ended, or the SUT reported a crash, without a request to do so."""

    blame: ClassVar[Blame] = "SUT"


class Restless(AdapterError):
    """The SUT kept working where it had to settle."""

    blame: ClassVar[Blame] = "SUT"


class AnotherHandshake(AdapterError):
    """After a restart the handshake was not that of the first start."""

    blame: ClassVar[Blame] = "SUT"
