"""Wrong with standing grants: they cover too much, too little, or cannot be taken back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.rounds import Resume
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.state import Call, Decision

BY_ARGUMENTS: Final[Mapping[str, Any]] = {"grant.match": "arguments"}


@fault("GRANT-1", "yet it waits for a decision")
class ForgetsGrants(Runtime):
    """Takes an approval that stands for one of its call alone."""

    def keep_grant(self, decision: Decision) -> None:
        return


@fault("GRANT-1", "yet it waits for a decision")
class EndsGrantsWithTheRun(Runtime):
    """A grant for the session ends with the run in which it was given."""

    def grants_left(self) -> list[dict[str, Any]]:
        return []


@fault("GRANT-1", "yet it waits for a decision", policies=BY_ARGUMENTS)
class GrantsNothingByArguments(Runtime):
    """Takes no two calls to have the same arguments."""

    def covers(self, grant: dict[str, Any], call: Call) -> bool:
        return False


@fault("GRANT-2", "is for the tool", also=("GRANT-4",))
class GrantsEveryTool(Runtime):
    """Applies a grant for one tool to all tools."""

    def covers(self, grant: dict[str, Any], call: Call) -> bool:
        return True


@fault("GRANT-2", "is for the arguments", policies=BY_ARGUMENTS)
class GrantsOtherArguments(Runtime):
    """Applies a grant for some arguments to all arguments."""

    def covers(self, grant: dict[str, Any], call: Call) -> bool:
        return bool(grant["tool"] == call.name)


@fault("GRANT-2", "is for run r1")
class GrantsForLaterRuns(Runtime):
    """A grant for a run stands in the runs after it too."""

    def grants_left(self) -> list[dict[str, Any]]:
        return self.state.grants


@fault("GRANT-2", "waited already", also=("DECIDE-5",))
class GrantsWhatWaits(Runtime):
    """A grant also approves the calls of its tool that wait already."""

    def keep_grant(self, decision: Decision) -> None:
        super().keep_grant(decision)
        tool = self.state.calls[decision.call].name
        for call in self.state.in_status("Suspended") if decision.scope is not None else ():
            if call.name == tool and call.id not in self.state.decisions:
                self.state.decisions[call.id] = Decision(decision.id, call.id, "resume", decision.payload)


@fault("GRANT-2", "covers no later call", policies={"grant.match": "call"}, also=("GRANT-4",))
class GrantsLaterCalls(Runtime):
    """Applies a grant to the later calls of its tool, though it declares that it covers none."""

    def covers(self, grant: dict[str, Any], call: Call) -> bool:
        return bool(grant["tool"] == call.name)


@fault("GRANT-3", "before its permission hook was asked")
class GrantsBeforeTheHook(Runtime):
    """Does not ask the permission hook about a call that a grant covers."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        return ("allow", None) if self.is_granted(call) else await super().verdict(call, resume)


@fault("GRANT-3", "yet it ran")
class GrantsWhatWasBlocked(Runtime):
    """Runs a call that a grant covers, although the permission hook has blocked it."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        kind, content = await super().verdict(call, resume)
        return ("allow", None) if kind == "block" and self.is_granted(call) else (kind, content)


@fault("GRANT-4", "was revoked, and nobody approved")
class CannotRevoke(Runtime):
    """A grant that was revoked stands on."""

    def revoke(self, tool: str) -> None:
        return


@fault("GRANT-4", "was revoked, and nobody approved", profile="tirea")
class RevokesForTheNextRun(Runtime):
    """A grant that was revoked stands until its run ends."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.revoked: set[str] = set()

    def revoke(self, tool: str) -> None:
        self.revoked.add(tool)

    def grants_left(self) -> list[dict[str, Any]]:
        return [grant for grant in super().grants_left() if grant["tool"] not in self.revoked]


@fault("GRANT-4", "was revoked, and nobody approved")
class StoresNoRevocation(Runtime):
    """What is stored does not say that a grant was revoked, so that a crash brings it back."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.revoked: set[str] = set()

    def revoke(self, tool: str) -> None:
        self.revoked.add(tool)

    def keep_grant(self, decision: Decision) -> None:
        self.revoked.discard(self.state.calls[decision.call].name)
        super().keep_grant(decision)

    def is_covered(self, call: Call) -> bool:
        return call.name not in self.revoked and super().is_covered(call)
