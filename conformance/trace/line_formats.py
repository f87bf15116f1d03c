"""How the lines of a scenario file are laid out; each family provides its own formats as one `LineFormats`.

The fields of a line are derived from the models of the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from runlock.conformance.protocol import Ended, Observation, Refusal, Wire

INDENT: Final = "  "
RACE: Final = "race"
RELEASE: Final = "release"
CALLS: Final = "tool_calls"
"""The field in which a call can be written `c1:t0`."""

TARGET: Final = "target"
FAMILY: Final = "family"
NEEDS: Final = "needs"
HEADINGS: Final = ("handshake", "scenario", "crash", "end", "record")
ANSWERS: Final = ("unlisted", "refused", "report", "unanswered", "record")


@dataclass(frozen=True, slots=True)
class LineFormat:
    """The format of lines that begin with one word: positional values, named fields, and implied values."""

    word: str
    positions: tuple[str, ...] = ()
    models: tuple[type[Wire], ...] = ()
    listed: frozenset[str] = frozenset()  # fields in addition to those of the models
    implied: Mapping[str, Any] = field(default_factory=dict)
    about_a_run: bool = False  # the newest run is implied
    inner: str = ""  # the field whose own fields stand in the line
    is_change: bool = False  # `OLD -> NEW` stands for the fields `from` and `to`
    items: ListFormat | None = None

    def fields(self) -> set[str]:
        """The fields that the protocol defines for it."""
        return {*self.listed, *(name for model in self.models for name in fields_of(model))}

    def own_fields(self) -> set[str]:
        """The fields of an observation that are not those of its inner object."""
        return {name for name in fields_of(self.models[0]) if name not in ("kind", self.inner)}

    def implying(self, run: Any) -> LineFormat:
        """The format with the newest run implied, for a line about a run where there is one."""
        if not self.about_a_run or run is None:
            return self
        return replace(self, implied={**self.implied, "run": run})


@dataclass(frozen=True, slots=True)
class ListFormat:
    """A list of objects that is written in one line, separated by semicolons."""

    field: str
    format: LineFormat
    noun: str
    example: str


@dataclass(frozen=True, slots=True)
class MemberFormat:
    """An indented line of a scenario, and the list in the scenario to which it adds."""

    path: tuple[str, ...]
    format: LineFormat | None = None  # None: the values of the line are the members of the list


def no_fields(call: str) -> Mapping[str, Any]:
    """No implied fields."""
    return {}


@dataclass(frozen=True, eq=False)
class LineFormats:
    """What a family contributes to the format of its scenario files."""

    family: str
    handshake: LineFormat
    scenario: LineFormat
    stimuli: Mapping[str, LineFormat]  # by method
    observations: Mapping[str, LineFormat]  # by kind
    outcome: LineFormat
    gate_name: Callable[[Mapping[str, Any]], str]  # of the observation that opens the gate
    members: Mapping[str, MemberFormat] = field(default_factory=dict)  # by the word of the indented line
    outcome_text: Mapping[str, str] = field(default_factory=dict)  # kind: its field that needs no name
    keeps_open: frozenset[str] = frozenset()  # outcome kinds after which the gate is still open
    begins_run: frozenset[str] = frozenset({"run.start", "recover"})  # methods that name the newest run
    codes: Mapping[str, Callable[[str], Any]] = field(default_factory=dict)  # field: object with this `code`
    call_gate: Callable[[str], Mapping[str, Any]] = no_fields  # implied by the call of a gate

    def __post_init__(self) -> None:
        words = [FAMILY, TARGET, NEEDS, *HEADINGS, *(line.word for line in self.stimuli.values())]
        answers = [*ANSWERS[:-1], *self.observations]
        twice = sorted({word for word in words + answers if (words + answers).count(word) > 1})
        if twice:
            raise ValueError(f"Two lines of the family {self.family} have one word: {', '.join(twice)}.")

    @cached_property
    def methods(self) -> Mapping[str, str]:
        """The method that each word stands for."""
        return {line.word: method for method, line in self.stimuli.items()}

    @cached_property
    def headings(self) -> tuple[str, ...]:
        """The words that can begin a block."""
        return (*HEADINGS, *self.methods)

    @cached_property
    def answers(self) -> tuple[str, ...]:
        """The words of lines under the rule."""
        return (*ANSWERS, *self.observations)

    @cached_property
    def semicolons(self) -> str:
        """Which lists are written with semicolons."""
        lists = [line.items.field for line in self.stimuli.values() if line.items is not None]
        return f"Only {' and '.join(lists)} are parted by semicolons." if lists else "No line has one."

    def gate_of_call(self, call: str) -> LineFormat:
        """The format of `gate.open` for a gate that is named with its call."""
        return replace(self.observations["gate.open"], implied=self.call_gate(call))


REFUSED: Final = LineFormat("refused", ("why",), (Refusal,), implied={"stimulus": 0})
CRASH: Final = LineFormat("crash", ("by",))
END: Final = LineFormat("end", (), (Ended,), implied={"leaks": []})
UNLISTED: Final = LineFormat("unlisted", ("kind",), (Observation,), about_a_run=True)


def fields_of(model: type[Wire]) -> list[str]:
    """The fields of a message as they are called on the wire."""
    return [info.alias or name for name, info in model.model_fields.items()]


def reason_of(code: str) -> dict[str, Any]:
    """A reason that is only a code."""
    return {"code": code, "detail": None}


def call_of(call: str, name: str) -> dict[str, Any]:
    """A call whose only argument is its own id."""
    return {"id": call, "name": name, "args": {"k": call}}


def named_by(*fields: str) -> Callable[[Mapping[str, Any]], str]:
    """Names a gate by those of these fields that it has, as in `tool:c1`."""

    def gate_name(opened: Mapping[str, Any]) -> str:
        return ":".join(str(opened[name]) for name in fields if opened.get(name) is not None)

    return gate_name
