"""`runlock baseline write`: the violations of a stored result as a baseline without reasons."""

from __future__ import annotations

from pathlib import Path

from runlock.conformance.campaign.baseline import as_toml
from runlock.conformance.cli.commands.report import write
from runlock.conformance.errors import UsageError
from runlock.conformance.report.stored_result import read_stored


def write_baseline(path: Path, out: Path | None) -> int:
    """Run the whole command; the exit code."""
    result = read_stored(path)
    if out is not None and out.exists():
        raise UsageError(f"{out} already exists, and may contain reasons.", "Name a new file, and compare.")
    write(as_toml([(one.clause, one.reason) for one in result.violations]), out)
    return 0
