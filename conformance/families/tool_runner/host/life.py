"""One scenario of a hosted runner: its adapter on a loop of its own, its host and its user."""

from __future__ import annotations

from typing import Any

from runlock.conformance.families.tool_runner.host.kit_host import KitHost
from runlock.conformance.families.tool_runner.host.user import User
from runlock.conformance.families.tool_runner.messages import (
    RunnerScenario,
)
from runlock.conformance.transport.exceptions import EXCEPTION
from runlock.conformance.transport.hosting import clean_up, exceptions_on, leaks, run
from runlock.conformance.transport.virtual_loop import VirtualLoop


class Life:
    """An adapter object on a loop of its own, with its host and its user, for one scenario."""

    def __init__(self, adapter: Any, scenario: RunnerScenario) -> None:
        self.adapter = adapter
        self.scenario = scenario
        self.loop = VirtualLoop()
        self.loop.outside.busy = getattr(adapter, "busy", None)
        self.host = KitHost(self.loop)
        self.user = User(adapter, self.host, scenario.runner.read)
        self.runs: list[str] = []
        self.tasks: list[Any] = []
        self.bystanders: frozenset[Any] = frozenset()

    def open(self) -> None:
        """Let the adapter prepare itself."""
        self.loop.run_until_complete(self.adapter.open(self.host, self.scenario))
        self.bystanders = frozenset(self.loop.alive())

    def report(self, turns: int | None) -> dict[str, Any]:
        """Run, and give what happened since the last report."""
        quiescent = run(self.loop, turns)
        self._raise_what_broke()
        for fields in exceptions_on(self.loop):
            self.host.append(EXCEPTION, fields)
        observations, self.host.log = self.host.log, []
        refused, self.user.refused = self.user.refused, []
        return {"observations": observations, "quiescent": quiescent, "refused": refused}

    def spawn(self, work: Any) -> None:
        """Run a coroutine on the loop; what it raises breaks the runner."""
        self.tasks.append(self.loop.create_task(work))

    def leaks(self) -> list[dict[str, Any]]:
        """What is still alive though the run is Done: gates, tasks, and a close that goes wrong."""
        found = leaks(self.adapter, self.loop, self.host.open_gates.values(), self.bystanders)
        return found if self.user.status in (None, "Done") else []

    def end(self) -> None:
        """Let what is left clean up, unseen, and give the loop back."""
        self.host.is_over = True
        clean_up(self.loop)
        self.loop.bury()

    def drop(self) -> None:
        """Stop where it stands: no clean-up code runs."""
        self.host.is_over = True
        self.loop.bury()

    def _raise_what_broke(self) -> None:
        over = [task for task in self.tasks if task.done()]
        self.tasks = [task for task in self.tasks if not task.done()]
        for task in over:
            if not task.cancelled():
                task.result()
