"""Standing grants of the reference: a decision that names a scope approves calls that are asked for later."""

from __future__ import annotations

from typing import Any

from runlock.machines.lifecycle.runtime.compaction import Compaction
from runlock.machines.lifecycle.runtime.state import Call, Decision


class Grants(Compaction):
    """Keeps what stands, and tells which calls it covers."""

    def keep_grant(self, decision: Decision) -> None:
        """An accepted approval stands for later calls as its scope says."""
        call = self.state.calls[decision.call]
        is_kept = decision.scope in self.policies["grant.scopes"] and call.resume_mode == "replay"
        if decision.action == "resume" and is_kept:
            edit = decision.edit or {}
            tool, args = edit.get("name") or call.name, edit.get("args") or call.args
            self.state.grants.append({"tool": tool, "args": args, "scope": decision.scope})

    def revoke(self, tool: str) -> None:
        """The grants for a tool stand no longer."""
        self.state.grants = [grant for grant in self.state.grants if grant["tool"] != tool]

    def is_granted(self, call: Call) -> bool:
        """Whether a grant stands that was given before the model asked for the call."""
        return call.is_granted and self.is_covered(call)

    def is_covered(self, call: Call) -> bool:
        """Whether a grant that stands now covers a call."""
        return any(self.covers(grant, call) for grant in self.state.grants)

    def covers(self, grant: dict[str, Any], call: Call) -> bool:
        """Whether a grant is for the tool of a call, and for its arguments if these count."""
        match = self.policies["grant.match"]
        fits = match == "tool" or (match == "arguments" and grant["args"] == call.args)
        return bool(fits and grant["tool"] == call.name)

    def grants_left(self) -> list[dict[str, Any]]:
        """What the next run of the thread takes over."""
        return [grant for grant in self.state.grants if grant["scope"] == "session"]
