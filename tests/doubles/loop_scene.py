"""Scenes of a message loop, written by hand: what was sent, what was shown, and what the judge says."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from runlock.conformance.families.message_loop.family import FAMILY
from runlock.conformance.judging.applicability import standings
from runlock.conformance.judging.judge import Judge, Violation
from runlock.conformance.judging.policy_hypotheses import Undeclared

Fields = dict[str, Any]
TOOLS = [{"name": "t0"}, {"name": "t1", "origin": "remote"}]
EVERYTHING = {
    "control": {"settle": "exact", "store": "kit", "clock": "virtual", "step": "turns"},
    "gates": ["model", "tool", "prompt", "hook", "sm", "context", "assert"],
    "observes": ["run.finished"],
    "interactors": 2,
}


class Scene:
    """A scenario that is judged step by step; a runtime that is not there answers what the test says."""

    def __init__(
        self,
        *,
        policies: Mapping[str, Any] | None = None,
        shows: Mapping[str, Any] | None = None,
        mute: Collection[str] = (),
        **scenario: Any,
    ) -> None:
        party = {"name": "by hand", "version": "1"}
        claimed = {"implementation": party, "policies": dict(policies or {}), **EVERYTHING, **(shows or {})}
        handshake = FAMILY.vocabulary.handshake.model_validate(claimed)
        declared = {**FAMILY.spec.profiles[handshake.profile].policies, **handshake.policies}
        told = {"scenario": "s", "tools": TOOLS, "mode": "yolo", **scenario}
        judged = standings(FAMILY, handshake, declared)
        applies = {one: how.is_judged and one not in mute for one, how in judged.items()}
        undeclared = Undeclared.of(FAMILY, handshake, declared)
        made = FAMILY.vocabulary.scenario.model_validate(told)
        self.judge = Judge(FAMILY, handshake, declared, made, applies, undeclared)
        self.gates = 0
        self.run = "r0"

    @property
    def violation(self) -> Violation | None:
        """What is broken, if anything."""
        return self.judge.violation

    @property
    def broken(self) -> str:
        """The clause that is broken, or an empty string."""
        return self.violation.clause if self.violation is not None else ""

    def send(self, method: str, params: Fields, *seen: Fields, quiescent: bool = True) -> Scene:
        """The kit sends something, and the runtime shows this."""
        self.judge.stimulus(method, params)
        observations = [{"run": self.run, **one} for one in seen]
        report = {"observations": observations, "quiescent": quiescent}
        self.judge.answer(FAMILY.vocabulary.report.model_validate(report))
        return self

    def start(self, *seen: Fields, **params: Any) -> Scene:
        """The next turn begins."""
        self.run = f"r{int(self.run[1:]) + 1}"
        given = params or {"input": f"input of {self.run}"}
        return self.send("run.start", {"run": self.run, **given}, *seen)

    def release(self, gate: str, outcome: Fields, *seen: Fields) -> Scene:
        """The kit releases a gate."""
        return self.send("gate.release", {"gate": gate, "outcome": outcome}, *seen)

    def cancel(self, *seen: Fields) -> Scene:
        """The kit cancels the turn."""
        return self.send("cancel", {"run": self.run}, *seen)


def opens(gate: str, on: str, **fields: Any) -> Fields:
    """A gate opens."""
    return {"kind": "gate.open", "gate": gate, "on": on, "step": 1, **fields}


def closes(gate: str) -> Fields:
    """A gate is given up."""
    return {"kind": "gate.closed", "gate": gate, "because": "given up"}


def user(text: str) -> Fields:
    """A message of the user."""
    return {"role": "user", "text": text, "tool_calls": []}


def asks(*calls: str, text: str = "") -> Fields:
    """A message of the assistant that asks for calls, each `c1:t0`."""
    return {"role": "assistant", "text": text, "tool_calls": [call(one) for one in calls]}


def result(of: str, text: str, status: str = "ok") -> Fields:
    """The result of a call."""
    return {"role": "tool", "call": of, "text": text, "status": status}


def call(word: str, **args: Any) -> Fields:
    """A call as the model asks for it, from `c1:t0`."""
    name, _, tool = word.partition(":")
    return {"id": name, "name": tool, "args": {"k": name, **args}}


def model(gate: str, *messages: Fields, tools: tuple[str, ...] = ("t0", "t1"), **fields: Any) -> Fields:
    """The model is asked."""
    return opens(gate, "model", messages=list(messages), tools=list(tools), **fields)


def enters(gate: str, word: str, **fields: Any) -> Fields:
    """A tool is entered."""
    asked = call(word)
    shown = {"call": asked["id"], "name": asked["name"], "args": asked["args"], "attempt": 1}
    return opens(gate, "tool", **{**shown, **fields})


def prompts(gate: str, word: str, prompt: str = "p1", interactor: str = "i1", **fields: Any) -> Fields:
    """A person is asked about a call."""
    asked = call(word)
    about = {"call": asked["id"], "name": asked["name"], "args": asked["args"], "ask": "mode"}
    return opens(gate, "prompt", prompt=prompt, interactor=interactor, **{**about, **fields})


def hooks(gate: str, hook: str, slot: str, **fields: Any) -> Fields:
    """A hook is asked at its slot, as in `TOOL_CALL.pre.guard`."""
    at, point, role = slot.split(".")
    return opens(gate, "hook", hook=hook, at=at, point=point, role=role, **{"data": {}, **fields})


def turn(*calls: str, text: str = "", **more: Any) -> Fields:
    """The whole response."""
    return {"kind": "turn", "text": text, "tool_calls": [call(one) for one in calls], **more}


def ok(content: str) -> Fields:
    """A tool answers."""
    return {"kind": "ok", "content": content}


def ends(code: str = "NaturalEnd", **reason: Any) -> Fields:
    """The turn is over."""
    return {"kind": "run.finished", "reason": {"code": code, **reason}, "pending": []}


def event(name: str, **data: Any) -> Fields:
    """An event is published."""
    return {
        "kind": "event",
        "name": name,
        "data": {"turnId": "t", "correlationId": "p", **data},
        "watcher": None,
    }


def says(message: Fields, **fields: Any) -> Fields:
    """A message joined the session history."""
    return {"kind": "message", "transcript": "session", "message": message, **fields}
