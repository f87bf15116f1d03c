"""Processes on one machine, and tasks on a Ray cluster, that read and judge parts of an audit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import closing, contextmanager
from typing import Any

from runlock.conformance.audit.engine import Workers
from runlock.conformance.audit.summary import Summary
from runlock.conformance.cluster import AHEAD, Cluster
from runlock.conformance.safe_path import spawned

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

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def run(self, work: Work, of: Iterable[tuple[Any, ...]]) -> Iterator[Summary]:
        """The results of the calls, as they come; a task whose worker is lost runs again."""
        left: list[Any] = []
        for arguments in of:
            left.append(self._cluster.start(work, *arguments))
            if len(left) >= self._cluster.ahead:
                yield from self._ended(left)
        while left:
            yield from self._ended(left)

    def _ended(self, left: list[Any]) -> Iterator[Summary]:
        for task in self._cluster.wait(left):
            left.remove(task)
            yield self._cluster.result(task)


@contextmanager
def processes(jobs: int) -> Iterator[Workers]:
    """That many processes on this machine."""
    with spawned(jobs) as pool:
        yield Processes(pool, jobs)


@contextmanager
def on_ray(address: str, jobs: int | None) -> Iterator[Workers]:
    """The Ray cluster at an address."""
    with closing(Cluster(address, jobs)) as cluster:
        yield RayTasks(cluster)
