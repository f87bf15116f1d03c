"""Wrong about what those who decide are shown, and about what an approval edits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.rounds import Resume
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.state import Call, Decision


@fault("SHOWN-1", "waits again, and that was shown to no one", also=("EDIT-3",))
class ShowsOnlyTheFirstWait(Runtime):
    """A call that waits once more is not shown again."""

    def show(self, call: Call) -> None:
        if call.suspension == 1:
            super().show(call)


@fault("SHOWN-2", "yet it was shown as", also=("SHOWN-3",))
class ShowsWithoutArguments(Runtime):
    """Of a call that waits, the tool is shown, and of the arguments nothing but its id."""

    def show(self, call: Call) -> None:
        self.observe("call.shown", call=call.id, name=call.name, args={"k": call.id})


@fault("SHOWN-3", "yet it runs as")
class RunsWhatTheModelGave(Runtime):
    """A call that was edited is shown so when it waits again, and then runs as the model asked for it."""

    def arguments(self, call: Call, resume: Resume) -> dict[str, Any]:
        if resume is None or call.suspension < 2:
            return super().arguments(call, resume)
        turns = [one for message in self.state.messages for one in message.get("tool_calls", ())]
        return next(one["args"] for one in reversed(turns) if one["id"] == call.id)


@fault("EDIT-1", "yet it runs as", also=("SHOWN-2",))
class LooksPastEdits(Runtime):
    """An edited call runs as the model asked for it."""

    def edit(self, call: Call, edit: Mapping[str, Any]) -> bool:
        return super().edit(call, {key: one for key, one in edit.items() if key != "args"})


@fault("EDIT-1", "yet it runs as", also=("SHOWN-2",))
class MergesEdits(Runtime):
    """Edited arguments are put into those of the model, of which the others stay."""

    def edit(self, call: Call, edit: Mapping[str, Any]) -> bool:
        merged = {**edit, "args": {**call.args, **(edit.get("args") or {})}}
        return super().edit(call, merged)


@fault("EDIT-2", "edited a call that is not this")
class EditsTheWholeRound(Runtime):
    """What one call is edited to, the calls that wait with it get as well."""

    def edit(self, call: Call, edit: Mapping[str, Any]) -> bool:
        for other in self.state.in_status("Suspended", "Resuming") if edit.get("args") else ():
            other.args = {**edit["args"], "k": other.id}
        return super().edit(call, edit)


@fault("EDIT-3", "yet it was executed")
class TakesAnEditForAnApproval(Runtime):
    """A call that was edited to another tool runs without that tool's gate."""

    def edit(self, call: Call, edit: Mapping[str, Any]) -> bool:
        super().edit(call, edit)
        return False


@fault("EDIT-3", "is entered")
class KeepsTheTool(Runtime):
    """Of an edit, the tool is left out."""

    def edit(self, call: Call, edit: Mapping[str, Any]) -> bool:
        return super().edit(call, {key: one for key, one in edit.items() if key != "name"})


@fault("EDIT-4", "which is to be taken, yet it was refused")
class RefusesOtherTools(Runtime):
    """Takes edits to another tool, as it says, and refuses them."""

    def objection_to_edit(self, edit: dict[str, Any] | None, call: Call) -> str | None:
        if edit is not None and edit.get("name") not in (None, call.name):
            return "the tool cannot be edited"
        return super().objection_to_edit(edit, call)


@fault("EDIT-4", "which is to be refused, yet it was taken", policies={"edit.tool": "refused"})
class TakesOtherTools(Runtime):
    """Refuses edits to another tool, as it says, and takes them."""

    def objection_to_edit(self, edit: dict[str, Any] | None, call: Call) -> str | None:
        return None


@fault("EDIT-5", "was refused")
class EditsBeforeItLooks(Runtime):
    """An edit is put in place before the decision that brings it is refused."""

    def objection(self, decision: Decision) -> str | None:
        call = self.state.calls.get(decision.call)
        if call is not None and decision.edit and not call.is_final:
            call.args = decision.edit.get("args") or call.args
        return super().objection(decision)


@fault("EDIT-6", "yet the model is shown", also=("PAIR-8", "STORE-13", "STORE-17"))
class ShowsTheModelNoEdit(Runtime):
    """The history has an edited call without its arguments."""

    def edit(self, call: Call, edit: Mapping[str, Any]) -> bool:
        for turn in self.state.messages if edit.get("args") else ():
            for one in turn.get("tool_calls", ()):
                one["args"] = {"k": call.id} if one["id"] == call.id else one["args"]
        return super().edit(call, edit)
