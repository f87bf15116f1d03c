"""Runs within calls: an agent that is used as a tool has a run of its own, and that a state of its own.

What such a run shows names it by the run around it and the call, as `r1/c1`.  It is folded into a state like
any other, together with those of the stimuli that concern it: the gates that it opened, the decisions for its
calls, the cancel of the run around it, a crash.  The run around it sees one call, of which it cannot tell
what is due when; so the checks of calls leave that one out, as they do with one whose id stands for two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from runlock.conformance.families.lifecycle.messages import GateOpened, Nested, Scenario, SegmentEnded
from runlock.conformance.families.lifecycle.state.records import Call, Run
from runlock.conformance.protocol import Observation, Report

if TYPE_CHECKING:
    from runlock.conformance.families.lifecycle.state.observed_state import ObservedState

Part = tuple[str, Mapping[str, Any]]

PASSES: Final = ("gate.release", "clock.advance", "crash")
"""The stimuli that name no run, and act where they belong."""

NOTHING: Final[Part] = ("settle", {})


def runs_within(state: ObservedState, run: Run) -> Iterator[tuple[Call, ObservedState, Run]]:
    """The runs within the calls of a run, each with its call and its state."""
    for call in run.calls.values() if state.nested else ():
        inner = state.nested.get(f"{run.id}/{call.id}")
        if inner is not None and inner.run is not None and not call.duplicate_id:
            yield call, inner.under(state.policies), inner.run


def calls_within(state: ObservedState, run: Run) -> Iterator[tuple[ObservedState, Run, Call]]:
    """The calls of all runs within a run, however deep."""
    for _, inner, within in runs_within(state, run):
        yield from ((inner, within, call) for call in within.calls.values())
        yield from calls_within(inner, within)


def is_within(state: ObservedState, run: Run | None, call: str) -> bool:
    """Whether a call that the run itself does not have is one of a run within it."""
    if run is None or not state.nested or call in run.calls:
        return False
    return any(one.id == call for _, _, one in calls_within(state, run))


def of_the_run_around(state: ObservedState, method: str, params: Mapping[str, Any]) -> Part:
    """A stimulus without the decisions for calls of runs within calls."""
    run, decisions = state.runs.get(params.get("run", "")), params.get("decisions", ())
    own = [one for one in decisions if not is_within(state, run, one["call"])]
    return (method, params) if len(own) == len(decisions) else (method, {**params, "decisions": own})


def pass_on(state: ObservedState, parts: Sequence[Part], *, alone: bool) -> None:
    """Each run within a call takes what was sent, as far as it concerns that run.

    To the run around them, a decision for a call of theirs is one of several things that happen at once.
    """
    state.alone = alone and state.newest == parts
    for name, inner in state.nested.items():
        own = [_own_part(inner, name, *part) for part in parts]
        if len(own) == 1:
            inner.stimulus(*own[0])
        else:
            inner.stimulus("deliver", {"stimuli": [{"method": m, "params": p} for m, p in own]})
        inner.settled_before, inner.alone = state.settled_before, alone
        run = state.runs.get(name.rpartition("/")[0])
        if run is not None and run.faulted is None and inner.run is not None and inner.run.faulted:
            run.volatile.faulted, run.fault_alone = "a run within a call", False


def _own_part(inner: ObservedState, name: str, method: str, params: Mapping[str, Any]) -> Part:
    around = name.rpartition("/")[0]
    if method in PASSES:
        return method, params
    if params.get("run") != around or inner.run is None:
        return NOTHING
    if method in ("cancel", "recover"):
        return method, {**params, "run": name, **({"store": None} if method == "recover" else {})}
    own = [one for one in params.get("decisions", ()) if _has(inner, one["call"])]
    return ("decide", {"run": name, "decisions": own}) if own else NOTHING


def _has(inner: ObservedState, call: str) -> bool:
    return inner.run is not None and (call in inner.run.calls or is_within(inner, inner.run, call))


def shown_within(state: ObservedState, seen: Nested) -> None:
    """A run within a call shows something."""
    name = "/".join(str(seen.run).split("/")[: state.depth + 2])
    inner = state.nested.get(name)
    if inner is None or (name == seen.run and begins_anew(inner, seen.seen)):
        inner = _begun(state, name)
    if inner is not None:
        inner.observe(seen.seen if name == seen.run else seen)


def begins_anew(inner: ObservedState, seen: Observation) -> bool:
    """Whether the model is asked as in the first step of a run that is past it."""
    if not isinstance(seen, GateOpened) or seen.on != "model" or seen.messages is None:
        return False
    is_first = all(message.role != "assistant" for message in seen.messages)
    answers = [gate.outcome or {} for gate in inner.gates.values() if gate.on == "model"]
    return is_first and any(answer.get("kind") == "turn" for answer in answers)


def _begun(state: ObservedState, name: str) -> ObservedState | None:
    around, _, called = name.rpartition("/")
    run = state.runs.get(around)
    call = run.calls.get(called) if run is not None else None
    if call is None or call.tool is None or call.tool.agent is None:
        return None
    offered = [tool for tool in state.scenario.tools if tool.name in call.tool.agent.tools]
    scenario = Scenario(scenario=name, tools=offered)
    state.nested[name] = inner = type(state)(state.handshake, state.policies, scenario)
    inner.depth, inner.life, inner.now_ms = state.depth + 1, state.life, state.now_ms
    inner.stimuli = state.stimuli - 1
    inner.stimulus("run.start", {"run": name, "input": input_of(call)})
    inner.settled_before, inner.alone = state.settled_before, state.alone
    state.add_feature("a run within a call")
    return inner


def waits_within(state: ObservedState) -> dict[str, frozenset[str]]:
    """The runs within calls of a run that waits, each with its calls for which it waits, undecided."""
    run = state.run
    if run is None or not state.settled_before or run.segment_open or run.is_done or state.gates_of(run):
        return {}
    waits = {}
    for _, _, within in runs_within(state, run):
        waiting = [call for call in within.calls.values() if call.waits]
        decided = any(one.in_suspension == call.suspensions for call in waiting for one in call.decisions)
        if waiting and not decided:
            waits[within.id] = frozenset(call.id for call in waiting)
    return waits


def input_of(call: Call) -> str:
    """What a run within a call begins with."""
    return str(call.args.get("v", ""))


def segment_ended(state: ObservedState, run: Run, seen: SegmentEnded) -> None:
    """The run around them ended a segment: it names the calls of theirs that wait."""
    for outer, inner, within in runs_within(state, run):
        named = [call for call in within.calls.values() if call.id in seen.pending]
        deeper = [call for _, _, call in calls_within(inner, within) if call.id in seen.pending]
        outer.volatile.listed_pending = bool(named or deeper) or outer.id in seen.pending
        for call in within.calls.values():
            if call in named and not call.listed_pending and not state.observes("call.status"):
                call.volatile.suspensions += 1
            call.volatile.listed_pending = call in named


def report_within(state: ObservedState, report: Report) -> None:
    """The answer is complete for the runs within calls too."""
    for inner in state.nested.values():
        inner.report(report)
