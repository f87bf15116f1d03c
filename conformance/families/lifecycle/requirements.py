"""What a script needs of a runtime, read off what it sends and when it sends it.

Beside the needs that clauses have there is `policy KEY=VALUE`: a value that a set of the profile holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runlock.conformance.trace.line_formats import Known
from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.scenario_file import Document, is_move
from runlock.conformance.trace.trace import Record


def needs_of(document: Document) -> Iterator[str]:
    """What a runtime has to offer for the script in this file, in the words of the clauses' needs."""
    state = _Occasion()
    for entry in document.entries:
        record = entry.record or {}
        if "scenario" in record:
            yield from _scenario_needs(record["scenario"])
        elif is_move(record):
            yield from state.needs(record)
        if record:
            state.learn(record)


def _scenario_needs(scenario: Mapping[str, Any]) -> Iterator[str]:
    for tool in scenario.get("tools", ()):
        yield f"tools {tool.get('permission', 'allow')}"
        mode = tool.get("resume_mode", "replay")
        if mode != "replay":
            yield from ("decisions payload", f"policy decision.modes={mode}")
    for condition in scenario.get("agent", {}).get("stop", ()):
        yield f"policy stop.conditions={condition['kind']}"
    for hook in scenario.get("hooks", ()):
        yield f"hook {hook['at']}"
    for gate in scenario.get("hold", ()):
        yield f"gate {gate}"


class _Occasion:
    """How things stand at a move: what it takes to send it depends on that."""

    def __init__(self) -> None:
        self.known = Known()
        self.refs: dict[str, str] = {}
        self.ids: set[str] = set()
        self.runs = 0
        self.settled = True
        self.is_done = False

    def learn(self, record: Record) -> None:
        self.known.learn(record)
        self.refs |= self.known.gates
        if "report" in record:
            self.settled = record["report"].get("quiescent", True)
        seen = record.get("observation", {})
        if seen.get("kind") == "run.finished":
            self.is_done = seen["reason"]["code"] != "Suspended"

    def needs(self, record: Record) -> Iterator[str]:
        if "crash" in record:
            yield f"control crash={record['crash'].get('by', 'any')}"
            return
        move = Move(record["stimulus"]["method"], record["stimulus"]["params"])
        if "turns" in move.params:
            yield "control step=turns"
        races = len(move.parts()) > 1
        if races:
            yield "stimulus deliver"
        for method, params in move.parts():
            yield from self._part(method, params, races)

    def _part(self, method: str, params: Mapping[str, Any], races: bool) -> Iterator[str]:
        busy = races or bool(self.known.gates) or not self.settled
        if method == "run.start":
            self.runs += 1
            self.is_done = False
            if self.runs > 1:
                yield "stimulus run.again"
        elif method == "gate.release":
            yield from self._release(params)
        elif method == "cancel":
            yield "stimulus cancel"
            if not busy and not self.is_done:
                yield "stimulus cancel.waiting"
        elif method == "decide":
            yield from self._decide(busy)
        elif method in ("watch", "unwatch"):
            yield "stimulus watch"
        elif method in ("run.input", "clock.advance"):
            yield f"stimulus {method}"
            if method == "clock.advance":
                yield "control clock=virtual"
        if params.get("watcher") is not None:
            yield "stimulus watch"
        if params.get("stream") is not None:
            yield f"stream {params['stream']}"
        for decision in params.get("decisions", ()):
            yield from self._decide(busy)
            yield from self._decision(decision)

    def _release(self, params: Mapping[str, Any]) -> Iterator[str]:
        on = self.refs.get(params["gate"], params["gate"]).partition(":")[0]
        yield f"gate {on}"
        yield f"outcome {on}.{params['outcome']['kind']}"

    def _decide(self, busy: bool) -> Iterator[str]:
        yield "stimulus decide"
        if busy:
            yield "decisions live"

    def _decision(self, decision: Mapping[str, Any]) -> Iterator[str]:
        if decision["id"] in self.ids:
            yield "decisions ids"
        self.ids.add(decision["id"])
        if decision.get("payload") is not None:
            yield "decisions payload"
        if decision.get("suspension") is not None:
            yield "decisions suspensions"
