"""What lives that were killed are held to: the promises of the store and of recovery."""

import contextlib
import json
from collections import Counter

from kill_scenario import digest

from runlock.machines.lifecycle.runtime.state import FINAL


def lives_in(folder):
    """The journal, cut where a life begins; half a line is a thing that did not happen."""
    lives = []
    for line in (folder / "journal").read_text().splitlines():
        with contextlib.suppress(ValueError):
            what, *about = json.loads(line)
            if what == "born":
                lives.append([])
            lives[-1].append((what, *about))
    return lives


def what_went_wrong(lives, kills, case, calm):
    """Each promise of the store and of recovery that these lives broke, as a sentence."""
    over = lives[-1][-1]
    if over[0] != "over" or over[1]["run"]["status"] != "Done":
        yield f"the last life ended with {over[0]}, and not with a run that is Done"
        return
    if over[1]["run"]["reason"]["code"] != "NaturalEnd":
        yield f"the run ended for the reason {over[1]['run']['reason']}"
    if _told(over[1]) != _told(calm):
        yield f"the thread is {_told(over[1])}, and without a kill it is {_told(calm)}"
    yield from _wrong_entries(lives, kills)
    for index in range(1, len(lives)):
        yield from _wrong_beginning(lives[:index], lives[index][0][1])
        yield from _wrong_use(lives[index:], lives[index][0][1], over[1])
        if case.by_call:
            yield from _more_than_in_flight(lives[index - 1], lives[index:], case)


def _told(state):
    """A thread without the order in which the results of a round came in, and without empty turns."""
    turns = [(m["role"], m["text"], m.get("tool_calls")) for m in state["messages"] if m["role"] != "tool"]
    turns = [turn for turn in turns if turn[0] == "user" or turn[2]]
    results = sorted((m["call"], m["status"], m["text"]) for m in state["messages"] if m["role"] == "tool")
    return turns, results


def _entered(life):
    return [tuple(one[1:]) for one in life if one[0] == "enter"]


def _wrong_entries(lives, kills):
    for (call, decision), times in Counter(one for life in lives for one in _entered(life)).items():
        if times > 1 + kills:
            yield f"call {call} was entered {times} times on decision {decision}, and killed {kills} times"
    for life in lives:
        for (call, decision), times in Counter(_entered(life)).items():
            if times > 1:
                yield f"one life entered call {call} {times} times on decision {decision}"


def _wrong_beginning(before, found):
    """A life begins with what was put last; the one that was being put may be there, whole, or not."""
    puts = [one for life in before for one in life if one[0] in ("put", "kept")]
    kept = [one[1] for one in puts if one[0] == "kept"]
    may = {kept[-1] if kept else None, puts[-1][1] if puts else None}
    if (found and digest(found)) not in may:
        yield f"a life began with {found and digest(found)}, and what was put last is {may}"


def _wrong_use(lives, found, over):
    for call_id, call in (found or {"calls": {}})["calls"].items():
        entered = [one for life in lives for one in _entered(life) if one[0] == call_id]
        if call_id not in over["calls"]:
            yield f"call {call_id} was durable as {call['status']}, and is lost"
        elif call["status"] in FINAL and (entered or over["calls"][call_id]["status"] != call["status"]):
            yield f"call {call_id} was durable as {call['status']}, and was touched again"
        elif call["status"] == "Suspended" and any(decision is None for _, decision in entered):
            yield f"call {call_id} was durable as Suspended, and was entered without a decision"


def _more_than_in_flight(last, later, case):
    """Executed again is only what had no successor: no inference, and one by one no other call either."""
    again = {one for life in later for one in _entered(life)} & set(_entered(last))
    if case.one_by_one and len(again) > 1:
        yield f"{sorted(map(str, again))} were executed again, and only one call can be in flight"
    for entry in again:
        if ("finish", *entry) in last:
            used = [one[0] for one in last[last.index(("finish", *entry)) :]]
            if "ask" in used or (case.one_by_one and "enter" in used):
                yield f"call {entry[0]} was executed again, although its result had been used"
