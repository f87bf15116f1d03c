"""A Ray cluster: its address, and tasks on it, which run again if their worker is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final
from warnings import catch_warnings

from runlock.conformance.errors import RunlockError, UsageError
from runlock.conformance.extras import the_module

RAY: Final = "ray"
REMOTE: Final = "ray://"
RETRIES: Final = 3
"""How often a task runs again whose worker was lost."""

AHEAD: Final = 2
"""Tasks per processor that are handed over before their results are taken."""

NEEDED: Final = "Each machine of the cluster needs this version of the kit, with the same extras."

QUIET: Final = {"log_to_driver": False, "logging_level": "ERROR"}

Started = Any
"""A task that was started, as Ray refers to it."""


class Cluster:
    """The cluster at an address: `ray` starts one on this machine, `ray://HOST:PORT` names another one."""

    def __init__(self, address: str, jobs: int | None) -> None:
        if address != RAY and not address.startswith(REMOTE):
            raise UsageError(f"`--on {address}` names no cluster.", "It is ray, or ray://HOST:PORT.")
        self._ray: Any = the_module(RAY)
        if address == RAY:
            self._ray.init("local", num_cpus=jobs, include_dashboard=False, **QUIET)
        else:
            self._join(address)
        self.ahead = AHEAD * int(self._ray.cluster_resources().get("CPU", 1))

    def _join(self, address: str) -> None:
        try:
            with catch_warnings(action="ignore"):  # the error says it too
                self._ray.init(address, **QUIET)
        except ConnectionError as error:
            raise UsageError(f"No cluster answers at {address}.", "`ray start --head` starts one.") from error

    def start(self, work: Callable[..., Any], *arguments: Any) -> Started:
        """Start a task."""
        return self._ray.remote(max_retries=RETRIES)(work).remote(*arguments)

    def wait(self, tasks: Sequence[Started], seconds: float | None = None) -> list[Started]:
        """Those of the tasks that have ended, once one has, or the time is over."""
        ended: list[Started] = self._ray.wait(list(tasks), timeout=seconds)[0]
        return ended

    def result(self, task: Started) -> Any:
        """The result of a task, or the exception that it raised."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(task)
        except errors.RayError as error:
            cause = getattr(error, "cause", None)
            if cause is not None and not isinstance(cause, errors.RayError):
                raise cause from error
            raise TaskLost(
                f"A task on the cluster has no result: {type(cause or error).__name__}."
            ) from error

    def cancel(self, tasks: Sequence[Started]) -> None:
        """Interrupt tasks; one that ends in spite of that has a result."""
        for task in tasks:
            self._ray.cancel(task)

    def close(self) -> None:
        """Leave the cluster; one on this machine ends."""
        self._ray.shutdown()


class TaskLost(RunlockError):
    """A task has no result, since its workers were lost, or it was cancelled."""
