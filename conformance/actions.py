"""Classes of action: what the outside world may do next, one function for each class.

An action looks at what is known, chooses, and proposes a move, or nothing where there is no occasion for
it.  Actions do not ask whether a move is legal: the judge knows.  They are many and small so that a
search can switch whole classes off, which finds more than any mixture of all of them does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from interlock.conformance.account import Account
from interlock.conformance.chooser import Chooser, chance, pick
from interlock.conformance.moves import CRASH_AND_RECOVER, Move, race
from interlock.conformance.protocol import Handshake
from interlock.conformance.subjects import Call, Gate, Run

PAYLOADS: Final[tuple[Any, ...]] = ("approved", None, False, 0, "", {"v": "changed"}, [1, 2])
TURNS_MAX: Final = 7
ENOUGH: Final = "that is enough"
"""What the model says now and then; a stop condition may listen for it."""
CALLS_MAX: Final = 3


@dataclass(slots=True)
class Stage:
    """What actions look at: the account, the handshake, and how far each kind of id has been used."""

    account: Account
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def handshake(self) -> Handshake:
        """What the runtime can take."""
        return self.account.handshake

    @property
    def run(self) -> Run | None:
        """The run that is not Done."""
        run = self.account.run
        return run if run is not None and not run.is_done else None

    def aside(self) -> Stage:
        """The same, for actions that only try whether there is an occasion for them."""
        return Stage(self.account, dict(self.counts))

    def fresh(self, prefix: str) -> str:
        """An id that was not used yet."""
        self.counts[prefix] = self.counts.get(prefix, 0) + 1
        return f"{prefix}{self.counts[prefix]}"

    def gates(self, on: str) -> list[Gate]:
        """The open gates of one kind."""
        return [gate for gate in self.account.open_gates if gate.on == on]

    def waiting(self) -> list[Call]:
        """The calls of the run that wait for a decision."""
        return [] if self.run is None else [call for call in self.run.calls.values() if call.waits]

    def may_decide(self) -> bool:
        """Whether a decision can be handed over now."""
        return self.account.run is not None and "decide" in self.handshake.stimuli and self.takes_verbs()

    def takes_verbs(self) -> bool:
        """Whether something can be handed to the run now: some runtimes take nothing while a segment runs."""
        idle = self.account.quiescent and not self.account.open_gates
        return self.handshake.decisions.live or idle


Action = Callable[[Stage, Chooser], Move | None]


# --- runs ---------------------------------------------------------------------------------------


def start(stage: Stage, chooser: Chooser) -> Move | None:
    """A run begins on the thread."""
    again = bool(stage.account.runs)
    if stage.run is not None or not stage.account.quiescent or stage.account.is_committing():
        return None  # the last commit of a run may stand between it and the next
    if again and "run.again" not in stage.handshake.stimuli:
        return None
    run = stage.fresh("r")
    return Move("run.start", {"run": run, "input": f"hello {run}"})


def cancel(stage: Stage, chooser: Chooser) -> Move | None:
    """The external cancel signal."""
    run = stage.account.run
    if run is None or "cancel" not in stage.handshake.stimuli:
        return None
    waits = stage.account.quiescent and not stage.account.open_gates
    if waits and "cancel.waiting" not in stage.handshake.stimuli and not run.is_done:
        return None
    return Move("cancel", {"run": run.id})


def give_input(stage: Stage, chooser: Chooser) -> Move | None:
    """New user input for a run that is not Done."""
    if stage.run is None or "run.input" not in stage.handshake.stimuli or not stage.takes_verbs():
        return None
    return Move("run.input", {"run": stage.run.id, "input": "never mind, do this instead"})


def crash(stage: Stage, chooser: Chooser) -> Move | None:
    """The runtime is lost, and comes back from what is durable."""
    run = stage.run
    if run is None or "soft" not in stage.handshake.control.crash:
        return None
    return Move(CRASH_AND_RECOVER, {}) if stage.account.can_come_back(run) else None


def kill(stage: Stage, chooser: Chooser) -> Move | None:
    """The process of the runtime is killed, and another one comes back from what is durable."""
    run = stage.run
    if run is None or "kill" not in stage.handshake.control.crash:
        return None
    return Move(CRASH_AND_RECOVER, {"by": "kill"}) if stage.account.can_come_back(run) else None


# --- the model ----------------------------------------------------------------------------------


def _turn(gate: Gate, calls: list[dict[str, Any]], text: str) -> Move:
    outcome = {"kind": "turn", "text": text, "tool_calls": calls, "usage": {"input": 3, "output": 5}}
    return Move("gate.release", {"gate": gate.ref, "outcome": outcome})


def _asked(call: str, tool: str) -> dict[str, Any]:
    return {"id": call, "name": tool, "args": {"k": call, "v": 1}}


def model_asks(stage: Stage, chooser: Chooser) -> Move | None:
    """The model asks for some calls."""
    gates = stage.gates("model")
    if not gates or not stage.account.scenario.tools:
        return None
    count = 1 + chooser.choose(CALLS_MAX)
    calls = [_asked(stage.fresh("c"), pick(chooser, stage.account.scenario.tools).name) for _ in range(count)]
    return _turn(gates[0], calls, pick(chooser, ("", "", ENOUGH)))


def model_asks_for_one_kind(stage: Stage, chooser: Chooser) -> Move | None:
    """The model asks for several calls of one tool."""
    gates = stage.gates("model")
    if not gates or not stage.account.scenario.tools:
        return None
    tool = pick(chooser, stage.account.scenario.tools).name
    return _turn(gates[0], [_asked(stage.fresh("c"), tool) for _ in range(2 + chooser.choose(2))], "")


def model_ends(stage: Stage, chooser: Chooser) -> Move | None:
    """The model asks for nothing more."""
    gates = stage.gates("model")
    return _turn(gates[0], [], "that is all") if gates else None


def model_errs(stage: Stage, chooser: Chooser) -> Move | None:
    """The model asks for a tool that is not there, twice under one id, or under an id of a former turn."""
    gates = stage.gates("model")
    if not gates or not stage.account.scenario.tools:
        return None
    tool = pick(chooser, stage.account.scenario.tools).name
    first = stage.fresh("c")
    former = [call.id for call in stage.run.calls.values() if call.is_final] if stage.run is not None else []
    mistakes = [
        [_asked(first, "no-such-tool")],
        [_asked(first, tool), _asked(stage.fresh("c"), "no-such-tool")],
        [_asked(first, tool), _asked(first, tool)],
        [_asked(former[-1] if former else first, tool)],
    ]
    return _turn(gates[0], pick(chooser, mistakes), "")


def model_breaks(stage: Stage, chooser: Chooser) -> Move | None:
    """The model cannot be reached."""
    return _release(stage, chooser, "model", {"kind": "fault", "message": "the model broke"})


# --- permission, tools, store -------------------------------------------------------------------


def _offered(stage: Stage, on: str, kind: str) -> bool:
    offered = getattr(stage.handshake.outcomes, on.replace(".", "_"))
    return kind in offered


def _release(stage: Stage, chooser: Chooser, on: str, outcome: dict[str, Any]) -> Move | None:
    gates = stage.gates(on)
    if not gates or not _offered(stage, on, outcome["kind"]):
        return None
    return Move("gate.release", {"gate": pick(chooser, gates).ref, "outcome": outcome})


def permission_answers(kind: str) -> Action:
    """The permission hook answers."""

    def act(stage: Stage, chooser: Chooser) -> Move | None:
        outcome: dict[str, Any] = {"kind": kind}
        if kind == "set_result":
            outcome["content"] = f"<set {stage.fresh('s')}>"
        return _release(stage, chooser, "permission", outcome)

    return act


def tool_answers(kind: str) -> Action:
    """A tool answers, throws, or cannot be run; what it says is said by no other answer."""

    def act(stage: Stage, chooser: Chooser) -> Move | None:
        if not stage.gates("tool"):
            return None
        said = f"<{kind} {stage.fresh('a')}>"
        outcome: dict[str, Any] = {"kind": kind, "content": said}
        if kind in ("raise", "fault"):
            outcome = {"kind": kind, "message": said}
        elif kind == "pending":
            outcome = {"kind": kind}
        elif kind == "error":
            outcome = {"kind": kind, "content": said, "message": said}
        return _release(stage, chooser, "tool", outcome)

    return act


def store_takes(stage: Stage, chooser: Chooser) -> Move | None:
    """The store has it."""
    return _release(stage, chooser, "store.put", {"kind": "ok"})


def store_breaks(stage: Stage, chooser: Chooser) -> Move | None:
    """The store does not take it."""
    return _release(stage, chooser, "store.put", {"kind": "fault", "message": "the disk is full"})


# --- plugins and watchers -----------------------------------------------------------------------

HOOK_ANSWERS: Final[Mapping[str, tuple[str, ...]]] = {
    "RunStart": ("rewrite",),
    "BeforeInference": ("rewrite", "skip_inference", "terminate"),
    "AfterInference": ("rewrite", "terminate"),
    "AfterToolExecute": ("rewrite",),
}
"""What a plugin may do at a phase, beside letting it go on."""


def hook_continues(stage: Stage, chooser: Chooser) -> Move | None:
    """A plugin does nothing."""
    return _release(stage, chooser, "hook", {"kind": "continue"})


def hook_acts(kind: str) -> Action:
    """A plugin asks for the end, skips the inference, or puts something else in place of what it is shown."""

    def act(stage: Stage, chooser: Chooser) -> Move | None:
        gates = [gate for gate in stage.gates("hook") if kind in _answers_at(stage, gate)]
        if not gates or not _offered(stage, "hook", kind):
            return None
        gate = pick(chooser, gates)
        outcome: dict[str, Any] = {"kind": kind}
        if kind == "rewrite":
            outcome["data"] = _rewritten(stage, gate)
        return Move("gate.release", {"gate": gate.ref, "outcome": outcome})

    return act


def _answers_at(stage: Stage, gate: Gate) -> tuple[str, ...]:
    at = gate.opened.at or ""
    if at == "BeforeInference" and stage.account.policy("phases") == "nine":
        return ("rewrite",)  # an inference is skipped by a plugin of eight phases alone
    return HOOK_ANSWERS.get(at, ())


def _rewritten(stage: Stage, gate: Gate) -> dict[str, Any]:
    at, shown = gate.opened.at, gate.opened.data or {}
    if at == "RunStart":
        return {"state": {"set_up": stage.fresh("u")}}
    if at == "BeforeInference":
        return {"system": f"be brief ({stage.fresh('p')})", "params": {"temperature": 0}}
    if at == "AfterInference":
        calls = shown.get("tool_calls")
        return {"tool_calls": calls[:-1] if isinstance(calls, list) else []}
    return {"content": f"<rewritten {stage.fresh('w')}>"}


def watch(stage: Stage, chooser: Chooser) -> Move | None:
    """Somebody comes to watch, in the place of whoever did."""
    run = stage.account.run
    if run is None or "watch" not in stage.handshake.stimuli:
        return None
    stream = pick(chooser, stage.handshake.streams)
    return Move("watch", {"run": run.id, "watcher": stage.fresh("w"), "stream": stream})


def unwatch(stage: Stage, chooser: Chooser) -> Move | None:
    """The stream of whoever watches is cut."""
    run = stage.account.run
    if run is None or stage.account.audience.watcher is None:
        return None
    return Move("unwatch", {"run": run.id})


def decide_and_watch(stage: Stage, chooser: Chooser) -> Move | None:
    """One request brings decisions and a watcher of what comes of them."""
    move = decide_one("resume")(stage, chooser)
    if move is None or "watch" not in stage.handshake.stimuli:
        return None
    stream = pick(chooser, stage.handshake.streams)
    return Move("decide", {**move.params, "watcher": stage.fresh("w"), "stream": stream})


# --- decisions ----------------------------------------------------------------------------------


def _decide(stage: Stage, decisions: list[dict[str, Any]]) -> Move:
    run = stage.account.run
    assert run is not None
    return Move("decide", {"run": run.id, "decisions": decisions})


def _decision(stage: Stage, chooser: Chooser, call: str, action: str) -> dict[str, Any]:
    decision = {"id": stage.fresh("d"), "call": call, "action": action}
    if action == "resume" and stage.handshake.decisions.payload:
        decision["payload"] = pick(chooser, PAYLOADS)
    return decision


def decide_one(action: str) -> Action:
    """Someone decides about a call that waits."""

    def act(stage: Stage, chooser: Chooser) -> Move | None:
        waiting = stage.waiting()
        if not waiting or not stage.may_decide():
            return None
        return _decide(stage, [_decision(stage, chooser, pick(chooser, waiting).id, action)])

    return act


def decide_all(stage: Stage, chooser: Chooser) -> Move | None:
    """Someone decides about all calls that wait, in one batch and any order."""
    waiting = stage.waiting()
    if len(waiting) < 2 or not stage.may_decide():
        return None
    ordered = waiting[::-1] if chance(chooser, 2) else waiting
    actions = [pick(chooser, ("resume", "resume", "cancel")) for _ in ordered]
    return _decide(
        stage, [_decision(stage, chooser, c.id, action) for c, action in zip(ordered, actions, strict=True)]
    )


def decide_anything(stage: Stage, chooser: Chooser) -> Move | None:
    """Someone decides about any call: one that is over, executing, not asked for, or waiting."""
    run = stage.account.run
    if run is None or not stage.may_decide():
        return None
    names = [*run.calls, "nobody"]
    return _decide(
        stage, [_decision(stage, chooser, pick(chooser, names), pick(chooser, ("resume", "cancel")))]
    )


def decide_twice(stage: Stage, chooser: Chooser) -> Move | None:
    """A decision that was sent before is sent again, id and all."""
    run = stage.account.run
    sent = [d for c in run.every_call for d in c.decisions if not d.repeats] if run is not None else []
    if not sent or not stage.may_decide() or not stage.handshake.decisions.ids:
        return None
    again = sent[-1]
    decision = {"id": again.id, "call": again.call, "action": again.action, "payload": again.payload}
    return _decide(stage, [decision])


def decide_stale(stage: Stage, chooser: Chooser) -> Move | None:
    """A decision for a suspension that is over."""
    if stage.run is None or not stage.may_decide() or not stage.handshake.decisions.suspensions:
        return None
    past = [c for c in stage.run.calls.values() if c.suspensions > (1 if c.waits else 0)]
    if not past:
        return None
    decision = _decision(stage, chooser, pick(chooser, past).id, pick(chooser, ("resume", "cancel")))
    return _decide(stage, [{**decision, "suspension": 1}])


def decide_with_a_bad_one(stage: Stage, chooser: Chooser) -> Move | None:
    """A good decision in one batch with one for a call that nobody asked for."""
    waiting = stage.waiting()
    if not waiting or not stage.may_decide():
        return None
    good = _decision(stage, chooser, pick(chooser, waiting).id, "resume")
    bad = _decision(stage, chooser, "nobody", "resume")
    return _decide(stage, [bad, good] if chance(chooser, 2) else [good, bad])


# --- races and time -----------------------------------------------------------------------------


def races(stage: Stage, chooser: Chooser) -> Move | None:
    """Two or three things happen before the runtime runs again."""
    if "deliver" not in stage.handshake.stimuli:
        return None
    wanted = [ACTIONS[pick(chooser, RACERS)] for _ in range(2 + chooser.choose(2))]
    moves: list[Move] = []
    for action in wanted:
        move = action(stage, chooser)
        if move is not None and not meets(move, moves):
            moves.append(move)
    return race(moves) if len(moves) > 1 else None


def meets(move: Move, moves: list[Move]) -> bool:
    """Whether the gate of a release is taken already in the race."""
    return "gate" in move.params and any(move.params["gate"] == other.params.get("gate") for other in moves)


def settle(stage: Stage, chooser: Chooser) -> Move | None:
    """Nothing happens; the runtime runs on."""
    return Move("settle", {}) if stage.account.runs else None


def time_passes(stage: Stage, chooser: Chooser) -> Move | None:
    """The clock moves on."""
    able = "clock.advance" in stage.handshake.stimuli and stage.handshake.control.clock == "virtual"
    return Move("clock.advance", {"ms": 1000}) if able and stage.account.runs else None


TOOL_KINDS: Final = ("ok", "warning", "error", "raise", "fault", "pending", "activity")
VERDICTS: Final = ("allow", "block", "suspend", "set_result")

RACERS: Final = (
    "tool_ok",
    "tool_error",
    "tool_pending",
    "permission_allow",
    "permission_suspend",
    "approve",
    "reject",
    "decide_anything",
    "cancel",
    "model_ends",
    "model_asks",
    "watch",
    "unwatch",
)
"""The classes of which two or three may happen at once."""

ACTIONS: Final[dict[str, Action]] = {
    "start": start,
    "model_asks": model_asks,
    "model_asks_for_one_kind": model_asks_for_one_kind,
    "model_ends": model_ends,
    "model_errs": model_errs,
    "model_breaks": model_breaks,
    **{f"tool_{kind}": tool_answers(kind) for kind in TOOL_KINDS},
    **{f"permission_{kind}": permission_answers(kind) for kind in VERDICTS},
    "store_takes": store_takes,
    "store_breaks": store_breaks,
    "approve": decide_one("resume"),
    "reject": decide_one("cancel"),
    "decide_all": decide_all,
    "decide_anything": decide_anything,
    "decide_twice": decide_twice,
    "decide_stale": decide_stale,
    "decide_with_a_bad_one": decide_with_a_bad_one,
    "cancel": cancel,
    "give_input": give_input,
    "crash": crash,
    "kill": kill,
    "races": races,
    "settle": settle,
    "time_passes": time_passes,
    "hook_continues": hook_continues,
    **{f"hook_{kind}": hook_acts(kind) for kind in ("terminate", "skip_inference", "rewrite")},
    "watch": watch,
    "unwatch": unwatch,
    "decide_and_watch": decide_and_watch,
}
"""Every class of action by name, in a fixed order."""

FAMILIES: Final = {
    "model_": "model",
    "permission_": "permission",
    "tool_": "tool",
    "store_": "store.put",
    "hook_": "hook",
}
"""Classes of action that release a gate, by how their names begin."""

GATE_OF: Final[dict[str, str]] = {
    name: gate for name in ACTIONS for family, gate in FAMILIES.items() if name.startswith(family)
}
"""The kind of gate that a class of action releases: without an open one it has no occasion."""


def with_turns(move: Move, stage: Stage, chooser: Chooser) -> Move:
    """The move, now and then with so few turns that the next one meets the runtime at work."""
    if stage.handshake.control.step != "turns" or move.method == CRASH_AND_RECOVER:
        return move
    return Move(move.method, move.params, chooser.choose(TURNS_MAX)) if chance(chooser, 4) else move
