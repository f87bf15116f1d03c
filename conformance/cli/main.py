"""Run the command line, and return an exit code with one meaning.

0 held, 1 broken, 2 wrong usage, 3 could not decide, 70 a bug of the kit.  Each error is reported in one
sentence, with what would have been right; RUNLOCK_TRACEBACK=1 adds the traceback of a bug.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import typer

from runlock.conformance.campaign.interrupts import ignore_interrupts, impatient
from runlock.conformance.cli.app import USAGE, app
from runlock.conformance.cli.commands.output_streams import open_streams
from runlock.conformance.cli.usage_errors import misuse_in_words
from runlock.conformance.errors import RunlockError
from runlock.conformance.text import plain
from runlock.spec.model import SpecError

UNDECIDED: Final = 3
BUG: Final = 70


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code."""
    if argv is None:
        open_streams()
    code = _code(sys.argv[1:] if argv is None else list(argv))
    if argv is None:
        _leave(code)
    return code


def _leave(code: int) -> None:
    """Let no interrupt change the exit code, and end this process if a runtime left a thread in it."""
    ignore_interrupts()
    left = [one for one in threading.enumerate() if not one.daemon and one is not threading.main_thread()]
    if left:
        print(f"runlock: a thread still runs that the runtime left: {plain(left[0].name)}.", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _code(words: list[str]) -> int:
    try:
        with _terminated_as_interrupted():
            return _run(words)
    except typer.Exit as end:
        return end.exit_code
    except (typer.Abort, KeyboardInterrupt):
        return _said("Interrupted before the first verdict.", UNDECIDED)
    except typer.TyperException as error:
        return _said(misuse_in_words(error), USAGE)
    except RunlockError as error:
        return _said(str(error), error.exit_code)
    except SpecError as error:
        return _said(f"The spec in this kit is inconsistent: {error}", BUG)
    except BrokenPipeError:  # the reader has closed the pipe
        return 0
    except Exception as error:
        return _ended_by(error)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM and SIGHUP do what the interrupt key does: resources are released, and results are kept."""
    with impatient():
        yield


def _run(words: list[str]) -> int:
    """Run the command without typer's own error handling, whose exit codes have other meanings."""
    command = typer.main.get_command(app)
    with command.make_context("runlock", words) as context:
        code: int = command.invoke(context)
    return code


def _said(sentence: str, code: int) -> int:
    print(f"runlock: {plain(sentence)}", file=sys.stderr)
    return code


def _ended_by(error: Exception) -> int:
    """Report a bug of the kit, and its place."""
    from runlock.conformance.campaign.worker import KitBroke

    broke = KitBroke.of(error)
    if os.environ.get("RUNLOCK_TRACEBACK") == "1":
        print(broke.trace, file=sys.stderr, end="")
    return _said(
        f"This is a bug of the kit, at {broke.place}: {broke.words}. "
        "Please report it with the command that led here; RUNLOCK_TRACEBACK=1 shows more.",
        BUG,
    )
