"""Checks the clauses at every joint state of a message loop; which step moves which subject."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from runlock.machines.joint import checker
from runlock.machines.joint.checker import Judged
from runlock.machines.joint.rules import Rule, Subjects
from runlock.machines.joint.search import Search
from runlock.machines.message_loop.joint.state import Call, Control
from runlock.machines.table import Table

__all__ = ["judge"]


def judge(search: Search, rules: Iterable[Rule], tables: Sequence[Table]) -> Judged:
    """Check every rule at every state of a search that has been run."""
    return checker.judge(search, rules, tables, SUBJECTS)


def _stands(control: Control, call: Call) -> tuple[str, ...]:
    """An end and a denial bear the name of what led to them, so that each arrow has ends of its own."""
    run = f"{control.run} as {control.reason}" if control.reason else control.run
    stack = f"{call.stack} by {call.denied}" if call.denied else call.stack
    return run, control.stage, control.bound, control.cancel, stack, call.status


SUBJECTS: Final = Subjects(
    ("turn", "pass", "bound", "cancel", "call", "status of a call"),
    _stands,
    lambda control, to: False,
    stuck="LOOP-18",
)
