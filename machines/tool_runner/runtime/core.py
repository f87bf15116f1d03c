"""The state of a runner, its position in the chart, and the decisions that depend on its policies."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from runlock.machines.table import IllegalTransition, Moved, compile_chart, react
from runlock.machines.tool_runner.charts.iteration import RunnerIteration
from runlock.machines.tool_runner.runtime.history import Call, Message, after_results, answered, calls_of
from runlock.machines.tool_runner.runtime.record import Iteration, RunnerState
from runlock.machines.tool_runner.runtime.toolset import Toolset
from runlock.machines.tool_runner.runtime.world import World

ITERATION_TABLE: Final = compile_chart(RunnerIteration)
WITH_THE_USER: Final = ("Yielded", "Streaming")


class TurnedDown(Exception):
    """The runner refuses a method call; its state is unchanged."""


class CancelledRun(Exception):
    """The abort signal ended the walk."""


class RunnerCore:
    """The data of a runner, and queries on it."""

    def __init__(
        self,
        world: World,
        tools: Mapping[str, bool],
        policies: Mapping[str, Any],
        max_iterations: int | None = None,
        stream: bool = False,
    ) -> None:
        self.world = world
        self.policies = policies
        self.max_iterations = max_iterations
        self.stream = stream
        self.state = RunnerState(Toolset.of(tools))
        self.at = ITERATION_TABLE.initial
        self.iteration = Iteration(0, {})
        self.last_turn: Message | None = None
        self.held_by_server: list[Message] | None = None
        self.counted = 0  # iterations counted towards the limit
        self.is_cancelled = False
        self.reason = "NaturalEnd"
        self.request: asyncio.Task[None] | None = None
        self.running: dict[asyncio.Future[Any], None] = {}  # in the order in which they began

    def says(self, policy: str, *values: str) -> bool:
        """Whether a policy has one of these values."""
        return self.policies[policy] in values

    def move(self, event: str, *facts: str) -> None:
        """Move along the chart; an event that the chart does not allow is a bug of this runner."""
        answer = react(ITERATION_TABLE, self.at, event, frozenset(facts))
        if not isinstance(answer, Moved):
            raise IllegalTransition(answer)
        self.at = answer.row.target

    def put(self, at: int, messages: Sequence[Message]) -> None:
        """Put messages into the state, as the runner."""
        self.state.messages[at:at] = messages
        for message in messages:
            self.world.message(message)

    # -- policies applied to the current iteration

    @property
    def places_on_receipt(self) -> bool:
        """Whether the turn is in the state before it is yielded."""
        return self.says("runner.append", "on_receipt")

    def is_changed(self) -> bool:
        """Whether the user changed the state in this iteration."""
        if self.says("runner.append", "unless_pushed"):
            return self.iteration.is_pushed
        return self.iteration.is_pushed or self.iteration.is_set

    def is_paused(self) -> bool:
        """Whether the received turn is sent back unchanged."""
        return self.iteration.stop == "pause_turn" and self.says("runner.pause", "resent")

    def asks_for_tools(self) -> bool:
        """Whether the calls of the received turn are to run."""
        turn, stop = self.iteration.turn, self.iteration.stop
        if turn is None or not calls_of(turn):
            return False
        if stop in ("tool_use", "pause_turn"):
            return stop == "tool_use"
        refused = stop == "refusal"
        return self.says("runner.cut_off", "run") or (
            not refused and self.says("runner.cut_off", "run_unless_refused")
        )

    def is_final(self) -> bool:
        """Whether the received turn is final."""
        return not self.is_paused() and not self.asks_for_tools()

    def ends_with_turn(self) -> bool:
        """Whether the run ends with the received turn."""
        return self.is_final() and (not self.is_changed() or self.says("runner.finish", "received"))

    def keeps_final_turn(self) -> bool:
        """Whether a final turn stays in the state at the end."""
        if self.says("end.turn", "unless_refused"):
            return self.iteration.stop != "refusal"
        return self.says("end.turn", "kept")

    def is_spent(self) -> bool:
        """Whether the limit is used up."""
        if self.max_iterations is None:
            return False
        if self.max_iterations == 0:
            return self.says("limit.zero", "no_request")
        return self.counted >= self.max_iterations

    def version_of(self, name: str) -> int | None:
        """The version of a tool that a call that starts now uses."""
        return self.state.tools.version(
            name,
            self.iteration.tools,
            added=self.says("tools.added", "at_once"),
            removed=self.says("tools.removed", "at_once"),
        )

    # -- handling of the turn and its results

    def target(self) -> Message | None:
        """The message whose calls are handled, or None."""
        if self.follows_state():
            return self._last_of_state()
        return self.iteration.turn if self.asks_for_tools() else None

    def follows_state(self) -> bool:
        """Whether calls are taken from the last message of the state instead of from the received turn."""
        return self.is_changed() and not self.places_on_receipt and self.says("runner.inspects", "state")

    def _last_of_state(self) -> Message | None:
        """The last message, if it is an assistant message with calls that the user put there."""
        messages = self.state.messages
        first = 0 if self.iteration.is_replaced else self.iteration.mark
        if len(messages) <= first or messages[-1]["role"] != "assistant":
            return None
        is_the_runners = self.iteration.is_placed and messages[-1] == self.iteration.turn
        return messages[-1] if calls_of(messages[-1]) and not is_the_runners else None

    def place_of(self, turn: Message) -> int | None:
        """The position of a turn in the state, or None."""
        if turn == self.iteration.turn:
            return self.iteration.place_of_turn(self.state.messages)
        return len(self.state.messages) - 1

    def to_handle(self, turn: Message) -> list[Call]:
        """The calls of a turn that are to run; under `skipped`, only those without an answer."""
        at = self.place_of(turn)
        done = answered(self.state.messages[at:]) if at is not None and self.skips_answered() else ()
        return [call for call in calls_of(turn) if call["id"] not in done]

    def skips_answered(self) -> bool:
        """Whether a call that the user answered is skipped."""
        return self.says("runner.answered", "skipped")

    def put_results(self, turn: Message, results: Sequence[Message]) -> None:
        """Insert results after their turn, if it is in the state; no call gets a second result."""
        at = self.place_of(turn)
        if at is None:
            return
        place = after_results(self.state.messages, at)
        done: Collection[str] = answered(self.state.messages[at:])
        self.put(place, [one for one in results if one["call"] not in done])
