"""Facts of an iteration under a hypothesis about the policies."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runlock.conformance.families.tool_runner.state.observed_state import ObservedRunner
from runlock.conformance.families.tool_runner.state.records import Iteration, ObservedAct

Ask = Callable[[str], str]


def is_paused(iteration: Iteration) -> bool:
    """Whether the received turn is paused."""
    return iteration.turn is not None and iteration.turn.stop == "pause_turn"


def is_cut_off(iteration: Iteration) -> bool:
    """Whether the received turn has calls and stopped for another reason than to have them run."""
    turn = iteration.turn
    return turn is not None and bool(turn.tool_calls) and turn.stop not in ("tool_use", "pause_turn")


def asks_for_tools(iteration: Iteration, ask: Ask) -> bool:
    """Whether the received turn asks for tools."""
    turn = iteration.turn
    if turn is None or not turn.tool_calls:
        return False
    if turn.stop in ("tool_use", "pause_turn"):
        return turn.stop == "tool_use"
    cut_off = ask("runner.cut_off")
    return cut_off == "run" or (cut_off == "run_unless_refused" and turn.stop != "refusal")


def is_used_up(state: ObservedRunner, iteration: Iteration, ask: Ask) -> bool:
    """Whether the limit allows no further request after this iteration."""
    limit = state.limit
    if limit is None or (limit == 0 and ask("limit.zero") == "no_limit"):
        return False
    if iteration.limit_counted == iteration.turns_counted + (iteration.turn is not None):
        return iteration.limit_counted >= limit
    turns = iteration.turns_counted + (iteration.turn is not None)
    counted = iteration.limit_counted if ask("limit.counts") == "requests" else turns
    return counted >= limit


def is_in_set(state: ObservedRunner, iteration: Iteration, name: str, ask: Ask) -> bool | None:
    """Whether a tool counts as one of the set for a call that starts now; None if that is open."""
    before, now = name in iteration.tools, name in state.tools
    if before and now and iteration.has_removed(name):
        is_back = ask("tools.removed") == "next_request" or ask("tools.added") == "at_once"
        return True if is_back else None
    if before == now:
        return now
    if now:
        return ask("tools.added") == "at_once"
    return ask("tools.removed") == "next_request"


def is_kept(state: ObservedRunner, iteration: Iteration, number: int, ask: Ask) -> bool | None:
    """Whether a response that was made before the given one (from 0) is still kept; None if that is open."""
    asked = iteration.responses[:number]
    made = [one for one in asked if one.seen is not None and one.seen.messages is not None]
    if not made:
        return False
    cache = ask("runner.cache")
    if cache in ("none", "kept"):
        return cache == "kept"
    upto = iteration.responses[number].acts_before if number < len(iteration.responses) else None
    meanwhile = iteration.acts[upto : iteration.responses[number].acts_until] if upto is not None else ()
    verdicts = {
        _survives(iteration.acts[one.acts_before : upto], one.acts_when_seen - one.acts_before, cache)
        for one in made
    }
    if True in verdicts:
        return True if all(_drops(act, cache) is False for act in meanwhile) else None
    return None if None in verdicts else False


def _survives(acts: Sequence[ObservedAct], during: int, cache: str) -> bool | None:
    """Whether a response outlives these acts, the first of which came while it was being made."""
    found: bool | None = True
    for place, act in enumerate(acts):
        effect = _drops(act, cache)
        if effect and place >= during:
            return False
        if effect is not False:
            found = None
    return found


def _drops(act: ObservedAct, cache: str) -> bool | None:
    if act.method == "runner.tools":
        return None if cache == "by_state" else False
    if act.method == "runner.push":
        return True
    if cache == "until_push":
        return False
    return None if cache == "by_state" else True
