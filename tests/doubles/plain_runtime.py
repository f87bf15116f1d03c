"""A runtime that shares nothing with the kit: plain state, no event loop, JSON-RPC on standard streams.

Run it as a program.  It keeps the universal core in the plainest way: calls run one after the other,
decisions are taken while the run waits, nothing is stored.  With `--wrong NAME` it makes one mistake.
"""

from __future__ import annotations

import json
import sys
from typing import Any

HANDSHAKE = {
    "protocol": 1,
    "implementation": {"name": "plain", "version": "1", "language": "python"},
    "family": "lifecycle",
    "profile": "core",
    "policies": {"round.executor": "sequential", "round.rest": "deferred", "resume": "partial"},
    "control": {"settle": "exact", "crash": [], "store": "none", "clock": "virtual", "step": "none"},
    "gates": ["model", "permission", "tool"],
    "observes": ["run.status", "call.status", "run.finished"],
    "stimuli": ["decide", "cancel", "cancel.waiting", "run.again", "clock.advance", "deliver"],
    "tools": ["allow", "ask", "gate"],
    "decisions": {"live": True, "ids": True, "suspensions": True, "payload": True},
}


class Plain:
    """One thread of runs; anyone who changes `prefix` changes the ids of its gates."""

    prefix = "gate-"

    def __init__(self, wrong: str | None) -> None:
        self.wrong = wrong
        self.log: list[dict[str, Any]] = []
        self.refused: list[dict[str, Any]] = []
        self.gates = 0

    # -- verbs

    def initialize(self, _: dict[str, Any]) -> dict[str, Any]:
        return HANDSHAKE

    def scenario_open(self, params: dict[str, Any]) -> dict[str, Any]:
        self.tools = {tool["name"]: tool for tool in params["tools"]}
        self.thread: list[dict[str, Any]] = []
        self.run: dict[str, Any] | None = None
        self.calls: dict[str, dict[str, Any]] = {}
        self.gate: dict[str, Any] | None = None
        self.log.clear()
        return {}

    def scenario_close(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"leaks": []}

    def shutdown(self, _: dict[str, Any]) -> dict[str, Any]:
        return {}

    def run_start(self, params: dict[str, Any], at: int = 0) -> None:
        self.run = {"id": params["run"], "status": None, "step": 0, "seen": set()}
        self.calls = {}
        self.moved("Running")
        self.thread.append({"role": "user", "text": params["input"]})
        self.infer()

    def gate_release(self, params: dict[str, Any], at: int = 0) -> None:
        gate, outcome = self.gate, params["outcome"]
        if gate is None or gate["gate"] != params["gate"]:
            return  # it was given up in the same race
        self.gate = None
        if outcome["kind"] == "fault":
            self.end("Error", outcome.get("message"))
        elif gate["on"] == "model":
            self.turn(outcome)
        elif gate["on"] == "permission":
            self.judged(self.calls[gate["call"]], outcome)
        else:
            self.answered(self.calls[gate["call"]], outcome)

    def decide(self, params: dict[str, Any], at: int = 0) -> None:
        for decision in params["decisions"]:
            why = self.objection(params["run"], decision)
            if why:
                self.refused.append({"stimulus": at, "decision": decision["id"], "why": why})
                continue
            assert self.run is not None
            self.run["seen"].add(decision["id"])
            self.calls[decision["call"]]["decision"] = decision
        self.wake()

    def objection(self, run: str, decision: dict[str, Any]) -> str:
        if self.run is not None and self.run["id"] != run and self.wrong != "listens-to-any-run":
            return "another run has followed it"
        call = self.calls.get(decision["call"])
        if self.run is None or self.run["status"] == "Done" or call is None:
            return "there is no such call"
        if call["status"] != "Suspended" or call["decision"]:
            return "it does not wait"
        if decision["id"] in self.run["seen"]:
            return "that was decided"
        asked = decision.get("suspension")
        return "that wait is over" if asked not in (None, call["suspension"]) else ""

    def cancel(self, params: dict[str, Any], at: int = 0) -> None:
        if self.run is not None and self.run["id"] == params["run"] and self.run["status"] != "Done":
            if self.gate is not None:
                self.say("gate.closed", gate=self.gate["gate"], because="cancelled")
                self.gate = None
            self.end("Cancelled")

    def clock_advance(self, _: dict[str, Any], at: int = 0) -> None:
        return

    def settle(self, _: dict[str, Any], at: int = 0) -> None:
        return

    def deliver(self, params: dict[str, Any], at: int = 0) -> None:
        for index, part in enumerate(params["stimuli"]):
            getattr(self, part["method"].replace(".", "_"))(part["params"], index)

    # -- the run

    def say(self, kind: str, **fields: Any) -> None:
        assert self.run is not None
        self.log.append({"kind": kind, "run": self.run["id"], **fields})

    def moved(self, to: str, reason: str | None = None) -> None:
        assert self.run is not None
        was, self.run["status"] = self.run["status"], to
        self.say("run.status", **{"from": was}, to=to, reason=reason and {"code": reason})

    def set(self, call: dict[str, Any], to: str) -> None:
        was, call["status"] = call["status"], to
        if to == "Suspended":
            call["suspension"] += 1
        self.say("call.status", call=call["id"], **{"from": was}, to=to, suspension=call["suspension"])

    def open(self, on: str, **fields: Any) -> None:
        self.gates += 1
        assert self.run is not None
        self.gate = {"gate": f"{self.prefix}{self.gates}", "on": on, "step": self.run["step"], **fields}
        self.say("gate.open", **self.gate)

    def infer(self) -> None:
        assert self.run is not None
        self.run["step"] += 1
        self.open("model", messages=[dict(message) for message in self.thread])

    def turn(self, outcome: dict[str, Any]) -> None:
        calls = {asked["id"]: asked for asked in outcome.get("tool_calls", [])}
        self.thread.append(
            {"role": "assistant", "text": outcome.get("text", ""), "tool_calls": list(calls.values())}
        )
        for call_id, asked in calls.items():
            self.calls.pop(call_id, None)
            call = {**asked, "status": None, "suspension": 0, "attempt": 0, "decision": None, "result": False}
            self.calls[call_id] = call
            self.set(call, "New")
        self.go_on()

    def go_on(self) -> None:
        """Look for the next thing to do, in the order of the calls."""
        for call in self.calls.values():
            if call["status"] == "New":
                self.begin(call)
                return
        self.wake()

    def begin(self, call: dict[str, Any]) -> None:
        tool = self.tools.get(call["name"])
        if tool is None:
            self.finish(call, "Failed", "error", "no such tool")
            self.go_on()
        elif tool["permission"] == "ask":
            self.set(call, "Suspended")
            self.go_on()
        elif tool["permission"] == "gate":
            self.open("permission", call=call["id"], name=call["name"], args=call["args"], resume=None)
        else:
            self.enter(call)

    def judged(self, call: dict[str, Any], outcome: dict[str, Any]) -> None:
        kind = outcome["kind"]
        if kind == "allow":
            self.enter(call)
            return
        if kind == "suspend":
            self.set(call, "Suspended")
        elif kind == "block":
            self.finish(call, "Failed", "error", "blocked")
        else:
            self.finish(call, "Succeeded", "ok", outcome.get("content"))
        self.go_on()

    def enter(self, call: dict[str, Any]) -> None:
        decision = call["decision"]
        args = call["args"]
        if decision is not None and self.tools[call["name"]].get("resume_mode") == "pass_to_tool":
            args = {"k": call["id"], "v": decision.get("payload")}
        resume = decision and {key: decision.get(key) for key in ("action", "payload")}
        self.set(call, "Running")
        call["attempt"] += 1
        self.open(
            "tool",
            call=call["id"],
            name=call["name"],
            args=args,
            attempt=call["attempt"],
            resume=resume and {"decision": decision["id"], **resume},
        )

    def answered(self, call: dict[str, Any], outcome: dict[str, Any]) -> None:
        call["decision"] = None
        kind, said = outcome["kind"], outcome.get("content", outcome.get("message"))
        if kind == "pending":
            self.set(call, "Suspended")
        elif kind in ("error", "raise"):
            self.finish(call, "Failed", "error", said)
        else:
            self.finish(call, "Succeeded", "ok", "" if self.wrong == "loses-results" else said)
        self.go_on()

    def finish(self, call: dict[str, Any], status: str, shown: str, said: Any) -> None:
        self.set(call, status)
        text = said if isinstance(said, str) else json.dumps(said)
        self.thread.append({"role": "tool", "call": call["id"], "status": shown, "text": text})

    def wake(self) -> None:
        """With nothing under way: replay what was decided, else wait, else go back to the model."""
        if self.gate is not None or self.run is None or self.run["status"] == "Done":
            return
        decided = [call for call in self.calls.values() if call["decision"] and call["status"] == "Suspended"]
        waiting = [call for call in self.calls.values() if call["status"] == "Suspended"]
        if decided:
            if self.run["status"] == "Waiting":
                self.moved("Running")
            self.act(decided[0])
        elif waiting:
            if self.run["status"] != "Waiting":
                self.moved("Waiting", "Suspended")
                pending = [call["id"] for call in waiting]
                self.say("run.finished", reason={"code": "Suspended"}, pending=pending)
        elif self.thread[-1]["role"] == "assistant" and not self.thread[-1]["tool_calls"]:
            self.end("NaturalEnd")
        else:
            self.infer()

    def act(self, call: dict[str, Any]) -> None:
        decision = call["decision"]
        if decision["action"] == "cancel" and self.wrong != "runs-the-rejected":
            call["decision"] = None
            self.finish(call, "Cancelled", "cancelled", "rejected")
            self.go_on()
            return
        self.set(call, "Resuming")
        if self.tools[call["name"]].get("resume_mode") == "use_as_result":
            call["decision"] = None
            self.finish(call, "Succeeded", "ok", decision.get("payload"))
            self.go_on()
        else:
            self.enter(call)

    def end(self, code: str, detail: str | None = None) -> None:
        for call in self.calls.values():
            if call["status"] not in ("Succeeded", "Failed", "Cancelled"):
                status = "Failed" if call["status"] == "New" and code != "Cancelled" else "Cancelled"
                self.finish(call, status, "cancelled", f"the run ended: {code}")
        self.moved("Done", code)
        self.say("run.finished", reason={"code": code, "detail": detail}, pending=[])


ANSWERED = ("initialize", "scenario.open", "scenario.close", "shutdown")


def respond(runtime: Plain, request: dict[str, Any]) -> dict[str, Any]:
    """The answer to one request."""
    verb = getattr(runtime, request["method"].replace(".", "_"), None)
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
    if verb is None:
        return {**answer, "error": {"code": -32001, "message": f"{request['method']} is not supported"}}
    result = verb(request.get("params", {}))
    if request["method"] not in ANSWERED:
        result = {"observations": runtime.log[:], "quiescent": True, "refused": runtime.refused[:]}
        runtime.log.clear()
        runtime.refused.clear()
    return {**answer, "result": result}


def main() -> None:
    """Answer requests until standard input ends."""
    wrong = sys.argv[sys.argv.index("--wrong") + 1] if "--wrong" in sys.argv else None
    runtime = Plain(wrong)
    for line in sys.stdin:
        print(json.dumps(respond(runtime, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
