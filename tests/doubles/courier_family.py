"""A made-up family of three messages and its own outcomes, whose line formats are made from its models."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field, TypeAdapter

from runlock.conformance.protocol import (
    ClockAdvance,
    Deliver,
    Empty,
    Fault,
    GateOpened,
    GateRelease,
    Handshake,
    Initialize,
    Inspect,
    Message,
    Observation,
    Recover,
    Report,
    Scenario,
    Settle,
    Turn,
    Wire,
)
from runlock.conformance.protocol.scenario import Closed
from runlock.conformance.protocol.stimuli import Stimulus
from runlock.conformance.trace.line_formats import LineFormats
from runlock.conformance.trace.plain_formats import plain_formats


class Start(Stimulus):
    """A new run."""

    run: str
    input: str


class Parcel(Stimulus):
    """Something to carry."""

    run: str
    label: str
    size: Literal["small", "large"]
    weight: float | None = None


class Moved(Observation):
    """The place of a parcel changed."""

    kind: Literal["parcel.place"] = "parcel.place"
    label: str
    origin: str | None = Field(default=None, alias="from")
    to: str


class Signed(Observation):
    """Someone signed for a parcel."""

    kind: Literal["signed"] = "signed"
    by: str
    reason: str | None = None


class Said(Observation):
    """A message joined the thread; `copy_of` names an earlier one."""

    kind: Literal["message"] = "message"
    message: Message
    copy_of: str | None = None


class Delta(Wire):
    """A piece of a turn."""

    kind: Literal["delta"]
    text: str | None = None


class Van(Wire):
    """A vehicle of the scenario."""

    name: str
    seats: int = 1


class CourierScenario(Scenario):
    """Vans, and the roads that are closed."""

    vans: list[Van] = Field(default_factory=list)
    closed: list[str] = Field(default_factory=list)


METHODS: Final[dict[str, tuple[type[Wire], type[Wire]]]] = {
    "initialize": (Initialize, Handshake),
    "scenario.open": (CourierScenario, Empty),
    "scenario.close": (Empty, Closed),
    "run.start": (Start, Report),
    "parcel": (Parcel, Report),
    "gate.release": (GateRelease, Report),
    "deliver": (Deliver, Report),
    "clock.advance": (ClockAdvance, Report),
    "settle": (Settle, Report),
    "recover": (Recover, Report),
    "inspect": (Inspect, Empty),
}
OBSERVATIONS: Final[dict[str, type[Observation]]] = {
    "gate.open": GateOpened,
    "parcel.place": Moved,
    "signed": Signed,
    "message": Said,
}


def courier_formats() -> LineFormats:
    """The formats of the family."""
    return plain_formats(
        "courier",
        METHODS,
        OBSERVATIONS,
        CourierScenario,
        {"model": TypeAdapter(Turn | Delta | Fault)},
        keeps_open=frozenset({"delta"}),
    )
