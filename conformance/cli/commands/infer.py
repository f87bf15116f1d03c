"""`runlock infer`: infers the policies of a runtime, and writes the schedules that are the evidence."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from runlock.conformance.campaign.inference.search import infer as inferred
from runlock.conformance.campaign.order import Inferring, Means, Order
from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.cli.commands.progress import progress
from runlock.conformance.errors import UsageError
from runlock.conformance.report import inference as report
from runlock.conformance.report import result_folder as folder
from runlock.conformance.report.console import Page

EXAMPLES: Final = 200
"""Number of random walks after which the inference about the reference is complete."""

OUT: Final = Path("runlock-inferred")


@dataclass(frozen=True, slots=True)
class Options:
    """Output options."""

    out: Path = OUT
    as_json: bool = False


def infer(order: Order[Inferring], means: Means, options: Options) -> int:
    """Run the whole command; the exit code."""
    if order.resolved().path is not None:
        raise UsageError(f"`{order.target}` is a recorded trace, and not a runtime.", "Name a runtime.")
    with results() as stdout:
        folder.ready(options.out)
        with progress(order.target, is_silent=options.as_json) as callbacks:
            found = inferred(order, means, callbacks.advanced, callbacks.expects)
        files = report.write_witnesses(found, options.out)
        page = Page(stdout)
        if options.as_json:
            page.console.out(json.dumps(report.as_json(found, files), indent=1))
        else:
            report.write(found, files, page)
    return found.exit_code
