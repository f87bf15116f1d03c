"""What the reference runtime knows of a run: all of it durable, none of it anywhere else.

A `RunState` is written whole into every checkpoint and read whole at recovery, so that "what survives
a crash" needs no second answer.
"""

from __future__ import annotations

import copy
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from runlock.machines.lifecycle.charts.call import ToolCall
from runlock.machines.lifecycle.charts.run import Run, RunWithCreated
from runlock.machines.table import Table, compile_chart

CALL_TABLE = compile_chart(ToolCall)
RUN_TABLE = compile_chart(Run)
CREATED_TABLE = compile_chart(RunWithCreated)

FINAL = frozenset(CALL_TABLE.finals)

Message = dict[str, Any]
"""One message of the thread, in the shape that the protocol gives it."""


def run_table(created: bool) -> Table:
    """The run's chart, with or without Created."""
    return CREATED_TABLE if created else RUN_TABLE


@dataclass
class Decision:
    """A decision that was accepted or buffered, until it has acted."""

    id: str
    call: str
    action: str
    payload: Any = None
    suspension: int | None = None
    edit: dict[str, Any] | None = None  # the tool and the arguments that take the place of the call's own
    scope: str | None = None  # how long the approval stands, if for longer than for its call

    @property
    def by_clock(self) -> bool:
        """Whether no one has sent it: the wait of its call has expired."""
        return self.id.startswith("expiry-")

    def to_wire(self) -> dict[str, Any]:
        """What a checkpoint holds of it under the call that it decides."""
        held = {"id": self.id, "action": self.action, "payload": self.payload, "edit": self.edit}
        return _without_empty(held)


@dataclass
class Call:
    """One tool call of the run."""

    id: str
    name: str
    args: dict[str, Any]
    resume_mode: str = "replay"
    status: str = "New"
    suspension: int = 0  # how often it was suspended so far
    step: int = 0  # the inference that asked for it
    committed: bool = False  # its result stands in the thread
    expires_at_ms: int | None = None  # when the wait that is open ends
    is_granted: bool = False  # a grant covered it when the model asked for it
    waits_as: str | None = None  # the tool as which it waited last, once an edit names another
    flaw: str | None = None  # why it is not executed, if the turn that asked for it broke off

    @property
    def is_final(self) -> bool:
        """Whether nothing can move it any more."""
        return self.status in FINAL


@dataclass
class Reason:
    """Why a segment ended."""

    code: str
    detail: str | None = None
    stop: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """The reason in the protocol's shape."""
        wire: dict[str, Any] = {"code": self.code, "detail": self.detail}
        if self.stop is not None:
            wire["stop"] = {"code": self.stop, "detail": self.detail}
        return wire


@dataclass
class RunState:
    """A run, its calls, the decisions that have not acted yet, and the thread so far."""

    number: int = 0  # of the run on its thread, from 1
    status: str | None = None
    reason: Reason | None = None
    step: int = 0
    calls: dict[str, Call] = field(default_factory=dict)
    decisions: dict[str, Decision] = field(default_factory=dict)  # accepted, by call
    acting: dict[str, Decision] = field(default_factory=dict)  # taken up by a replay that is not over
    early: list[Decision] = field(default_factory=list)  # buffered, in order of arrival
    seen_decisions: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)  # said while it was at work, and not shown yet
    grants: list[dict[str, Any]] = field(default_factory=list)  # that stand: tool, args and scope of each
    cut: int = 0  # how many of them the model is not shown any more, but for a summary
    turn_was_last: bool = False  # the model asked for nothing, and nothing has happened since
    tokens: int = 0
    errors_in_a_row: int = 0
    history_of_calls: list[list[Any]] = field(default_factory=list)  # [name, args] of every call so far
    started_ms: int = 0
    steps_ended: int = 0
    setup: dict[str, Any] = field(default_factory=dict)  # what a plugin set up when the run started
    offered: list[str] | None = None  # the tools that the model was offered last, if a plugin chose them

    @property
    def user_was_last(self) -> bool:
        """Whether the user has said something since the model was heard last."""
        said = (m["role"] for m in reversed(self.messages) if m["role"] in ("user", "assistant"))
        return next(said, None) == "user"

    def live(self) -> list[Call]:
        """The calls that are not final, in the order in which they were asked for."""
        return [call for call in self.calls.values() if not call.is_final]

    def in_status(self, *statuses: str) -> list[Call]:
        """The calls in one of the statuses, in the order in which they were asked for."""
        return [call for call in self.calls.values() if call.status in statuses]

    def last_round(self) -> list[Call]:
        """The calls of the newest step that asked for any."""
        newest = max((call.step for call in self.calls.values()), default=0)
        return [call for call in self.calls.values() if call.step == newest]

    def to_checkpoint(self, without: Collection[str] = ()) -> dict[str, Any]:
        """The durable form: the protocol's minimum, and under `own` what this runtime adds.

        A message is replaced and never changed, and so are arguments: what is listed here stays as it is.
        `without` are keys of plugin state that are not to survive.
        """
        setup = {key: value for key, value in self.setup.items() if key not in without}
        return {
            "run": {
                "number": self.number,
                "status": self.status,
                "reason": self.reason and self.reason.to_wire(),
                "step": self.step,
            },
            "calls": {call.id: _call_to_wire(call) for call in self.calls.values()},
            "decisions": {
                call: decision.to_wire() for call, decision in (self.acting | self.decisions).items()
            },
            "messages": [*self.messages],
            "own": {
                "early": [_without_empty(vars(decision)) for decision in self.early],
                "seen_decisions": list(self.seen_decisions),
                "turn_was_last": self.turn_was_last,
                "tokens": self.tokens,
                "errors_in_a_row": self.errors_in_a_row,
                "history_of_calls": [*self.history_of_calls],
                "started_ms": self.started_ms,
                "steps_ended": self.steps_ended,
                **({"inputs": [*self.inputs]} if self.inputs else {}),
                **({"grants": [*self.grants]} if self.grants else {}),
                **({"cut": self.cut} if self.cut else {}),
                **({"setup": setup} if setup else {}),
                **({"offered": self.offered} if self.offered is not None else {}),
            },
        }


def _without_empty(decision: dict[str, Any]) -> dict[str, Any]:
    """A decision without the edit and the scope that it does not have."""
    return {
        key: value for key, value in decision.items() if key not in ("edit", "scope") or value is not None
    }


def _call_to_wire(call: Call) -> dict[str, Any]:
    return {
        "status": call.status,
        "name": call.name,
        "args": call.args,
        "resume_mode": call.resume_mode,
        "suspension": call.suspension,
        "step": call.step,
        "committed": call.committed,
        **({"expires_at_ms": call.expires_at_ms} if call.expires_at_ms is not None else {}),
        **({"is_granted": True} if call.is_granted else {}),
        **({"waits_as": call.waits_as} if call.waits_as is not None else {}),
        **({"flaw": call.flaw} if call.flaw is not None else {}),
    }


class ContradictoryCheckpoint(ValueError):
    """A checkpoint that speaks of a call which it does not hold."""


def from_checkpoint(state: dict[str, Any]) -> RunState:
    """The run that `to_checkpoint` wrote; a call whose body was running has to run again."""
    _refuse_unknown_calls(state)
    run, own = state["run"], state["own"]
    reason = run["reason"]
    restored = RunState(
        number=run["number"],
        status=run["status"],
        reason=reason and Reason(reason["code"], reason["detail"], (reason.get("stop") or {}).get("code")),
        step=run["step"],
        messages=copy.deepcopy(state["messages"]),
        inputs=[*own.get("inputs", ())],
        grants=copy.deepcopy(own.get("grants", [])),
        cut=own.get("cut", 0),
        early=[Decision(**decision) for decision in own["early"]],
        seen_decisions=list(own["seen_decisions"]),
        turn_was_last=own["turn_was_last"],
        tokens=own["tokens"],
        errors_in_a_row=own["errors_in_a_row"],
        history_of_calls=copy.deepcopy(own["history_of_calls"]),
        started_ms=own["started_ms"],
        steps_ended=own["steps_ended"],
        setup=copy.deepcopy(own.get("setup", {})),
        offered=own.get("offered"),
    )
    for call_id, raw in state["calls"].items():
        restored.calls[call_id] = Call(id=call_id, **copy.deepcopy(raw))
    for call_id, raw in state["decisions"].items():
        suspension = restored.calls[call_id].suspension
        restored.decisions[call_id] = Decision(
            raw["id"],
            call_id,
            raw["action"],
            copy.deepcopy(raw["payload"]),
            suspension,
            copy.deepcopy(raw.get("edit")),
        )
    return restored


def _refuse_unknown_calls(state: dict[str, Any]) -> None:
    held = state["calls"]
    for call, decision in state["decisions"].items():
        if call not in held:
            raise ContradictoryCheckpoint(
                f"decision {decision['id']} of the checkpoint is about call {call}; {_held(held)}"
            )


def _held(calls: dict[str, Any]) -> str:
    return f"the checkpoint holds {', '.join(calls)}" if calls else "the checkpoint holds no call"
