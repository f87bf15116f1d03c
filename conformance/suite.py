"""The Hypothesis machine: one rule for each class of action, drawn, switched and shrunk by Hypothesis.

`conformance_test` is the whole of it for a test file of one's own: it raises `ClauseBroken` on the
shortest schedule that Hypothesis finds.  A campaign uses the same machine to generate, and gathers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Final

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from interlock.conformance.actions import ACTIONS, GATE_OF, Stage, with_turns
from interlock.conformance.campaign import Bench, Tally
from interlock.conformance.exceptions import InterlockError
from interlock.conformance.moves import Move
from interlock.conformance.session import Session
from interlock.conformance.sut import Sut

STEPS_MAX: Final = 20

GENERATE: Final = settings(
    phases=(Phase.generate,),
    stateful_step_count=STEPS_MAX,
    deadline=None,
    database=None,
    suppress_health_check=tuple(HealthCheck),
)
TEST: Final = settings(GENERATE, phases=(Phase.generate, Phase.shrink), print_blob=False)


class ClauseBroken(AssertionError):
    """A clause is broken; the message says which, why, and by which stimuli."""


class Plain:
    """The chooser that always makes the plainest choice."""

    def choose(self, count: int) -> int:
        return 0


PLAIN: Final = Plain()


class Drawing:
    """A chooser whose choices Hypothesis draws, so that it can shrink them."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data

    def choose(self, count: int) -> int:
        return int(self.data.draw(st.integers(0, count - 1)))


class Machine(RuleBasedStateMachine):
    """A scenario under way on the runtime of `bench`; with a `tally` it gathers, without it raises."""

    bench: ClassVar[Bench]
    tally: ClassVar[Tally | None] = None

    def __init__(self) -> None:
        super().__init__()
        self.session: Session | None = None
        self.stage: Stage | None = None
        self.aside: Stage | None = None  # where actions try whether they have an occasion
        self.open_kinds: set[str] = set()  # of gates

    @initialize(index=st.integers(0, 9))
    def open(self, index: int) -> None:
        """A scenario is opened, and its first run begins."""
        if self.tally is not None and not self.bench.admit(self.tally):
            return
        scenario = self.bench.scenarios[index % len(self.bench.scenarios)]
        self.session = self.bench.session(scenario)
        self.stage = Stage(self.session.account)
        self.act("start", PLAIN)

    def act(self, name: str, chooser: Any) -> None:
        """Let an action of this class happen, if there is still something to find."""
        if self.session is None or self.stage is None or self.session.violation is not None:
            return
        move = ACTIONS[name](self.stage, chooser)
        if move is not None:
            move = with_turns(move, self.stage, chooser)
            with self.trouble():
                self.session.send(move)
        can_go_on = self.session is not None and self.session.violation is None
        self.aside = self.stage.aside() if can_go_on else None
        self.open_kinds = {gate.on for gate in self.stage.account.open_gates}
        self.complain()

    @contextmanager
    def trouble(self) -> Iterator[None]:
        """What cannot be judged is played once more on a fresh SUT, and then counted as trouble."""
        try:
            yield
        except InterlockError:
            if self.tally is None or self.session is None:
                raise
            scenario, moves, self.session = self.session.scenario, tuple(self.session.attempted), None
            self.bench.renew()
            self.bench.play(scenario, lambda session: _replayed(session, moves), self.tally)

    def has_occasion(self, name: str) -> bool:
        """Whether an action of this class has something to act on."""
        if self.aside is None:
            return name == "settle"  # Hypothesis wants a rule at every step
        gate = GATE_OF.get(name)
        if gate is not None and gate not in self.open_kinds:
            return False
        return ACTIONS[name](self.aside, PLAIN) is not None

    def complain(self) -> None:
        """Raise what is broken, unless it is only gathered."""
        violation = self.session.violation if self.session is not None else None
        if violation is not None and self.tally is None:
            raise ClauseBroken(f"{violation.clause}: {violation.because}")

    def teardown(self) -> None:
        """Give the run whatever it still waits for; then nothing may be left open."""
        session = self.session
        if session is None:
            return
        try:
            with self.trouble():
                session.drain()
            session.judge.end()
            self.complain()
        finally:
            with self.trouble():
                session.close()
        if self.tally is not None and self.session is session:
            self.bench.enter(session, self.tally)
        self.session = self.stage = self.aside = None  # Hypothesis keeps the machine until a collection


def _replayed(session: Session, moves: Sequence[Move]) -> None:
    session.play(moves)
    session.drain()
    session.close()


def _rule(name: str) -> Any:
    def act(self: Machine, data: st.DataObject) -> None:
        self.act(name, Drawing(data))

    def has_occasion(self: Machine) -> bool:  # by its name: Hypothesis looks up the source of a lambda
        return self.has_occasion(name)

    act.__name__ = name
    act.__doc__ = ACTIONS[name].__doc__
    return precondition(has_occasion)(rule(data=st.data())(act))


def machine(bench: Bench, tally: Tally | None = None) -> type[Machine]:
    """A machine for the runtime on the bench, with a rule for each class of action."""
    rules = {name: _rule(name) for name in ACTIONS if name not in ("start", "kill")}
    again = {"start_again": _rule("start")}
    return type("RuntimeMachine", (Machine,), {**rules, **again, "bench": bench, "tally": tally})


def generate(bench: Bench, examples: int, seed_number: int, tally: Tally) -> None:
    """Let Hypothesis generate that many schedules, and gather what they show."""
    made = seed(seed_number)(machine(bench, tally))
    run_state_machine_as_test(made, settings=settings(GENERATE, max_examples=examples))


def conformance_test(open_sut: Callable[[], Sut], examples: int = 200) -> None:
    """Test a runtime as a unit test does; raises `ClauseBroken`, shrunk, for the first broken clause.

    `open_sut` makes a fresh SUT, e.g. `lambda: Hosted(MyAdapter)` or `resolve("cmd:./adapter").open`.
    """
    bench = Bench(open_sut)
    try:
        run_state_machine_as_test(seed(0)(machine(bench)), settings=settings(TEST, max_examples=examples))
    finally:
        bench.close()
