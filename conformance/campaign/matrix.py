"""The matrix: the verdicts of each installed runtime; two campaigns run at a time, over pipes.

Nothing in it depends on the machine: the budget is counted, and each campaign has its own process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from runlock.conformance.campaign.inference.result import Inferred
from runlock.conformance.campaign.inference.search import infer
from runlock.conformance.campaign.order import Inferring, Order, Sampled
from runlock.conformance.campaign.result import ClauseVerdict, Result
from runlock.conformance.campaign.runtime import Runtime
from runlock.conformance.campaign.supervisor import campaign
from runlock.conformance.errors import RunlockError
from runlock.conformance.safe_path import spawned
from runlock.conformance.transport.guardian import end_with_parent

EXAMPLES: Final = 250
"""Number of schedules, in addition to the scripted ones, that takes a few minutes on two cores in total."""

INFERRED: Final = 200
"""The most schedules, in addition to the scripted ones, from which policies are inferred."""

AT_A_TIME: Final = 2


@dataclass(frozen=True, slots=True)
class Column:
    """One runtime in the matrix: its result, or why there is none, and its inferred policies."""

    runtime: Runtime
    result: Result | None = None
    why: str = ""
    inferred: Inferred | None = None


Finished = Callable[[Column], None]


def matrix(
    chosen: Sequence[Runtime],
    environments: Path,
    order: Order[Sampled],
    finished: Finished = lambda _: None,
    *,
    infers: bool = False,
) -> list[Column]:
    """A column for each runtime, in their order; one that is not installed is marked."""
    there = [one for one in chosen if one.is_installed(environments)]
    there.sort(key=lambda one: one.examples is None)  # the slowest first, so that no worker is idle
    orders = [_order(one, environments, order) for one in there]
    judged: dict[str, Column] = {}
    with spawned(AT_A_TIME, end_with_parent) as pool:
        for column in pool.map(_inferred if infers else _judged, there, orders):
            finished(column)
            judged[column.runtime.name] = column
    return [judged.get(one.name) or Column(one, why="it is not installed") for one in chosen]


def _order(runtime: Runtime, environments: Path, order: Order[Sampled]) -> Order[Sampled]:
    most = order.plan.examples
    examples = most if runtime.examples is None else min(most, runtime.examples)
    plan = replace(order.plan, examples=examples)
    return replace(order, target=runtime.target(environments), plan=plan)


def _judged(runtime: Runtime, order: Order[Sampled]) -> Column:
    try:
        result = campaign(order)
    except RunlockError as error:
        return Column(runtime, why=str(error))
    result.clauses = [unless_hidden(runtime, one) for one in result.clauses]
    return Column(runtime, result)


def unless_hidden(runtime: Runtime, one: ClauseVerdict) -> ClauseVerdict:
    """The verdict; a clause that the adapter keeps from being broken is untested instead of held."""
    if one.verdict != "held" or one.id not in runtime.hidden:
        return one
    return replace(one, verdict="untested", why=runtime.hidden[one.id], offered=False, exercised=0)


def _inferred(runtime: Runtime, order: Order[Sampled]) -> Column:
    """The column with the inferred policies: in real time, from the scripted schedules alone."""
    column = _judged(runtime, order)
    if column.result is None:
        return column
    examples = min(order.plan.examples, INFERRED) if column.result.settles_exactly else 0
    plan = Inferring(examples, order.plan.seed)
    return replace(column, inferred=infer(order.with_plan(plan)))
