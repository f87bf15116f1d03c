"""`runlock check`: runs a campaign on a runtime, and reports which clauses held and which broke."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
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
from runlock.conformance.campaign.families_of import (
    families_for,
    family_of,
    refuse_idle,
)
from runlock.conformance.campaign.interrupts import held_back
from runlock.conformance.campaign.order import Exhaustive, Means, Order, Sampled
from runlock.conformance.campaign.result import Result
from runlock.conformance.campaign.supervisor import campaign
from runlock.conformance.campaign.targets import resolve
from runlock.conformance.cli.commands.output_streams import results, said_if_lost
from runlock.conformance.cli.commands.progress import progress, searching
from runlock.conformance.errors import UsageError
from runlock.conformance.report import result_folder as folder
from runlock.conformance.report import result_json as machine
from runlock.conformance.report.console import Page
from runlock.conformance.report.text import write_compared, write_report
from runlock.spec.model import Spec

EXAMPLES: Final = 1_500
"""Number of schedules that keeps two cores busy for about a minute on the reference."""

QUICK: Final = 200
"""Number of schedules that takes a few seconds."""

DEPTH: Final = 3
"""Every schedule up to this number of stimuli, without races, takes about as long."""

DEPTH_MAX: Final = 99

JOBS_MAX: Final = 4
JOBS_MIN: Final = 2
"""One worker can go on while another waits for its runtime."""


@dataclass(frozen=True, slots=True)
class Options:
    """Output options."""

    out: Path
    as_json: bool = False
    is_strict: bool = False
    is_verbose: bool = False
    baseline: Path | None = None
    today: str | None = None
    spec: str | None = None


Checked = Order[Sampled | Exhaustive]


@dataclass(frozen=True, slots=True)
class Budget:
    """Default numbers of schedules in addition to the scripted ones."""

    examples: int = EXAMPLES
    quick: int = QUICK


OVER_A_WIRE: Final = Budget(examples=100, quick=0)
"""A runtime behind a wire takes some hundredths of a second for each stimulus."""


def budget_of(target: str) -> Budget:
    """The usual budget of a target."""
    return Budget() if resolve(target).address is None else OVER_A_WIRE


def jobs_of(wanted: int | None, *, in_process: bool = False, target: str | None = None) -> int:
    """The number of processes: one for each core, but at least two and at most four.

    A runtime behind a wire is waited for most of the time, and has the most; threads, if it runs already.
    """
    if in_process and wanted not in (None, 1):
        raise UsageError(f"`--in-process` is one process, and not `--jobs {wanted}`.", "Give one of them.")
    found = resolve(target) if target is not None else None
    if found is not None and found.is_single and not found.is_shared:
        if wanted not in (None, 1):
            raise UsageError(
                f"One application that the kit kills serves one process, and not `--jobs {wanted}`.",
                "Have the kit start as many as it needs: `--launch COMMAND`, with `{port}` in the URL.",
            )
        return 1
    if found is not None and found.address is not None:
        return wanted or JOBS_MAX
    return wanted or max(JOBS_MIN, min(len(os.sched_getaffinity(0)), JOBS_MAX))


def sampled(wanted: int | None, seed: int, *, quick: bool = False, of: Budget | None = None) -> Sampled:
    """The plan for a number of schedules in addition to the scripted ones."""
    if wanted is not None and quick:
        raise UsageError(f"`--quick` is a number of schedules, and so is `--examples {wanted}`.", "Give one.")
    usual = of or Budget()
    return Sampled((usual.quick if quick else usual.examples) if wanted is None else wanted, seed)


def check(order: Checked, means: Means, options: Options) -> int:
    """Run the whole command; the exit code."""
    with results() as stdout:
        target, clauses = order.resolved(), order.clauses
        for option, patterns in (("--only", clauses.only), ("--skip", clauses.skip)):
            refuse_idle(option, patterns, families_for(target))
        known = _known(options)
        if options.spec is not None:
            only = _of_revision(clauses.only, options.spec, family_of(target).spec)
            order = replace(order, clauses=replace(clauses, only=only))
        with _folder(options) as out:
            options = replace(options, out=out)
            if isinstance(order.plan, Sampled) and target.path is None:
                again = folder.failures_of_last_run(out, order.target)
                order = order.with_plan(replace(order.plan, again=again))
            result = found(order, target.path, means, options)
            result.spec = options.spec or result.spec
            return _report(result, options, known, stdout)


@contextmanager
def _folder(options: Options) -> Iterator[Path]:
    """The folder for the results; says so if it is not the one that was named."""
    with folder.reserved(options.out) as out:
        if out != options.out:
            print(f"runlock: another run writes to {options.out}; this one writes to {out}.", file=sys.stderr)
        yield out


def found(order: Checked, recorded: Path | None, means: Means, options: Options) -> Result:
    """The result of a campaign, or of judging a recorded trace; a search may leave a file in `out`."""
    is_silent = options.as_json
    if recorded is not None:
        _refuse_recorded(order, means.on)
        return audit(recorded, order.target, order.clauses)
    plan = order.plan
    if isinstance(plan, Exhaustive):
        with searching(is_silent=is_silent) as callbacks:
            return exhaust(order.with_plan(plan), means, callbacks, options.out)
    with progress(order.target, is_silent=is_silent) as callbacks:
        return campaign(order.with_plan(plan), means, callbacks.advanced, callbacks.expects)


def _of_revision(only: tuple[str, ...], revision: str, spec: Spec) -> tuple[str, ...]:
    """The patterns, restricted to the clauses of a revision if it leaves any out."""
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
    """A baseline, and the date by which its entries expire, if any has one."""

    baseline: Baseline
    today: date | None
    is_given: bool  # the date, instead of that of the system clock

    def against(self, result: Result) -> Compared:
        """The result compared with the baseline."""
        return compared(self.baseline, result, self.today)


def _known(options: Options) -> Known | None:
    if options.baseline is None:
        if options.today is not None:
            raise UsageError("`--today` has no effect without a baseline.", "It goes with `--baseline FILE`.")
        return None
    given = None if options.today is None else _day(options.today)
    baseline = read_baseline(options.baseline)
    return Known(baseline, given or baseline.today, given is not None)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"`--today {text}` is no date.", "A date is written as in 2027-01-31.") from None


def exhaustive(depth: int | None, races: int | None, examples: int | None, *, one_order: bool) -> Exhaustive:
    """The plan for every schedule within a bound."""
    if examples is not None:
        raise UsageError(
            f"`--exhaustive` plays every schedule within a bound, and not `--examples {examples}` of them.",
            "Leave --examples out; --depth is the bound.",
        )
    if depth is not None and depth < 1:
        raise UsageError(f"`--depth {depth}` leaves no schedule to run.", "Write 1 stimulus or more.")
    if depth is not None and depth > DEPTH_MAX:
        raise UsageError(
            f"`--depth {depth}` is too large for any search.", f"Write {DEPTH_MAX} stimuli or fewer."
        )
    if races is not None and races < 0:
        raise UsageError(f"`--races {races}` is negative.", "Write 0 or more.")
    return Exhaustive(DEPTH if depth is None else depth, races or 0, one_order)


def refuse_bound(depth: int | None, races: int | None, *, one_order: bool) -> None:
    """Refuse the options of a search where none was asked for."""
    if one_order:
        raise UsageError("`--one-order` has no effect without `--exhaustive`.", "Add --exhaustive.")
    for name, given in (("depth", depth), ("races", races)):
        if given is not None:
            raise UsageError(f"`--{name} {given}` has no effect without `--exhaustive`.", "Add --exhaustive.")


def _refuse_recorded(order: Checked, on: str | None) -> None:
    if on is not None:
        raise UsageError(
            f"{order.target} is a recorded trace, and `--on` needs a runtime.",
            "`runlock audit --on` judges recordings.",
        )
    if isinstance(order.plan, Exhaustive):
        raise UsageError(
            f"{order.target} is a recorded trace, and `--exhaustive` needs a runtime.",
            "Name a runtime, or leave --exhaustive out to judge the recording.",
        )


def _report(result: Result, options: Options, known: Known | None, stdout: TextIO) -> int:
    compared = None if known is None else known.against(result)
    code = (
        result.exit_code(options.is_strict) if compared is None else _code_compared(result, compared, options)
    )
    files: dict[str, Path] = {}
    with held_back(), said_if_lost(options.out):
        files = folder.write_traces(result, options.out)
    baseline = None if known is None or compared is None else _baseline(known, compared)
    report = machine.as_json(result, files, code, baseline)
    with held_back(), said_if_lost(options.out / folder.RESULT):
        folder.write_result(report, options.out)
    page = Page(stdout)
    if options.as_json:
        page.console.out(json.dumps(report, indent=1))
    else:
        target = _replay_target(result.target)
        write_report(result, page, files, target, is_verbose=options.is_verbose)
        if known is not None and compared is not None:
            write_compared(known.baseline.file, _as_of(known), compared, page, code)
    return code


def _code_compared(result: Result, compared: Compared, options: Options) -> int:
    """The exit code with a baseline: only unexpected violations count."""
    if compared.is_broken:
        return 1
    as_expected = [
        replace(one, verdict="held") if one.id in compared.expected or one.id in compared.symptoms else one
        for one in result.clauses
    ]
    left = replace(result, clauses=as_expected, witnesses=[])
    return 3 if compared.unseen else left.exit_code(options.is_strict)


def _baseline(known: Known, compared: Compared) -> dict[str, Any]:
    return {
        "file": known.baseline.file,
        "today": None if known.today is None else known.today.isoformat(),
        "expected": compared.expected
        | dict.fromkeys(compared.symptoms, "a consequence of an expected violation"),
        "stale": compared.stale,
        "unseen": compared.unseen,
    }


def _as_of(known: Known) -> str:
    """The date by which entries expire, and its source."""
    if known.today is None:
        return ""
    return f", as of {known.today}{'' if known.is_given else ' by the clock of this machine'}"


def _replay_target(target: str) -> str:
    return "TARGET" if target.startswith("trace:") else target
