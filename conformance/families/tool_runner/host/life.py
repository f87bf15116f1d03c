"""One scenario of a hosted runner: its adapter on a loop of its own, its host and its user."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from runlock.conformance.families.tool_runner.adapter import RequiredRunner
from runlock.conformance.families.tool_runner.host.kit_host import KitHost
from runlock.conformance.families.tool_runner.host.user import User
from runlock.conformance.families.tool_runner.messages import OUTCOMES_BY_GATE, RunnerScenario
from runlock.conformance.transport.hosted_life import HostedLife


class Life(HostedLife[KitHost]):
    """A life with the user who iterates over the runner."""

    outcomes = OUTCOMES_BY_GATE

    def __init__(self, adapter: RequiredRunner, scenario: RunnerScenario) -> None:
        super().__init__(adapter, scenario, KitHost)
        self.user = User(adapter, self.host, scenario.runner.read)
        self.runs: list[str] = []
        self.tasks: list[Any] = []

    @property
    def is_over(self) -> bool:
        return self.user.status in {None, "Done"}

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine on the loop; what it raises breaks the runner."""
        self.tasks.append(self.loop.create_task(work))

    def raise_what_broke(self) -> None:
        over = [task for task in self.tasks if task.done()]
        self.tasks = [task for task in self.tasks if not task.done()]
        for task in over:
            if not task.cancelled():
                task.result()
