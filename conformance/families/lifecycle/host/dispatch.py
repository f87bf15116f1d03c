"""How the stimuli of a hosted runtime are planned."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.families.lifecycle.host.life import Life
from runlock.conformance.families.lifecycle.host.verb import Verb
from runlock.conformance.families.lifecycle.messages import (
    Decide,
    Decision,
    GrantRevoke,
    RunInput,
    RunStart,
    Unwatch,
    Watch,
)
from runlock.conformance.protocol import UNSUPPORTED, Cancel, ClockAdvance, ProtocolError, Wire
from runlock.conformance.transport.hosted_life import SHARED_PLANS, Plan
from runlock.conformance.transport.hosting import Delivery, has, illegal, must_have

Work = Callable[[], Coroutine[Any, Any, Any]]


def _start(life: Life, asked: RunStart, earlier: Sequence[Wire]) -> Delivery:
    counts = life.counts
    if counts.status not in {None, "Done"} or any(isinstance(other, RunStart) for other in earlier):
        raise illegal(f"Run {counts.run} is not Done; {asked.run} can start when it is.")
    if asked.run == counts.run or asked.run in counts.past:
        raise illegal(f"Run {asked.run} was started before; each run has an id of its own.")
    work = _seated(life, asked, _with_decisions(life, "start", asked.input, asked.decisions))

    def deliver(stimulus: int) -> None:
        undo = counts.begin(asked.run)
        life.begin(Verb("start", asked.run, stimulus, _ids(asked.decisions), undo), work())

    return deliver


def _decide(life: Life, asked: Decide, earlier: Sequence[Wire]) -> Delivery:
    must_have(life.adapter, "decide")
    if _is_past(life, asked.run, earlier):
        return _turn_down(life, "decide", asked.run, asked.decisions)
    _must_be_free(life, "decide", earlier)
    work = _seated(life, asked, lambda: life.adapter.decide(asked.decisions))
    return _go_on(life, "decide", asked, work)


def _input(life: Life, asked: RunInput, earlier: Sequence[Wire]) -> Delivery:
    must_have(life.adapter, "input")
    if _is_past(life, asked.run, earlier):
        return _turn_down(life, "input", asked.run, asked.decisions)
    if asked.decisions or not life.adapter.handshake.inputs.working:
        _must_be_free(life, "run.input", earlier)
    return _go_on(life, "input", asked, _with_decisions(life, "input", asked.input, asked.decisions))


def _cancel(life: Life, asked: Cancel, earlier: Sequence[Wire]) -> Delivery:
    if _is_past(life, asked.run, earlier):
        return _turn_down(life, "cancel", asked.run, ())
    if has(life.adapter, "cancel"):
        return lambda stimulus: life.begin(Verb("cancel", asked.run, stimulus), life.adapter.cancel())
    if life.counts.status == "Waiting" and not _segment_under_way(life, earlier):
        must_have(life.adapter, "cancel")
    return lambda stimulus: life.cancel_tasks()


def _revoke(life: Life, asked: GrantRevoke, earlier: Sequence[Wire]) -> Delivery:
    must_have(life.adapter, "revoke")
    return lambda stimulus: life.loop.call_soon(life.adapter.revoke, asked.tool)


def _watch(life: Life, asked: Watch, earlier: Sequence[Wire]) -> Delivery:
    must_have(life.adapter, "watch")
    return lambda stimulus: life.loop.call_soon(life.adapter.watch, asked.watcher, asked.stream or "native")


def _unwatch(life: Life, asked: Unwatch, earlier: Sequence[Wire]) -> Delivery:
    must_have(life.adapter, "unwatch")
    return lambda stimulus: life.loop.call_soon(life.adapter.unwatch)


def _seated(life: Life, asked: RunStart | Decide, work: Work) -> Work:
    """The adapter learns first of a watcher that a request brings, and of what its client has or lacks."""
    if asked.watcher is None and asked.resent is None:
        return work
    if asked.watcher is not None:
        must_have(life.adapter, "watch")
    told = {"none": "leave_out", "loaded": "load"}.get(asked.resent or "")
    if told is not None:
        must_have(life.adapter, told)

    async def seated() -> Any:
        if asked.watcher is not None:
            life.adapter.watch(asked.watcher, asked.stream or "native")
        if told is not None:
            getattr(life.adapter, told)()
        return await work()

    return seated


def _advance(life: Life, asked: ClockAdvance, earlier: Sequence[Wire]) -> Delivery:
    advance = SHARED_PLANS["clock.advance"](life, asked, earlier)

    def deliver(stimulus: int) -> None:
        advance(stimulus)
        run = life.counts.run
        expires = any(tool.expires_ms for tool in life.scenario.tools)
        if expires and run is not None and has(life.adapter, "time_passed"):
            life.begin(Verb("time_passed", run, stimulus), life.adapter.time_passed())

    return deliver


PLANS: Final[Mapping[str, Plan]] = {
    **SHARED_PLANS,
    "run.start": _start,
    "decide": _decide,
    "cancel": _cancel,
    "run.input": _input,
    "grant.revoke": _revoke,
    "clock.advance": _advance,
    "watch": _watch,
    "unwatch": _unwatch,
}


def _go_on(life: Life, name: str, asked: Decide | RunInput, work: Work) -> Delivery:
    def deliver(stimulus: int) -> None:
        undo = life.counts.decided(asked.decisions)
        life.begin(Verb(name, asked.run, stimulus, _ids(asked.decisions), undo), work())

    return deliver


def _turn_down(life: Life, name: str, run: str, decisions: Sequence[Decision]) -> Delivery:
    """A run that another one has followed on the thread is out of the adapter's reach."""
    why = f"run {run} is over, and run {life.counts.run} has followed it"
    return lambda stimulus: life.refuse(Verb(name, run, stimulus, _ids(decisions)), why)


def _with_decisions(life: Life, method: str, text: str, decisions: Sequence[Decision]) -> Work:
    verb = getattr(life.adapter, method)
    if not decisions:
        return lambda: verb(text)
    if len(inspect.signature(verb).parameters) < 2:
        raise ProtocolError(UNSUPPORTED, f"The adapter's {method} takes no decisions with its text.")
    return lambda: verb(text, decisions)


def _is_past(life: Life, run: str, earlier: Sequence[Wire]) -> bool:
    if run in life.counts.past:
        return True
    started = {other.run for other in earlier if isinstance(other, RunStart)}
    if run != life.counts.run and run not in started:
        raise illegal(f"There is no run {run}; the run at hand is {life.counts.run}.")
    return False


def _must_be_free(life: Life, method: str, earlier: Sequence[Wire]) -> None:
    if not life.takes_live_decisions and _segment_under_way(life, earlier):
        raise illegal(f"A segment is under way, and the handshake says that {method} is not taken meanwhile.")


def _segment_under_way(life: Life, earlier: Sequence[Wire]) -> bool:
    begun = any(isinstance(other, (RunStart, Decide, RunInput)) for other in earlier)
    return begun or any(verb.makes_a_segment for verb in life.verbs)


def _ids(decisions: Sequence[Decision]) -> tuple[str, ...]:
    return tuple(decision.id for decision in decisions)
