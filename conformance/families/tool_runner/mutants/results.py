"""Faults of results and reports: they are missing, misattributed, altered or duplicated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.tool_runner.runtime.history import Call, Message, after_results, result_message
from runlock.machines.tool_runner.runtime.rounds import Round
from runlock.machines.tool_runner.runtime.runner import Runner
from runlock.machines.tool_runner.runtime.world import Answer


@fault("PAIR-1", "without its result", also=("ROUND-1", "RUNNER-34"))
class LosesResultsOfFailures(Runner):
    """A failed call has no result in the state."""

    def put_results(self, turn: Message, results: Sequence[Message]) -> None:
        super().put_results(turn, [one for one in results if one["status"] == "ok"])


@fault("PAIR-4", "its tool answered", also=("RUNNER-17",))
class MarksAnswersDown(Runner):
    """The answer of a tool is replaced by the word "done"."""

    def result(self, call: Call, answer: Answer) -> Message:
        return {**super().result(call, answer), "text": "done"}


@fault(
    "PAIR-5",
    "whose tool gave none",
    also=(
        "RUNNER-17",
        "RUNNER-34",
    ),
)
class PraisesTheUnknown(Runner):
    """A call of an unknown tool gets a successful result."""

    async def run_call(self, call: Call, the_round: Round) -> None:
        await super().run_call(call, the_round)
        if self.version_of(call["name"]) is None:
            the_round.results[call["id"]] = result_message(call, "ok", "done")


@fault("PAIR-2", "which no message before it asks for", also=("RUN-12",))
class MisnamesResults(Runner):
    """A failed call gets a second result under an id that no call has."""

    def put_results(self, turn: Message, results: Sequence[Message]) -> None:
        failed = [one for one in results if one["status"] == "error"]
        super().put_results(turn, [*results, *({**one, "call": f"{one['call']}-failed"} for one in failed)])


@fault(
    "PAIR-3",
    "twice",
    also=(
        "RUN-12",
        "RUNNER-29",
    ),
)
class DoublesResults(Runner):
    """A failed call gets its result twice."""

    def put_results(self, turn: Message, results: Sequence[Message]) -> None:
        super().put_results(turn, results)
        at = self.place_of(turn)
        if at is not None:
            failed = [one for one in results if one["status"] == "error"]
            self.put(after_results(self.state.messages, at), failed)


@fault("RUN-12", "is reported, once more")
class ReportsTwice(Runner):
    """Each message that enters the state is reported a second time."""

    def put(self, at: int, messages: Sequence[Message]) -> None:
        super().put(at, messages)
        for message in messages:
            self.world.message(message)


@fault("RUN-12", "reported, and no such turn came")
class ReportsWhatWasPushed(Runner):
    """Messages that the user pushes are reported as put there by the runner."""

    def push(self, messages: Sequence[Mapping[str, Any]]) -> None:
        super().push(messages)
        for message in messages:
            self.world.message(message)


@fault("RUNNER-45", "lacks the result of call")
class LosesTheTurnAmongSetMessages(Runner):
    """The results of a turn that stands among the messages that were set do not enter the state."""

    def place_of(self, turn: Message) -> int | None:
        is_set = self.iteration.is_replaced and turn == self.iteration.turn
        return None if is_set else super().place_of(turn)
