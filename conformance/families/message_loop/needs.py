"""The capabilities that a clause or a script may need of a message loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from runlock.conformance.families.message_loop.messages import VOCABULARY, Handshake
from runlock.conformance.family.needs import Row, unmet_by
from runlock.conformance.trace.document import Document

NEEDS: Final[Mapping[str, Row]] = {
    "event": (Handshake.shows, "the runtime does not publish {what}"),
    "outcome": (
        lambda offer, what: bool(offer.takes(*what.rpartition(".")[::2])),
        "the runtime does not take {kind} at a {gate} gate",
    ),
    "hook": (Handshake.holds, "no hook of the runtime can be held at {what}"),
    "mode": (  # an empty list asks, a full one does not
        lambda offer, what: not {what, "allowlist"}.isdisjoint(offer.modes),
        "the runtime has no mode {what}",
    ),
    "grant": (lambda offer, what: what in offer.grants, "an allow of the runtime has no scope {what}"),
    "turn": (lambda offer, what: what in offer.turns, "no turn of the runtime begins with a {what}"),
    "bound": (lambda offer, what: what in offer.bounds, "the runtime has no bound {what}"),
    "interactors": (
        lambda offer, what: "prompt" in offer.gates and offer.interactors >= int(what),
        "the runtime cannot ask {what} interactors",
    ),
}
unmet: Final = unmet_by(NEEDS)


def needs_of(document: Document) -> Iterator[str]:
    """The capabilities that the script in a file needs."""
    gates: dict[str, str] = {}
    starts = 0
    for record in document.trace.records:
        if "scenario" in record:
            yield from _scenario(record["scenario"])
        elif "stimulus" in record:
            starts += record["stimulus"]["method"] == "run.start"
            yield from ["stimulus run.again"] if starts > 1 else []
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
