"""What the lines above a line of a scenario file say: the newest run, and the open gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from runlock.conformance.trace.line_formats import LineFormat, LineFormats
from runlock.conformance.trace.trace import Record
from runlock.conformance.trace.values import encode, quoted


@dataclass(slots=True)
class LineContext:
    """The state of a file at a line, from which implied values and the ids of gates are read."""

    formats: LineFormats
    run: Any = None
    gates: dict[str, str] = field(default_factory=dict)  # id: name

    def implied_in(self, line: LineFormat) -> LineFormat:
        """The format of a line here."""
        return line.implying(self.run)

    def gate(self, name: str) -> str:
        """The id of the oldest open gate with this name; without one, the name is taken for an id."""
        return next((gate for gate, known in self.gates.items() if known == name), name)

    def word_for(self, gate: Any) -> str:
        """The shortest text from which `gate` finds the gate again."""
        name = self.gates.get(gate) if isinstance(gate, str) else None
        if name is not None and self.gate(name) == gate and encode(name) == name:
            return name
        text = encode(gate)
        return quoted(gate) if isinstance(gate, str) and self.gate(gate) != gate else text

    def learn(self, record: Record) -> None:
        """Go on past a record."""
        if "observation" in record:
            self._observe(record["observation"])
        elif "crash" in record:
            self.gates.clear()
        elif "stimulus" in record:
            for method, params in _parts(record["stimulus"]):
                self._send(method, params)

    def _observe(self, seen: Mapping[str, Any]) -> None:
        gate = seen.get("gate")
        if not isinstance(gate, str):
            return
        if seen.get("kind") == "gate.open":
            self.gates.pop(gate, None)
            self.gates[gate] = self.formats.gate_name(seen)
        elif seen.get("kind") == "gate.closed":
            self.gates.pop(gate, None)

    def _send(self, method: Any, params: Mapping[str, Any]) -> None:
        if method in self.formats.begins_run and "run" in params:
            self.run = params["run"]
        elif (
            method == "gate.release" and isinstance(params.get("gate"), str) and not self._keeps_open(params)
        ):
            self.gates.pop(params["gate"], None)

    def _keeps_open(self, params: Mapping[str, Any]) -> bool:
        outcome = params.get("outcome")
        kind = outcome.get("kind") if isinstance(outcome, Mapping) else None
        return isinstance(kind, str) and kind in self.formats.keeps_open


def _parts(stimulus: Mapping[str, Any]) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    members = stimulus.get("params")
    parts = members.get("stimuli") if isinstance(members, dict) else None
    for part in parts if stimulus.get("method") == "deliver" and isinstance(parts, list) else [stimulus]:
        if isinstance(part, dict) and isinstance(part.get("params"), dict):
            yield part.get("method"), part["params"]
