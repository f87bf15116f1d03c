"""`runlock matrix --nightly DATE`: judges the newest releases, and keeps the history of each finding.

The output folder has the state: a column of an earlier night is reused if nothing has changed from which its
verdicts follow.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from runlock.conformance import outputs
from runlock.conformance.campaign.matrix import Column, matrix
from runlock.conformance.campaign.order import Order, Sampled
from runlock.conformance.campaign.releases import Lookup, from_registries, judged_from, newest, remembered
from runlock.conformance.campaign.runtime import Runtime
from runlock.conformance.cli.commands.matrix import UNDECIDED, Options, selected, told
from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.errors import UsageError
from runlock.conformance.inputs import json_of
from runlock.conformance.report import history, summary, versions
from runlock.conformance.report import matrix as written
from runlock.conformance.report import result_folder as folder
from runlock.conformance.text import plain

MATRIX: Final = "matrix.json"
Object = Mapping[str, Any]


@dataclass(slots=True)
class Night:
    """What is judged in a night: each runtime in its newest release, and what failed, with the reasons.

    `before` is the history up to it, in which `judged` has the digest and the release of each good column.
    """

    options: Options
    budget: Object
    before: Object
    runtimes: list[Runtime] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    undecided: set[str] = field(default_factory=set)

    def follow(self, asked: Sequence[Runtime], look: Lookup) -> None:
        """Look for newer releases; a runtime whose releases cannot be looked up stays where it was."""
        for one in asked:
            runtime = newest(one, remembered(self._judged(one.name).get("release", "")))
            try:
                runtime = newest(runtime, look)
            except UsageError as error:
                self.failed[runtime.name] = str(error)
            self.runtimes.append(runtime)

    def kept(self, columns: Sequence[Object]) -> dict[str, Object]:
        """The columns of the night before that are still right, by name."""
        digests = {one.name: self.digest(one) for one in self.runtimes}
        same = {
            name for name, digest in digests.items() if digest and digest == self._judged(name).get("digest")
        }
        return {one["name"]: one for one in columns if one["name"] in same}

    def install(self, some: Sequence[Runtime]) -> None:
        """Make the environments that are not there yet."""
        for runtime in some:
            try:
                if not runtime.is_installed(self.options.environments):
                    runtime.install(self.options.environments)
            except UsageError as error:
                self.failed[runtime.name] = str(error)

    def add(self, column: Object) -> None:
        """Take a column that was run; one that decides nothing has failed."""
        if column["verdict"] is not None and written.clauses(column, "held", "broken"):
            return
        self.undecided.add(column["name"])
        why = column.get("why") or " ".join(("no clause was decided.", *column["troubles"][:1]))
        self.failed.setdefault(column["name"], why)

    def digest(self, runtime: Runtime) -> str:
        """Of all from which its column is judged."""
        return judged_from(runtime, {**self.budget, "infers": self.options.infers})

    def judged(self) -> dict[str, Object]:
        """The digest and the release of each column; what failed is run again in the next night."""
        right = {
            one.name: {"digest": self.digest(one), "release": history.release_of(one)}
            for one in self.runtimes
            if one.name not in self.undecided
        }
        return {**{name: {**self._judged(name), "digest": ""} for name in self.undecided}, **right}

    def _judged(self, name: str) -> Object:
        found: Object = self.before["judged"].get(name, {})
        return found


def run(
    options: Options, plan: Sampled, timeout_scale: float, day: str, look: Lookup = from_registries
) -> int:
    """Judge what has changed, and write the matrix, the history and the summary; the exit code."""
    _check(day)
    folder.ready(options.out)
    before = history.known(options.out / history.FILE)
    night = Night(options, {"examples": plan.examples, "seed": plan.seed}, before)
    night.follow(selected(options), look)
    file = options.out / MATRIX
    kept = night.kept(json_of(file)["runtimes"] if file.is_file() else [])
    changed = [one for one in night.runtimes if one.name not in kept]
    night.install(changed)
    with results():
        order = Order("the runtimes", plan, timeout_scale=timeout_scale)
        columns = matrix(changed, options.environments, order, told, infers=options.infers)
    _write(night, kept, columns, day)
    return _report(night, len(columns), len(kept))


def _check(day: str) -> None:
    try:
        date.fromisoformat(day)
    except ValueError:
        raise UsageError(f"`--nightly {day}` is no day.", "Write it as 2026-11-28.") from None


def _write(night: Night, kept: Mapping[str, Object], columns: Sequence[Column], day: str) -> None:
    """Write the matrix, the history, the summary, the page and the witnesses of what was run."""
    out, fresh = night.options.out, {one.runtime.name: written.as_column(one) for one in columns}
    for column in fresh.values():
        night.add(column)
    of_night = {**kept, **fresh}
    report = written.of_columns([of_night[one.name] for one in night.runtimes], night.budget, night.runtimes)
    after = _history(night, report, fresh, day)
    over_time = {**versions.known(out / versions.FILE), "findings": after["findings"]}
    written.write_witnesses(columns, out)
    outputs.write(out / MATRIX, written.dumped(report) + "\n")
    outputs.write(out / history.FILE, written.dumped(after) + "\n")
    outputs.write(out / summary.FILE, summary.text(after))
    outputs.write(out / "matrix.md", written.as_markdown(report, over_time, night.runtimes))


def _history(night: Night, report: Object, ran: Collection[str], day: str) -> dict[str, Any]:
    """The history with this night."""
    before = night.before
    records = history.merged(before["findings"], report, night.runtimes, ran, day)
    this = {
        "day": day,
        "run": {one.name: history.release_of(one) for one in night.runtimes if one.name in ran},
        "reused": len(night.runtimes) - len(ran),
        "failed": night.failed,
        "changes": history.changes(before["findings"], records),
    }
    nights = [this, *before["nights"]][: summary.NIGHTS]
    return {"schema": history.SCHEMA, "judged": night.judged(), "findings": records, "nights": nights}


def _report(night: Night, ran: int, reused: int) -> int:
    """Say what was done; the exit code."""
    file = night.options.out / summary.FILE
    print(f"{ran} run, {reused} reused, {len(night.failed)} failed; written: {file}")
    for name, why in night.failed.items():
        print(f"{name}: {plain(why)}", file=sys.stderr)
    return UNDECIDED if night.failed else 0
