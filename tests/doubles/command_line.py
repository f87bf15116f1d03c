"""The command line as the tests run it: in this process, or in a child."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from played_once import PlayedOnce

from runlock.conformance.cli.main import main
from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.families.lifecycle.variants import VARIANTS

IMPORTED = os.pathsep.join(filter(None, (str(Path(__file__).parent), os.environ.get("PYTHONPATH"))))

AS_FROM_A_SHELL = """
import runpy, signal
# A runner that ignores interrupts, as those of pytest-xdist do, hands that down to its children.
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("runlock.conformance.cli", run_name="__main__", alter_sys=True)
"""


class Ran:
    """What a command left behind; `folder` is where it ran, if that is known."""

    def __init__(self, code: int, out: str, err: str, folder: Path = Path()) -> None:
        self.code, self.out, self.err, self.folder = code, out, err, folder

    @property
    def json(self) -> Any:
        """What it printed for a machine."""
        return json.loads(self.out)


def run(capsys: pytest.CaptureFixture[str], *words: object) -> Ran:
    """Run a command in this process, and the runtime too unless the words say otherwise."""
    is_free = words[:1] in (("check",), ("infer",), ("replay",)) and not {"--jobs", "--on"} & {*words}
    one_job = ["--in-process"] if is_free else []
    capsys.readouterr()
    code = main([*map(str, words), *one_job])
    said = capsys.readouterr()
    return Ran(code, said.out, said.err)


def child(*words: object, **more: Any) -> subprocess.Popen[str]:
    """A command as a child process that finds the fakes."""
    return subprocess.Popen(
        [sys.executable, "-c", AS_FROM_A_SHELL, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": IMPORTED, "COLUMNS": "100", "NO_COLOR": "1"},
        **more,
    )


def run_child(*words: object, **more: Any) -> Ran:
    """Run a command in a child process."""
    timeout = more.pop("timeout", None)
    with child(*words, **more) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return Ran(process.returncode, out, err)


def run_once(played_once: PlayedOnce, name: str, *words: object) -> Ran:
    """What a command left behind that is run once, in a folder of that name."""

    def fill(folder: Path) -> None:
        ran = run_child(*words, cwd=folder)
        (folder / "ran.json").write_text(json.dumps([ran.code, ran.out, ran.err]), "utf-8")

    folder = played_once.folder(name, fill)
    return Ran(*json.loads((folder / "ran.json").read_text("utf-8")), folder=folder)


def checked(played_once: PlayedOnce, fake: str, examples: int = 90) -> Ran:
    """The check of an adapter of cli_fakes, which is played once for all tests that read it."""
    words = ("check", f"py:cli_fakes:{fake}", "--examples", examples, "--jobs", 1)
    return run_once(played_once, f"check-{fake}-{examples}", *words)


SAMPLED = 40
"""One in this many mutants and variants is in the sample of a selftest, which takes minutes as a whole."""


def selftested(played_once: PlayedOnce, share: int = SAMPLED) -> Ran:
    """A selftest of a sample of the mutants and variants of the lifecycle; of all of them with share 1."""
    names = [one.name for one in (*MUTANTS[::share], *VARIANTS[::share])]
    only = [word for name in names for word in ("--only", name)]
    return run_once(played_once, f"selftest-{share}", "selftest", "--family", "lifecycle", "--json", *only)
