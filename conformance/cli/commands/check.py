"""`runlock check`: puts a runtime through a campaign, and reports what held and what broke."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from datetime import date
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, TextIO

from runlock.conformance.campaign.audit import audit
from runlock.conformance.campaign.baseline import (
    Baseline,
    Compared,
    compared,
    read_baseline,
)
from runlock.conformance.campaign.exhaustive_campaign import exhaust
from runlock.conformance.campaign.result import Result
from runlock.conformance.campaign.stages import Order, total_of
from runlock.conformance.campaign.supervisor import INTERRUPTED, campaign
from runlock.conformance.campaign.targets import resolve
from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.cli.commands.progress import progress, searching
from runlock.conformance.errors import UsageError
from runlock.conformance.report import result_folder as folder
from runlock.conformance.report import result_json as machine
from runlock.conformance.report.console import Page
from runlock.conformance.report.text import beside_baseline, write_report
from runlock.spec.model import load_spec

EXAMPLES: Final = 6_000
"""So many schedules keep two cores busy for about a minute on the reference."""

DEPTH: Final = 3
"""Every schedule of up to so many stimuli, none of them a race, keeps two cores busy for about as long."""

DEPTH_MAX: Final = 99

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
    baseline: Path | None = None
    today: str | None = None
    spec: str | None = None


def jobs_of(wanted: int | None) -> int:
    """How many processes: as many as there are cores, but two at least and four at most."""
    return wanted or max(JOBS_MIN, min(len(os.sched_getaffinity(0)), JOBS_MAX))


def check(order: Order, jobs: int, budget_seconds: float | None, wish: Wish) -> int:
    """Run the whole command; the exit code."""
    with results() as stdout:
        target = resolve(order.target, timeout_scale=order.timeout_scale)
        _refuse_idle_patterns(order.only)
        known = _known(wish)
        order = replace(order, only=_of_revision(order.only, wish.spec))
        folder.ready(wish.out)
        result = found(order, target.path, jobs, budget_seconds, is_silent=wish.as_json, out=wish.out)
        result.spec = wish.spec or result.spec
        return _report(result, wish, known, stdout)


def found(
    order: Order,
    recorded: Path | None,
    jobs: int,
    budget_seconds: float | None,
    *,
    is_silent: bool,
    out: Path,
) -> Result:
    """What a campaign finds, or for a recorded trace its judgement; a search may leave a file in `out`."""
    if recorded is not None:
        _refuse_recorded(order)
        return audit(recorded, order.target, order.only)
    if order.is_exhaustive:
        with searching(is_silent=is_silent) as told:
            return exhaust(order, jobs, budget_seconds, told, out)
    total = total_of(order)
    with progress(order.target, total, is_silent=is_silent) as advanced:
        return campaign(order, jobs, budget_seconds, advanced)


def _of_revision(only: tuple[str, ...], revision: str | None) -> tuple[str, ...]:
    """The patterns, narrowed to the clauses of a revision if it leaves any out."""
    spec = load_spec()
    if revision is None:
        return only
    if revision not in spec.revisions:
        known = ", ".join(spec.revisions)
        raise UsageError(f"The spec has no revision {revision}.", f"This kit knows {known}.")
    kept = spec.clauses_of(revision)
    if len(kept) == len(spec.clauses):
        return only
    asked = tuple(one for one in kept if not only or any(fnmatchcase(one, pattern) for pattern in only))
    if not asked:
        raise UsageError(f"`--only {' '.join(only)}` names no clause of revision {revision}.")
    return asked


@dataclass(frozen=True, slots=True)
class Known:
    """A baseline, and the day by which its entries expire, if any does."""

    baseline: Baseline
    today: date | None
    is_given: bool  # the day, and not taken from the machine

    def against(self, result: Result) -> Compared:
        """The result beside it."""
        return compared(self.baseline, result, self.today)


def _known(wish: Wish) -> Known | None:
    if wish.baseline is None:
        if wish.today is not None:
            raise UsageError("`--today` was given, and nothing expires.", "It goes with `--baseline FILE`.")
        return None
    given = None if wish.today is None else _day(wish.today)
    baseline = read_baseline(wish.baseline)
    today = given or (date.today() if baseline.is_dated else None)
    return Known(baseline, today, given is not None)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"`--today {text}` is no date.", "A date is written as in 2027-01-31.") from None


def depth_of(
    is_exhaustive: bool,
    depth: int | None,
    races: int | None,
    examples: int | None,
    *,
    one_order: bool = False,
) -> int:
    """Up to how many stimuli every schedule is played; 0 where schedules are drawn instead."""
    if not is_exhaustive:
        if one_order:
            raise UsageError("`--one-order` leaves nothing out here.", "Add --exhaustive to it.")
        for name, given in (("depth", depth), ("races", races)):
            if given is not None:
                raise UsageError(f"`--{name} {given}` bounds nothing here.", "Add --exhaustive to it.")
        return 0
    if examples is not None:
        raise UsageError(
            f"`--exhaustive` plays every schedule within a bound, and not `--examples {examples}` of them.",
            "Leave --examples out; --depth is the bound.",
        )
    if depth is not None and depth < 1:
        raise UsageError(f"`--depth {depth}` leaves no schedule to play.", "Write 1 stimulus or more.")
    if depth is not None and depth > DEPTH_MAX:
        raise UsageError(
            f"`--depth {depth}` is farther than any search comes.", f"Write {DEPTH_MAX} stimuli or fewer."
        )
    if races is not None and races < 0:
        raise UsageError(f"`--races {races}` is fewer than none.", "Write 0 or more.")
    return DEPTH if depth is None else depth


def _refuse_recorded(order: Order) -> None:
    if order.is_exhaustive:
        raise UsageError(
            f"{order.target} is a recording, and `--exhaustive` sends a runtime what it was never sent.",
            "Name a runtime, or leave --exhaustive out to judge the recording.",
        )


def _refuse_idle_patterns(only: tuple[str, ...]) -> None:
    known = load_spec().clauses
    for pattern in only:
        if not any(fnmatchcase(clause, pattern) for clause in known):
            near = get_close_matches(pattern.upper(), [*known, *_areas(known)], n=1)
            right = f"Did you mean `{near[0]}`?" if near else "`runlock list clauses` shows them all."
            raise UsageError(f"`--only {pattern}` names no clause.", right)


def _areas(clauses: object) -> list[str]:
    return [f"{clause.area}-*" for clause in load_spec().clauses.values()]


def _report(result: Result, wish: Wish, known: Known | None, stdout: TextIO) -> int:
    beside = None if known is None else known.against(result)
    code = exit_code(result, wish.is_strict) if beside is None else _code_beside(result, beside, wish)
    files = folder.write_traces(result, wish.out)
    baseline = None if known is None or beside is None else _baseline(known, beside)
    report = machine.as_json(result, files, code, baseline)
    folder.write_result(report, wish.out)
    page = Page(stdout)
    if wish.as_json:
        page.console.out(json.dumps(report, indent=1))
    else:
        target = _replay_target(result.target)
        write_report(result, page, files, target, is_verbose=wish.is_verbose)
        if known is not None and beside is not None:
            beside_baseline(known.baseline.file, _as_of(known), beside, page, code)
    return code


def exit_code(result: Result, is_strict: bool) -> int:
    """The exit code; a campaign that was interrupted has decided nothing but what it broke."""
    code = result.exit_code(is_strict)
    return 3 if code == 0 and result.partial == INTERRUPTED else code


def _code_beside(result: Result, beside: Compared, wish: Wish) -> int:
    """The exit code where some violations are expected: what is left decides."""
    if beside.is_broken:
        return 1
    as_expected = [
        replace(one, verdict="held") if one.id in beside.expected else one for one in result.clauses
    ]
    left = replace(result, clauses=as_expected, witnesses=[])
    return 3 if beside.unseen else exit_code(left, wish.is_strict)


def _baseline(known: Known, beside: Compared) -> dict[str, Any]:
    return {
        "file": known.baseline.file,
        "today": None if known.today is None else known.today.isoformat(),
        "expected": beside.expected,
        "stale": beside.stale,
        "unseen": beside.unseen,
    }


def _as_of(known: Known) -> str:
    """By which day entries expire, and where it came from."""
    if known.today is None:
        return ""
    return f", as of {known.today}{'' if known.is_given else ' by the clock of this machine'}"


def _replay_target(target: str) -> str:
    return "TARGET" if target.startswith("trace:") else target
