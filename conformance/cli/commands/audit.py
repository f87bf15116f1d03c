"""`runlock audit`: judges recorded runs, and reports which clauses held, broke or were not observable."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from runlock.conformance.audit.engine import Task, Workers, judged
from runlock.conformance.audit.formats import importer_named
from runlock.conformance.audit.reading import files_of
from runlock.conformance.audit.result import AuditResult, results_of
from runlock.conformance.audit.workers import on_ray, processes
from runlock.conformance.campaign.families_of import refuse_retired
from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.cli.commands.progress import reading
from runlock.conformance.family.family import families
from runlock.conformance.judging.selection import Selection
from runlock.conformance.report import audit as report
from runlock.conformance.report import result_folder as folder
from runlock.conformance.report.console import Page

BROKEN: Final = 1


@dataclass(frozen=True, slots=True)
class Options:
    """How an audit is run, and where its results go."""

    out: Path
    jobs: int | None = None
    on: str | None = None
    scratch: Path | None = None
    as_json: bool = False
    is_strict: bool = False
    is_verbose: bool = False


def audit(paths: Sequence[str], task: Task, shown: Selection, options: Options) -> int:
    """Run the whole command; the exit code."""
    if task.format is not None:
        importer_named(task.format)
    for option, patterns in (("--only", shown.only), ("--skip", shown.skip)):
        refuse_retired(option, patterns, families())
    with results() as stdout, folder.reserved(options.out) as out:
        files = list(files_of(list(paths)))
        target = f"audit:{paths[0]}" if len(paths) == 1 else f"audit:{paths[0]} and {len(paths) - 1} more"
        with reading(len(files), is_silent=options.as_json) as callbacks:
            summary = judged(files, task, callbacks.advanced, _workers(options), options.scratch)
        found = results_of(summary, target, shown)
        code = exit_code(found, is_strict=options.is_strict)
        written = [folder.write_traces(one.result, _place(out, one, found)) for one in found]
        whole = report.as_json(found, written, code)
        _store(whole, found, written, out, code)
        page = Page(stdout)
        if options.as_json:
            page.console.out(json.dumps(whole, indent=1))
            return code
        for one, names in zip(found, written, strict=True):
            report.write(one, page, names, is_verbose=options.is_verbose)
        return code


def _workers(options: Options) -> AbstractContextManager[Workers] | None:
    """The processes that were asked for; none if this one does it all."""
    if options.on is not None:
        return on_ray(options.on, options.jobs)
    return processes(options.jobs) if options.jobs is not None and options.jobs > 1 else None


def exit_code(found: Sequence[AuditResult], *, is_strict: bool) -> int:
    """0 held, 1 broken, 3 undecided; what broke in one family is broken."""
    codes = {one.result.exit_code(is_strict) for one in found}
    return BROKEN if BROKEN in codes else max(codes)


def _place(out: Path, one: AuditResult, found: Sequence[AuditResult]) -> Path:
    """The folder of a family: that of the audit for the first one, and one in it for each other."""
    return out if one is found[0] else folder.ready(out / one.result.family_name)


def _store(
    whole: dict[str, object],
    found: Sequence[AuditResult],
    written: Sequence[Mapping[str, Path]],
    out: Path,
    code: int,
) -> None:
    """Write a result for each family, so that `report` and `diff` read each of them."""
    folder.write_result(whole, out)
    for one, names in list(zip(found, written, strict=True))[1:]:
        folder.write_result(report.as_json([one], [names], code), _place(out, one, found))
