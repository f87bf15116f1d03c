"""Processes on one machine, and tasks on a Ray cluster, that read and judge parts of an audit."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, Final

from runlock.conformance.audit.engine import Workers
from runlock.conformance.audit.extras import the_module
from runlock.conformance.audit.summary import Summary
from runlock.conformance.errors import UsageError

AHEAD: Final = 2
"""Tasks per process that are handed over before their results are taken."""

RAY: Final = "ray"
RETRIES: Final = 3
"""How often a task runs again whose worker was lost."""

Work = Callable[..., Summary]


class Processes:
    """Processes on this machine."""

    def __init__(self, pool: ProcessPoolExecutor, jobs: int) -> None:
        self._pool, self._jobs = pool, jobs

    def run(self, work: Work, of: Iterable[tuple[Any, ...]]) -> Iterator[Summary]:
        """The results of the calls, as they come."""
        left: set[Future[Summary]] = set()
        for arguments in of:
            left.add(self._pool.submit(work, *arguments))
            if len(left) >= AHEAD * self._jobs:
                done, left = wait(left, return_when=FIRST_COMPLETED)
                yield from (one.result() for one in done)
        yield from (one.result() for one in wait(left).done)


class RayTasks:
    """Tasks on a Ray cluster."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._jobs = int(ray.cluster_resources().get("CPU", 1))

    def run(self, work: Work, of: Iterable[tuple[Any, ...]]) -> Iterator[Summary]:
        """The results of the calls, as they come; a task whose worker is lost runs again."""
        task = self._ray.remote(max_retries=RETRIES)(work)
        left: list[Any] = []
        for arguments in of:
            left.append(task.remote(*arguments))
            if len(left) >= AHEAD * self._jobs:
                done, left = self._ray.wait(left)
                yield from self._ray.get(done)
        while left:
            done, left = self._ray.wait(left)
            yield from self._ray.get(done)


@contextmanager
def processes(jobs: int) -> Iterator[Workers]:
    """That many processes; they are spawned, since a database does not survive a fork."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        yield Processes(pool, jobs)


@contextmanager
def on_ray(address: str, jobs: int | None) -> Iterator[Workers]:
    """A Ray cluster: `ray` starts one on this machine, `ray://HOST:PORT` names another one."""
    if address != RAY and not address.startswith("ray://"):
        raise UsageError(f"`--on {address}` names no cluster.", "It is ray, or ray://HOST:PORT.")
    ray = the_module(RAY)
    if address == RAY:
        ray.init(num_cpus=jobs, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    else:
        ray.init(address=address)
    try:
        yield RayTasks(ray)
    finally:
        ray.shutdown()
