"""The capabilities that a clause or a script may need of a message loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from runlock.conformance.families.message_loop.messages import VOCABULARY, Handshake
from runlock.conformance.trace.document import Document


def unmet(need: str, handshake: Handshake) -> str:
    """Why a need of a clause is not met, or an empty string."""
    word, _, what = need.partition(" ")
    check = _NEEDS.get(word)
    return check(what, handshake) if check is not None else ""


def _event(what: str, handshake: Handshake) -> str:
    return "" if handshake.shows(what) else f"the runtime does not publish {what}"


def _outcome(what: str, handshake: Handshake) -> str:
    gate, _, kind = what.rpartition(".")
    return "" if handshake.takes(gate, kind) else f"the runtime does not take {kind} at a {gate} gate"


def _hook(what: str, handshake: Handshake) -> str:
    return "" if handshake.holds(what) else f"no hook of the runtime can be held at {what}"


def _mode(what: str, handshake: Handshake) -> str:
    is_there = (
        what in handshake.modes or "allowlist" in handshake.modes
    )  # an empty list asks, a full one does not
    return "" if is_there else f"the runtime has no mode {what}"


def _grant(what: str, handshake: Handshake) -> str:
    return "" if what in handshake.grants else f"an allow of the runtime has no scope {what}"


def _turn(what: str, handshake: Handshake) -> str:
    return "" if what in handshake.turns else f"no turn of the runtime begins with a {what}"


def _bound(what: str, handshake: Handshake) -> str:
    return "" if what in handshake.bounds else f"the runtime has no bound {what}"


def _interactors(what: str, handshake: Handshake) -> str:
    asks = "prompt" in handshake.gates
    enough = asks and handshake.interactors >= int(what)
    return "" if enough else f"the runtime cannot ask {what} interactors"


def _inspect(what: str, handshake: Handshake) -> str:
    return ""  # whether `inspect` works is known only when it is called


_NEEDS: Final[Mapping[str, Callable[[str, Handshake], str]]] = {
    "event": _event,
    "outcome": _outcome,
    "hook": _hook,
    "mode": _mode,
    "grant": _grant,
    "turn": _turn,
    "bound": _bound,
    "interactors": _interactors,
    "inspect": _inspect,
}


def needs_of(document: Document) -> Iterator[str]:
    """The capabilities that the script in a file needs."""
    gates: dict[str, str] = {}
    for record in document.trace.records:
        if "scenario" in record:
            yield from _scenario(record["scenario"])
        elif "stimulus" in record:
            yield from _stimulus(record["stimulus"]["method"], record["stimulus"]["params"], gates)
        elif record.get("observation", {}).get("kind") == "gate.open":
            gates[record["observation"]["gate"]] = record["observation"]["on"]


def _scenario(scenario: Mapping[str, Any]) -> Iterator[str]:
    yield f"mode {scenario.get('mode', 'ask')}"
    if scenario.get("interactors"):
        yield f"interactors {len(scenario['interactors'])}"
    for hook in scenario.get("hooks", ()):
        yield f"hook {hook['at']}.{hook.get('point', 'pre')}.{hook['kind']}"
    if scenario.get("context"):
        yield "gate context"
    if "max_iterations" in scenario.get("bounds", {}):
        yield "bound max_iterations"
    if (scenario.get("driver") or {}).get("decides"):
        yield "gate sm"
    for gate in scenario.get("hold", ()):
        yield f"gate {gate}"


def _stimulus(method: str, params: Mapping[str, Any], gates: Mapping[str, str]) -> Iterator[str]:
    if method == "deliver":
        yield "stimulus deliver"
        for part in params["stimuli"]:
            yield from _stimulus(part["method"], part["params"], gates)
    elif method == "run.start":
        yield f"turn {'group' if params.get('group') else 'stage' if params.get('stage') else 'chat'}"
        if params.get("join"):
            yield "turn join"
    elif method == "gate.release":
        yield from _release(gates.get(params["gate"], params["gate"].partition(":")[0]), params["outcome"])
    elif need := VOCABULARY.need_of(method):
        yield need


def _release(on: str, outcome: Mapping[str, Any]) -> Iterator[str]:
    yield f"gate {on}"
    yield f"outcome {on}.{outcome['kind']}"
    if outcome.get("terminal"):
        yield "outcome model.terminal"
    if any(isinstance(call.get("args"), str) for call in outcome.get("tool_calls") or ()):
        yield "outcome model.malformed"
    if (outcome.get("scope") or "once") != "once":
        yield f"grant {outcome['scope']}"
