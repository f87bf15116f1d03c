"""RUN, WIRE: nothing comes after the end of a turn."""

from __future__ import annotations

from runlock.conformance.families.message_loop.invariants.results import HELD, CheckResults, broken
from runlock.conformance.families.message_loop.messages import (
    CallMoved,
    Checkpointed,
    GateOpened,
    MessageAppended,
    Published,
    TurnEnded,
)
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.family.invariant import check, counts, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Observation

LISTED_KINDS = (MessageAppended, CallMoved, Checkpointed, Published, GateOpened)


@check("RUN-20", rank=Rank.CONSENT)
def a_turn_that_is_over_opens_no_gate(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A turn that is over opens no gate."""
    turn = state.turn_of(seen)
    if turn is not None and turn.is_done:
        yield broken(f"turn {turn.id} is over, yet a {seen.on} gate opened")


@counts("RUN-20")
def a_turn_that_is_over_stays_quiet(state: ObservedState) -> CheckResults:
    """Counts the turns that are over and had gates."""
    turn = state.run
    if turn is not None and turn.is_done and turn.gates:
        yield HELD


@check("RUN-21", rank=Rank.CONSENT)
def a_turn_ends_once(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """Each turn announces its end exactly once."""
    turn = state.turn_of(seen)
    if turn is None:
        yield broken(f"turn {seen.run} was never started, yet its end was announced")
    else:
        yield held_or(turn.reason is None, f"turn {turn.id} announced its end twice")


@check("WIRE-8", seeing=LISTED_KINDS, rank=Rank.CONSENT)
def nothing_comes_after_the_end(state: ObservedState, seen: Observation) -> CheckResults:
    """After run.finished nothing of that turn comes except SessionTurnEnd."""
    turn = state.turns.get(seen.run) if seen.run is not None else None
    if turn is None or not turn.is_done or getattr(seen, "name", "") == "SessionTurnEnd":
        return
    what = getattr(seen, "name", None) or seen.kind
    yield broken(f"turn {turn.id} is over, yet {what} was shown")


@counts("WIRE-8")
def the_end_is_the_last_word(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """Counts the turns that ended."""
    if state.turn_of(seen) is not None:
        yield HELD
