"""Tool runners and message loops that declare none of their policies, or mix two values of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from runlock.conformance.families.message_loop import reference as loops
from runlock.conformance.families.tool_runner import reference as runners
from runlock.conformance.family.family import Family, family_named
from runlock.conformance.protocol import Control
from runlock.machines.message_loop.runtime.loop import MessageLoop
from runlock.machines.tool_runner.runtime.runner import Runner

REFERENCES = {"tool-runner": runners.ReferenceAdapter, "message-loop": loops.ReferenceAdapter}
OF_PROFILES = {
    "documented": "tool-runner",
    "python": "tool-runner-python",
    "typescript": "tool-runner-typescript",
    "go": "tool-runner-go",
    "loop": "message-loop",
}
"""The factories below, and the profile that each of them hides."""


def does(family: Family, profile: str, overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Every policy of the reference of a profile, with its value."""
    choices = import_module(f"runlock.machines.{family.name.replace('-', '_')}.runtime.choices")
    policies: dict[str, Any] = choices.policies_of(profile, overrides or {})
    return policies


def hiding(
    name: str,
    profile: str,
    overrides: Mapping[str, Any] | None = None,
    declare: Mapping[str, Any] | None = None,
    **more: Any,
) -> Callable[[], Any]:
    """The reference of a profile, which claims the core and declares only the policies that are sets."""
    family = family_named(name)
    policies = does(family, profile, overrides)
    sets = {key: value for key, value in policies.items() if not isinstance(value, str)}
    silent = {"profile": family.core_profile.name, "policies": sets, **(declare or {})}
    return lambda: REFERENCES[name](profile, policies, declare=silent, **more)


documented = hiding("tool-runner", "tool-runner")
documented_in_real_time = hiding(
    "tool-runner", "tool-runner", declare={"control": Control(settle="observed")}
)
python = hiding("tool-runner", "tool-runner-python")
typescript = hiding("tool-runner", "tool-runner-typescript")
go = hiding("tool-runner", "tool-runner-go")
loop = hiding("message-loop", "message-loop")


class RunsRoundsEitherWay(Runner):
    """Runs the calls of a round together, and one by one where the user asks for the response."""

    async def respond(self) -> Any:
        before = self.policies
        self.policies = {**before, "round.executor": "sequential"}
        try:
            return await super().respond()
        finally:
            self.policies = before


class TakesLateAnswersEitherWay(MessageLoop):
    """Refuses a late answer to a prompt, and ignores one to a call."""

    async def late(self, on: str, key: str, outcome: Any) -> None:
        policy = "refused" if on == "prompt" else "ignored"
        self.policies = {**self.policies, "late.answer": policy}
        await super().late(on, key, outcome)


mixing_executors = hiding("tool-runner", "tool-runner", make=RunsRoundsEitherWay)
mixing_late_answers = hiding("message-loop", "message-loop", make=TakesLateAnswersEitherWay)
runner_in_order_of_finish = hiding("tool-runner", "tool-runner", {"results.order": "finish"})
loop_in_order_of_finish = hiding("message-loop", "message-loop", {"results.order": "finish"})
loop_that_drops_results = hiding("message-loop", "message-loop", {"cancel.results": "dropped"})
