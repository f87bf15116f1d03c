"""`runlock infer`: finds out what a runtime does about each policy, and writes down what shows it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from runlock.conformance.campaign.inference.search import infer as inferred
from runlock.conformance.campaign.stages import Order, total_of
from runlock.conformance.campaign.targets import resolve
from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.cli.commands.progress import progress
from runlock.conformance.errors import UsageError
from runlock.conformance.report import inference as report
from runlock.conformance.report import result_folder as folder
from runlock.conformance.report.console import Page

EXAMPLES: Final = 200
"""So many walks beside the scripted scenarios tell what can be told of the reference."""

OUT: Final = Path("runlock-inferred")


@dataclass(frozen=True, slots=True)
class Wish:
    """How the result is wanted."""

    out: Path = OUT
    as_json: bool = False


def infer(order: Order, jobs: int, budget_seconds: float | None, wish: Wish) -> int:
    """Run the whole command; the exit code."""
    target = resolve(order.target, timeout_scale=order.timeout_scale)
    if target.path is not None:
        raise UsageError(
            f"`{order.target}` is recorded, so that nothing can be asked of it.", "Name a runtime."
        )
    with results() as stdout:
        folder.ready(wish.out)
        total = total_of(order)
        with progress(order.target, total, is_silent=wish.as_json) as advanced:
            found = inferred(order, jobs, budget_seconds, advanced)
        files = report.write_witnesses(found, wish.out)
        page = Page(stdout)
        if wish.as_json:
            page.console.out(json.dumps(report.as_json(found, files), indent=1))
        else:
            report.write(found, files, page)
    return found.exit_code
