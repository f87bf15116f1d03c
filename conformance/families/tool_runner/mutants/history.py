"""History faults: messages are lost, moved, duplicated or invented."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.tool_runner.runtime.history import (
    Call,
    Message,
    after_results,
    answered,
    calls_of,
    plain,
)
from runlock.machines.tool_runner.runtime.runner import Runner
from runlock.machines.tool_runner.runtime.world import ModelTurn

GO = "tool-runner-go"
RECEIVED: Mapping[str, Any] = {"runner.inspects": "received"}


@fault("RUNNER-8", "which stood in the state, or holds it out of order")
class LosesAPush(Runner):
    """Of several pushed messages only the last is kept."""

    def push(self, messages: Sequence[Mapping[str, Any]]) -> None:
        super().push(messages[-1:])


@fault("RUNNER-8", "which stood in the state, or holds it out of order")
class PushesBackwards(Runner):
    """Pushed messages are placed before those pushed earlier in the iteration."""

    def push(self, messages: Sequence[Mapping[str, Any]]) -> None:
        end = len(self.state.messages)
        super().push(messages)
        pushed = self.state.messages[end:]
        del self.state.messages[end:]
        self.state.messages[self.iteration.mark : self.iteration.mark] = pushed


@fault(
    "RUNNER-9",
    "stands before messages of its",
    also=(
        "RUNNER-11",
        "RUNNER-20",
        "RUNNER-29",
        "RUNNER-48",
    ),
)
class PutsTheTurnTooEarly(Runner):
    """The turn is inserted before the last message of its request."""

    def append_turn(self) -> None:
        self.iteration.mark = max(self.iteration.mark - 1, 0)
        super().append_turn()


@fault(
    "RUNNER-10",
    "user pushed messages",
    or_says=("the user set params, and request",),
    also=(
        "RUNNER-13",
        "RUNNER-31",
    ),
)
class AppendsAChangedTurn(Runner):
    """The turn is appended although the user changed the state in its iteration."""

    def place_turn(self) -> None:
        if self.is_changed():
            self.append_turn()
        super().place_turn()


@fault("RUNNER-11", "though the user changed nothing", also=("RUNNER-6",))
class RemembersAChange(Runner):
    """After one change, every later iteration counts as changed too."""

    def begin_iteration(self) -> None:
        before = self.is_changed()
        super().begin_iteration()
        self.iteration.is_pushed = before


@fault("RUNNER-12", "still holds the user message", also=("RUN-11",))
class AddsWhatIsSet(Runner):
    """Setting the messages appends them instead of replacing the old ones."""

    def set(
        self, messages: Sequence[Mapping[str, Any]] | None = None, params: Mapping[str, Any] | None = None
    ) -> None:
        whole = None if messages is None else [*self.state.messages, *messages]
        super().set(whole, params)


@fault("RUNNER-43", "user set max_tokens")
class ForgetsParams(Runner):
    """Params that the user set are in only one request."""

    def receive(self, turn: ModelTurn, messages: Sequence[Message]) -> None:
        super().receive(turn, messages)
        self.state.params.clear()


@fault("RUNNER-13", "was entered, which is not to be handled")
class InspectsTheReceivedTurn(Runner):
    """The calls of the received turn run, though the runner declares those of the state's last message."""

    def follows_state(self) -> bool:
        return False


@fault("RUNNER-13", "to be handled, and did not run", policies=RECEIVED)
class InspectsTheState(Runner):
    """The calls of the state's last message run, though the runner declares those of the received turn."""

    def follows_state(self) -> bool:
        return self.is_changed()


@fault("RUNNER-13", "to be handled, and did not run")
class AsksForTheStopReason(Runner):
    """The calls of a pushed message run only if the received turn asked for tools."""

    def target(self) -> Message | None:
        return super().target() if self.iteration.stop == "tool_use" else None


@fault("RUNNER-14", "does not stand directly after its turn", profile=GO)
class PutsResultsAtTheEnd(Runner):
    """Results are appended after the messages that the user pushed, not directly after their turn."""

    def put_results(self, turn: Message, results: Sequence[Message]) -> None:
        if self.place_of(turn) is not None:
            self.put(len(self.state.messages), results)


@fault("RUNNER-27", "but not its turn", policies=RECEIVED)
class PutsResultsWithoutTheirTurn(Runner):
    """Results are appended although their turn is not in the state."""

    def put_results(self, turn: Message, results: Sequence[Message]) -> None:
        if self.place_of(turn) is None:
            self.put(len(self.state.messages), results)
        else:
            super().put_results(turn, results)


@fault("RUNNER-15", "it was entered again", policies=RECEIVED)
class RunsAnsweredCalls(Runner):
    """A call that the user answered runs, though the runner declares that it skips it."""

    def skips_answered(self) -> bool:
        return False


@fault("RUNNER-47", "which the user answered, did not run", policies={**RECEIVED, "runner.answered": "run"})
class SkipsAnsweredCalls(Runner):
    """A call that the user answered is skipped, though the runner declares that it runs it."""

    def skips_answered(self) -> bool:
        return True


@fault("RUNNER-28", "holds two results", policies={**RECEIVED, "runner.answered": "run"})
class AddsASecondResult(Runner):
    """A call that the user answered gets a second result from the runner."""

    def put_results(self, turn: Message, results: Sequence[Message]) -> None:
        at = self.place_of(turn)
        if at is not None:
            self.put(after_results(self.state.messages, at), results)


@fault("RUNNER-15", "it was entered again", policies=RECEIVED)
class ReplacesTheUsersAnswer(Runner):
    """The runner's result replaces the user's answer to a call."""

    def to_handle(self, turn: Message) -> list[Call]:
        return calls_of(turn)

    def put_results(self, turn: Message, results: Sequence[Message]) -> None:
        at, ids = self.place_of(turn), answered(results)
        if at is not None:
            kept = [one for one in self.state.messages[at + 1 :] if one.get("call") not in ids]
            self.state.messages[at + 1 :] = kept
        super().put_results(turn, results)


@fault("RUNNER-42", "which nobody gave")
class AddsAWord(Runner):
    """A request contains a message that the user did not give."""

    def to_send(self) -> list[Message]:
        messages = super().to_send()
        more = [plain({"role": "user", "text": "Please go on."})] if len(messages) > 1 else []
        return [*messages, *more]


@fault("RUNNER-26", "messages that the server does not hold so")
class SendsTooLittle(Runner):
    """A request omits a message that the server does not have."""

    def number_sent(self, messages: Sequence[Message]) -> int:
        return max(super().number_sent(messages) - 1, 1)


@fault("RUNNER-26", "messages that the server does not hold so")
class SendsADeltaOfAnotherHistory(Runner):
    """Only part of the state is sent although it does not continue what the server holds."""

    def number_sent(self, messages: Sequence[Message]) -> int:
        held = len(self.held_by_server or ())
        return len(messages) - held if 0 < held < len(messages) else len(messages)


@fault("RUNNER-38", "carries", policies={"runner.history": "whole"})
class SendsADelta(Runner):
    """A request carries part of the history, though the runner declares that it sends all of it."""

    def number_sent(self, messages: Sequence[Message]) -> int:
        return max(len(messages) - len(self.held_by_server or ()), 1)


@fault("RUNNER-44", "not in the state while yielded", profile=GO)
class AppendsAtTheResume(Runner):
    """The turn enters the state after the yield, though the runner declares that it does so before."""

    def receive(self, turn: ModelTurn, messages: Sequence[Message]) -> None:
        whole = self.policies
        self.policies = {**whole, "runner.append": "if_unchanged"}
        super().receive(turn, messages)
        self.policies = whole

    def place_turn(self) -> None:
        if self.iteration.turn is not None and not self.iteration.is_replaced:
            self.append_turn()
        super().place_turn()


@fault(
    "RUNNER-45",
    "results of a changed iteration are dropped",
    policies={**RECEIVED, "runner.results": "dropped"},
)
class AppendsWhatIsDropped(Runner):
    """Results of a changed iteration are appended, though the runner declares that it drops them."""

    def drops_results(self) -> bool:
        return False


@fault("RUNNER-45", "lacks the result of")
class DropsWhatIsAppended(Runner):
    """Results of a changed iteration are dropped, though the runner declares that it appends them."""

    def drops_results(self) -> bool:
        return self.is_changed() and not self.places_on_receipt


@fault("RUNNER-46", "does not stand in the state at the end")
class DropsTheFinalTurn(Runner):
    """A final turn is missing from the state at the end."""

    def keeps_final_turn(self) -> bool:
        return False


@fault("RUNNER-46", "stands in the state at the end", policies={"end.turn": "unless_refused"})
class KeepsARefusal(Runner):
    """A refusal is in the state at the end, though the runner declares that it leaves it out."""

    def keeps_final_turn(self) -> bool:
        return True
