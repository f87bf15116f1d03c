"""`runlock diff`: what changed between two stored results, or two runtimes that are checked first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from runlock.conformance.campaign.order import Means, Order, Sampled
from runlock.conformance.campaign.targets import resolve
from runlock.conformance.cli.commands.check import Options, found
from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.errors import UsageError
from runlock.conformance.report import result_folder as folder
from runlock.conformance.report import result_json as machine
from runlock.conformance.report.comparison import Comparison, as_object, write
from runlock.conformance.report.console import Page
from runlock.conformance.report.stored_result import Stored, read_stored

SIDES: Final = ("before", "after")


def diff(before: str, after: str, plan: Sampled, means: Means, out: Path, *, as_json: bool) -> int:
    """Run the whole command; `plan` says how a target is checked, and the exit code whether it got worse."""
    with results() as stdout:
        kept = [_kept(name) for name in (before, after)]
        sides = [
            stored or _checked(name, plan, means, out / side, is_silent=as_json)
            for stored, name, side in zip(kept, (before, after), SIDES, strict=True)
        ]
        comparison = Comparison(*sides)
        page = Page(stdout)
        if as_json:
            page.console.out(json.dumps(as_object(comparison), indent=1))
        else:
            write(comparison, page)
        return comparison.exit_code


def _kept(name: str) -> Stored | None:
    """The result stored there; None for a target."""
    if Path(name).exists():
        return read_stored(Path(name))
    try:
        resolve(name)
    except UsageError as error:
        raise UsageError(
            f"There is no stored result at {name}, and it is no target: {error.what}", error.right
        ) from None
    return None


def _checked(name: str, plan: Sampled, means: Means, out: Path, *, is_silent: bool) -> Stored:
    """The result of a target that is checked now, with the same parameters as the other one."""
    with folder.reserved(out) as own:
        result = found(Order(name, plan), resolve(name).path, means, Options(own, as_json=is_silent))
        report = machine.as_json(result, folder.write_traces(result, own), result.exit_code())
        return read_stored(folder.write_result(report, own))
