"""Signs that clauses give: the checks of those that say what is right under each value of a policy.

A clause is on this list if breaking it is the other value of its policy.  One that a wrong runtime breaks
under any value is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from runlock.conformance.families.lifecycle.inference.evidence import Evidence, Sign, by_a_clause
from runlock.conformance.families.lifecycle.inference.signs import SIGNS
from runlock.conformance.families.lifecycle.invariants import INVARIANTS
from runlock.spec.model import load_spec

TELLING: Final[Mapping[str, tuple[str, ...]]] = {
    "phases": ("PHASE-27",),
    "round.executor": ("ROUND-4", "ROUND-5"),
    "round.failure": ("ROUND-11",),
    "round.block": ("ROUND-6", "ROUND-7"),
    "decision.early": ("DECIDE-11", "DECIDE-23"),
    "decision.batch": ("DECIDE-12",),
    "decision.cancel_path": ("DECIDE-13",),
    "durability": ("RECOVER-5",),
    "decision.kept": ("KEEP-1", "KEEP-2"),
    "edit.tool": ("EDIT-4",),
    "grant.match": ("GRANT-1", "GRANT-2"),
    "replay.gate": ("GATE-6",),
    "replay.start": ("DECIDE-19",),
    "waiting": ("PHASE-22",),
    "stop.threshold": ("STOP-8",),
    "stop.tools": ("STOP-9",),
    "cancel.inflight": ("CANCEL-5",),
    "cancel.results": ("CANCEL-7",),
    "end.live": ("RUN-27",),
    "input.late": ("INPUT-7",),
    "input.fate": ("INPUT-8",),
    "input.round": ("INPUT-10",),
    "input.waiting": ("INPUT-1", "INPUT-2", "INPUT-3"),
    "tool.raises": ("ROUND-8",),
    "turn.cut": ("CUT-2",),
    "wait.reshown": ("SHOWN-4", "SHOWN-5", "SHOWN-6"),
    "resume": ("DECIDE-14",),
}
"""The clauses that tell the values of a policy apart."""


def _has_no_stops(evidence: Evidence) -> bool:
    """Whether the runtime never said that it stops for anything: what it does not offer it need not do."""
    declared = evidence.state.policies.get("stop.conditions")
    wanted = {one.kind for one in evidence.state.scenario.agent.stop}
    return not isinstance(declared, list) or not wanted <= set(declared)


def _leaves_a_call_out(evidence: Evidence) -> bool:
    """Whether a call waits that the batch does not name, for which all of it may have been turned down."""
    state, run = evidence.state, evidence.state.run
    named = {raw["call"] for _, params in state.newest for raw in params.get("decisions", ())}
    return run is not None and any(call.waits and call.id not in named for call in run.calls.values())


def _was_durable(evidence: Evidence) -> bool:
    """Whether a result that the cancel met was durable by then, so that it cannot be dropped any more."""
    runs = evidence.state.runs.values()
    return any(call.id in evidence.stored for run in runs for call in run.cut_off)


def _waits_for_a_part(evidence: Evidence) -> bool:
    """Whether the run may wait for a suspended call, so that outcomes need not count."""
    return evidence.state.policies.get("round.mixed") != "continue"


UNLESS: Final[Mapping[str, Callable[[Evidence], bool]]] = {
    "STOP-8": _has_no_stops,
    "STOP-9": _has_no_stops,
    "DECIDE-12": _leaves_a_call_out,
    "CANCEL-7": _was_durable,
    "DECIDE-19": _waits_for_a_part,
}
"""What else may be the reason for what is seen."""


NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "RECOVER-5": ("gate model", "gate tool", "control crash=any"),
}
"""What is enough for a sign, where that is less than its clause needs."""


@cache
def signs() -> tuple[Sign, ...]:
    """Every sign, those of clauses first."""
    return (*_of_clauses(), *SIGNS)


def _of_clauses() -> Iterator[Sign]:
    spec = load_spec("lifecycle")
    for policy, clauses in TELLING.items():
        for check in (one for one in INVARIANTS if one.clause in clauses):
            clause = spec.clause(check.clause)
            unless: Any = UNLESS.get(check.clause, lambda _: False)
            needs = NEEDED.get(check.clause, clause.needs)
            yield by_a_clause(policy, spec.policy(policy).values, check, needs, unless)
