"""Progress of a campaign: a bar if standard error is a terminal, and one line otherwise."""

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
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from runlock.conformance.report.search_summary import roughly
from runlock.conformance.text import counted, plain

MORE_THAN_ANYBODY_WAITS_FOR: Final = 100_000
"""From this number of schedules on, it is announced that there are many."""


class Counting:
    """Progress callbacks that show nothing."""

    def expects(self, total: int) -> None:
        """Called with the total number of schedules."""

    def advanced(self, played: int) -> None:
        """Called with the number of schedules that were run."""


class _Bar(Counting):
    """A bar on a terminal, of unknown length until the number of schedules is known."""

    def __init__(self, target: str, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task(plain(target), total=None)

    def expects(self, total: int) -> None:
        self._bar.update(self._task, total=total)

    def advanced(self, played: int) -> None:
        self._bar.update(self._task, completed=played)


class _Line(Counting):
    """One line, after the first schedule."""

    def __init__(self, target: str) -> None:
        self._target = plain(target)
        self._total = 0
        self._is_said = False

    def expects(self, total: int) -> None:
        self._total = total

    def advanced(self, played: int) -> None:
        if played > 0 and not self._is_said:
            self._is_said = True
            print(f"playing {self._total} schedules on {self._target}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def progress(target: str, *, is_silent: bool) -> Iterator[Counting]:
    """Progress callbacks of a campaign on a target."""
    if is_silent:
        yield Counting()
    elif sys.stderr.isatty():
        with _bar() as bar:
            yield _Bar(target, bar)
    else:
        yield _Line(target)


@contextlib.contextmanager
def reading(files: int, *, is_silent: bool) -> Iterator[Counting]:
    """Progress callbacks of an audit, which counts files."""
    if is_silent:
        yield Counting()
    elif sys.stderr.isatty():
        with _bar() as bar:
            shown = _Bar(f"{files} files", bar)
            shown.expects(files)
            yield shown
    else:
        print(f"reading {counted(files, 'file')}", file=sys.stderr, flush=True)
        yield Counting()


class Telling:
    """Shows the estimated number of schedules of a search, and the progress within a length."""

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
        """Announce that a search is resumed."""
        self._say(f"going on from {file}: {schedules:,} schedules were played before")

    def stopped(self, file: Path) -> None:
        """Announce how a stopped search can be resumed."""
        self._say(f"stopped; the same command goes on from {file}")

    def advanced(self, played: int) -> None:
        """Called with the number of schedules run at this length."""
        if self._bar is not None and self._task is not None:
            total = self._bar.tasks[-1].total or played
            self._bar.update(self._task, completed=min(played, total))  # its prefixes are run as well


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
    """The progress callbacks of an exhaustive search."""
    if is_silent:
        yield Telling(lambda _: None)
    elif sys.stderr.isatty():
        with _bar() as bar:
            yield Telling(lambda line: bar.console.print(line, highlight=False), bar)
    else:
        yield Telling(lambda line: print(line, file=sys.stderr, flush=True))


def _bar() -> Progress:
    return Progress(
        SpinnerColumn(),  # which turns while a schedule is judged
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
        transient=True,
    )
