"""`runlock matrix`: compares the verdicts of the installed runtimes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, TextIO

from runlock.conformance import outputs
from runlock.conformance.campaign.entries import entry_in
from runlock.conformance.campaign.matrix import Column, matrix
from runlock.conformance.campaign.order import Order, Sampled
from runlock.conformance.campaign.programs import PROGRAMS, THERE, compared
from runlock.conformance.campaign.runtime import Runtime
from runlock.conformance.campaign.runtimes import runtimes
from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.errors import UsageError
from runlock.conformance.inputs import json_of
from runlock.conformance.report import matrix as written
from runlock.conformance.report import result_folder as folder
from runlock.conformance.report import traces, upstream, versions
from runlock.conformance.report.console import Page
from runlock.conformance.text import plain

UNDECIDED: Final = 3
KEPT: Final = Path("docs/matrix.json")
"""The matrix of the repository."""


@dataclass(frozen=True, slots=True)
class Options:
    """Which runtimes are selected, where their environments are, and the output options."""

    only: tuple[str, ...]
    environments: Path
    out: Path
    as_json: bool = False
    infers: bool = False
    entries: tuple[Path, ...] = ()


def make(patterns: Sequence[str], environments: Path) -> int:
    """Install the selected runtimes, or earlier releases with patterns like `agno@*`; the exit code."""
    now = [one for one in patterns if "@" not in one]
    wanted = {one.environment: one for one in chosen(now, "--install")} if now else {}
    for pattern in (one for one in patterns if "@" in one):
        wanted |= _earlier(pattern)
    for runtime in wanted.values():
        print(f"making {runtime.place(environments)} with {', '.join(runtime.requirements)}", file=sys.stderr)
        runtime.install(environments)
    return 0


def _earlier(pattern: str) -> dict[str, Runtime]:
    """The releases whose environments match a pattern, by environment."""
    every = {one.environment: one for now in runtimes() for one in now.releases().values()}
    names = sorted(name for name in every if "@" in name)
    found = {name: every[name] for name in names if fnmatchcase(name, pattern)}
    if not found:
        raise _unknown(pattern, "--install", names)
    return found


def compare_versions(options: Options) -> int:
    """Run the programs without the kit in all releases, and write what they show; the exit code."""
    if not PROGRAMS.is_dir():
        raise UsageError(f"There is no {PROGRAMS}.", "The programs are in the repository; run it there.")
    asked = [one for one in chosen(options.only, "--only") if one.older]
    folder.ready(options.out)
    file, is_seen = options.out / versions.FILE, False
    for name, found in compared(asked, options.environments, PROGRAMS):
        content = written.dumped(versions.merged(file, {name: found}))
        outputs.write(file, f"{content}\n")
        for program, said in found["programs"].items():
            pairs = zip(found["versions"], said, strict=True)
            shown = ", ".join(f"{version} {plain(word)}" for version, word in pairs)
            print(f"{name}: {program}: {shown}", flush=True)
            is_seen = is_seen or THERE in said
    print(f"written: {file}")
    return 0 if is_seen else UNDECIDED


def write_reports(name: str, options: Options) -> int:
    """Write a text for each finding of a library or a configuration; the exit code."""
    file = next((one for one in (options.out / "matrix.json", KEPT) if one.is_file()), None)
    if file is None:
        raise UsageError(f"There is no {options.out / 'matrix.json'}.", "`runlock matrix -o DIR` writes one.")
    known = runtimes()
    names = sorted({one.name for one in known} | {one.library for one in known})
    if name not in names:
        raise _unknown(name, "--report", names)
    place = options.out / "reports" / name
    folder.ready(place)
    for stem, text in upstream.texts(json_of(file), known, name, PROGRAMS):
        outputs.write(place / stem, text)
        print(f"{place / stem}: {text.splitlines()[0].removeprefix('# ')}")
    return 0


def run(options: Options, plan: Sampled, timeout_scale: float) -> int:
    """Judge the runtimes and write the matrix; the exit code."""
    asked = selected(options)
    folder.ready(options.out)
    budget = {"examples": plan.examples, "seed": plan.seed}
    with results() as stdout:
        order = Order("the runtimes", plan, timeout_scale=timeout_scale)
        columns = matrix(asked, options.environments, order, told, infers=options.infers)
        return _report(columns, options, budget, stdout)


def selected(options: Options) -> list[Runtime]:
    """The runtimes to judge: with entries, of those of the kit only the ones that are named."""
    entries = [entry_in(one) for one in options.entries]
    named = chosen(options.only, "--only") if options.only or not entries else []
    return [*entries, *named]


def chosen(patterns: Sequence[str], option: str) -> list[Runtime]:
    """The runtimes that match the patterns; all of them without patterns."""
    known = runtimes()
    for pattern in patterns:
        if not any(fnmatchcase(one.name, pattern) for one in known):
            raise _unknown(pattern, option, [one.name for one in known])
    return [one for one in known if not patterns or any(fnmatchcase(one.name, p) for p in patterns)]


def _unknown(pattern: str, option: str, names: list[str]) -> UsageError:
    near = get_close_matches(pattern, names, n=1)
    right = f"Did you mean `{near[0]}`?" if near else f"There are {', '.join(names)}."
    return UsageError(f"`{option} {pattern}` names no runtime.", right)


def told(column: Column) -> None:
    words = column.why if column.result is None else column.result.verdict
    print(f"{column.runtime.name}: {plain(words)}", file=sys.stderr, flush=True)


def _report(columns: Sequence[Column], options: Options, budget: Mapping[str, Any], stdout: TextIO) -> int:
    written.write_witnesses(columns, options.out)
    report = written.as_json(columns, budget)
    outputs.write(options.out / "matrix.json", written.dumped(report) + "\n")
    found = traces.merged(options.out / traces.FILE, traces.of_columns(columns))
    outputs.write(options.out / traces.FILE, written.dumped(found) + "\n")
    history = versions.known(options.out / versions.FILE)
    outputs.write(
        options.out / "matrix.md",
        written.as_markdown(report, history, [column.runtime for column in columns]),
    )
    lines = Page(stdout)
    if options.as_json:
        lines.console.out(written.dumped(report))
    else:
        _show(columns, options, lines)
    installed = [column for column in columns if column.runtime.is_installed(options.environments)]
    return 0 if installed and all(column.result is not None for column in installed) else UNDECIDED


def _show(columns: Sequence[Column], options: Options, page: Page) -> None:
    for column in columns:
        result = column.result
        if result is None:
            page.columns(f"{column.runtime.name:<24}", f"not judged: {column.why}", "yellow")
            page.line(f"{'':<24}{_how(column, options.environments)}")
            continue
        broken = ", ".join(sorted(witness.clause for witness in result.witnesses)) or "nothing broken"
        counts = f"{result.count('held')} held, {result.count('untested')} untested; {broken}"
        left = f"{column.runtime.name:<24}{result.implementation['version']:<10}"
        page.columns(left, counts, "red" if result.witnesses else "green")
    page.line()
    page.line(
        f"written: {options.out / 'matrix.md'}, {options.out / 'matrix.json'} and a witness of each violation"
    )


def _how(column: Column, environments: Path) -> str:
    if column.runtime.is_installed(environments):
        return "its environment is there; `runlock serve` in it says more"
    command = written.install_command(column.runtime)
    default = str(environments) == written.ENVIRONMENTS
    return command if default else f"{command} --envs {environments}"
