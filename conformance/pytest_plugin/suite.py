"""A suite of tests for pytest, one for each clause: all of them read what one campaign found.

The processes of pytest-xdist share a campaign through a file: the first that needs it plays it.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Final, NoReturn

import pytest

from runlock.conformance.campaign.audit import audit
from runlock.conformance.campaign.families_of import family_of
from runlock.conformance.campaign.result import Result
from runlock.conformance.campaign.stages import Order
from runlock.conformance.campaign.supervisor import INTERRUPTED, campaign
from runlock.conformance.campaign.targets import resolve
from runlock.conformance.errors import RunlockError
from runlock.conformance.family.family import DEFAULT, Family, family_named
from runlock.conformance.report import result_folder as folder
from runlock.conformance.report.console import Page
from runlock.conformance.report.text import headline, violation

EXAMPLES: Final = 1_000
"""So many schedules take about ten seconds on the reference."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one clause, and what there is to say of it."""

    verdict: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What one campaign says to all tests of a suite."""

    clauses: dict[str, Outcome] = field(default_factory=dict)
    nothing: str = ""  # why it exercised nothing at all
    undecided: str = ""  # what kept it from being judged as a whole


class ConformanceSuite:
    """One test for each clause, on the runtime that `adapter` names.

    That is an adapter's class, a function that gives a new adapter at each call, or a target as the
    command line takes it.  What the command line says of examples and seed goes before what stands here.
    """

    adapter: ClassVar[Any] = None
    examples: ClassVar[int] = EXAMPLES
    seed: ClassVar[int] = 0

    pytestmark: ClassVar = [pytest.mark.runlock]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make the tests, if there is a runtime to test."""
        suite = type(self)
        if suite.adapter is None:
            pytest.fail(f"{suite.__name__} names no runtime. Write `adapter = MyAdapter` in it.", False)
        if why := why_not(target_of(suite)):
            pytest.fail(why, pytrace=False)
        if "clause" in metafunc.fixturenames:
            metafunc.parametrize("clause", list(_family(target_of(suite)).spec.clauses))

    def test_campaign(self, runlock_outcomes: Outcomes) -> None:
        """Every schedule of the campaign could be judged."""
        if runlock_outcomes.undecided:
            pytest.fail(runlock_outcomes.undecided, pytrace=False)

    def test_clause(self, clause: str, runlock_outcomes: Outcomes, request: pytest.FixtureRequest) -> None:
        """The clause was exercised, and nothing broke it."""
        request.node.user_properties.append(("clause", clause))
        outcome = runlock_outcomes.clauses[clause]
        if outcome.verdict == "broken":
            pytest.fail(outcome.text, pytrace=False)
        if outcome.verdict != "held":
            pytest.skip(f"{outcome.verdict.replace('-', ' ')}: {outcome.text}")


# --- which runtime ------------------------------------------------------------------------------


def why_not(target: str) -> str:
    """Why there is no such runtime, or nothing."""
    try:
        resolve(target)
    except RunlockError as error:
        return str(error)
    return ""


def _family(target: str) -> Family:
    """The family whose clauses are tested; the default one where the runtime cannot say it."""
    try:
        return family_of(resolve(target))
    except RunlockError:
        return family_named(DEFAULT)  # the campaign says what is wrong with the runtime


def target_of(suite: type[ConformanceSuite]) -> str:
    """The runtime of a suite by name: an adapter's own, or else by where the suite holds it."""
    adapter = suite.adapter
    if isinstance(adapter, str):
        return adapter
    module, name = getattr(adapter, "__module__", ""), getattr(adapter, "__qualname__", "")
    if _is_there(module, name, adapter):
        return f"py:{module}:{name}"
    return f"py:{suite.__module__}:{suite.__qualname__}.adapter"


def _is_there(module: str, name: str, adapter: Any) -> bool:
    try:
        return attrgetter(name)(sys.modules[module]) is adapter
    except (AttributeError, KeyError):
        return False


class _Given(pytest.Module):
    """A module that is in no file: it holds the suite of the runtime that the command line names."""

    suite: type[ConformanceSuite]

    def _getobj(self) -> ModuleType:
        module = ModuleType("runlock")
        module.TestTarget = self.suite  # type: ignore[attr-defined]
        return module


def tests_of(target: str, session: pytest.Session) -> Iterator[pytest.Item]:
    """The tests of a runtime that is named by a target."""
    module = _Given.from_parent(session, path=Path(__file__), nodeid="runlock")
    module.suite = type("TestTarget", (ConformanceSuite,), {"adapter": target, "__module__": "runlock"})
    items: Iterator[pytest.Item] = session.genitems(module)
    return items


# --- the campaign -------------------------------------------------------------------------------


def outcomes(suite: type[ConformanceSuite], config: pytest.Config, base: Path) -> Outcomes:
    """What the campaign of a suite says; where it exercised nothing, no test of it gets that far."""
    order = _order(suite, config)
    results = Path(config.getoption("runlock_out"), f"{suite.__module__}.{suite.__name__}")
    worker = getattr(config, "workerinput", None)
    if worker is None:
        said = _played(order, results)
    else:
        said = _shared(base.parent / f"runlock-{worker['testrunuid']}-{_digest(order)}", order, results)
    if said.nothing:
        pytest.fail(said.nothing, pytrace=False)
    return said


def _order(suite: type[ConformanceSuite], config: pytest.Config) -> Order:
    examples, seed = config.getoption("runlock_examples"), config.getoption("runlock_seed")
    return Order(
        target_of(suite),
        suite.examples if examples is None else examples,
        suite.seed if seed is None else seed,
    )


def _digest(order: Order) -> str:
    return hashlib.sha256(repr(order).encode()).hexdigest()[:16]


def _shared(path: Path, order: Order, results: Path) -> Outcomes:
    """What another process wrote down, or else what is played here, for all of them."""
    with _locked(path.with_suffix(".lock")):
        if not path.exists():
            fresh = path.with_suffix(".new")
            fresh.write_text(json.dumps(asdict(_played(order, results))), encoding="utf-8")
            os.replace(fresh, path)
        said = json.loads(path.read_text("utf-8"))
    return Outcomes(**{**said, "clauses": {one: Outcome(**of) for one, of in said["clauses"].items()}})


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that the system takes back from a process that ends."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _played(order: Order, results: Path) -> Outcomes:
    try:
        target = resolve(order.target)
        result = campaign(order, jobs=1) if target.path is None else audit(target.path, order.target)
    except RunlockError as error:
        return Outcomes(nothing=str(error))
    if result.partial == INTERRUPTED:
        _interrupt()
    return _read(result, results)


def _interrupt() -> NoReturn:
    raise KeyboardInterrupt


def _read(result: Result, results: Path) -> Outcomes:
    """The outcomes that a result comes to, with the traces of what broke in the folder of results."""
    files = {}
    if result.witnesses or result.troubles:
        files = folder.write_traces(result, folder.ready(results))
    summary = _page()
    headline(result, summary, files)
    clauses = {one.id: Outcome(one.verdict, one.why) for one in result.clauses}
    for witness in result.witnesses:
        page = _page()
        violation(result, witness, page, files[witness.clause], result.target)
        clauses[witness.clause] = Outcome("broken", _text(page))
    is_idle = not result.witnesses and not result.count("held")
    is_cut = bool(result.troubles or result.partial)
    return Outcomes(clauses, _text(summary) if is_idle else "", _text(summary) if is_cut else "")


def _page() -> Page:
    return Page(io.StringIO())


def _text(page: Page) -> str:
    written = page.console.file
    return written.getvalue().rstrip("\n") if isinstance(written, io.StringIO) else ""
