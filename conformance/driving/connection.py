"""The connection to a target: its start, its handshake, every restart, and the ledger of what went wrong.

A restart that the kit orders is `restart`; one after an error is `renew`, which records the error.  Nothing
else starts a target.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from runlock.conformance.driving.ledger import Ledger
from runlock.conformance.errors import AdapterError, AnotherHandshake, RunlockError, TimedOut, UsageError
from runlock.conformance.family.family import Family, family_of_answer
from runlock.conformance.protocol import PROTOCOL_VERSION, Initialize, Party, ProtocolError
from runlock.conformance.protocol.answers import fitted
from runlock.conformance.protocol.framing import quote
from runlock.conformance.protocol.unknown_keys import unknown_keys
from runlock.conformance.text import difference_of
from runlock.conformance.transport.sut import Sut

KIT_VERSION: Final = "0.1.0"

STARTS_MAX: Final = 3
"""Starts in a row that fail, after which a target is given up."""


class Connection:
    """A target that was started and has shaken hands; it is started again after each error."""

    sut: Sut
    family: Family
    handshake: Any
    warnings: list[str]

    def __init__(self, open_sut: Callable[[], Sut]) -> None:
        self.open_sut = open_sut
        self.ledger = Ledger()
        self._start()

    def renew(self, error: RunlockError) -> None:
        """Record an error, and replace the SUT.

        Every restart that the kit did not order comes here.
        """
        self.ledger.failed(error)
        self.restart()

    def restart(self) -> None:
        """Replace the SUT, because the kit wants a fresh one."""
        self.sut.kill()
        self._start()

    def _start(self) -> None:
        """Start the target; one that fails is started again, and each failure is recorded."""
        failed: RunlockError | None = None
        for left in reversed(range(STARTS_MAX)):
            try:
                self._open()
            except RunlockError as error:
                if not left or isinstance(error, (TimedOut, UsageError)):
                    raise
                self.ledger.failed(error)
                failed = error
                continue
            if failed is not None:
                self.ledger.recovered(failed)
            return

    def _open(self) -> None:
        self.sut = self.open_sut()
        try:
            self._meet()
        except RunlockError:
            self.sut.kill()
            raise

    def _meet(self) -> None:
        """Shake hands; after the first start, the handshake has to be the same one again."""
        family, handshake = self._shake_hands()
        if not hasattr(self, "handshake"):
            self.family, self.handshake = family, handshake
        else:
            refuse_another(self.handshake, handshake)

    def _shake_hands(self) -> tuple[Family, Any]:
        hello = Initialize(kit=Party(name="runlock", version=KIT_VERSION))
        params = hello.model_dump(mode="json", by_alias=True, exclude_none=True)
        try:
            answer = self.sut.request("initialize", params)
        except ProtocolError as error:
            raise AdapterError(
                f"The adapter turned the handshake down with error {error.code}: {quote(error.message)}.",
                f"It should answer `initialize` for protocol {PROTOCOL_VERSION}.",
            ) from error
        family = family_of_answer(answer)
        self.warnings = unknown_keys(family.vocabulary.handshake, answer)
        handshake = fitted(family.vocabulary.handshake, answer, "The handshake", "initialize.answer")
        if handshake.protocol != PROTOCOL_VERSION:
            raise AdapterError(
                f"The adapter speaks protocol {handshake.protocol}.", f"This kit speaks {PROTOCOL_VERSION}."
            )
        self.warnings += family.spec.costs_of(handshake.policies)
        return family, handshake


def refuse_another(first: Any, second: Any) -> None:
    """Raise `AnotherHandshake` unless two starts of a target gave the same handshake."""
    if what := difference_of(first.as_sent, second.as_sent):
        raise AnotherHandshake(
            f"The handshake was another one at another start: {what}.",
            "A target says the same of itself each time it starts.",
        )
