"""Faults of the world that cost too little: what broke counts as an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.message_loop.runtime.loop import MessageLoop
from runlock.machines.message_loop.runtime.prompting import Deferral, OpenPrompt
from runlock.machines.message_loop.runtime.records import Call, Execution, PassRecord, TurnFault
from runlock.machines.message_loop.runtime.world import Verdict, WorldFault


@dataclass(frozen=True)
class Accepted:
    """The verdict of an assertion that accepts."""

    kind: str = "ok"
    slot: Any = None
    message: str | None = None


@fault("RUN-24", "broke, which ends the turn, yet a")
class TakesABrokenMachineForOut(MessageLoop):
    """Takes a call for one outside the envelope when the state machine breaks."""

    async def in_envelope(self, p: PassRecord, call: Call) -> bool:
        try:
            return await super().in_envelope(p, call)
        except TurnFault:
            return False


@fault("RUN-24", "broke, which ends the turn in Error; it ended as NaturalEnd")
class TakesABrokenAssertionForOk(MessageLoop):
    """Accepts a transcript when the assertion breaks."""

    async def ask_assertion(self, x: Execution) -> Verdict:
        try:
            return await super().ask_assertion(x)
        except TurnFault:
            return Accepted()


@fault("AUTH-47", "was not answered, yet its tool was entered")
class TakesABrokenInteractorForAnAllow(MessageLoop):
    """Runs a call when the interactor who is asked about it breaks."""

    async def ask_one(self, interactor: str, prompt: OpenPrompt) -> None:
        try:
            prompt.came.put_nowait(await self.world.ask(interactor, prompt.asked))
        except WorldFault:
            prompt.came.put_nowait(Deferral(kind="allow"))
