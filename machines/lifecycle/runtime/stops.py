"""The seven stop conditions: when each of them certainly fires.

Evaluated once a step is complete.  `exceeds` asks for more than the limit, `reaches` for the limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runlock.machines.lifecycle.runtime.state import Reason, RunState

Condition = Mapping[str, Any]


def stop_reason(
    conditions: Sequence[Condition], state: RunState, now_ms: int, exceeds: bool
) -> Reason | None:
    """The reason to stop after the step that `state` has just completed, or none."""

    def over(measured: float, limit: float) -> bool:
        return measured > limit if exceeds else measured >= limit

    for condition in conditions:
        detail = _CHECKS[condition["kind"]](condition, state, now_ms, over)
        if detail is not None:
            return Reason("Stopped", detail, stop=condition["kind"])
    return None


Over = Callable[[float, float], bool]


def _max_rounds(condition: Condition, state: RunState, _now: int, over: Over) -> str | None:
    return f"{state.step} rounds" if over(state.step, condition["rounds"]) else None


def _timeout(condition: Condition, state: RunState, now_ms: int, over: Over) -> str | None:
    elapsed = (now_ms - state.started_ms) / 1000
    return f"{elapsed:g} s" if over(elapsed, condition["seconds"]) else None


def _token_budget(condition: Condition, state: RunState, _now: int, over: Over) -> str | None:
    return f"{state.tokens} tokens" if over(state.tokens, condition["max_total"]) else None


def _consecutive_errors(condition: Condition, state: RunState, _now: int, over: Over) -> str | None:
    return (
        f"{state.errors_in_a_row} errors in a row" if over(state.errors_in_a_row, condition["max"]) else None
    )


def _stop_on_tool(condition: Condition, state: RunState, _now: int, _over: Over) -> str | None:
    called = [call.name for call in state.calls.values() if call.step == state.step]
    return condition["tool_name"] if condition["tool_name"] in called else None


def _content_match(condition: Condition, state: RunState, _now: int, _over: Over) -> str | None:
    said = [m["text"] for m in state.messages if m["role"] == "assistant"]
    return condition["pattern"] if said and re.search(condition["pattern"], said[-1]) else None


def _loop_detection(condition: Condition, state: RunState, _now: int, _over: Over) -> str | None:
    window = condition["window"]
    newest = state.history_of_calls[-window:]
    repeated = len(newest) == window and window > 1 and all(call == newest[0] for call in newest)
    return f"{window} identical calls" if repeated else None


_CHECKS: dict[str, Callable[[Condition, RunState, int, Over], str | None]] = {
    "max_rounds": _max_rounds,
    "timeout": _timeout,
    "token_budget": _token_budget,
    "consecutive_errors": _consecutive_errors,
    "stop_on_tool": _stop_on_tool,
    "content_match": _content_match,
    "loop_detection": _loop_detection,
}
