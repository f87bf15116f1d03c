"""How the machines of one run hang together: the status of the run as a projection of its calls.

A projection holds while the run has no work of its own: neither inference, nor a permission check, nor a
commit.  Calls that a sequential round holds back are not part of it; leave them out.  The same projection
as a chart of parallel regions is in charts/derived_run.py.
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
