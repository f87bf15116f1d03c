"""What a runner may do after a yield, under each value of the policies that are open and matter.

A plan is worked out from the witnessed facts of one iteration.  `None` in it means that the page settles
nothing there, so either is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from runlock.conformance.families.tool_runner.state.facts import (
    Ask,
    asks_for_tools,
    is_in_set,
    is_kept,
    is_paused,
    is_used_up,
)
from runlock.conformance.families.tool_runner.state.observed_state import ObservedRunner
from runlock.conformance.families.tool_runner.state.records import Iteration, answered_calls, same, stands
from runlock.conformance.protocol import Message, ToolCall

Next = Literal["request", "end", "stop"]
ANY: Final[frozenset[Next]] = frozenset({"request", "end"})


@dataclass(slots=True)
class IterationPlan:
    """What one reading of the policies orders for an iteration."""

    values: Mapping[str, str]  # the policies that it rests on
    changed: bool = False
    kept: bool | None = None  # whether the runner puts the turn into the state
    handled: Message | None = None  # the turn whose calls are handled
    calls: Sequence[ToolCall] = ()
    loose: bool = False  # the page does not say which calls are handled
    enter: dict[str, bool | None] = field(default_factory=dict)  # by call: whether its body is entered
    why: dict[str, str] = field(default_factory=dict)  # by call: why its body is not entered
    results: bool | None = None  # whether the results enter the state
    next: frozenset[Next] = ANY

    def may_enter(self, call: str) -> bool:
        """Whether the body of a call may be entered after the resume."""
        return self.enter.get(call, self.loose) is not False

    def must_enter(self) -> list[str]:
        """The calls whose bodies have to be entered before the next request or the end."""
        return [call for call, wanted in self.enter.items() if wanted is True]

    @property
    def may_request(self) -> bool:
        """Whether another request may come next."""
        return "request" in self.next

    @property
    def may_end(self) -> bool:
        """Whether the end may come next."""
        return bool(self.next & {"end", "stop"})


def plans(state: ObservedRunner, iteration: Iteration) -> list[IterationPlan]:
    """Every plan that the policies allow for the newest iteration after its yield."""
    key = ("plans", id(iteration))
    if key not in state.known:
        state.known[key] = list(_branches(state, iteration))
    found: list[IterationPlan] = state.known[key]
    for policy in {policy for plan in found for policy in plan.values}:
        state.policy(policy)  # a check that uses a plan depends on what the plan was made of
    return found


def _branches(state: ObservedRunner, iteration: Iteration) -> list[IterationPlan]:
    """Work a plan out once for each combination of the values that it asks for."""
    made, open_ends = [], [dict[str, str]()]
    while open_ends:
        given = open_ends.pop()
        asked: dict[str, str] = {}

        def ask(key: str, given: Mapping[str, str] = given, asked: dict[str, str] = asked) -> str:
            if key not in asked:
                choices = state.values(key)
                if key not in given:
                    open_ends.extend({**given, **asked, key: other} for other in choices[1:])
                asked[key] = given.get(key, choices[0])
            return asked[key]

        plan = _Planner(state, iteration, ask).plan()
        plan.values = asked
        made.append(plan)
    return made


class _Planner:
    """Works out one plan; `ask` gives the value of a policy under the hypothesis at hand."""

    def __init__(self, state: ObservedRunner, iteration: Iteration, ask: Ask) -> None:
        self.state = state
        self.iteration = iteration
        self.ask = ask
        self.made = IterationPlan({})

    def plan(self) -> IterationPlan:
        """The plan of the iteration."""
        made, one = self.made, self.iteration
        made.changed = self._is_changed()
        asks, paused = asks_for_tools(one, self.ask), is_paused(one)
        made.kept = self._keeps_the_turn(paused)
        self._choose_the_turn(asks, paused)
        made.next = self._next(asks, paused)
        self._limit()
        self._enter()
        return made

    def _is_changed(self) -> bool:
        one = self.iteration
        if not one.touched:
            return False
        return one.pushed if self.ask("runner.append") == "unless_pushed" else True

    def _on_receipt(self) -> bool:
        return self.iteration.touched and self.ask("runner.append") == "on_receipt"

    def _keeps_the_turn(self, paused: bool) -> bool | None:
        one = self.iteration
        if not self.made.changed:
            return True
        if self._on_receipt():
            sets = [act for act in one.acts if act.sets_messages]
            if sets and (paused or all(map(one.may_precede_the_turn, sets))):
                return None  # a turn that came after the set may stand after what was set
            return not sets
        if not paused:
            return False
        if self.ask("runner.pause") == "ends":
            return None
        if one.sets_messages or self.ask("pause.changed") == "kept":
            return None if one.sets_messages else True
        return False

    # -- which calls are handled

    def _state(self) -> list[Message]:
        one, kept = self.iteration, self.made.kept
        turn = [one.message] if kept and one.message is not None else []
        return [*one.before_pushes(), *turn, *one.pushes()]

    def _choose_the_turn(self, asks: bool, paused: bool) -> None:
        made, one, messages = self.made, self.iteration, self._state()
        if not made.changed:
            made.handled = one.message if asks else None
            made.results = True
        elif self._on_receipt():
            made.handled, made.loose = one.message, True
        elif self.ask("runner.inspects") == "state":
            self._inspect_the_state(messages)
        else:
            self._inspect_the_turn(messages, asks, paused)
        made.calls = made.handled.tool_calls if made.handled is not None else ()
        self._results(messages)

    def _inspect_the_state(self, messages: Sequence[Message]) -> None:
        last = messages[-1] if messages else None
        if last is None or last.role != "assistant" or not last.tool_calls:
            return
        given = [message for act in self.iteration.acts for message in act.messages]
        self.made.handled = last
        is_given = any(same(last, message) for message in given)
        self.made.loose = not is_given or self.made.kept is None  # a kept turn would stand after it

    def _inspect_the_turn(self, messages: Sequence[Message], asks: bool, paused: bool) -> None:
        one = self.iteration
        pushed_by_user = stands(one.message, messages)
        if asks:
            self.made.handled = one.message
        elif one.calls and pushed_by_user:
            self.made.handled, self.made.loose = one.message, True

    def _results(self, messages: Sequence[Message]) -> None:
        made = self.made
        if not made.changed or made.handled is None:
            return
        if not stands(made.handled, messages):
            made.results = False
        elif self._on_receipt() or made.loose:
            made.results = None
        elif self._kept() is not False:
            made.results = None  # they were made before the resume
        else:
            made.results = self.ask("runner.results") == "appended"

    # -- what comes next

    def _next(self, asks: bool, paused: bool) -> frozenset[Next]:
        made = self.made
        if paused:
            resent = self.ask("runner.pause") == "resent"
            if made.changed:
                return frozenset({"request"}) if resent else ANY
            return frozenset({"request"}) if resent else frozenset({"end"})
        if asks:
            return frozenset({"request"})
        if not made.changed:
            return frozenset({"end"})
        if made.handled is not None and made.handled.tool_calls:
            return ANY  # a final turn, and calls of another one
        return frozenset({"request"}) if self.ask("runner.finish") == "state" else frozenset({"end"})

    def _limit(self) -> None:
        made = self.made
        if made.may_request and is_used_up(self.state, self.iteration, self.ask):
            made.next = frozenset({"stop"}) if made.next != ANY else frozenset({"stop", "end"})

    # -- which bodies are entered

    def _enter(self) -> None:
        made = self.made
        if not made.calls:
            return
        answered = self._answered()
        preempted = self._is_preempted()
        for call in made.calls:
            wanted, why = self._wanted(call, call.id in answered)
            if preempted is not False and wanted is not False:
                wanted, why = (False if preempted else None), "STOP-5"
            begun = any(gate.phase in ("request", "yield") for gate in self.iteration.entries_of(call.id))
            made.enter[call.id] = None if (made.loose or begun) and wanted else wanted
            made.why[call.id] = why

    def _answered(self) -> set[str]:
        handled = self.made.handled
        assert handled is not None
        answered = answered_calls(handled, self._state())
        return answered if answered and self.ask("runner.answered") == "skipped" else set()

    def _is_preempted(self) -> bool | None:
        if "stop" not in self.made.next:
            return False
        return self.ask("stop.tools") == "preempted"

    def _wanted(self, call: ToolCall, is_answered: bool) -> tuple[bool | None, str]:
        if is_answered:
            return False, "RUNNER-15"
        if same(self.made.handled, self.iteration.message) and (kept := self._kept()) is not False:
            return (False if kept else None), "RUNNER-18"
        return is_in_set(self.state, self.iteration, call.name, self.ask), "RUNNER-34"

    def _kept(self) -> bool | None:
        return is_kept(self.state, self.iteration, len(self.iteration.responses), self.ask)
