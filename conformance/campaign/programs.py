"""The programs that show a violation without the kit, run in an environment of a runtime.

A program ends with 1 and says "still there" while its bug exists, and with 0 once it does not.  If it ends
otherwise, the version cannot do what the program needs.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from runlock.conformance.campaign.one_program import text_of
from runlock.conformance.campaign.runtime import Runtime

PROGRAMS: Final = Path("docs/standalone")
SECONDS: Final = 180.0
"""Far more than any program takes; it only ends one that waits for ever."""

AT_A_TIME: Final = 2

THERE: Final = "still there"
GONE: Final = "not there"
UNDECIDED: Final = "not decided: "

Ran = subprocess.CompletedProcess[str]


def run(runtime: Runtime, environments: Path, program: str, folder: Path) -> Ran:
    """Run a program alone, as of `show_agno.py repeated_id`, without the kit."""
    place = runtime.place(environments).resolve()
    return subprocess.run(
        runtime.lives_in.interpreter(place),
        cwd=place,
        input=text_of(program, folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


def can_run(runtime: Runtime, environments: Path) -> bool:
    """Whether the environment has been made."""
    return Path(runtime.lives_in.interpreter(runtime.place(environments))[0]).is_file()


def outcome(runtime: Runtime, environments: Path, program: str, folder: Path) -> str:
    """Whether the bug is there, or why that cannot be decided."""
    if not can_run(runtime, environments):
        return f"{UNDECIDED}it is not installed"
    try:
        ran = run(runtime, environments, program, folder)
    except subprocess.TimeoutExpired:
        return f"{UNDECIDED}it does not end"
    if ran.returncode == 0:
        return GONE
    lines = ran.stderr.splitlines() or [""]
    if ran.returncode == 1 and lines[-1].startswith(THERE):
        return THERE
    return UNDECIDED + _reason(lines)


def _reason(lines: list[str]) -> str:
    """The last error that a program printed, without the folders of this machine."""
    errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Missing)\b", line)]
    return re.sub(r" \(/[^)]*\)|file:///\S*/|/\S*/(?=\S)", "", (errors or lines)[-1]).strip()[:160]


def programs_of(some: Sequence[Runtime]) -> list[str]:
    """The programs of the violations that are known of these runtimes, by name."""
    return sorted({known.standalone for one in some for known in one.seen if known.standalone})


def compared(
    chosen: Sequence[Runtime], environments: Path, folder: Path
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Run all programs of the runtimes in all their versions, one environment after the other."""
    by_environment: dict[str, list[Runtime]] = {}
    for one in chosen:
        by_environment.setdefault(one.environment, []).append(one)
    for name, some in by_environment.items():
        yield name, _compared(some, environments, folder)


def _compared(some: Sequence[Runtime], environments: Path, folder: Path) -> dict[str, Any]:
    releases = some[0].releases()
    programs = programs_of(some)

    def outcomes(program: str) -> list[str]:
        return [outcome(one, environments, program, folder) for one in releases.values()]

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        found = dict(zip(programs, pool.map(outcomes, programs), strict=True))
    return {"versions": [*releases], "programs": found}
