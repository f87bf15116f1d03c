"""The capabilities that a clause or a script may need of a runner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runlock.conformance.families.tool_runner.messages import VOCABULARY, RunnerHandshake
from runlock.conformance.trace.document import Document


def unmet(need: str, handshake: RunnerHandshake) -> str:
    """Why a need of a clause is not met, or an empty string."""
    word, _, what = need.partition(" ")
    if word == "either":
        reasons = [unmet(one, handshake) for one in what.split(" | ")]
        return "" if "" in reasons else ", and ".join(reasons)
    if word == "observes":
        return "" if what in handshake.observes else f"the runtime does not show {what}"
    if word == "stimulus":
        return "" if what in handshake.stimuli else f"the runtime does not take {what}"
    if word == "outcome":
        gate, _, kind = what.partition(".")
        offered = handshake.outcomes.at(gate)
        return "" if kind in offered else f"the runner does not take {kind} at a {gate} gate"
    if word == "stops":
        implied = what in ("tool_use", "end_turn")
        return (
            ""
            if implied or what in handshake.stops
            else f"the kit may not say that the model stops with {what}"
        )
    if word == "runner":
        return _unmet_option(what, handshake)
    return ""


def _unmet_option(what: str, handshake: RunnerHandshake) -> str:
    offer = handshake.runner
    if what == "stream":
        return "" if True in offer.stream else "the runner has no streams"
    if what == "max_iterations":
        return "" if offer.max_iterations else "the runner takes no limit"
    read = what.partition("=")[2]
    return "" if read in offer.read else f"the user of a stream cannot read {read} of it"


def needs_of(document: Document) -> Iterator[str]:
    """The capabilities that the script in a file needs."""
    for record in document.trace.records:
        if "scenario" in record:
            yield from _options(record["scenario"].get("runner") or {})
        elif "stimulus" in record:
            yield from _stimulus(record["stimulus"]["method"], record["stimulus"]["params"])


def _options(options: Mapping[str, Any]) -> Iterator[str]:
    if options.get("max_iterations") is not None:
        yield "runner max_iterations"
    if options.get("stream"):
        yield "runner stream"
        yield f"runner read={options.get('read', 'all')}"


def _stimulus(method: str, params: Mapping[str, Any]) -> Iterator[str]:
    if method == "deliver":
        yield "stimulus deliver"
        for part in params["stimuli"]:
            yield from _stimulus(part["method"], part["params"])
    elif method == "runner.set":
        yield from (f"stimulus runner.set.{part}" for part in ("messages", "params") if params.get(part))
    elif method == "gate.release":
        yield from _outcome(params["outcome"])
    elif need := VOCABULARY.need_of(method):
        yield need


def _outcome(outcome: Mapping[str, Any]) -> Iterator[str]:
    kind = outcome["kind"]
    gates = {"delta": "model", "raise": "tool", "error": "tool", "break": "yield"}
    if kind in gates:
        yield f"outcome {gates[kind]}.{kind}"
    if outcome.get("stop_reason") not in (None, "tool_use", "end_turn"):
        yield f"stops {outcome['stop_reason']}"
