"""The joint charts as a labelled transition system over observations.

They are those that `runlock explore` walks through, with what an exploration leaves out: a run with
several turns, an end wherever its loop looks, a decision that meets no wait.  What is durable is seen, and
needs no supposing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

from runlock.conformance.families.lifecycle.joint.cues import Cue
from runlock.machines.joint.model import Change, Changed, Move, Who
from runlock.machines.lifecycle.joint.facts import (
    is_over,
    is_ready,
    is_suspended,
    is_unasked,
    is_undecided,
    keep,
)
from runlock.machines.lifecycle.joint.gates import LOOP
from runlock.machines.lifecycle.joint.state import Call, Control
from runlock.machines.lifecycle.joint.transitions import Joint

__all__ = [
    "ATLASES_MAX",
    "Atlas",
    "Charted",
    "Label",
    "Open",
    "Settled",
    "Way",
    "charted",
]

SUSPENSIONS: Final = 1_000
"""How often a call may be suspended again; high enough to bound no runtime."""

ATLASES_MAX: Final = 8
KNOWN_MAX: Final = 20_000
"""So much is kept of what was worked out, so that the memory of a long campaign has a bound."""

LOOKS: Final = ("starting", "model", "round", "after", "last", "again", "entered", "waking", "replay")
"""What a run is at when its loop may find a reason to end."""

AT_ONCE: Final = ("round", "after", "suspending", "replay")
"""What a run is at when a decided call may resume with no wait before it."""

BETWEEN: Final = ("replay", "after", "again", "entered")
"""What a run is at between a call that waited and the others of its round."""

BREAKS: Final = ("Error", "Blocked")
"""How a run ends that one of its calls has broken, while others may be under way."""

Settled = tuple[tuple[str, Any], ...]
"""Policies and their values, in order of their keys."""


class Open(LookupError):
    """A move depends on a policy that is open."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class _Supposed(dict[str, Any]):
    """Policies, which note those that are read; one that is not among them is open."""

    def __init__(self, policies: Mapping[str, Any]) -> None:
        super().__init__(policies)
        self.read = set[str]()

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return super().__getitem__(key)

    def __missing__(self, key: str) -> Any:
        raise Open(key)


class Label(NamedTuple):
    """What a move shows: of the run, the gate, or a call by its place, what it becomes."""

    of: str
    call: int | None
    to: str


class Way(NamedTuple):
    """A transition of a joint state: its cue and call, where it leads, and the labels that it shows."""

    what: str
    cue: str
    call: int | None
    control: Control
    calls: tuple[Call, ...]
    shows: tuple[Label, ...]


class Seen(Joint):
    """The joint charts, with what an exploration leaves out."""

    def ask(self, call: Call) -> Changed:
        """The model asks for the call, in addition to the live ones of earlier turns."""
        return super().ask(call) if is_unasked(call) else Changed(call)

    def _trouble(self, control: Control) -> Iterator[Move]:
        """What the outside world was asked before a cancel may be waited for, and be answered."""
        is_cancelled = control.cancel == "asked"
        if is_cancelled:
            yield from self._model(control)
        for move in super()._trouble(control):
            yield replace(move, cue=Cue.DRAINED) if is_cancelled else move
        if control.cancel != "asked" and control.work in LOOKS:
            for reason in ("Stopped", "BehaviorRequested", "Error"):
                yield from self._end(control, reason, "trouble")

    def _end(self, control: Control, reason: str, who: Who, event: str | None = None) -> Iterator[Move]:
        """Calls that are live are closed when the run begins to end, or once its tools have drained."""
        for move in super()._end(control, reason, who, event):
            if self.policies["end.live"] == "closed":
                yield move
            yield replace(move, each=None)

    def _closing(self, control: Control) -> Iterator[Move]:
        if control.work == "ending":
            left = self.policies["end.live"] == "left" or control.reason == "Cancelled"
            yield Move("is closed by the end", control, one=self._cancelled, cue=Cue.MAY if left else "")
            yield Move("is closed by the end", control, one=self._failed, cue=Cue.MAY)
        if control.work == "ending" and control.reason in BREAKS:
            yield Move("is broken off", control, one=self._broken_off, cue=Cue.MAY)
            for move in super()._closing(control):
                yield replace(move, none=_is_at_work)  # a round may wait for its calls when one has broken
                yield replace(move, cue=Cue.MAY)
            return
        if control.work == "ending" and control.reason == "Cancelled" and not self.drains:
            for move in super()._closing(control):
                yield replace(move, each=keep)  # what waits is Cancelled or left, whatever other ends do
            return
        if not (control.work == "ending" and control.reason == "Cancelled"):
            yield from super()._closing(control)
            return
        yield Move("breaks as it drains", control._replace(reason="Error"), "trouble", cue=Cue.END_ERROR)
        for move in super()._closing(control):
            yield replace(move, each=keep, none=_is_under_way)  # a replay may be Resuming all along
            yield replace(move, each=keep, none=None, cue=Cue.UNENTERED)

    def _is_open(self, control: Control, call: Call) -> bool:
        """What was under way when something broke, or drains, may go on until the end takes it away."""
        if control.work == "ending" and control.reason in BREAKS:
            return call.status in ("New", "Resuming", "Running")
        drains = control.work == "ending" and self.drains and call.status == "Resuming"
        return drains or super()._is_open(control, call)

    def _failed(self, call: Call) -> Changed | None:
        return self._send(call, "fail") if call.status == "New" else None

    def _broken_off(self, call: Call) -> Changed | None:
        """What breaks a run may be the error of each call that was at work in it, or cancel them."""
        return self._send(call, "fail") if call.status in ("Running", "Resuming") else None

    def _round(self, control: Control) -> Iterator[Move]:
        """Where calls may go one by one, a call that waits may leave others behind, which run after it.

        So does a crash, with any executor.
        """
        yield from super()._round(control)
        one_by_one = self.policies.get("round.executor") != "parallel"
        if control.work == "round" and not control.gate and one_by_one:
            waits = "the round waits for one of its calls"
            after = control._replace(work="after")
            yield Move(waits, after, some=is_suspended, none=_is_under_way, cue=Cue.MAY)
        elif control.work in BETWEEN and control.gate in ("", "ReplayResume"):
            goes_on = control._replace(work="round", gate="")
            yield Move("the round goes on", goes_on, some=_is_new, none=_is_under_way, cue=Cue.MAY)

    def _loop(self, control: Control) -> Iterator[Move]:
        yield from super()._loop(control)
        if control.work == "again" and not control.gate:
            entered = control._replace(work="entered")
            yield Move("what waited again waits no more", entered, none=_waits_again, cue=Cue.MAY)
        if control.work in LOOP and not control.gate and self.may_mix:
            for move in self._suspend(control, none=self._leads_on):
                yield replace(move, cue=Cue.MAY)
        if self.is_reentered or control.work not in AT_ONCE:
            return
        if not self.has_dispatcher:
            replay = control._replace(work="replay", gate="ReplayResume", reason="")
            to = control if control.work == "round" else replay
            yield Move("resumes with no wait before it", to, one=self._at_once, cue=Cue.MAY)
        elif control.work == "suspending":
            yield Move("goes on, since it is decided", control._replace(work="round", reason=""), cue=Cue.MAY)

    def _resume_gate(self, control: Control) -> Iterator[Move]:
        """What is replayed after the last turn need not be shown in this run: it may end all the same."""
        for move in super()._resume_gate(control):
            yield move
            if control.work == "last" and move.to.work == "after":
                yield replace(move, to=move.to._replace(work="last"))

    def _waiting(self, control: Control) -> Iterator[Move]:
        """Where a call is rejected directly and others wait on, none is at work: the run need not wake."""
        yield from super()._waiting(control)
        if control.work == "wait" and not self.is_reentered:
            waits_on = "is rejected, and the run waits on"
            yield Move(waits_on, control, one=self._rejected, some=is_undecided, none=self._held_up)

    def _rejected(self, call: Call) -> Changed | None:
        if not is_ready(call) or call.decided != "cancel":
            return None
        return self._send(call, "cancel") if self.policies["decision.cancel_path"] == "direct" else None

    def _leads_on(self, call: Call) -> bool:
        """Whether a call keeps the run from waiting: one that had waited may be of an earlier round."""
        return self._not_yet(call) or (is_over(call) and not call.waits)

    def _at_once(self, call: Call) -> Changed | None:
        return self.prepare(call) if is_ready(call) else None

    def _not_yet(self, call: Call) -> bool:
        """A decided call keeps the run from waiting only where it need not wait for the other decisions."""
        return super()._not_yet(call) and self.policies["resume"] == "partial"

    def _blocking(self, control: Control) -> Change:
        """A call is judged in its round, and once more where its replay is asked about."""

        def block(call: Call) -> Changed | None:
            return self._send(call, "fail") if call.status in ("New", "Resuming") else None

        return block


State = tuple[Control, tuple[Call, ...]]
Known = list[tuple[frozenset[tuple[str, Any]], tuple[Way, ...]]]
"""The transitions of a joint state, each with the policy values that it depends on."""


class Atlas(dict[State, Known]):
    """Where joint states lead under the same settled policies, for all that may be supposed of the others."""

    def __init__(self, shown: frozenset[str]) -> None:
        super().__init__()
        self.shown = shown
        self.charts: dict[Settled, Charted] = {}

    def enter(self, state: State) -> Known:
        """A place for what a state leads to; so much is kept and no more."""
        if len(self) >= KNOWN_MAX:
            self.clear()
        known = self[state] = []
        return known


class Charted:
    """The joint charts where this is supposed of the open policies: where a joint state leads.

    What was worked out stands in an atlas that all share who suppose something about the same policies: a
    way depends on a few of them, and is the same for all values of the others.
    """

    def __init__(self, settled: Settled, supposed: Settled, atlas: Atlas) -> None:
        self.supposed = frozenset(supposed)
        self.policies = _Supposed(dict((*settled, *supposed)))
        self.joint = Seen(self.policies, 0, resuspensions=SUSPENSIONS, crashes=0)
        self.read_at_first = frozenset(self.policies.read)
        self.atlas = atlas
        self._moves: dict[Control, tuple[tuple[Move, ...], frozenset[str]]] = {}

    def ways(self, control: Control, calls: tuple[Call, ...]) -> tuple[Way, ...]:
        """Every way out of a joint state; raises `Open` where one depends on a policy that is open."""
        known = self.atlas.get((control, calls))
        for needs, ways in known or ():
            if needs <= self.supposed:
                return ways
        if known is None:
            known = self.atlas.enter((control, calls))
        self.policies.read = set(self.read_at_first)
        found = tuple(self._out_of(control, calls))
        known.append((frozenset(one for one in self.supposed if one[0] in self.policies.read), found))
        return found

    def _out_of(self, control: Control, calls: tuple[Call, ...]) -> Iterator[Way]:
        for move in self._moves_of(control):
            if _is_open(move, calls):
                for place, after in _landings(move, calls):
                    yield from self._way(move, place, control, calls, after)

    def _moves_of(self, control: Control) -> tuple[Move, ...]:
        known = self._moves.get(control)
        if known is None:
            moves = tuple(self.joint.moves(control))
            known = self._moves[control] = (moves, frozenset(self.policies.read))
        self.policies.read |= known[1]
        return known[0]

    def _way(
        self, move: Move, place: int | None, was: Control, calls: tuple[Call, ...], after: tuple[Call, ...]
    ) -> Iterator[Way]:
        """The way of a move, unless it changes nothing but what is durable."""
        to, after = _without_store(move.to), tuple(map(_unkept, after))
        if (to, after) != (was, calls):
            labels = tuple(one for one in _labels(was, calls, to, after) if one.of in self.atlas.shown)
            yield Way(move.what, move.cue, place, to, after, labels)


def _is_new(call: Call) -> bool:
    return call.status == "New"


def _waits_again(call: Call) -> bool:
    return is_suspended(call) and call.waits > 1


def _is_under_way(call: Call) -> bool:
    return call.status in ("Running", "Resuming")


def _is_at_work(call: Call) -> bool:
    return _is_new(call) or _is_under_way(call)


def _is_open(move: Move, calls: tuple[Call, ...]) -> bool:
    held_up = move.none is not None and any(map(move.none, calls))
    return not held_up and (move.some is None or any(map(move.some, calls)))


def _landings(move: Move, calls: tuple[Call, ...]) -> Iterator[tuple[int | None, tuple[Call, ...]]]:
    """The call that a move moves, if it is of one, and what the calls are after it."""
    if move.one is None:
        each = move.each
        yield None, calls if each is None else tuple((each(call) or Changed(call)).call for call in calls)
        return
    for place, call in enumerate(calls):
        changed = move.one(call)
        if changed is not None:
            yield place, (*calls[:place], changed.call, *calls[place + 1 :])


def _without_store(control: Control) -> Control:
    """What is durable is seen; only a run that is Created has to be told whether it is."""
    is_told = control.work == "created" or not (control.kept_run or control.kept_work)
    return control if is_told else control._replace(kept_run="", kept_work="")


def _unkept(call: Call) -> Call:
    return call if call.kept is None else call._replace(kept=None)


def _labels(was: Control, calls: tuple[Call, ...], to: Control, after: tuple[Call, ...]) -> Iterator[Label]:
    """What a move shows where everything is shown; of each subject in the order of its moves."""
    for place, (before, call) in enumerate(zip(calls, after, strict=True)):
        if call.status not in (before.status, "New"):  # a runtime need not report that a call is New
            yield Label("call", place, call.status)
    if to.gate not in (was.gate, ""):
        yield Label("gate", None, to.gate)
    if to.run != was.run:
        yield Label("run", None, to.run)


@lru_cache(ATLASES_MAX)
def _atlas(settled: Settled, shown: frozenset[str]) -> Atlas:
    return Atlas(shown)


def charted(settled: Settled, supposed: Settled, shown: frozenset[str]) -> Charted:
    """The joint charts under these policies; raises `Open` where they cannot even be joined without one."""
    atlas = _atlas(settled, shown)
    known = atlas.charts.get(supposed)
    if known is None:
        known = atlas.charts[supposed] = Charted(settled, supposed, atlas)
    return known
