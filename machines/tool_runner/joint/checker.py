"""Checks the clauses at every joint state of a tool runner; which step moves which subject."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from runlock.machines.joint import checker
from runlock.machines.joint.checker import Judged
from runlock.machines.joint.rules import Rule, Subjects
from runlock.machines.joint.search import Search
from runlock.machines.table import Table
from runlock.machines.tool_runner.joint.state import Call, Control

__all__ = ["judge"]


def judge(search: Search, rules: Iterable[Rule], tables: Sequence[Table]) -> Judged:
    """Check every rule at every state of a search that has been run."""
    return checker.judge(search, rules, tables, SUBJECTS)


def _stands(control: Control, call: Call) -> tuple[str, str]:
    return control.runner, control.response


SUBJECTS: Final = Subjects(("run", "response"), _stands, lambda control, to: False, "PROGRESS-1")
