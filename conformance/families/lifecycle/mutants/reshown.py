"""Wrong about newcomers: what waits is not shown to them."""

from __future__ import annotations

from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.state import Call


@fault("SHOWN-4", "and that was not shown again")
class ShowsNothingToAWatcher(Runtime):
    """A watcher that comes is sent what happens from then on, and nothing else."""

    def watch(self, watcher: str, stream: str) -> None:
        self.sink.connect(watcher, stream)


@fault("SHOWN-4", "and that was not shown again")
class ShowsTheFirstAlone(Runtime):
    """Of several calls that wait, a newcomer is shown the first."""

    def watch(self, watcher: str, stream: str) -> None:
        self.sink.connect(watcher, stream)
        for held_by, call in [*self.undecided()][:1]:
            held_by.say_shown(call)


class Restarted(Runtime):
    """Knows whether it was restored after a crash; right in itself."""

    is_restored = False

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.is_restored = True


@fault("SHOWN-5", "waits after the crash, and that was not shown again")
class ForgetsWhatItAsked(Restarted):
    """What waits is asked for once, whatever comes after."""

    def show_again(self) -> None:
        if not self.is_restored:
            super().show_again()


@fault("SHOWN-5", "waits after the crash, and that was not shown again")
class AsksAgainForOne(Restarted):
    """After a restart, the last of the calls that wait is shown again."""

    def show_again(self) -> None:
        if not self.is_restored:
            super().show_again()
            return
        for held_by, call in [*self.undecided()][-1:]:
            held_by.say_shown(call)


class _Listing(Runtime):
    """Shows those who look another list of calls."""

    def look(self) -> dict[str, Any]:
        seen = super().look()
        calls = {
            call.id: one
            for call in self.state.calls.values()
            if (one := self.listed(call, seen["calls"][call.id]))
        }
        return {**seen, "calls": calls}

    def listed(self, call: Call, as_it_is: dict[str, Any]) -> dict[str, Any] | None:
        """What is shown of a call, if it is listed."""
        return as_it_is


ON_REQUEST = {"wait.reshown": "on_request"}


@fault("SHOWN-6", "yet a look at the run shows no such call", policies=ON_REQUEST, also=("CALL-25",))
class ListsNothingThatWaits(_Listing):
    """Those who look at a run see the calls that do not wait."""

    def listed(self, call: Call, as_it_is: dict[str, Any]) -> dict[str, Any] | None:
        return None if call.status == "Suspended" else as_it_is


@fault("SHOWN-6", "yet a look at the run shows Running", policies=ON_REQUEST, also=("CALL-25",))
class ListsWhatWaitsAsRunning(_Listing):
    """Those who look at a run see what waits as what runs."""

    def listed(self, call: Call, as_it_is: dict[str, Any]) -> dict[str, Any] | None:
        return {**as_it_is, "status": "Running"} if call.status == "Suspended" else as_it_is
