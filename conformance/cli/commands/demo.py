"""`runlock demo`: checks a tiny agent that has one fault."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from runlock.conformance.adapters import demo as agent
from runlock.conformance.campaign.order import Means, Order, Sampled
from runlock.conformance.cli.commands.check import Options, check, jobs_of
from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.report.console import Page

TARGET: Final = f"py:{agent.__name__}:Adapter"


def demo(out: Path) -> int:
    """Run the whole command; the exit code is that of the check."""
    code = check(Order(TARGET, Sampled(0)), Means(jobs_of(None)), Options(out))
    with results() as stdout:
        page = Page(stdout)
        page.line()
        page.wrapped(f"The agent is {agent.__file__}; its slip is the last line.")
        page.wrapped("`runlock new-adapter --lang python DIR` writes the right one, for you to change.")
    return code
