"""Traces of a tool runner written by hand, one answer after the other, and what the judge says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from runlock.conformance.families.tool_runner.family import FAMILY
from runlock.conformance.families.tool_runner.messages import RunnerReport, RunnerScenario
from runlock.conformance.families.tool_runner.reference import reference
from runlock.conformance.judging.applicability import standings
from runlock.conformance.judging.judge import Judge
from runlock.conformance.judging.policy_hypotheses import Undeclared

TOOLS = [{"name": "t0"}, {"name": "t1"}, {"name": "t2", "offered": False}]
OBSERVES = ["run.status", "message", "runner.response", "event", "run.finished"]


def call(name: str, tool: str = "t0") -> dict[str, Any]:
    """A call of a tool."""
    return {"id": name, "name": tool, "args": {"k": name}}


def user(text: str) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "text": text}


def turn(*calls: str, text: str = "", tool: str = "t0") -> dict[str, Any]:
    """A turn of the model as a message."""
    return {"role": "assistant", "text": text, "tool_calls": [call(one, tool) for one in calls]}


def result(name: str, text: str | None = None, status: str = "ok") -> dict[str, Any]:
    """The result of a call as a message."""
    return {"role": "tool", "call": name, "status": status, "text": text or f"result of {name}"}


class Told:
    """A trace that is fed to a judge; each method is a stimulus with its whole answer."""

    def __init__(
        self,
        policies: Mapping[str, Any] | None = None,
        profile: str = "tool-runner",
        *,
        leaves_open: tuple[str, ...] = (),
        muted: tuple[str, ...] = (),
        observes: list[str] = OBSERVES,
        **runner: Any,
    ) -> None:
        declared = reference(profile, policies or {})().handshake
        own = {key: value for key, value in declared.policies.items() if key not in leaves_open}
        handshake = declared.model_copy(update={"policies": own, "observes": observes})
        handshake = handshake.model_copy(
            update={"control": handshake.control.model_copy(update={"settle": "exact"})}
        )
        known = FAMILY.spec.policies_of(profile, own)
        scenario = RunnerScenario.model_validate({"scenario": "told", "tools": TOOLS, "runner": runner})
        applicable = standings(FAMILY, handshake, known).items()
        applies = {one: found.is_judged and one not in muted for one, found in applicable}
        undeclared = Undeclared.of(FAMILY, handshake, known)
        self.judge = Judge(FAMILY, handshake, known, scenario, applies, undeclared)
        self.gates: dict[str, str] = {}
        self.requests = self.yields = self.opened = 0
        self.settles = True

    # -- what the runner shows

    def request(self, *messages: dict[str, Any], **more: Any) -> dict[str, Any]:
        """A request of the runner."""
        self.requests += 1
        shown = {"messages": list(messages), "sent": len(messages), "params": {}, "step": self.requests}
        return self._gate("model", "model", **{**shown, **more})

    def shown(self, message: dict[str, Any] | None) -> dict[str, Any]:
        """A yield of the runner."""
        self.yields += 1
        return self._gate("yield", "yield", message=message, iteration=self.yields)

    def entered(self, name: str, tool: str = "t0", **more: Any) -> dict[str, Any]:
        """The body of a tool that is entered."""
        shown = {"call": name, "name": tool, "args": {"k": name}, "attempt": 1, "version": 1}
        return self._gate(f"tool:{name}", "tool", **{**shown, **more})

    def _gate(self, ref: str, on: str, **fields: Any) -> dict[str, Any]:
        self.opened += 1
        return {"kind": "gate.open", "gate": f"{ref}#{self.opened}", "on": on, **fields}

    def closed(self, ref: str) -> dict[str, Any]:
        """A gate that the runner gives up."""
        return {"kind": "gate.closed", "gate": self.gates[ref], "because": "given up"}

    def done(self, code: str = "NaturalEnd", message: Any = None, **more: Any) -> list[dict[str, Any]]:
        """The end of the run."""
        reason = {"code": code, **more}
        moved = {"kind": "run.status", "from": "Running", "to": "Done", "reason": reason}
        return [moved, {"kind": "run.finished", "reason": reason, "pending": [], "message": message}]

    def response(self, *messages: dict[str, Any] | None) -> dict[str, Any]:
        """A response that the user asked for."""
        return {"kind": "runner.response", "messages": None if messages == (None,) else list(messages)}

    # -- what the kit sends

    def early(self) -> Told:
        """The next answer comes before the runner has settled, so that what is sent after it is a race."""
        self.settles = False
        return self

    def send(self, method: str, params: dict[str, Any], *seen: Any, refused: tuple[int, ...] = ()) -> Told:
        """A stimulus and its answer; `refused` are the places of what was turned down."""
        quiescent, self.settles = self.settles, True
        flat = [one for part in seen for one in (part if isinstance(part, list) else [part])]
        self.judge.stimulus(method, params)
        self.gates |= {one["gate"].partition("#")[0]: one["gate"] for one in flat if "on" in one}
        turned_down = [{"stimulus": place, "why": "no"} for place in refused]
        observations = [{"run": "r1", **one} for one in flat]
        answer = {"observations": observations, "quiescent": quiescent, "refused": turned_down}
        self.judge.answer(RunnerReport.model_validate(answer))
        return self

    def start(self, *seen: Any) -> Told:
        """The runner is made with the message `hello`."""
        running = {"kind": "run.status", "from": None, "to": "Running"}
        return self.send("run.start", {"run": "r1", "input": "hello"}, running, *seen)

    def release(self, ref: str, outcome: dict[str, Any], *seen: Any) -> Told:
        """A gate is released."""
        return self.send("gate.release", {"gate": self.gates[ref], "outcome": outcome}, *seen)

    def says(self, message: dict[str, Any], *seen: Any, stop: str | None = None) -> Told:
        """The model gives a turn."""
        outcome = {"kind": "turn", "text": message["text"], "tool_calls": message["tool_calls"]}
        return self.release("model", outcome if stop is None else {**outcome, "stop_reason": stop}, *seen)

    def breaks(self, *seen: Any) -> Told:
        """The model breaks."""
        return self.release("model", {"kind": "fault", "message": "broken"}, *seen)

    def piece(self, text: str, *seen: Any) -> Told:
        """The model gives a piece of a turn."""
        return self.release("model", {"kind": "delta", "text": text}, *seen)

    def resume(self, *seen: Any) -> Told:
        """The user takes the next item."""
        return self.release("yield", {"kind": "resume"}, *seen)

    def leave(self, *seen: Any) -> Told:
        """The user leaves the loop."""
        return self.release("yield", {"kind": "break"}, *seen)

    def answers(self, name: str, *seen: Any, kind: str = "ok") -> Told:
        """A tool answers."""
        field = "content" if kind in ("ok", "error") else "message"
        return self.release(f"tool:{name}", {"kind": kind, field: f"result of {name}"}, *seen)

    def push(self, *messages: dict[str, Any]) -> Told:
        """The user pushes messages."""
        return self.send("runner.push", {"messages": list(messages)})

    # -- what came of it

    @property
    def verdict(self) -> str:
        """The clause that is broken, or `held`."""
        broken = self.judge.violation
        return "held" if broken is None else broken.clause

    @property
    def reason(self) -> str:
        """Why it is broken."""
        return self.judge.violation.reason if self.judge.violation is not None else ""

    @property
    def exercised(self) -> set[str]:
        """The clauses that were judged."""
        return {clause for clause, count in self.judge.exercised.items() if count}


HELLO = user("hello")


def asked(policies: Mapping[str, Any] | None = None, *calls: str, **options: Any) -> Told:
    """A run whose first turn asks for calls, and is with the user."""
    told = Told(policies, **options)
    told.start(told.request(HELLO))
    wanted = turn(*(calls or ("c1",)))
    return told.says(wanted, told.shown(wanted))


@dataclass(frozen=True)
class Trace:
    """A row of a table: the clause that a trace breaks, or `held`; what it shows, and why."""

    verdict: str
    title: str
    why: str
    start: Callable[[], Told]
    steps: Callable[[Told], Told]

    def told(self) -> Told:
        """The whole trace, judged."""
        return self.steps(self.start())


def each_of(traces: Sequence[Trace]) -> pytest.MarkDecorator:
    """The rows of a table, one test each, under their titles."""
    return pytest.mark.parametrize("trace", traces, ids=[one.title for one in traces])
