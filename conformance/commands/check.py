"""`interlock check`: puts a runtime through a campaign, and reports what held and what broke."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, TextIO

from interlock.conformance.audit import audit
from interlock.conformance.commands.progress import progress
from interlock.conformance.commands.streams import results
from interlock.conformance.exceptions import UsageError
from interlock.conformance.report import folder, machine
from interlock.conformance.report.page import Page
from interlock.conformance.report.text import write_report
from interlock.conformance.result import Result
from interlock.conformance.stages import Order, stages_of
from interlock.conformance.supervisor import INTERRUPTED, campaign
from interlock.conformance.targets import resolve
from interlock.spec.model import load_spec

EXAMPLES: Final = 6_000
"""So many schedules keep two cores busy for about half a minute on the reference."""

JOBS_MAX: Final = 4
JOBS_MIN: Final = 2
"""With one alone the kit's own process plays, which a runtime in it can take along or keep for ever."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How the result is wanted."""

    out: Path
    as_json: bool = False
    is_strict: bool = False
    is_verbose: bool = False


def jobs_of(wanted: int | None) -> int:
    """How many processes: as many as there are cores, but two at least and four at most."""
    return wanted or max(JOBS_MIN, min(len(os.sched_getaffinity(0)), JOBS_MAX))


def check(order: Order, jobs: int, budget_seconds: float | None, wish: Wish) -> int:
    """Run the whole command; the exit code."""
    with results() as stdout:
        target = resolve(order.target, timeout_scale=order.timeout_scale)
        _refuse_idle_patterns(order.only)
        folder.ready(wish.out)
        if target.path is not None:
            result = audit(target.path, order.target, order.only)
        else:
            total = sum(stage.schedules for stage in stages_of(order))
            with progress(order.target, total, is_silent=wish.as_json) as advanced:
                result = campaign(order, jobs, budget_seconds, advanced)
        return _report(result, wish, stdout)


def _refuse_idle_patterns(only: tuple[str, ...]) -> None:
    known = load_spec().clauses
    for pattern in only:
        if not any(fnmatchcase(clause, pattern) for clause in known):
            near = get_close_matches(pattern.upper(), [*known, *_areas(known)], n=1)
            right = f"Did you mean `{near[0]}`?" if near else "`interlock list clauses` shows them all."
            raise UsageError(f"`--only {pattern}` names no clause.", right)


def _areas(clauses: object) -> list[str]:
    return [f"{clause.area}-*" for clause in load_spec().clauses.values()]


def _report(result: Result, wish: Wish, stdout: TextIO) -> int:
    code = exit_code(result, wish.is_strict)
    files = folder.write_traces(result, wish.out)
    report = machine.as_json(result, files, code)
    folder.write_result(report, wish.out)
    page = Page(stdout)
    if wish.as_json:
        page.console.out(json.dumps(report, indent=1))
    else:
        target = _replay_target(result.target)
        write_report(result, page, files, target, is_verbose=wish.is_verbose)
    return code


def exit_code(result: Result, is_strict: bool) -> int:
    """The exit code; a campaign that was interrupted has decided nothing but what it broke."""
    code = result.exit_code(is_strict)
    return 3 if code == 0 and result.partial == INTERRUPTED else code


def _replay_target(target: str) -> str:
    return "TARGET" if target.startswith("trace:") else target
