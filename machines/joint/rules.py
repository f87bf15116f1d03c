"""The kinds of rules about joint states and steps, and what a model makes of its subjects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from runlock.machines.joint.model import Call, Control

__all__ = ["Due", "Never", "NeverStep", "Occasion", "Rule", "StepTest", "Subjects", "Where", "Which"]

Where = Callable[[Control], bool]
Which = Callable[[Call], bool]
Occasion = Callable[[Control, Call], bool]
StepTest = Callable[[Control, Call, Control, Call], bool]


@dataclass(frozen=True, slots=True)
class Never:
    """A joint state that must not be: `where` holds, each of `some` of some call, and `none` of no call."""

    clause: str
    because: str
    where: Where
    some: tuple[Which, ...] = ()
    none: Which | None = None
    at_rest: bool = False  # checked only when the runtime has nothing to do
    only: tuple[str, str] = ("", "")  # asked only under this value of a policy


@dataclass(frozen=True, slots=True)
class NeverStep:
    """A step that must not be: one that is `asked` and for which `when` holds, of a call before and after."""

    clause: str
    because: str
    when: StepTest
    asked: StepTest = lambda control, call, to, after: True
    only: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Due:
    """A step of a run, call, decision or gate that must be possible: taken `when`, due where `due` says."""

    clause: str
    subject: str
    source: str
    target: str
    due: Occasion
    when: Occasion = lambda control, call: True


Rule = Never | NeverStep | Due


@dataclass(frozen=True, slots=True)
class Subjects:
    """The subjects of a model that a `Due` rule names, and the state of each in a joint state."""

    names: tuple[str, ...]
    stands: Callable[[Control, Call], tuple[str, ...]]
    is_jump: Callable[[Control, Control], bool]  # a step that no chart draws, such as a crash
    stuck: str  # the clause under which a run is that cannot come to its end
