"""What a script needs of a runtime: what its moves say by themselves, and what depends on their moment.

`needs_of` reads the first off the moves.  `occasions_of` reads the second off a recording; a scenario file
without observations keeps it in its line `needs`.  Next to the needs that clauses have, there is
`policy KEY=VALUE`: a value that a set of the profile holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from runlock.conformance.families.lifecycle.line_formats import LINE_FORMATS
from runlock.conformance.families.lifecycle.messages import VOCABULARY
from runlock.conformance.trace.document import Document, is_move
from runlock.conformance.trace.line_context import LineContext
from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.trace import Record

LIMITS: Final = {"timeout_ms": "timeout", "retries": "retries", "abort": "unabortable"}
"""By field of a tool: what a runtime must have for it."""

A_STORE: Final = "either control store=kit | control store=own"
"""What a run comes back from after a crash."""


def needs_of(document: Document) -> Iterator[str]:
    """What a runtime has to offer for the script in this file, in the words of the clauses' needs."""
    sent = _Sent()
    yield from document.needs
    for entry in document.entries:
        record = entry.record or {}
        if "scenario" in record:
            yield from _scenario_needs(record["scenario"])
        elif is_move(record):
            yield from sent.needs(record)
        if record:
            sent.learn(record)


def occasions_of(records: Iterable[Record]) -> Iterator[str]:
    """What the moves of a recording need because of the moment at which they are sent."""
    moment = _Moment()
    for record in records:
        if is_move(record) and "stimulus" in record:
            yield from moment.needs(record["stimulus"])
        moment.learn(record)


def _scenario_needs(scenario: Mapping[str, Any]) -> Iterator[str]:
    for tool in scenario.get("tools", ()):
        yield f"tools {tool.get('permission', 'allow')}"
        mode = tool.get("resume_mode", "replay")
        if mode != "replay":
            yield from ("decisions payload", f"policy decision.modes={mode}")
        if tool.get("agent") is not None:
            yield "tools agent"
        if tool.get("expires_ms") is not None:
            yield from ("tools expires", "observes call.status")
        yield from (f"tools {word}" for key, word in LIMITS.items() if tool.get(key) is not None)
        if tool.get("parameters") is not None:
            yield "tools parameters"
    if scenario.get("agent", {}).get("compact_above") is not None:
        yield from ("edits compaction", "observes thread.edited")
    if scenario.get("keys"):
        yield "state keys"
    for condition in scenario.get("agent", {}).get("stop", ()):
        yield f"policy stop.conditions={condition['kind']}"
    for hook in scenario.get("hooks", ()):
        yield f"hook {hook['at']}"
    for gate in scenario.get("hold", ()):
        yield f"gate {gate}"


class _Moment:
    """Whether the runtime is busy, and whether the run is over."""

    def __init__(self) -> None:
        self.context = LineContext(LINE_FORMATS)
        self.settled = True
        self.is_done = False

    def learn(self, record: Record) -> None:
        self.context.learn(record)
        if "report" in record:
            self.settled = record["report"].get("quiescent", True)
        seen = record.get("observation", {})
        if seen.get("kind") == "run.finished":
            self.is_done = seen["reason"]["code"] != "Suspended"

    def needs(self, stimulus: Mapping[str, Any]) -> Iterator[str]:
        parts = Move(stimulus["method"], stimulus["params"]).parts()
        busy = len(parts) > 1 or bool(self.context.gates) or not self.settled
        for method, params in parts:
            if method == "run.start":
                self.is_done = False
            if method == "cancel" and not busy and not self.is_done:
                yield "stimulus cancel.waiting"
            if busy and (method == "decide" or params.get("decisions")):
                yield "decisions live"


class _Sent:
    """What was sent so far: a second run or a repeated decision id needs more than the first."""

    def __init__(self) -> None:
        self.context = LineContext(LINE_FORMATS)
        self.refs: dict[str, str] = {}
        self.ids: set[str] = set()
        self.runs = 0

    def learn(self, record: Record) -> None:
        self.context.learn(record)
        self.refs |= self.context.gates

    def needs(self, record: Record) -> Iterator[str]:
        if "crash" in record:
            yield from (f"control crash={record['crash'].get('by', 'any')}", A_STORE)
            return
        move = Move(record["stimulus"]["method"], record["stimulus"]["params"])
        if "turns" in move.params:
            yield "control step=turns"
        if len(move.parts()) > 1:
            yield "stimulus deliver"
        for method, params in move.parts():
            yield from self._part(method, params)

    def _part(self, method: str, params: Mapping[str, Any]) -> Iterator[str]:
        if method == "run.start":
            self.runs += 1
            if self.runs > 1:
                yield "stimulus run.again"
        elif method == "gate.release":
            yield from self._release(params)
        elif need := VOCABULARY.need_of(method):
            yield need
        if method == "clock.advance":
            yield "control clock=virtual"
        if params.get("watcher") is not None:
            yield "stream any"
        if params.get("stream") is not None:
            yield f"stream {params['stream']}"
        for decision in params.get("decisions", ()):
            yield "stimulus decide"
            yield from self._decision(decision)

    def _release(self, params: Mapping[str, Any]) -> Iterator[str]:
        on = self.refs.get(params["gate"], params["gate"]).partition(":")[0]
        yield f"gate {on}"
        yield f"outcome {on}.{params['outcome']['kind']}"
        if params["outcome"].get("stop") in ("length", "refusal", "pause"):
            yield f"outcome {on}.{params['outcome']['stop']}"
        if any(isinstance(call.get("args"), str) for call in params["outcome"].get("tool_calls", ())):
            yield f"outcome {on}.malformed"

    def _decision(self, decision: Mapping[str, Any]) -> Iterator[str]:
        if decision["id"] in self.ids:
            yield "decisions ids"
        self.ids.add(decision["id"])
        if decision.get("payload") is not None:
            yield "decisions payload"
        for part in decision.get("edit") or ():
            yield f"decisions edit.{part}"
        if decision.get("scope") is not None:
            yield f"grant {decision['scope']}"
        if decision.get("suspension") is not None:
            yield "decisions suspensions"
