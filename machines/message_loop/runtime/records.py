"""Records of the reference loop: settings, turn, pass, response, call, stage execution."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from runlock.machines.message_loop.charts.bounds import ContinuationBound
from runlock.machines.message_loop.charts.executions import SessionTurn, StageExecution
from runlock.machines.message_loop.charts.stages import Pass
from runlock.machines.message_loop.charts.statuses import CallStatus, TurnStatus
from runlock.machines.message_loop.runtime.scopes import Scope
from runlock.machines.table import Cursor, compile_chart

ITERATIONS_DEFAULT: Final = 50
Message = dict[str, Any]


@dataclass(frozen=True)
class HookSpec:
    """A hook and its slot."""

    id: str
    at: str
    point: str
    kind: str


@dataclass(frozen=True)
class StageSpec:
    """The configuration of a stage, fixed by the state machine before its pass begins."""

    body: str
    allowed_tools: tuple[str, ...] = ()
    grants: tuple[tuple[str, int], ...] = ()
    turn_cap: int = ITERATIONS_DEFAULT
    completion: str = "complete"


@dataclass(frozen=True)
class Settings:
    """The configuration of a session."""

    system: str | None = None
    tools: Mapping[str, bool] = field(default_factory=dict)  # name: whether a chat turn offers it
    remote: tuple[str, ...] = ()  # names of tools in another process; the loop treats them like local tools
    mode: str = "ask"
    allowlist: tuple[str, ...] = ()
    interactors: tuple[str, ...] = ()
    hooks: tuple[HookSpec, ...] = ()
    context: tuple[tuple[str, int], ...] = ()
    max_iterations: int = ITERATIONS_DEFAULT
    decides: bool = False
    stages: Mapping[str, StageSpec] = field(default_factory=dict)


@dataclass(frozen=True)
class Reason:
    """Why a turn ended; `stop` is the code of the bound."""

    code: str
    detail: str | None = None
    stop: str | None = None


class TurnFault(Exception):
    """A fault: the turn ends in Error."""


class Refusal(Exception):
    """A guard of a stage denies, or a denial reaches the turn: the turn ends as Blocked."""


@dataclass
class Token:
    """An approval in advance for some calls of one tool."""

    tool: str
    uses: int


@dataclass(frozen=True)
class StandingGrant:
    """A person's approval of one call that also covers later calls."""

    call: Call
    ask: str
    tool: str
    args: Any
    scope: str
    stage: str | None


@dataclass(eq=False)
class Call:
    """One call of one round, and its state in the authority stack."""

    id: str
    name: str
    args: Any
    scope: Scope
    authority: Cursor
    status: Cursor = field(default_factory=lambda: Cursor(compile_chart(CallStatus)))
    attempts: int = 0
    result: tuple[str, Any] | None = None
    finished: int | None = None  # position in the order in which calls of the round finished
    token: Token | None = None
    drained: bool = False
    judged: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_settled(self) -> bool:
        """Whether it has its result."""
        return self.result is not None

    @property
    def is_started(self) -> bool:
        """Whether its tool was entered."""
        return self.attempts > 0


@dataclass(eq=False)
class Round:
    """The calls of one response."""

    calls: list[Call]
    halted: str | None = None  # why the turn ends as Blocked after the round

    def before(self, call: Call) -> list[Call]:
        """The calls of the round that come earlier than this one."""
        return self.calls[: self.calls.index(call)]

    def count_finished(self) -> int:
        """How many calls have finished."""
        return sum(call.finished is not None for call in self.calls)


@dataclass
class Response:
    """A response as its transforms rewrote it."""

    text: str
    calls: Sequence[Any] = ()
    terminal: bool = False


@dataclass(eq=False)
class Execution:
    """One stage execution, over all its attempts."""

    id: str
    name: str
    spec: StageSpec
    scope: Scope
    tokens: list[Token]
    transcript: list[Message] = field(default_factory=list)
    chart: Cursor = field(default_factory=lambda: Cursor(compile_chart(StageExecution)))
    attempt: int = 1
    cap_hit: bool = False

    @property
    def status(self) -> str:
        """Running, or how it ended."""
        return self.chart.state if self.chart.is_final else "Running"


@dataclass(eq=False)
class PassRecord:
    """One pass through the stages; its requests are built from `transcript`."""

    id: str
    scope: Scope
    transcript: list[Message]
    execution: Execution | None = None
    chart: Cursor = field(default_factory=lambda: Cursor(compile_chart(Pass)))
    bound: Cursor = field(default_factory=lambda: Cursor(compile_chart(ContinuationBound)))
    step: int = 0
    rounds: int = 0
    calls: dict[str, Call] = field(default_factory=dict)
    input: str = ""
    has_uncommitted_results: bool = False

    @property
    def stage(self) -> str | None:
        """The id of its stage execution."""
        return self.execution.id if self.execution is not None else None


@dataclass(eq=False)
class Turn:
    """One turn of the session."""

    id: str
    scope: Scope = field(default_factory=Scope)
    chart: Cursor = field(default_factory=lambda: Cursor(compile_chart(SessionTurn)))
    status: Cursor = field(default_factory=lambda: Cursor(compile_chart(TurnStatus)))
    reason: Reason | None = None
    passes: list[PassRecord] = field(default_factory=list)
    executions: dict[str, Execution] = field(default_factory=dict)
    cancellation: Cursor | None = None
    is_rendered: bool = False
    is_ending: bool = False
    prompt_line: asyncio.Lock = field(default_factory=asyncio.Lock)
