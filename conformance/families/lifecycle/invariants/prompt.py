"""PROMPT: what an agent of the Agent Client Protocol says, from a prompt to its response.

Each prompt is read once, from its first message to its last, with what earlier prompts of the session said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from runlock.conformance.families.lifecycle.invariants.prompt_reader import Reader
from runlock.conformance.families.lifecycle.invariants.states_reader import StatesReader
from runlock.conformance.families.lifecycle.messages import Prompted
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.knowledge import once
from runlock.conformance.family.invariant import CheckResults, Invariant, held_or
from runlock.conformance.family.rank import Rank

NUMBERS: Final = range(1, 19)


@once
def _read(state: ObservedState, seen: Prompted) -> Any:
    prompts = (*(before for before in state.prompts if before is not seen), seen)
    reader = StatesReader() if any(_has_states(one) for one in prompts) else Reader()
    for at, one in enumerate(prompts):
        if at == state.prompts_at_crash:
            reader.forget()
        reader.read(one)
    return {**reader.notes, "PROMPT-9": reader.notes.get("PROMPT-9") or [""]}


def _has_states(seen: Prompted) -> bool:
    """Whether a prompt is of version 2; all prompts of a session are of one version."""
    return any(event.get("version") == 2 for event in seen.events)


def _of(clause: str) -> Callable[[ObservedState, Prompted], CheckResults]:
    def judged(state: ObservedState, seen: Prompted) -> CheckResults:
        return _results(_read(state, seen).get(clause, ()))

    return judged


def _results(reasons: Any) -> Iterator[Any]:
    return (held_or(not reason, reason) for reason in reasons)


INVARIANTS: Final = tuple(
    Invariant(clause, _of(clause), Prompted, rank=Rank.STREAM, is_deferred=True)
    for clause in (f"PROMPT-{number}" for number in NUMBERS)
)
