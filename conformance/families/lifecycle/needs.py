"""What a clause may need of a lifecycle runtime, beyond what every family can need."""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.lifecycle.messages import Handshake
from runlock.conformance.families.lifecycle.state.wires import WIRES

LACKING: Final = {
    "parameters": "tools of the runtime have no parameters that arguments could fail to fit",
    "agent": "no tool of the runtime is an agent",
    "expires": "its waits do not expire",
    "timeout": "its tools have no time limit",
    "retries": "its tools are not tried again after their time limit",
    "unabortable": "its tools get no abort signal that they could ignore",
    "offered": "the runtime does not show which tools the model is offered",
}

LISTS: Final = {"edits": "edits", "grant": "grants", "history": "history", "state": "state"}
"""By word of a need: the field of the handshake that lists what the runtime has of it."""

LACKING_OF: Final = {
    "edits": "the runtime does no {} at a bound",
    "grant": "its approvals do not last for the {}",
    "history": "what its model is shown has no {} of a result",
    "state": "a scenario cannot register {} of state",
}

ENDS: Final = {"expire.end", "expire.crash"}
"""What a runtime has to declare before waits that expire can be judged."""


def unmet(need: str, handshake: Handshake) -> str:
    """Why a need of a clause is not met, or an empty string."""
    word, _, what = need.partition(" ")
    if what == "expires" and what in handshake.tools and not handshake.policies.keys() >= ENDS:
        return "it does not declare what an expired wait ends, and when"
    if word == "tools" and what in handshake.tools:
        has_gate = what != "gate" or "permission" in handshake.gates
        return "" if has_gate else "the runtime has no permission gate"
    if word == "tools":
        return LACKING.get(what, f"the runtime has no tools of permission {what}")
    if word in LISTS:
        return "" if what in getattr(handshake, LISTS[word]) else LACKING_OF[word].format(what)
    if word == "prompts":
        return "" if what == str(handshake.prompts) else f"its prompts are not of version {what} of ACP"
    if word == "hook" and "hook" not in handshake.gates:
        return "the runtime has no hook gate"
    if word == "hook":
        return "" if what in handshake.hooks else f"no plugin of the runtime can be held at {what}"
    if word == "stream":
        return _unmet_stream(what, handshake)
    if word == "outcome":
        return _unmet_outcome(what, handshake)
    if word == "inputs":
        return "" if handshake.inputs.working else "it takes input only while it waits"
    if word == "decisions":
        kind, _, part = what.partition(".")
        taken = getattr(handshake.decisions, kind)
        if part:
            return "" if part in taken else f"its decisions edit no {part}"
        return "" if taken else f"its decisions have no {what}"
    return ""


def _unmet_stream(what: str, handshake: Handshake) -> str:
    if what == "any":
        has_watchers = handshake.is_watched("watch") or handshake.is_watched("watch.request")
        return "" if has_watchers else "the runtime does not take watch"
    if what != "calls":
        return "" if what in handshake.streams else f"the runtime has no {what} stream"
    with_calls = not WIRES.keys().isdisjoint(handshake.streams)
    return "" if with_calls else f"no stream of the runtime has events for calls: {', '.join(WIRES)}"


def _unmet_outcome(what: str, handshake: Handshake) -> str:
    gate, _, kind = what.rpartition(".")
    if gate in ("permission", "apply", "store.put") and gate not in handshake.gates:
        return f"the runtime has no {gate} gate"
    return "" if handshake.takes_at(gate, kind) else f"the runtime does not take {kind} at a {gate} gate"
