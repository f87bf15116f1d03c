"""How far every schedule was tried: the bound, how many there were, what was left out, and why."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.conformance.campaign.result import Result, Search
from runlock.conformance.driving.strategies.move_enumeration import Scope


def lines(result: Result) -> Iterator[str]:
    """What a person is told of the search, if there was one."""
    search = result.search
    if search is None:
        return
    if not search.is_asked:
        if search.exhausted:
            played = sum(level.played for level in search.levels[: search.exhausted])
            yield f"among them all {played:,} of up to {_stimuli(search.exhausted)} without races"
        return
    yield _headline(search)
    yield f"bound: {bounds(search)}"
    for level in search.levels:
        if level.played or level.is_whole:
            partial = "" if level.is_whole else ", partial"
            yield f"  {_stimuli(level.stimuli)}: {level.played:,} played{partial}"
    for reduction in reductions(search):
        yield f"left out: {reduction}"
    if not search.one_order:
        yield "not left out: the two orders of stimuli, since none are independent to a runtime that may err"


def tried_whole(result: Result) -> str:
    """What a search that was cut off has tried all the same."""
    search = result.search
    if search is None or not search.is_asked:
        return ""
    whole = f"every schedule of up to {_stimuli(search.exhausted)}" if search.exhausted else "no length"
    return f"; {whole} was tried whole"


def _headline(search: Search) -> str:
    played = sum(level.played for level in search.levels)
    named = sum(level.named for level in search.levels)
    stand = f", which stand for {named:,} with every name told apart" if named > played else ""
    if search.is_exhaustive:
        return f"exhaustive: all {played:,} schedules of up to {_stimuli(search.depth)} were played{stand}"
    left = f"; about {roughly(search.left)} are left" if search.left else ""
    return f"{played:,} schedules of up to {_stimuli(search.depth)} were played{stand}{left}"


def roughly(number: int) -> str:
    """A number of which only the size is known."""
    digits = str(number)
    return f"{number:,}" if len(digits) < 8 else f"{digits[0]} · 10^{len(digits) - 1}"


def bounds(search: Search) -> str:
    """What the menu offers within the bound."""
    scope = Scope(uneven=search.races)
    turns = ", ".join(str(number) for number in scope.turns)
    moves = "one move is" if search.races == 1 else f"{search.races} moves are"
    races = f"at most {moves} a race of two or bounded to {turns} turns" if search.races else "no races"
    return (
        f"up to {_stimuli(search.depth)}, in each scenario that the runtime is put into; a turn of the model "
        f"asks for up to {scope.calls} calls in any mixture, or 3 of one tool, or of three; an approval "
        f"bears one of 3 payloads; {races}; decisions, "
        "re-suspensions, cancels and crashes as many as the stimuli allow; "
        "no kill of a process"
    )


def reductions(search: Search) -> list[str]:
    """What was left out, and why nothing is lost with it."""
    named = sum(level.named - level.played for level in search.levels)
    spare = sum(level.spare for level in search.levels)
    broken = sum(level.broken for level in search.levels)
    reordered = sum(level.reordered for level in search.levels)
    said = []
    if named:
        said.append(
            f"{named:,} that differ from one that was played by the names of calls, or by which of several "
            "tools that are declared alike is asked for: the kit makes the names up, and they mean nothing "
            "to a runtime"
        )
    if spare:
        said.append(
            f"{spare:,} whose last move would end after more turns than it uses, and whatever follows such a "
            "move: the runtime settled within fewer, so it is sent the same, and does the same"
        )
    if reordered:
        said.append(
            f"what follows {reordered:,} schedules whose last two stimuli also come in the other order: each "
            "was answered the same in both, and both went on to the same end; nothing is lost with that "
            "unless the runtime keeps something of the order that it shows on no plain way to its end"
        )
    if broken:
        said.append(
            f"what follows {broken:,} schedules that broke a clause: "
            "what comes after a violation is not judged"
        )
    return said


def _stimuli(number: int) -> str:
    return f"{number} {'stimulus' if number == 1 else 'stimuli'}"
