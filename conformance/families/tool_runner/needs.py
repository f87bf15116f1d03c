"""The capabilities that a clause or a script may need of a runner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from runlock.conformance.families.tool_runner.messages import VOCABULARY
from runlock.conformance.family.needs import Row, unmet_by
from runlock.conformance.trace.document import Document

READS: Final = "the user of a stream cannot read"

NEEDS: Final[Mapping[str, Row]] = {
    "outcome": (
        lambda offer, what: what.rpartition(".")[2] in offer.outcomes.at(what.rpartition(".")[0]),
        "the runner does not take {kind} at a {gate} gate",
    ),
    "stops": (
        lambda offer, what: what in ("tool_use", "end_turn", *offer.stops),
        "the kit may not say that the model stops with {what}",
    ),
    "runner stream": (lambda offer, what: True in offer.runner.stream, "the runner has no streams"),
    "runner max_iterations": (lambda offer, what: offer.runner.max_iterations, "the runner takes no limit"),
    "runner read=all": (lambda offer, what: "all" in offer.runner.read, f"{READS} all of it"),
    "runner read=none": (lambda offer, what: "none" in offer.runner.read, f"{READS} none of it"),
}
unmet: Final = unmet_by(NEEDS)


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
