"""What the adapters of agent libraries have in common, so that each holds no more than what is its own.

Such a library ends a segment with a request for each call that waits.  A decision says yes or no to one of
them, and begins a new segment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final

from pydantic import JsonValue

from runlock.conformance.adapter import (
    Control,
    DecisionSupport,
    Handshake,
    Host,
    InputSupport,
    ModelOutcome,
    OfferedOutcomes,
    Party,
    PermissionOutcome,
    Reason,
    ReasonCode,
    Refused,
    Scenario,
    Segment,
    ToolCall,
    ToolFeature,
    ToolOutcome,
    Turn,
)

YES_OR_NO: Final = DecisionSupport(
    live=False, ids=False, suspensions=False, payload=False, after_error=True, after_cancel=True
)
"""What most libraries take in a decision."""


ENDS: Final[list[JsonValue]] = ["NaturalEnd", "Suspended", "Cancelled", "Error"]
"""The reasons for which a segment ends, where no stop condition ends it."""

CALLED: Final[Mapping[str, JsonValue]] = {
    "run.created": "no",
    "waiting": "reentered",
    "decision.window": "between_segments",
    "grant.scopes": ["once"],
    "grant.match": "call",
    "reasons": ENDS,
}
"""What holds where a run is a call of a function: it is nothing before that, its wait is what the function
returns, a decision calls it again, and an approval is for one call unless the library says more."""

ABSENT: Final = "<absent>"
"""The default of a parameter of a tool, which tells that the model left it out."""


class Thread:
    """One thread of a library.

    `asked` holds the library's own request for each call that waits or waited, and `waiting` the calls that
    the last segment left.
    """

    async def open(self, host: Host, scenario: Scenario) -> None:
        """Nothing waits yet."""
        self.host = host
        self.asked: dict[str, Any] = {}
        self.waiting: list[str] = []

    def ended(
        self, requests: Iterable[tuple[str, Any]], otherwise: Reason | ReasonCode = "NaturalEnd"
    ) -> Segment:
        """How a segment ended that left these requests, each after its call."""
        left = list(requests)
        self.asked |= dict(left)
        self.waiting = [call for call, _ in left]
        return Segment("Suspended", self.waiting) if left else Segment(otherwise)

    def show(self, call: str, name: str, args: Any) -> None:
        """Those who decide are shown a call, as the library's request for it has it."""
        self.host.observe("call.shown", call=call, name=name, args=args)

    def waiting_again(self, calls: Sequence[str]) -> Segment:
        """The segment of a recovered run whose caller still has the requests of these calls."""
        if not calls:
            raise Refused(
                "its caller has nothing of this run: neither a text without an answer, nor a request"
            )
        return Segment("Suspended", list(calls))


def offers(
    name: str,
    package: str,
    *,
    tool: list[ToolOutcome],
    model: Sequence[ModelOutcome] = (),
    permission: Sequence[PermissionOutcome] = (),
    policies: Mapping[str, JsonValue],
    decisions: DecisionSupport = YES_OR_NO,
    observes: Sequence[str] = (),
    tools: Sequence[ToolFeature] = (),
    steered: bool = False,
    store: bool = False,
    keeps_waits: bool = False,
) -> Handshake:
    """The handshake of such a library: `model` is what ends a turn besides a whole answer and a fault, `tool`
    what a tool may do, `tools` what else it may be, `steered` whether input is taken at work, `store` whether
    the library's own writes wait for the kit, and `keeps_waits` whether a crash leaves what it handed out
    when a run came to wait.

    `permission` is what a hook can say of a single call; left out, the library has no such hook.
    """
    more: dict[Any, bool] = {"permission": bool(permission), "store.put": store}
    gated: list[ToolFeature] = ["gate"] if permission else []
    return Handshake(
        implementation=Party(name=name, version=version(package), language="python"),
        policies={**CALLED, **policies},
        control=Control(told="kept") if keeps_waits else Control(),
        gates=["model", "tool", *filter(more.get, more)],
        observes=list(observes),
        stimuli=["decide", "cancel", "run.again", "run.input", "clock.advance", "deliver"],
        outcomes=OfferedOutcomes(model=["turn", "fault", *model], tool=tool, permission=list(permission)),
        tools=["allow", "ask", *gated, *tools],
        decisions=decisions,
        inputs=InputSupport(working=steered),
    )


def given(**arguments: Any) -> dict[str, Any]:
    """The arguments that a tool was called with, without the defaults of what was left out."""
    return {name: value for name, value in arguments.items() if value != ABSENT}


def arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments of a call, as an object of their own; no runtime that declares nothing gets a text."""
    if isinstance(call.args, str):
        raise TypeError(f"the arguments of call {call.id} are a text: {call.args}")
    return dict(call.args)


def parts(turn: Turn, text: Callable[[str], Any], call: Callable[[ToolCall], Any]) -> list[Any]:
    """A turn of the model in a library's own parts: its text, if there is any, and then its calls."""
    return [*([text(turn.text)] if turn.text else []), *map(call, turn.tool_calls)]
