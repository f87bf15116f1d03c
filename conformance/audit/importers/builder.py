"""Writes one thread as a trace of the family lifecycle: what an importer found, as stimuli and observations.

The handshake declares the gates, observations and stimuli that the importer uses, that the runtime was
watched (`settle: observed`), so that its silence proves nothing, and no profile beyond the core.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.trace.trace import Trace

FAMILY: Final = "lifecycle"
JsonObject = Mapping[str, Any]


def handshake(
    name: str,
    version: str,
    *,
    gates: Sequence[str],
    observes: Sequence[str] = (),
    decisions: bool = False,
    stream: str = "",
) -> dict[str, Any]:
    """What a format shows of a runtime; `stream` is the one that was recorded, if it is one."""
    watched = {"streams": [stream]} if stream else {}
    return {
        "protocol": 1,
        "implementation": {"name": name, "version": version},
        "family": FAMILY,
        "profile": "core",
        "policies": {},
        "control": {"settle": "observed"},
        "gates": list(gates),
        "observes": [*observes, *(["event"] if stream else [])],
        "stimuli": ["run.again", *(["decide"] if decisions else []), *(["watch"] if stream else [])],
        "tools": ["allow", *(["ask"] if decisions else [])],
        **watched,
    }


class Builder:
    """The trace of one thread under construction; each stimulus is closed by a report before the next one."""

    def __init__(self, claims: JsonObject, asking: Iterable[str] = ()) -> None:
        self.tools = {name: {"name": name, "permission": "ask"} for name in sorted(asking)}
        self.trace = Trace([{"handshake": dict(claims)}, {"scenario": {"scenario": "recorded"}}])
        self.run = ""
        self.stream = str((claims.get("streams") or ("",))[0])
        self.watchers = self.runs = self.steps = self.gates = self.decisions = 0
        self.entries: dict[str, int] = {}
        self._is_open = False

    # -- the environment

    def start(self, text: str = "") -> None:
        """A new run of the thread."""
        self.runs += 1
        self.run, self.steps = f"r{self.runs}", 0
        self._send("run.start", {"run": self.run, "input": text, **self._watcher()})

    def watch(self) -> None:
        """The stream of another request: it goes on with a run that waits."""
        if self.stream:
            self._send("watch", {"run": self.run, **self._watcher()})

    def _watcher(self) -> dict[str, str]:
        self.watchers += 1
        return {"watcher": f"w{self.watchers}", "stream": self.stream} if self.stream else {}

    def turn(self, gate: str, text: str, calls: Sequence[JsonObject]) -> None:
        """The model answered."""
        asked = [{"id": call["id"], "name": call["name"], "args": call["args"]} for call in calls]
        for call in calls:
            self._offer(call["name"])
        self._release(gate, {"kind": "turn", "text": text, "tool_calls": asked})

    def fault(self, gate: str, message: str) -> None:
        """The model, or whatever a gate waits for, broke."""
        self._release(gate, {"kind": "fault", "message": message})

    def leave(self, gate: str, kind: str, content: Any = None) -> None:
        """A tool answered."""
        self._release(gate, {"kind": kind, **({} if content is None else {"content": content})})

    def decide(self, call: str, action: str) -> str:
        """A person decided about a call; the id of the decision."""
        self.decisions += 1
        made = {"id": f"d{self.decisions}", "call": call, "action": action}
        self._send("decide", {"run": self.run, "decisions": [made]})
        return str(made["id"])

    def _release(self, gate: str, outcome: JsonObject) -> None:
        self._send("gate.release", {"gate": gate, "outcome": outcome})

    def _send(self, method: str, params: JsonObject) -> None:
        self.close()
        self.trace.add("stimulus", {"method": method, "params": params})
        self._is_open = True

    # -- the runtime

    def ask(self, messages: Sequence[JsonObject] | None) -> str:
        """The model is asked; the gate."""
        self.steps += 1
        shown = {} if messages is None else {"messages": list(messages)}
        return self._gate("model", step=self.steps, **shown)

    def enter(self, call: JsonObject, args: Any = None, name: str = "") -> str:
        """The body of a call is entered, perhaps with another tool or arguments than asked; the gate."""
        attempt = self.entries[call["id"]] = self.entries.get(call["id"], 0) + 1
        given = call["args"] if args is None else args
        self._offer(name or call["name"])
        about = {"call": call["id"], "name": name or call["name"], "args": given, "attempt": attempt}
        return self._gate("tool", step=self.steps, **about)

    def _offer(self, name: str) -> None:
        self.tools.setdefault(name, {"name": name, "permission": "allow"})

    def finish(self, code: str, pending: Iterable[str] = ()) -> None:
        """This segment of the run ended."""
        self._observe({"kind": "run.finished", "reason": {"code": code}, "pending": list(pending)})

    def edited(self, why: str, cut: Sequence[JsonObject], instead: Sequence[JsonObject]) -> None:
        """The thread so far gave way to other messages."""
        self._observe(
            {"kind": "thread.edited", "why": why, "at": 0, "cut": list(cut), "instead": list(instead)}
        )

    def publish(self, name: str, data: JsonObject) -> None:
        """The stream was sent this event."""
        to = {"stream": self.stream, "watcher": f"w{self.watchers}"}
        self._observe({"kind": "event", "name": name, "data": dict(data), **to})

    def exchange(self, request: JsonObject | None, events: Sequence[JsonObject]) -> None:
        """One request of a client and the events that answered it; who ended the stream was not recorded."""
        sent = {} if request is None else {"request": dict(request)}
        self._observe({"kind": "exchange", **sent, "events": list(events), "ended": "unknown"})

    def _gate(self, on: str, **fields: Any) -> str:
        self.gates += 1
        gate = f"g{self.gates}"
        self._observe({"kind": "gate.open", "gate": gate, "on": on, **fields})
        return gate

    def _observe(self, seen: dict[str, Any]) -> None:
        self.trace.add("observation", {**seen, "run": self.run})

    def close(self) -> None:
        """End the answer to the last stimulus."""
        if self._is_open:
            self.trace.add("report", {"quiescent": True, "refused": []})
            self._is_open = False

    def finished(self) -> Trace:
        """The trace, with the tools that it came to."""
        self.close()
        self.trace.records[1] = {"scenario": {"scenario": "recorded", "tools": list(self.tools.values())}}
        return self.trace
