"""Wrong about the edits of the thread."""

from __future__ import annotations

from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.compaction import KEPT
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.state import Message


@fault("THREAD-1", "an edit put")
class DeclaresAnotherSummary(Runtime):
    """Declares another summary than it shows."""

    def declare(self, gone: list[Message], instead: list[Message]) -> None:
        super().declare(gone, [{**instead[0], "text": "[all of it]"}, *instead[1:]])


@fault("THREAD-1", "an edit put")
class DeclaresWhatItDoesNotDo(Runtime):
    """Declares an edit and shows the model the whole thread."""

    def shorten(self, cut: int) -> None:
        super().shorten(cut)
        self.state.cut = 0


class _CountsMessages(Runtime):
    """Cuts where the count of messages is reached."""

    def place_of_cut(self) -> int:
        return max(0, len(self.state.messages) - KEPT)


@fault("THREAD-2", "an edit cuts the turn of call", also=("THREAD-3",))
class CutsInsideARound(_CountsMessages):
    """Cuts between a turn and its results."""


@fault("PAIR-2", "which no turn right before it asked for", also=("PAIR-3",))
class CutsInsideARoundUnsaid(_CountsMessages):
    """Cuts between a turn and its results, and does not say that it cuts."""

    def declare(self, gone: list[Message], instead: list[Message]) -> None:
        return


@fault("THREAD-2", "an edit cuts the result of call")
class CutsResultsAlone(Runtime):
    """Says that it has cut the results, and kept the turns."""

    def declare(self, gone: list[Message], instead: list[Message]) -> None:
        super().declare(gone, [*instead, *(one for one in gone if one.get("tool_calls"))])


@fault("THREAD-3", "which is the newest input")
class ForgetsTheQuestion(Runtime):
    """The newest input of the user goes into the summary."""

    def in_place_of(self, cut: int) -> list[Message]:
        return super().in_place_of(cut)[:1]


@fault("THREAD-3", "which is the newest input")
class DropsTheQuestion(Runtime):
    """Nothing stands for the newest input of the user but a note."""

    def in_place_of(self, cut: int) -> list[Message]:
        notes = super().in_place_of(cut)
        return [notes[0], *({**one, "text": "[a question]"} for one in notes[1:])]


class _KeepsStubs(Runtime):
    """Keeps the last round that it cuts, with a word in the place of each result."""

    status = "ok"

    def in_place_of(self, cut: int) -> list[Message]:
        messages = self.state.messages[:cut]
        turns = [at for at, one in enumerate(messages) if one["role"] == "assistant"]
        last = messages[turns[-1] :] if turns else []
        stubs = [
            {**one, "text": "[cut]", "status": self.status} if one["role"] == "tool" else one for one in last
        ]
        return [*super().in_place_of(cut), *stubs]


@fault("THREAD-5", "one message took the place of call", profile="tirea", also=("PAIR-5",))
class SumsUpWhatWaits(Runtime):
    """Cuts all but the newest messages, also what waits, and does not say so."""

    def place_of_cut(self) -> int:
        turns = [at for at, one in enumerate(self.state.messages) if one["role"] != "tool"]
        return turns[-1]

    def declare(self, gone: list[Message], instead: list[Message]) -> None:
        return

    def in_place_of(self, cut: int) -> list[Message]:
        return super().in_place_of(cut)[:1]


@fault("THREAD-4", "and the edit makes it ok", also=("PAIR-4",))
class CallsACutResultDone(_KeepsStubs):
    """What is cut counts as a success."""


@fault("THREAD-4", "and the edit makes it error")
class CallsACutResultFailed(_KeepsStubs):
    """What is cut counts as a failure."""

    status = "error"
