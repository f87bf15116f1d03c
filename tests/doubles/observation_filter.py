"""A right runtime of which a part is seen: it hides kinds of observation, and leaves policies undeclared."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from runlock.conformance.family.chooser import Seeded, chance
from runlock.conformance.transport.sut import Sut
from runlock.spec.model import load_spec

HIDEABLE: Final = (
    "run.status", "call.status", "phase", "message", "decision", "event", "resume", "checkpoint",
)  # fmt: skip
"""What a runtime may show or not; how a segment ended it tells, unless it shows next to nothing."""

KINDS: Final = (*HIDEABLE, "run.finished", "stream.closed")


class Veiled:
    """A SUT behind a veil that `chooser` draws, or which lets through no kinds but those that are `shown`."""

    def __init__(self, sut: Sut, chooser: Seeded, shown: Collection[str] | None = None) -> None:
        self.sut = sut
        drawn = {kind for kind in HIDEABLE if chance(chooser, 3)}
        self.hidden = drawn if shown is None else set(KINDS) - set(shown)
        self.share = 1 + chooser.choose(3)  # one in this number of policies is not declared
        self.chooser = chooser

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The answer of the runtime, less what the veil hides."""
        answer = self.sut.request(method, params)
        if method == "initialize":
            return {**answer, "observes": self._shown(answer["observes"]), "policies": self._declared(answer)}
        if "observations" in answer:
            seen = [one for one in answer["observations"] if one["kind"] not in self.hidden]
            return {**answer, "observations": seen}
        return answer

    def kill(self) -> None:
        """End it at once."""
        self.sut.kill()

    def close(self) -> None:
        """Give it back."""
        self.sut.close()

    def _shown(self, kinds: Collection[str]) -> list[str]:
        return [kind for kind in kinds if kind not in self.hidden]

    def _declared(self, answer: dict[str, Any]) -> dict[str, Any]:
        """What is left of the policies: one that departs from its profile has to be declared."""
        settled = load_spec("lifecycle").profile(answer["profile"]).policies
        return {
            key: value
            for key, value in answer["policies"].items()
            if settled.get(key, value) != value or not chance(self.chooser, self.share)
        }
