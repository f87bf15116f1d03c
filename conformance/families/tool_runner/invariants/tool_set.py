"""RUNNER: tools that the user adds, removes and replaces."""

from __future__ import annotations

from collections.abc import Callable

from runlock.conformance.families.tool_runner.invariants.looks import entering, every, follows, reading
from runlock.conformance.families.tool_runner.messages import RunnerGate
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.families.tool_runner.state.facts import is_in_set
from runlock.conformance.families.tool_runner.state.records import Iteration
from runlock.conformance.family.invariant import CheckResults, broken, check, held_or
from runlock.conformance.family.rank import Rank


def _entering(state: ObservedRunner, seen: RunnerGate) -> tuple[Iteration, str, str] | None:
    """An entry that can be judged: it met no change of its tool while a response was made."""
    iteration = state.iteration
    changes = [act for act in iteration.acts if act.method == "runner.tools"] if iteration is not None else []
    late = [act for act in changes if act.during_response and act.window == state.window]
    names = {name for act in late for field in ("add", "remove") for name in act.params.get(field) or ()}
    return None if seen.name in names else entering(state, seen)


@check("RUNNER-34", at=("tool",), rank=Rank.OTHER)
def a_tool_outside_the_set_does_not_run(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A tool that is not in the set when its call starts does not run."""
    found = _entering(state, seen)
    if found is None or seen.name is None:
        return
    name, iteration = seen.name, found[0]
    if name not in state.tools and name not in iteration.tools:
        yield broken(f"call {seen.call} entered the tool {name}, which is not in the set")


@check("RUNNER-33", at=("tool",), rank=Rank.OTHER)
def a_removed_tool_is_gone_as_declared(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A tool that was removed is gone for calls from when the policy says."""
    found = _entering(state, seen)
    if found is None or seen.name is None or state.is_cancelled:
        return
    name, iteration = seen.name, found[0]
    if name in iteration.tools and name not in state.tools:
        allowed = "next_request" in state.values("tools.removed")
        yield held_or(allowed, f"the tool {name} was removed, and call {seen.call} entered it")


@check("RUNNER-22", at=("tool",), rank=Rank.OTHER)
def an_added_tool_counts_as_declared(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A tool that was added or replaced counts for calls from when the policy says."""
    found = _entering(state, seen)
    if found is None or seen.name is None or state.is_cancelled:
        return
    name, iteration = seen.name, found[0]
    if name not in state.tools or state.tools[name] == iteration.tools.get(name):
        return
    if name not in iteration.tools:
        counts = is_in_set(state, iteration, name, _first(state))
        allowed = counts or "at_once" in state.values("tools.added")
        yield held_or(
            allowed, f"the tool {name} was added in this iteration and counts from the next request on"
        )
    elif seen.version is not None:
        at_once = "at_once" in state.values("tools.added") and seen.version in state.tools[name]
        later = "next_request" in state.values("tools.added") and seen.version in iteration.tools[name]
        yield held_or(at_once or later, f"call {seen.call} ran version {seen.version} of the tool {name}")


@check("RUNNER-22", at=("tool",), rank=Rank.OTHER)
def the_version_of_a_tool_is_the_one_that_counts(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A tool that was not touched in this iteration runs in the version of the set."""
    found = _entering(state, seen)
    if found is None or seen.name is None or seen.version is None:
        return
    iteration, versions = found[0], state.tools.get(seen.name)
    if state.tools_changed and versions is not None and versions == iteration.tools.get(seen.name):
        right = seen.version in versions
        yield held_or(
            right, f"call {seen.call} ran version {seen.version} of {seen.name}, not {max(versions)}"
        )


def _first(state: ObservedRunner) -> Callable[[str], str]:
    return lambda key: state.values(key)[0]


@check("RUNNER-34", at=("model",), rank=Rank.OTHER)
def a_tool_outside_the_set_has_an_error(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A call of a tool that is not in the set has an error result."""
    read = reading(state, seen)
    if read is None or follows(state) != "iteration" or read.before.has_doubled_ids or read.before.touched:
        return
    before = read.before
    if not every(state, before, lambda plan: plan.handled is not None and plan.results is True):
        return
    for call in before.calls:
        if call.name in state.tools or call.name in before.tools:
            continue
        shown = [result.status for _, result in read.results if result.call == call.id]
        flaw = "its result is no error" if shown else "it has no result"
        reason = f"call {call.id} names {call.name}, which is not in the set: {flaw}"
        yield held_or(shown[:1] == ["error"], reason)
