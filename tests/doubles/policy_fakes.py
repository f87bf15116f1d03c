"""Runtimes whose policies are to be found out: references that hide, belie or mix theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runlock.conformance.families.lifecycle.reference import ReferenceAdapter
from runlock.machines.lifecycle.runtime.choices import policies_of
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.state import Call, Decision, Reason
from runlock.spec.model import load_spec


def sets_of(profile: str) -> dict[str, Any]:
    """The policies of a profile that are sets, which no one can find out."""
    spec = load_spec("lifecycle")
    return {
        key: value for key, value in policies_of(profile, {}).items() if spec.policy(key).kind == "set of"
    }


def hiding(profile: str, **more: Any) -> Callable[[], ReferenceAdapter]:
    """The reference under a profile, which says nothing of what it does."""
    silent = {"profile": "core", "policies": sets_of(profile), **more}
    return lambda: ReferenceAdapter(profile, declare=silent)


tirea = hiding("tirea")
tirea_stream = hiding("tirea-stream")
awaken_8 = hiding("awaken-8")
awaken_9 = hiding("awaken-9")
awaken_concurrent = hiding("awaken-concurrent")


def leaving_the_rest_out() -> ReferenceAdapter:
    """The reference, which calls nothing after a failed call of a round, and does not say so."""
    does = {"round.executor": "sequential", "round.failure": "cancels_rest"}
    return ReferenceAdapter("awaken-8", does, declare={"profile": "core", "policies": sets_of("awaken-8")})


BELIED = {"round.executor": "sequential", "tool.raises": "end_run"}
"""What a runtime says that runs its rounds at once and whose calls alone fail."""


def belying() -> ReferenceAdapter:
    """The reference, which says of two policies what it does not do."""
    said = {**policies_of("awaken-8", {}), **BELIED}
    return ReferenceAdapter("awaken-8", declare={"policies": said})


class TakesEveryOtherBatchWhole(Runtime):
    """Applies the good decisions of a batch with a bad one at one time, and refuses them at another."""

    def receive(self, decisions: Sequence[Decision]) -> list[tuple[Decision, str]]:
        batch = ("each", "atomic")[len(self.state.calls) % 2]
        self.policies = {**self.policies, "decision.batch": batch}
        return super().receive(decisions)


class RunsRoundsEitherWay(Runtime):
    """Runs one round after the other and the next all at once."""

    async def execute_all(self, calls: Sequence[Call]) -> None:
        executor = ("sequential", "parallel")[self.state.step % 2]
        self.policies = {**self.policies, "round.executor": executor}
        await super().execute_all(calls)


class KeepsInputOfARound(Runtime):
    """A cancel drops input that came during an inference, and keeps what came during a round."""

    def settle_inputs(self, reason: Reason) -> None:
        fate = "next_run" if self.state.calls else "dropped"
        self.policies = {**self.policies, "input.fate": fate}
        super().settle_inputs(reason)


def mixing_fates() -> ReferenceAdapter:
    """A runtime that mixes two fates of input."""
    return ReferenceAdapter("awaken-8", make=KeepsInputOfARound)


def mixing_executors() -> ReferenceAdapter:
    """A runtime that mixes two executors."""
    return ReferenceAdapter("awaken-8", make=RunsRoundsEitherWay)


def mixing_batches() -> ReferenceAdapter:
    """A runtime that mixes two ways with a batch."""
    return ReferenceAdapter("awaken-8", make=TakesEveryOtherBatchWhole)


SEQUENTIAL = {"round.executor": "sequential"}
TOGETHER_WITH = {"round.rest": SEQUENTIAL, "round.failure": SEQUENTIAL, "input.round": SEQUENTIAL}
