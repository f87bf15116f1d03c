"""What runs within calls take in: of what is sent and shown, the part that concerns them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import Nested, Scenario, SegmentEnded
from runlock.conformance.families.lifecycle.state.knowledge import Knowledge
from runlock.conformance.families.lifecycle.state.nesting import (
    begins_anew,
    calls_within,
    is_within,
    runs_within,
)
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.grounding import Part
from runlock.conformance.protocol import Report

PASSES: Final = ("gate.release", "clock.advance", "crash")
"""The stimuli that name no run, and act where they belong."""

NOTHING: Final[Part] = ("settle", {})


def of_the_run_around(state: Knowledge, method: str, params: Mapping[str, Any]) -> Part:
    """A stimulus without the decisions for calls of runs within calls."""
    run, decisions = state.runs.get(params.get("run", "")), params.get("decisions", ())
    own = [one for one in decisions if not is_within(state, run, one["call"])]
    return (method, params) if len(own) == len(decisions) else (method, {**params, "decisions": own})


def pass_on(state: Knowledge, parts: Sequence[Part], *, alone: bool) -> None:
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


def _own_part(inner: Knowledge, name: str, method: str, params: Mapping[str, Any]) -> Part:
    around = name.rpartition("/")[0]
    if method in PASSES:
        return method, params
    if params.get("run") != around or inner.run is None:
        return NOTHING
    if method in ("cancel", "recover"):
        return method, {**params, "run": name, **({"store": None} if method == "recover" else {})}
    own = [one for one in params.get("decisions", ()) if _has(inner, one["call"])]
    return ("decide", {"run": name, "decisions": own}) if own else NOTHING


def _has(inner: Knowledge, call: str) -> bool:
    return inner.run is not None and (call in inner.run.calls or is_within(inner, inner.run, call))


def shown_within(state: Knowledge, seen: Nested) -> None:
    """A run within a call shows something."""
    name = "/".join(str(seen.run).split("/")[: state.depth + 2])
    inner = state.nested.get(name)
    if inner is None or (name == seen.run and begins_anew(inner, seen.seen)):
        inner = _begun(state, name)
    if inner is not None:
        inner.observe(inner.read(seen.seen if name == seen.run else seen))


def _begun(state: Knowledge, name: str) -> Knowledge | None:
    around, _, called = name.rpartition("/")
    run = state.runs.get(around)
    call = run.calls.get(called) if run is not None else None
    if call is None or call.tool is None or call.tool.agent is None:
        return None
    offered = [tool for tool in state.scenario.tools if tool.name in call.tool.agent.tools]
    scenario = Scenario(scenario=name, tools=offered)
    state.nested[name] = inner = type(state)(state.handshake, state.policies, scenario)
    inner.depth, inner.life, inner.now_ms = state.depth + 1, state.life, state.now_ms
    inner.stimuli, inner.grants = state.stimuli - 1, state.grants
    inner.stimulus("run.start", {"run": name, "input": input_of(call)})
    inner.settled_before, inner.alone = state.settled_before, state.alone
    state.add_feature("a run within a call")
    return inner


def input_of(call: ObservedCall) -> str:
    """What a run within a call begins with."""
    return str(call.args.get("v", ""))


def segment_ended(state: Knowledge, run: Run, seen: SegmentEnded) -> None:
    """The run around them ended a segment: it names the calls of theirs that wait."""
    for outer, inner, within in runs_within(state, run):
        named = [call for call in within.calls.values() if call.id in seen.pending]
        deeper = [call for _, _, call in calls_within(inner, within) if call.id in seen.pending]
        outer.volatile.listed_pending = bool(named or deeper) or outer.id in seen.pending
        for call in within.calls.values():
            if call in named and not call.listed_pending and not state.observes("call.status"):
                call.volatile.suspensions += 1
            call.volatile.listed_pending = call in named


def report_within(state: Knowledge, report: Report) -> None:
    """The answer is complete for the runs within calls too."""
    for inner in state.nested.values():
        inner.report(report)
