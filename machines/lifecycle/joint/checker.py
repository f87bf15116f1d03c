"""Checks the clauses at every joint state of a run; which step moves which subject."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from runlock.machines.joint import checker
from runlock.machines.joint.checker import Finding, Judged
from runlock.machines.joint.rules import Rule, Subjects
from runlock.machines.joint.search import Search
from runlock.machines.lifecycle.joint.state import Call, Control
from runlock.machines.table import Table

__all__ = ["Finding", "Judged", "judge"]


def judge(search: Search, rules: Iterable[Rule], tables: Sequence[Table]) -> Judged:
    """Check every rule at every state of a search that has been run."""
    return checker.judge(search, rules, tables, SUBJECTS)


def _stands(control: Control, call: Call) -> tuple[str, str, str, str]:
    """Where each subject stands; a gate that an end has shut stands where its chart ends."""
    shut = "Cancelled" if control.reason == "Cancelled" else "Ended"
    return control.run, call.status, call.decided, control.gate if control.work != "ending" else shut


def _is_crash(control: Control, to: Control) -> bool:
    return control.crashes != to.crashes


SUBJECTS: Final = Subjects(("run", "call", "decision", "gate"), _stands, _is_crash, "PROGRESS-1")
