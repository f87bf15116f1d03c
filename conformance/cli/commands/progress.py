"""How far a campaign is: a bar where a terminal shows standard error, and one line elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from runlock.conformance.report.search_summary import roughly
from runlock.conformance.text import plain

Advanced = Callable[[int], None]

MORE_THAN_ANYBODY_WAITS_FOR: Final = 100_000
"""From so many schedules on it is said before it starts that they are many."""


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


class Telling:
    """Says how many schedules a search has before it, and how far it is in those of a length."""

    def __init__(self, say: Callable[[str], None], bar: Progress | None = None) -> None:
        self._say = say
        self._bar = bar
        self._task: TaskID | None = None

    def begins(self, stimuli: int, expected: Mapping[int, int]) -> None:
        """Announce a length, and the whole bound before the first one."""
        if stimuli == 1 and expected:
            self._say(_announced(expected))
        words = _stimuli(stimuli)
        about = expected.get(stimuli)
        if self._bar is None:
            self._say(f"playing every schedule of {words}{f': about {roughly(about)}' if about else ''}")
            return
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task(words, total=about)

    def resumed(self, file: Path, schedules: int) -> None:
        """Say that a search goes on."""
        self._say(f"going on from {file}: {schedules:,} schedules were played before")

    def stopped(self, file: Path) -> None:
        """Say how a search goes on that was stopped."""
        self._say(f"stopped; the same command goes on from {file}")

    def advanced(self, played: int) -> None:
        """So many schedules of this length were played."""
        if self._bar is not None and self._task is not None:
            total = self._bar.tasks[-1].total or played
            self._bar.update(self._task, completed=min(played, total))  # what leads there is played as well


def _stimuli(number: int) -> str:
    return f"{number} {'stimulus' if number == 1 else 'stimuli'}"


def _announced(expected: Mapping[int, int]) -> str:
    many = sum(expected.values())
    said = f"there are about {roughly(many)} schedules of up to {_stimuli(max(expected))}"
    if many < MORE_THAN_ANYBODY_WAITS_FOR:
        return said
    return (
        f"{said}, more than can be played soon; Ctrl-C or --budget ends it, and what was tried whole is said"
    )


@contextlib.contextmanager
def searching(*, is_silent: bool) -> Iterator[Telling]:
    """Somebody to tell how far a search of every schedule is."""
    if is_silent:
        yield Telling(lambda _: None)
    elif sys.stderr.isatty():
        with _bar() as bar:
            yield Telling(lambda line: bar.console.print(line, highlight=False), bar)
    else:
        yield Telling(lambda line: print(line, file=sys.stderr, flush=True))


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
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
