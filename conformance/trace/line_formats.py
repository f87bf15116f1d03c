"""The words of scenario files: how a line of each is filled, and what goes without saying in it.

What fields there are is read off the protocol's models; here stands only how they are laid out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import (
    LISTED,
    METHODS,
    Decision,
    HookAnswer,
    HookSpec,
    MessageAppended,
    Outcome,
    StopCondition,
    ToolSpec,
    Verdict,
    gate_name,
)
from runlock.conformance.protocol import Fault, Handshake, Message, Observation, Refusal, Scenario, Turn, Wire
from runlock.conformance.trace.trace import Record
from runlock.conformance.trace.values import encode, quoted

INDENT: Final = "  "


@dataclass(slots=True)
class Known:
    """What a reader of the file knows at a line: the run it is about, and which gates are open."""

    run: Any = None
    gates: dict[str, str] = field(default_factory=dict)  # id: what waits there

    def gate(self, name: str) -> str:
        """The id of the gate that is meant: an id itself, or what waits there, the oldest first."""
        return next((gate for gate, ref in self.gates.items() if ref == name), name)

    def word_for(self, gate: Any) -> str:
        """The shortest way to name a gate so that `gate` finds it."""
        ref = self.gates.get(gate) if isinstance(gate, str) else None
        if ref is not None and self.gate(ref) == gate and encode(ref) == ref:
            return ref
        text = encode(gate)
        return quoted(gate) if isinstance(gate, str) and self.gate(gate) != gate else text

    def learn(self, record: Record) -> None:
        """Go on past a record."""
        if "observation" in record:
            self._seen(record["observation"])
        elif "crash" in record:
            self.gates.clear()
        elif "stimulus" in record:
            for method, params in _handed_over(record["stimulus"]):
                self._sent(method, params)

    def _seen(self, seen: Mapping[str, Any]) -> None:
        gate, call = seen.get("gate"), seen.get("call")
        if not isinstance(gate, str):
            return
        if seen.get("kind") == "gate.open":
            self.gates.pop(gate, None)
            self.gates[gate] = gate_name(str(seen.get("on")), seen.get("at"), call)
        elif seen.get("kind") == "gate.closed":
            self.gates.pop(gate, None)

    def _sent(self, method: Any, params: Mapping[str, Any]) -> None:
        if method in ("run.start", "recover") and "run" in params:
            self.run = params["run"]
        elif method == "gate.release" and isinstance(params.get("gate"), str) and not _stays_open(params):
            self.gates.pop(params["gate"], None)


def _handed_over(stimulus: Mapping[str, Any]) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    members = stimulus.get("params")
    parts = members.get("stimuli") if isinstance(members, dict) else None
    for part in parts if stimulus.get("method") == "deliver" and isinstance(parts, list) else [stimulus]:
        if isinstance(part, dict) and isinstance(part.get("params"), dict):
            yield part.get("method"), part["params"]


def _stays_open(params: Mapping[str, Any]) -> bool:
    outcome = params.get("outcome")
    return isinstance(outcome, Mapping) and outcome.get("kind") == "activity"


@dataclass(frozen=True, slots=True)
class Shape:
    """How a line of one word is filled: values by position, fields by name, what is left unsaid."""

    word: str
    positions: tuple[str, ...] = ()
    model: type[Wire] | tuple[type[Wire], ...] = ()
    unsaid: Mapping[str, Any] = field(default_factory=dict)
    about_a_run: bool = False

    def fields(self) -> set[str]:
        """The fields that the protocol gives it."""
        models = self.model if isinstance(self.model, tuple) else (self.model,)
        return {f.alias or name for model in models for name, f in model.model_fields.items()}


def _seen(kind: str, *positions: str, **unsaid: Any) -> Shape:
    return Shape(kind, positions, LISTED[kind], unsaid, about_a_run=True)


def _sent(word: str, method: str, *positions: str, about_a_run: bool = True) -> Shape:
    return Shape(word, positions, METHODS[method][0], {}, about_a_run)


OBSERVED: Final[dict[str, Shape]] = {
    "run.status": _seen("run.status", reason=None),
    "call.status": _seen("call.status", "call"),
    "gate.open": _seen("gate.open", "gate", "on", "name"),
    "gate.closed": _seen("gate.closed", "gate", "because"),
    "phase": _seen("phase", "phase"),
    "resume": _seen("resume", "state"),
    "decision": _seen("decision", "decision", "disposition", "call"),
    "message": Shape("message", ("role", "text"), (MessageAppended, Message), about_a_run=True),
    "checkpoint": _seen("checkpoint", "trigger", "cause", force=False),
    "event": _seen("event", "stream", "name"),
    "stream.closed": _seen("stream.closed", "watcher"),
    "run.finished": _seen("run.finished", "reason", pending=[]),
    "inspect": _seen("inspect", "status", reason=None),
}

SENT: Final[dict[str, Shape]] = {
    "run.start": _sent("start", "run.start", "run", "input", about_a_run=False),
    "gate.release": _sent("release", "gate.release", about_a_run=False),
    "decide": _sent("decide", "decide"),
    "cancel": _sent("cancel", "cancel"),
    "run.input": _sent("input", "run.input", "input"),
    "watch": _sent("watch", "watch", "watcher", "stream"),
    "unwatch": _sent("unwatch", "unwatch"),
    "clock.advance": _sent("advance", "clock.advance", "ms", about_a_run=False),
    "deliver": _sent("race", "deliver", about_a_run=False),
    "settle": _sent("settle", "settle", about_a_run=False),
    "recover": _sent("recover", "recover"),
    "inspect": _sent("look", "inspect"),
}
METHOD_OF: Final = {shape.word: method for method, shape in SENT.items()}

SCENARIO: Final = Shape("scenario", ("scenario",), Scenario)
TOOL: Final = Shape("tool", ("name", "permission", "resume_mode"), ToolSpec)
STOP: Final = Shape("stop", ("kind",), StopCondition)
HOOK: Final = Shape("hook", ("at",), HookSpec)
DECISION: Final = Shape("decide", ("id", "action", "call"), Decision)
OUTCOME: Final = Shape("release", (), (Turn, Verdict, Outcome, HookAnswer, Fault))
REFUSED: Final = Shape("refused", ("why",), Refusal, {"stimulus": 0})
HANDSHAKE: Final = Shape("handshake", (), Handshake)
CRASH: Final = Shape("crash", ("by",))
END: Final = Shape("end", (), METHODS["scenario.close"][1], {"leaks": []})
UNLISTED: Final = Shape("unlisted", ("kind",), Observation, about_a_run=True)


SAYS: Final = {
    "turn": "text", "ok": "content", "warning": "content", "error": "content", "set_result": "content",
    "raise": "message", "fault": "message", "block": "message", "activity": "content", "rewrite": "data",
    "terminate": "message", "skip_inference": "message",
}  # fmt: skip
"""The field of an outcome that stands behind its kind without a name."""

HEADS: Final = ("handshake", "scenario", "crash", "end", "record", *METHOD_OF)
SEEN: Final = ("unlisted", "refused", "report", "unanswered", "record", *OBSERVED)


def about(shape: Shape, fields: Mapping[str, Any], known: Known) -> Shape:
    """The shape with the run that goes without saying, once the file has begun one."""
    if not shape.about_a_run or known.run is None:
        return shape
    return Shape(shape.word, shape.positions, shape.model, {**shape.unsaid, "run": known.run})


def reason_of(code: str) -> dict[str, Any]:
    return {"code": code, "detail": None}


def call_of(call: str, name: str) -> dict[str, Any]:
    return {"id": call, "name": name, "args": {"k": call}}


def gate_of_a_call(call: str) -> Shape:
    plain_gate = OBSERVED["gate.open"]
    unsaid = {"args": {"k": call}, "resume": None}
    return Shape(plain_gate.word, plain_gate.positions, plain_gate.model, unsaid, about_a_run=True)
