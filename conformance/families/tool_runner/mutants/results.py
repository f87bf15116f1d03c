"""Wrong results and reports: they dangle, go astray, say something else, or are shown twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runlock.conformance.families.tool_runner.mutants.mutant import Mutant
from runlock.machines.tool_runner.runtime.history import Call, Message, after_results, result_message
from runlock.machines.tool_runner.runtime.rounds import Round
from runlock.machines.tool_runner.runtime.runner import Runner
from runlock.machines.tool_runner.runtime.world import Answer


class LosesResultsOfFailures(Runner):
    """A call that failed leaves no result."""

    def put_results(self, turn: Message, results: Sequence[Message]) -> None:
        super().put_results(turn, [one for one in results if one["status"] == "ok"])


class MarksAnswersDown(Runner):
    """What a tool answered is cut short."""

    def result(self, call: Call, answer: Answer) -> Message:
        return {**super().result(call, answer), "text": "done"}


class PraisesTheUnknown(Runner):
    """A call without a tool has a success for a result."""

    async def run_call(self, call: Call, the_round: Round) -> None:
        await super().run_call(call, the_round)
        if self.version_of(call["name"]) is None:
            the_round.results[call["id"]] = result_message(call, "ok", "done")


class MisnamesResults(Runner):
    """The result of a failure stands under an id that no call has."""

    def put_results(self, turn: Message, results: Sequence[Message]) -> None:
        failed = [one for one in results if one["status"] == "error"]
        super().put_results(turn, [*results, *({**one, "call": f"{one['call']}-failed"} for one in failed)])


class DoublesResults(Runner):
    """A failure has its result twice."""

    def put_results(self, turn: Message, results: Sequence[Message]) -> None:
        super().put_results(turn, results)
        at = self.place_of(turn)
        if at is not None:
            failed = [one for one in results if one["status"] == "error"]
            self.put(after_results(self.state.messages, at), failed)


class ReportsTwice(Runner):
    """Each message that enters the state is reported a second time."""

    def put(self, at: int, messages: Sequence[Message]) -> None:
        super().put(at, messages)
        for message in messages:
            self.world.message(message)


class ReportsWhatWasPushed(Runner):
    """What the user pushes is reported as the runner's."""

    def push(self, messages: Sequence[Mapping[str, Any]]) -> None:
        super().push(messages)
        for message in messages:
            self.world.message(message)


MUTANTS = (
    Mutant(LosesResultsOfFailures, "PAIR-1", "without its result", also=("ROUND-1",)),
    Mutant(MisnamesResults, "PAIR-2", "which no message before it asks for", also=("RUN-12",)),
    Mutant(
        DoublesResults,
        "PAIR-3",
        "twice",
        also=(
            "RUN-12",
            "RUNNER-29",
        ),
    ),
    Mutant(MarksAnswersDown, "PAIR-4", "its tool answered ok", also=("RUNNER-17",)),
    Mutant(
        PraisesTheUnknown,
        "PAIR-5",
        "whose tool gave none",
        also=(
            "RUNNER-17",
            "RUNNER-34",
        ),
    ),
    Mutant(ReportsTwice, "RUN-12", "is reported, once more"),
    Mutant(ReportsWhatWasPushed, "RUN-12", "reported, and no such turn came"),
)
