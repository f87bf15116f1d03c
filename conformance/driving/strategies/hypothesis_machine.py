"""The Hypothesis machine: one rule for each class of action; Hypothesis draws, swarms and shrinks.

`conformance_test` is the whole interface for a test file: it raises `ClauseBroken` with the shortest
schedule that Hypothesis finds.  A campaign uses the same machine to generate schedules, and collects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, ClassVar, Final

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.exceptions import Raised, exceptions_of, refuse
from runlock.conformance.driving.findings import Trouble
from runlock.conformance.driving.ledger import Ledger
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.strategies.random_walk import with_turns
from runlock.conformance.driving.tally import Tally
from runlock.conformance.errors import AdapterError, RunlockError, TimedOut
from runlock.conformance.family.chooser import PLAIN
from runlock.conformance.family.parts import Action, Actions
from runlock.conformance.family.races import RACES, may_race
from runlock.conformance.family.recordings import to_text
from runlock.conformance.judging.selection import Selection
from runlock.conformance.protocol import Scenario
from runlock.conformance.trace.moves import Move
from runlock.conformance.transport.sut import Sut

STEPS_MAX: Final = 20

STARTS_MAX: Final = 8
"""How often Hypothesis is started to generate the schedules of a flaky target."""

SEEDS: Final = 1_000_003
"""The distance between the seeds of two such starts, which is larger than any number of shards."""

GENERATE: Final = settings(
    phases=(Phase.generate,),
    stateful_step_count=STEPS_MAX,
    deadline=None,
    database=None,
    suppress_health_check=tuple(HealthCheck),
)
TEST: Final = settings(
    GENERATE, phases=(Phase.generate, Phase.shrink), print_blob=False, report_multiple_bugs=False
)


class ClauseBroken(AssertionError):
    """A clause is broken: the message says which and why, and a note has the schedule as a scenario."""


class Drawing:
    """A chooser whose choices Hypothesis draws, so that it can shrink them."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data

    def choose(self, count: int) -> int:
        return int(self.data.draw(st.integers(0, count - 1)))


class Machine(RuleBasedStateMachine):
    """A scenario under way on the runtime of `bench`; the two subclasses differ in what they do with
    results."""

    bench: ClassVar[Bench]

    def __init__(self) -> None:
        super().__init__()
        self.session: Session | None = None
        self.context: Any = None
        self.aside: Any = None  # a copy on which actions test whether they are enabled
        self.at_hand: set[str] = set()  # the prerequisites of actions
        self.occasions: dict[str, bool] = {}  # since the latest action

    @property
    def actions(self) -> Mapping[str, Action]:
        """The classes of action of the runtime's family, and races of several."""
        return self.bench.family.actions.table

    # -- what the subclasses define

    def opened(self, scenario: Scenario) -> Session | None:
        """Open the scenario, if it is to be run."""
        raise NotImplementedError

    def have_trouble(self, error: RunlockError) -> None:
        """Handle a stimulus that cannot be judged."""
        raise NotImplementedError

    def look_at(self, session: Session) -> None:
        """Handle a new observation, which may be a violation."""

    def take(self, session: Session) -> None:
        """Handle the end of the scenario."""

    # -- rules

    def begin(self, index: int) -> None:
        """Open a scenario, and start its first run."""
        self.session = self.opened(self.bench.scenarios[index])
        if self.session is not None:
            self.context = self.bench.family.actions.new_context(self.session.state)
            self.act(Actions.start, PLAIN)

    def act(self, name: str, chooser: Any) -> None:
        """Perform an action of this class, if there is still something to find."""
        if self.session is None or self.context is None or self.session.violation is not None:
            return
        move = self.actions[name](self.context, chooser)
        if move is not None:
            move = with_turns(move, self.session.handshake, chooser)
            try:
                self.session.send(move)
            except RunlockError as error:
                self.have_trouble(error)
        can_go_on = self.session is not None and self.session.violation is None
        self.aside = self.context.aside() if can_go_on else None
        self.at_hand = self.bench.family.actions.met(self.context) if can_go_on else set()
        self.occasions = {}
        if self.session is not None:
            self.look_at(self.session)

    def has_occasion(self, name: str) -> bool:
        """Whether an action of this class is enabled."""
        need = self.bench.family.actions.prerequisites.get(name)
        if need is not None and need not in self.at_hand:
            return False
        known = self.occasions.get(name)  # Hypothesis evaluates some preconditions several times a step
        if known is None:
            known = self.occasions[name] = self._may(name)
        return known

    def _may(self, name: str) -> bool:
        if self.aside is None:
            return name == "settle"  # Hypothesis requires an enabled rule at every step
        if name == RACES:
            return may_race(self.bench.family.actions, self.aside.handshake, self.has_occasion)
        return self.actions[name](self.aside, PLAIN) is not None

    def teardown(self) -> None:
        """Give the run everything that it still waits for; then nothing may be left open."""
        session = self.session
        if session is None:
            return
        try:
            self.finish(session)
        except RunlockError as error:
            self.have_trouble(error)
        if self.session is session:
            self.look_at(session)  # closing the scenario shows what background tasks raised
            self.take(session)
        self.session = self.context = self.aside = (
            None  # Hypothesis keeps the machine until a garbage collection
        )

    def finish(self, session: Session) -> None:
        """Drain the run, judge what is left, and close the scenario in any case."""
        try:
            session.wind_up()
            session.end()
            self.look_at(session)
        finally:
            session.close()


class Raising(Machine):
    """Judges immediately, and raises the first violation; collects the exceptions of the adapter."""

    raised: ClassVar[dict[str, Raised]]
    timed_out: ClassVar[TimedOut | None] = None

    def __init__(self) -> None:
        super().__init__()
        self.has_complained = False

    def opened(self, scenario: Scenario) -> Session:
        """The scenario under way, with its judge."""
        if self.timed_out is not None:
            raise self.timed_out
        try:
            return self.bench.session(scenario)
        except RunlockError as error:
            self.bench.renew(error)
            return self.bench.session(scenario)

    def have_trouble(self, error: RunlockError) -> None:
        """Treat a stimulus that cannot be judged as an error of the test; nothing after it is judged."""
        self.session = None
        if isinstance(error, TimedOut):
            type(self).timed_out = error  # Hypothesis runs it again, which would wait again
        with suppress(RunlockError):  # it does not even restart: the error of the stimulus is shown
            self.bench.renew(error)
        raise error

    def look_at(self, session: Session) -> None:
        """Raise the violation, once; exceptions of the adapter come first in its message."""
        violation = session.violation
        self.raised.update((one.what, one) for one in exceptions_of(session.trace))
        if violation is not None and not self.has_complained:
            self.has_complained = True
            said = [self.bench.ledger.headline, *(one.what for one in exceptions_of(session.trace))]
            first = "".join(f"{one}\n" for one in said if one)
            broken = ClauseBroken(f"{first}{violation.clause}: {violation.reason}")
            broken.add_note(to_text(session.trace))
            raise broken


class Gathering(Machine):
    """Judges at the end of a scenario, and adds the results to a tally."""

    tally: ClassVar[Tally]

    def opened(self, scenario: Scenario) -> Session | None:
        """The scenario under way, which is judged later."""
        return self.bench.judged(scenario, _nothing, self.tally, self.bench.session_judged_later)

    def have_trouble(self, error: RunlockError) -> None:
        """Retry a schedule that cannot be judged once on a fresh SUT, and then count it as an error."""
        session, self.session = self.session, None
        assert session is not None  # the party at fault
        scenario, moves = session.scenario, tuple(session.attempted)
        is_late = self.bench.ran_out_of_time(error)
        self.bench.renew(error)
        session.end()
        if session.violation is None and is_late:
            self.tally.troubles.append(Trouble(error.blame, str(error)))
            self.bench.ledger.lasting(error)
        elif session.violation is None:
            again = self.bench.play(scenario, lambda session: _replayed(session, moves), self.tally)
            (self.bench.ledger.lasting if again is None else self.bench.ledger.recovered)(error)
        else:  # a clause is already broken, and the later behaviour of a broken runtime does not matter
            self.take(session)

    def take(self, session: Session) -> None:
        """Add the results to the tally."""
        self.bench.enter(session, self.tally)


def _nothing(session: Session) -> None:
    """The schedule is made step by step."""


def _replayed(session: Session, moves: Sequence[Move]) -> None:
    session.play(moves)
    session.wind_up()
    session.close()


def _rule(name: str, action: Action) -> Any:
    def act(self: Machine, data: st.DataObject) -> None:
        self.act(name, Drawing(data))

    def has_occasion(self: Machine) -> bool:  # by its name: Hypothesis inspects the source of a lambda
        return self.has_occasion(name)

    act.__name__ = name
    act.__doc__ = action.__doc__
    return precondition(has_occasion)(rule(data=st.data())(act))


def _opening(scenarios: int) -> Any:
    def open(self: Machine, index: int) -> None:
        self.begin(index)

    return initialize(index=st.integers(0, scenarios - 1))(open)


def machine(bench: Bench, tally: Tally | None = None) -> type[Machine]:
    """A machine for the runtime on the bench, with a rule for each class of action.

    With a tally it collects results, without one it raises.
    """
    actions = bench.family.actions
    left_out = (Actions.start, *actions.seldom)
    rules = {name: _rule(name, action) for name, action in actions.table.items() if name not in left_out}
    rules |= {
        "start_again": _rule(Actions.start, actions.table[Actions.start]),
        "open": _opening(len(bench.scenarios)),
    }
    if tally is None:
        return type("RuntimeMachine", (Raising,), {**rules, "bench": bench, "raised": {}})
    return type("RuntimeMachine", (Gathering,), {**rules, "bench": bench, "tally": tally})


def generate(bench: Bench, examples: int, seed_number: int, tally: Tally) -> None:
    """Let Hypothesis generate that many schedules, and collect their results.

    A target that answers the same choices in another way is flaky, and ends Hypothesis, which starts again.
    """
    for start in range(STARTS_MAX):
        made, before = seed(seed_number + start * SEEDS)(machine(bench, tally)), tally.schedules
        try:
            run_state_machine_as_test(made, settings=settings(GENERATE, max_examples=examples))
        except Flaky:
            if not bench.plays_all:
                raise
            bench.ledger.differed("Hypothesis made the same choices again, and they led elsewhere.")
            examples -= tally.schedules - before
            if examples > 0:
                continue
        return


def conformance_test(open_sut: Callable[[], Sut], examples: int = 200, skip: Sequence[str] = ()) -> None:
    """Test a runtime as a unit test; raises `ClauseBroken`, shrunk, for the first broken clause.

    Without one, it raises an `AdapterError` for the first exception of the adapter or the runtime, or for a
    runtime that is flaky.

    `open_sut` creates a fresh SUT, e.g. `lambda: Hosted(MyAdapter)` or `resolve("cmd:./adapter").open`.
    `skip` holds patterns of clauses that are not judged, e.g. `CALL-*`.
    """
    bench = Bench(open_sut, Selection(skip=tuple(skip)))
    try:
        made: Any = seed(0)(machine(bench))
        with _refusing_flaky(bench.ledger):
            run_state_machine_as_test(made, settings=settings(TEST, max_examples=examples))
        refuse(made.raised.values())
        bench.ledger.refuse()
    finally:
        bench.close()


@contextmanager
def _refusing_flaky(ledger: Ledger) -> Iterator[None]:
    """Report what Hypothesis calls a flaky test as a flaky runtime."""
    try:
        yield
    except Flaky as error:
        ledger.differed("Hypothesis repeated a schedule that failed, and it did not fail again.")
        raise AdapterError(*ledger.refusal) from error
