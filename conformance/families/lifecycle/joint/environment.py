"""The environment of a run in the joint model: policies, beginnings, and what may happen without an input.

Where no input decides, the model permits all that the spec permits, since a conforming runtime must always
have an explanation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from runlock.conformance.families.lifecycle.joint.cues import Cue
from runlock.conformance.families.lifecycle.joint.hypotheses import Hypothesis, Unsaid, World
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.records import Call, Run
from runlock.machines.lifecycle.joint.policies import CHOICES
from runlock.machines.lifecycle.joint.state import NOT_ASKED, Control
from runlock.machines.lifecycle.joint.state import Call as JointCall
from runlock.machines.lifecycle.joint.transitions import Joint
from runlock.spec.model import load_spec

__all__ = ["ANSWERS", "BROKEN", "as_stored", "entered", "supposed_policies", "world_of"]

WIDEST: Final = {
    "decision.early": "buffer",
    "replay.gate": "yes",
    "replay.commit": "yes",
    "round.block": "end_run",
    "checkpoint.at": "triggers",
    "durability": "round",
    "stop.conditions": ("timeout",),
    "cancel.inflight": "drain",
    "end.live": "left",
}
"""Policies under one value of which the joint charts explain all that they do under any other."""

TOLD_APART: Final = {"decision.window": ("immediate", "waiting"), "resume": ("partial", "collect")}
"""Of policies whose values the joint charts do not all tell apart, one of each sort."""

ANSWERS: Final[Mapping[str, Mapping[str, tuple[Cue, ...]]]] = {
    "tool": {
        "ok": (Cue.SUCCEED,), "warning": (Cue.SUCCEED,), "error": (Cue.FAIL,), "pending": (Cue.SUSPEND,),
    },
    "permission": {
        "block": (Cue.FAIL, Cue.BLOCK), "suspend": (Cue.SUSPEND,), "set_result": (Cue.PROVIDE, Cue.SUCCEED),
    },
}  # fmt: skip
"""What becomes of a call by an answer at a gate."""

BROKEN: Final = (Cue.FAIL, Cue.END_ERROR, Cue.SUSPEND, Cue.SUCCEED)
"""What may become of it by any other answer, for one that breaks a tool may also be tried again."""

UNASKED: Final = {
    "allow": (Cue.FAIL,),
    "ask": (Cue.FAIL, Cue.SUSPEND),
    "gate": (Cue.FAIL, Cue.SUSPEND, Cue.PROVIDE),
}
"""What may become of a new call, by its tool's permission, that no answer said."""

RESUMED: Final = (Cue.FAIL, Cue.SUSPEND, Cue.SUCCEED, Cue.PROVIDE)
"""What may become of a call that resumes, before its tool is entered."""


def supposed_policies(declared: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, tuple[Any, ...]]]:
    """The policies that the joint charts depend on: those that are settled, and what the others may be."""
    return _policies(tuple(sorted((key, _hashable(value)) for key, value in declared.items())))


@cache
def _policies(declared: tuple[tuple[str, Any], ...]) -> tuple[dict[str, Any], dict[str, tuple[Any, ...]]]:
    known = dict(declared)
    settled = {key: known.get(key, WIDEST.get(key)) for key in CHOICES if key in known or key in WIDEST}
    policies = load_spec("lifecycle").policies
    left = {key: TOLD_APART.get(key, tuple(policies[key].values)) for key in CHOICES if key not in settled}
    return settled, left


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def world_of(
    state: ObservedState, run: Run, names: Sequence[str], lost: Collection[tuple[str, str]]
) -> World:
    """What the environment permits; a crash may have `lost` these cues, of these calls or of the run."""
    places = {"": None, **{name: place for place, name in enumerate(names)}}
    return World(
        frozenset(_bars(state, run)),
        frozenset((cue, places[name]) for name, cue in lost if name in places),
        tuple(_unsaid(state, run.calls.get(name)) for name in names),
        entered(state, names),
    )


def entered(state: ObservedState, names: Sequence[str]) -> frozenset[int]:
    """The places of the calls whose tool was entered, and has not answered."""
    executing = {gate.opened.call for gate in state.open_gates if gate.on == "tool"}
    return frozenset(place for place, name in enumerate(names) if name in executing)


def _bars(state: ObservedState, run: Run) -> Iterator[Cue]:
    """The ends that a run cannot come to; anything that goes wrong in it may end it in an error."""
    if not state.scenario.agent.stop:
        yield Cue.END_STOPPED
    if not run.hooks:
        yield Cue.END_REQUESTED


def _unsaid(state: ObservedState, call: Call | None) -> Unsaid:
    """What may become of a call that no answer at a gate has said; nothing while one is waited for."""
    if call is None or any(gate.is_open for gate in call.judged):
        return Unsaid()
    if call.tool is None:
        return Unsaid(UNASKED["ask"], RESUMED)
    is_judged = call.tool.permission == "gate" and "permission" in state.handshake.gates
    return Unsaid(UNASKED["allow" if is_judged else call.tool.permission], RESUMED)


WORKS: Final = {
    "Created": ("created",),
    "Running": ("starting", "model", "round", "after", "last", "entered"),
    "Waiting": ("wait", "suspending"),
    "Done": ("done",),
}
"""What a run may be at that was stored with a status."""

RESTING: Final = {"Running": ("New", "Suspended", "Running"), "Resuming": ("Suspended", "Resuming")}
"""What a call may be again that was stored with a status which a tool or a replay had given it."""


def _again(status: str) -> JointCall:
    """A call with this status; one that is past its tool may have waited, and one that waits has."""
    return NOT_ASKED._replace(status=status, waits=int(status not in ("New", "Running")))


def as_stored(joint: Joint, run: str, statuses: Sequence[str]) -> Iterator[Hypothesis]:
    """Every hypothesis in which a run that was stored so may begin again."""
    calls: list[tuple[Any, ...]] = [()]
    for status in statuses:
        begun = [_again(one) for one in RESTING.get(status, (status,))]
        calls = [(*before, one) for before in calls for one in begun]
    for work in WORKS.get(run, ()):
        has_gate = run == "Waiting" or (joint.has_dispatcher and work == "round")
        gate = joint.open_gate if has_gate else ""
        reason = "Suspended" if run == "Waiting" else ""
        status = "Running" if work == "suspending" else run
        control = Control(status, work, gate, "may come", reason)
        yield from (Hypothesis(control, each) for each in calls)
