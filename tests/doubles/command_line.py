"""The command line as the tests run it: in this process, or in a child."""

import json
import os
import subprocess
import sys
from pathlib import Path

from runlock.conformance.cli.main import main

IMPORTED = os.pathsep.join(filter(None, (str(Path(__file__).parent), os.environ.get("PYTHONPATH"))))


class Ran:
    """What a command left behind."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        """What it said to a machine."""
        return json.loads(self.out)


def run(capsys, *words):
    """Run a command in this process, with one job unless the words say otherwise."""
    one_job = ["--jobs", "1"] if words[:1] == ("check",) and "--jobs" not in words else []
    capsys.readouterr()
    code = main([*map(str, words), *one_job])
    said = capsys.readouterr()
    return Ran(code, said.out, said.err)


AS_FROM_A_SHELL = """
import runpy, signal
# A runner that ignores interrupts, as those of pytest-xdist do, hands that down to its children.
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("runlock.conformance.cli", run_name="__main__", alter_sys=True)
"""


def child(*words, **more):
    """A command as a child process that finds the toys."""
    return subprocess.Popen(
        [sys.executable, "-c", AS_FROM_A_SHELL, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": IMPORTED, "COLUMNS": "100", "NO_COLOR": "1"},
        **more,
    )


def run_child(*words, **more):
    """Run a command in a child process."""
    with child(*words, **more) as process:
        out, err = process.communicate()
    return Ran(process.returncode, out, err)
