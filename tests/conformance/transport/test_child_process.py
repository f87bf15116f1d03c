"""One life of a child process: lines in and out, its last words, and that nothing of it is left.

What depends on a time limit is in test_stdio.py and test_diagnoses.py.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runlock.conformance.protocol.framing import LINE_LIMIT_BYTES
from runlock.conformance.transport.child_process import Child, EndlessLine, Silent

LIMIT_SECONDS = 60
"""Longer than any answer takes here; no test waits for its end."""

ECHO = "import sys\nfor line in sys.stdin:\n    print(line.strip()[::-1], flush=True)\n"

Start = Callable[..., Child]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a child that runs a Python program, and ends it after the test."""
    begun: list[Child] = []

    def started(program: str, **more: object) -> Child:
        begun.append(Child([sys.executable, "-c", program], **more))  # type: ignore[arg-type]
        return begun[-1]

    yield started
    for child in begun:
        if child.exit_code() is None:
            child.end()


def converse(child: Child, line: bytes = b"go\n") -> bytes:
    """The answer to a line."""
    return child.converse(line, LIMIT_SECONDS)


def test_each_line_has_its_answer(start: Start) -> None:
    """A line goes in, the next line that the child writes comes out without its end."""
    child = start(ECHO)

    assert [converse(child, b"abc\n"), converse(child, b"def\n")] == [b"cba", b"fed"]
    assert child.exit_code() is None


def test_what_was_written_too_early_is_kept(start: Start) -> None:
    """A second line is not lost and not taken for an answer that was asked for later."""
    child = start("print('one\\ntwo\\nthree', flush=True)\ninput()\ninput()")

    assert converse(child) == b"one"
    assert (child.take_line(), child.take_line(), bytes(child.unread)) == (b"two", b"three", b"")


def test_a_child_that_ended_is_silent(start: Start) -> None:
    """It says nothing any more, and how it ended is known."""
    child = start("input()\nraise SystemExit(7)")
    with pytest.raises(Silent) as caught:
        converse(child)

    assert (caught.value.is_closed, child.exit_code()) == (True, 7)


def test_a_child_that_was_killed_tells_the_signal(start: Start) -> None:
    """The exit code is the signal's number, negative."""
    child = start("input()\nimport os, signal\nos.kill(os.getpid(), signal.SIGTERM)")
    with pytest.raises(Silent):
        converse(child)

    assert child.exit_code() == -signal.SIGTERM


def test_a_line_without_end_is_cut_off(start: Start) -> None:
    """More than the limit of the protocol is not read."""
    child = start(f"input()\nimport sys\nsys.stdout.write('x' * {LINE_LIMIT_BYTES + 100_000})\ninput()")
    with pytest.raises(EndlessLine):
        converse(child)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("Traceback\\nValueError: no\\n", b"ValueError: no"),
        (
            "thread 'main' panicked at src/main.rs:3:\\nnote: run with\\n",
            b"thread 'main' panicked at src/main.rs:3:",
        ),
        ("one\\ntwo\\n\\n", b"two"),
        ("", b""),
    ],
)
def test_the_last_words_name_the_cause(start: Start, words: str, told: bytes) -> None:
    """Of what it wrote on standard error, the line that names an error; else the last that says something."""
    child = start(f"import sys\nsys.stderr.write({words.encode().decode('unicode_escape')!r})")
    with pytest.raises(Silent):
        converse(child)
    child.end()

    assert child.last_words() == told


def test_a_flood_of_errors_keeps_its_end(start: Start) -> None:
    """Standard error is drained while an answer is awaited, and only its tail is kept."""
    program = (
        "import sys\n"
        "input()\n"
        "sys.stderr.write('noise\\n' * 100_000 + 'KeyError: k\\n')\n"
        "sys.stderr.flush()\n"
        "print('done', flush=True)\n"
        "input()\n"
    )
    child = start(program)

    assert converse(child) == b"done"
    child.end()
    assert child.last_words() == b"KeyError: k"


def test_a_child_that_obeys_leaves(start: Start) -> None:
    """When its input is closed it ends by itself."""
    child = start(ECHO)
    converse(child)
    child.leave()

    assert child.exit_code() == 0


def test_nothing_of_its_group_is_left(start: Start) -> None:
    """The end of a child is the end of what it started, also of what left its group."""
    program = (
        "import subprocess, sys\n"
        "sleeps = [sys.executable, '-c', 'import time; time.sleep(600)']\n"
        "near = subprocess.Popen(sleeps)\n"
        "far = subprocess.Popen(sleeps, start_new_session=True)\n"
        "print(near.pid, far.pid, flush=True)\n"
        "input()\ninput()\n"
    )
    child = start(program)
    handles = [os.pidfd_open(int(word)) for word in converse(child).split()]
    child.end()

    assert len(handles) == 2
    assert [handle for handle in handles if not has_ended(handle)] == []


def has_ended(handle: int) -> bool:
    """Whether a process ends, now or within the limit that only a failure of this test reaches."""
    ready, _, _ = select.select([handle], [], [], LIMIT_SECONDS)
    os.close(handle)
    return bool(ready)


def test_it_runs_where_and_with_what_it_was_given(start: Start, tmp_path: Path) -> None:
    """The folder and the environment are the caller's."""
    env = {**os.environ, "COLOUR": "blue"}
    child = start(
        "import os\ninput()\nprint(os.getcwd(), os.environ['COLOUR'], flush=True)", cwd=tmp_path, env=env
    )

    assert converse(child).decode() == f"{tmp_path.resolve()} blue"


@pytest.mark.parametrize(
    ("given", "seed"), [({}, "0"), ({"PYTHONHASHSEED": "7"}, "7")], ids=["none", "seven"]
)
def test_sets_have_the_same_order_in_every_process(start: Start, given: dict[str, str], seed: str) -> None:
    """The order of sets is fixed, unless the user sets another one."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"} | given
    child = start("import os\ninput()\nprint(os.environ['PYTHONHASHSEED'], flush=True)", env=env)

    assert converse(child).decode() == seed
