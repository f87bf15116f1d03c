"""The status of a run as a projection of the statuses of its calls.

A projection holds while the run itself is not working: no inference, no permission check, and no commit.
Calls that a sequential round holds back are not part of it; leave them out.  charts/derived_run.py has the
same projection as a chart of parallel regions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from runlock.machines.lifecycle.charts.call import ToolCall
from runlock.machines.table import compile_chart

ROUND_COMPLETE: Final = "RoundComplete"
"""No call of the round is live.  It is no status of a run, which is over or goes on: the calls do not say."""

BUSY: Final = frozenset({"New", "Running", "Resuming"})


def derive_run_status(calls: Iterable[str]) -> str:
    """Project the statuses of a round's calls: Running, Waiting, or RoundComplete.

    It settles two errata of the source: a call that is New has work before it (E-1), and a round that is
    complete is not a run that is Done (E-2).
    """
    statuses = _known(calls)
    if statuses & BUSY:
        return "Running"
    return "Waiting" if "Suspended" in statuses else ROUND_COMPLETE


def source_derive_run_status(calls: Iterable[str]) -> str:
    """Project as the awaken source does, where New counts as finished and a complete round as Done."""
    statuses = _known(calls)
    if statuses & {"Running", "Resuming"}:
        return "Running"
    return "Waiting" if "Suspended" in statuses else "Done"


def _known(calls: Iterable[str]) -> frozenset[str]:
    statuses, states = frozenset(calls), compile_chart(ToolCall).states
    if unknown := sorted(statuses - set(states)):
        raise ValueError(f"{', '.join(unknown)}: no call has that status; there are {', '.join(states)}")
    return statuses
