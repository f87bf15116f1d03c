"""`runlock audit`: judges recorded runs, and reports which clauses held, broke or were not observable."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from runlock.conformance import outputs
from runlock.conformance.audit.accepted import differences, keep
from runlock.conformance.audit.engine import Task, Workers, judged
from runlock.conformance.audit.formats import importer_named
from runlock.conformance.audit.installed import AGENTS, sessions_here
from runlock.conformance.audit.reading import files_of
from runlock.conformance.audit.result import AuditResult, results_of
from runlock.conformance.audit.workers import on_ray, processes
from runlock.conformance.campaign.families_of import refuse_idle
from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.cli.commands.progress import reading
from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import families
from runlock.conformance.judging.selection import Selection
from runlock.conformance.report import audit as report
from runlock.conformance.report import audit_page
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
    html: Path | None = None
    is_here: bool = False
    accepts: bool = False


def audit(paths: Sequence[str], task: Task, shown: Selection, options: Options) -> int:
    """Run the whole command; the exit code."""
    if task.format is not None:
        importer_named(task.format)
    for option, patterns in (("--only", shown.only), ("--skip", shown.skip)):
        refuse_idle(option, patterns, families())
    if options.scratch is not None and not options.scratch.is_dir():
        raise UsageError(f"`--scratch {options.scratch}` is no folder.", "Name one that exists.")
    folders = [Path(path) for path in paths if Path(path).is_dir()]
    if options.accepts and len(folders) != 1:
        raise UsageError("`--accept` keeps the verdicts of one folder.", "Name the folder, and nothing else.")
    with results() as stdout, folder.reserved(options.out) as out:
        files, target = _here() if options.is_here else _named(paths)
        with reading(len(files), is_silent=options.as_json) as callbacks:
            task = replace(task, folders=tuple(folders))
            summary = judged(files, task, callbacks.advanced, _workers(options), options.scratch)
        found = results_of(summary, target, shown)
        compared = {} if options.accepts else _compared(folders, found)
        code = _code(found, compared, len(paths), options)
        written = [folder.write_traces(one.result, _place(out, one, found)) for one in found]
        whole = report.as_json(found, written, code) | ({"accepted": compared} if compared else {})
        _store(whole, found, written, out, code)
        if options.html is not None:
            _write_page(options.html, audit_page.page(found, target))
        _show(found, written, whole, compared, Page(stdout), options)
        if options.accepts:
            print(f"accepted: {keep(folders[0], found[0].input.outcomes)}", file=sys.stderr)
        return code


def _write_page(file: Path, page: str) -> None:
    """Write the page, which may hold text that is no UTF-8."""
    try:
        outputs.write(file, page)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.", "Name another file.") from None


def _compared(folders: Sequence[Path], found: Sequence[AuditResult]) -> dict[str, list[str]]:
    """What is different in each folder whose verdicts were accepted."""
    compared = {str(one): differences(one, found[0].input.outcomes) for one in folders}
    return {name: different for name, different in compared.items() if different is not None}


def _code(
    found: Sequence[AuditResult], compared: Mapping[str, Sequence[str]], paths: int, options: Options
) -> int:
    """The exit code; where all verdicts were accepted, whether a file has another one."""
    if any(compared.values()):
        return BROKEN
    if options.accepts or len(compared) == paths > 0:
        return 0
    return exit_code(found, is_strict=options.is_strict)


def _show(
    found: Sequence[AuditResult],
    written: Sequence[dict[str, Path]],
    whole: Mapping[str, object],
    compared: Mapping[str, Sequence[str]],
    page: Page,
    options: Options,
) -> None:
    """Print the report, as JSON or for a person."""
    if options.as_json:
        page.console.out(json.dumps(whole, indent=1))
        return
    for one, names in zip(found, written, strict=True):
        report.write(one, page, names, is_verbose=options.is_verbose)
    for name, different in compared.items():
        report.write_differences(name, different, page)


def _named(paths: Sequence[str]) -> tuple[list[Path], str]:
    """The files that the command names, and what they are called together."""
    return list(files_of(list(paths))), f"audit:{paths[0]}" + (
        f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    )


def _here() -> tuple[list[Path], str]:
    """The sessions of the coding agents of this machine; says which they are before any is read."""
    found = sessions_here(os.environ)
    if not found:
        looked = ", ".join(str(one.home(os.environ)) for one in AGENTS)
        raise UsageError("No coding agent has sessions here.", f"Looked in {looked}; name files otherwise.")
    for one in found:
        many = f"{len(one.files):,} session{'' if len(one.files) == 1 else 's'}"
        what = f"{many} of {one.agent}, {one.size / 1024**2:,.1f} MiB, in {one.home}"
        print(f"about to read {what}", file=sys.stderr, flush=True)
    return [file for one in found for file in one.files], "audit:sessions here"


def _workers(options: Options) -> AbstractContextManager[Workers] | None:
    """The processes that were asked for; none if this one does it all."""
    if options.on is not None:
        return on_ray(options.on, options.jobs)
    return processes(options.jobs) if options.jobs is not None and options.jobs > 1 else None


def exit_code(found: Sequence[AuditResult], *, is_strict: bool) -> int:
    """0 held, 1 broken, 3 undecided; what broke in one family is broken."""
    codes = {0 if one.is_idle and not is_strict else one.result.exit_code(is_strict) for one in found}
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
