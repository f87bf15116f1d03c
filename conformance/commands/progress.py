"""How far a campaign is: a bar where a terminal shows standard error, and one line elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from interlock.conformance.wording import plain

Advanced = Callable[[int], None]


@contextlib.contextmanager
def progress(target: str, total: int, *, is_silent: bool) -> Iterator[Advanced]:
    """Something to tell how many schedules were played."""
    if is_silent:
        yield lambda _played: None
    elif sys.stderr.isatty():
        with _bar() as bar:
            task = bar.add_task(plain(target), total=total)
            yield lambda played: bar.update(task, completed=played)
    else:
        yield _once(f"playing {total} schedules on {plain(target)}")


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(file=sys.stderr),
        transient=True,
    )


def _once(line: str) -> Advanced:
    """Says the line when the first schedule was played."""
    waiting = [line]

    def advanced(played: int) -> None:
        if waiting and played > 0:
            print(waiting.pop(), file=sys.stderr, flush=True)

    return advanced
