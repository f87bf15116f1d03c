"""How a call goes through the authority stack: its form, its approval, its hooks, and the tool."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from runlock.machines.joint.model import Change, Changed, Move, Test, Who
from runlock.machines.message_loop.joint.chart_driver import Driven
from runlock.machines.message_loop.joint.facts import (
    at,
    is_approved,
    is_executing,
    is_prompting,
    is_unjudged,
    may_run,
)
from runlock.machines.message_loop.joint.state import Call, Control

__all__ = ["Stack"]


class Stack(Driven):
    """The moves of the calls of a round."""

    def _calls(self, control: Control) -> Iterator[Move]:
        yield from self._form(control)
        yield from self._looked_at(control)
        yield from self._mode(control)
        yield from self._answers(control)
        yield from self._guard(control)
        yield from self._transform(control)
        yield from self._executed(control)
        yield from self._tools(control)

    # -- the form of a call, and the mode

    def _form(self, control: Control) -> Iterator[Move]:
        """A call cannot run at all."""
        reject = self.on(at("Proposed"), "reject_form", "fail")
        yield Move("names no tool that there is", control, "trouble", one=reject, cue="unknown")
        ends = control._replace(broken="malformed" if self.says("call.malformed", "end_run") else "")
        yield Move("has no usable arguments", ends, "trouble", one=reject, cue="malformed")

    def _looked_at(self, control: Control) -> Iterator[Move]:
        """A call goes to the mode, where its guard comes first after that."""
        if self.guards_first:
            yield Move("is shown to its guard", control, one=self.on(at("Proposed"), "show"))
        elif self.says("rewrite.place", "before_approval") and self.says("hook.fault", "deny"):
            deny = self.on(at("Proposed"), "guard_denies", "fail", denied="guard")
            yield Move("is denied, as its transform breaks", control, "trouble", one=deny, cue="hook fault")
        before = _is_guarded if self.guards_first else at("Proposed")
        for listed, what in ((True, "on the list"), (False, "not on the list")):
            one = self.on(before, "judge", listed=listed)
            yield Move(f"is judged, and its tool is {what}", control, one=one)

    def _mode(self, control: Control) -> Iterator[Move]:
        """The mode lets a call pass, a standing grant covers it, or the interactors are asked."""
        passes = self.on(_is_listed, "mode_passes", by="mode", **self.approved)
        yield Move("passes by its mode", control, one=passes)
        if not self.says("grant.match", "call"):
            covered = self.on(_covered_by(control), "mode_passes", by="standing", **self.approved)
            yield Move("passes by a standing grant", control, one=covered)
        if control.active:
            asked = control._replace(prompts=min(control.prompts + 1, self.calls))
            ask = self.on(_is_unlisted, "ask", open=control.active)
            yield Move("is put to the interactors", asked, one=ask, none=self.keeps_prompts_back)
        else:
            yield from self._unanswered(control, "has no interactor to ask", _is_unlisted, "nobody")

    @cached_property
    def keeps_prompts_back(self) -> Test | None:
        """The calls for which the next prompt waits."""
        if self.says("prompt.line", "parallel"):
            return None
        if self.says("prompt.place", "interleaved"):
            return lambda call: is_prompting(call) or is_approved(call)
        return is_prompting

    @cached_property
    def approved(self) -> dict[str, Any]:
        """What an approval changes: where guards come first and no transform follows, the call is ready."""
        is_ready = self.guards_first and self.says("rewrite.place", "before_approval")
        return {"open": 0, "ready": True} if is_ready else {"open": 0}

    # -- the answers of interactors

    def _answers(self, control: Control) -> Iterator[Move]:
        closed = control._replace(prompts=max(control.prompts - 1, 0))
        allow = self.on(_is_asked, "allow", by="person", **self.approved)
        yield Move("is allowed once", closed, "world", one=allow, cue="allow")
        if "session" in self.policies["grant.scopes"]:
            keeps = closed._replace(standing=min(control.standing + 1, 2))
            grant = self.on(_is_ungranted, "allow", by="person", granted=True, **self.approved)
            yield Move("is allowed for the session", keeps, "world", one=grant, cue="grant")
        denied = closed._replace(rejected=True, reaching=self.says("reject.reach", "round", "turn"))
        deny = self.on(_is_asked, "deny", "fail", denied="person")
        yield Move("is denied", denied, "trouble", one=deny, cue="deny")
        yield from self._deferrals(closed, control)

    def _deferrals(self, closed: Control, control: Control) -> Iterator[Move]:
        """An interactor defers: the others may still answer, or its prompt is over without an answer."""
        passes = self.says("prompt.defer", "passes")
        others = (lambda call: call.open == 1) if passes else _is_asked
        yield from self._unanswered(closed, "is deferred", others, "defer", who="trouble", cue="defer")
        if passes:
            yield Move("is deferred by one of several", control, "trouble", one=_defer, cue="defer")
        yield from self._unanswered(closed, "is asked of no interactor any more", _is_left_alone, "defer")

    def _unanswered(self, control: Control, what: str, where: Test, event: str, **how: Any) -> Iterator[Move]:
        """No interactor answers: the call is denied, and the turn may end with its round."""
        to = control._replace(unanswered=True, reaching=self.says("prompt.unanswered", "halt"))
        yield Move(what, to, one=self.on(where, event, "fail", denied="no answer"), **how)

    @cached_property
    def cascaded(self) -> Change:
        """A denial reaches a call that has not run."""

        def cascade(call: Call) -> Changed:
            unrun = call.status == "New"
            return (self.advance(call, "cascade", "fail", denied="round") if unrun else None) or Changed(call)

        return cascade

    # -- hooks around the approval

    def _guard(self, control: Control) -> Iterator[Move]:
        """The guard of a call answers, and the transform with it that is asked at the same place."""
        passed: dict[str, Any] = {"guarded": True} if self.guards_first else {"guarded": True, "ready": True}
        yield Move("is let pass by its guard", control, "world", one=_passing(**passed), cue="continue")
        if self._asks_again and not self.guards_first:
            again = self.on(_is_at_guard, "rewritten", "", by="", rewritten=True, **passed)
            yield Move("is rewritten by its transform", control, "world", one=again, cue="rewrite")
        deny = self.on(_is_at_guard, "guard_denies", "fail", denied="guard")
        yield Move("is denied by its guard", control, "trouble", one=deny, cue="guard denies")
        if self.says("hook.fault", "end_run"):
            to = control._replace(broken="hook")
            yield Move("breaks the turn by its guard", to, "trouble", one=_passing(), cue="hook fault")

    @property
    def _asks_again(self) -> bool:
        return self.says("rewrite.place", "asked_again")

    def _transform(self, control: Control) -> Iterator[Move]:
        """Where guards come first, a transform may still be asked after the approval."""
        if not self.guards_first or self.says("rewrite.place", "before_approval"):
            return
        leaves = _leave(_is_at_transform)
        yield Move("is left as it is by its transform", control, "world", one=leaves, cue="continue")
        if self._asks_again:
            again = self.on(_is_at_transform, "rewritten", by="", rewritten=True, ready=True)
            yield Move("is rewritten by its transform", control, "world", one=again, cue="rewrite")
        if self.says("hook.fault", "deny"):
            deny = self.on(_is_at_transform, "guard_denies", "fail", denied="guard")
            yield Move("is denied, as its transform breaks", control, "trouble", one=deny, cue="hook fault")

    # -- the tool

    def _executed(self, control: Control) -> Iterator[Move]:
        """A call that is approved, and that no hook denied, is entered when its turn comes."""
        to = control._replace(running=min(control.running + 1, self.calls))
        yield Move("its tool is entered", to, one=self._enter, none=self.keeps_tools_back)

    def _enter(self, call: Call) -> Changed | None:
        if not may_run(call):
            return None
        return self.advance(call, "execute", "start", entered=min(call.entered + 1, 2))

    @cached_property
    def keeps_tools_back(self) -> Test | None:
        """The calls for which the next tool waits."""
        first, one_by_one = self.says("prompt.place", "first"), self.says("round.executor", "sequential")
        if not (first or one_by_one):
            return None
        return lambda call: (first and is_unjudged(call)) or (one_by_one and is_executing(call))

    def _tools(self, control: Control) -> Iterator[Move]:
        """A tool ends, and a cancel that drains goes on."""
        ends = control._replace(running=max(control.running - 1, 0))
        raises = ends._replace(broken="raise" if self.says("tool.raises", "end_run") else "")
        outcomes: tuple[tuple[str, Control, str, Who, str], ...] = (
            ("succeeds", ends, "succeed", "world", "ok"),
            ("answers with an error", ends, "fail", "world", "error"),
            ("raises", raises, "fail", "trouble", "raise"),
            ("breaks the turn", ends._replace(broken="fault"), "fail", "trouble", "fault"),
        )
        for what, to, status, who, cue in outcomes:
            taken = self.take(to, "cancel", "tool_over", broken="") if control.cancel else (to, ())
            if taken is not None:
                one = self.on(is_executing, "result", status)
                yield Move(what, taken[0], who, taken[1], one=one, cue=cue)


def _is_guarded(call: Call) -> bool:
    return call.stack == "Guards" and call.guarded


def _is_listed(call: Call) -> bool:
    return call.stack == "ModeGate" and call.listed


def _is_unlisted(call: Call) -> bool:
    return call.stack == "ModeGate" and not call.listed


def _covered_by(control: Control) -> Test:
    """Whether a standing grant may cover a call; its own does not, once it was rewritten."""
    return lambda call: _is_unlisted(call) and control.standing > call.granted


def _is_asked(call: Call) -> bool:
    return is_prompting(call) and call.open > 0


def _is_ungranted(call: Call) -> bool:
    return _is_asked(call) and not call.granted


def _is_left_alone(call: Call) -> bool:
    return is_prompting(call) and call.open == 0


def _defer(call: Call) -> Changed | None:
    return Changed(call._replace(open=call.open - 1)) if is_prompting(call) and call.open > 1 else None


def _is_at_guard(call: Call) -> bool:
    return call.stack == "Guards" and not call.guarded


def _is_at_transform(call: Call) -> bool:
    return call.stack == "Approved" and not call.ready


def _leave(where: Test) -> Change:
    return lambda call: Changed(call._replace(ready=True)) if where(call) else None


def _passing(**passed: bool) -> Change:
    return lambda call: Changed(call._replace(**passed)) if _is_at_guard(call) else None
