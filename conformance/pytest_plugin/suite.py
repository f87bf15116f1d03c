"""A pytest suite with one test for each clause: all of them read the result of one campaign.

The processes of pytest-xdist share a campaign through a file: the first that needs it runs it.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Final, NoReturn

import pytest

from runlock.conformance.campaign.audit import audit
from runlock.conformance.campaign.baseline import Compared, compared, read_baseline
from runlock.conformance.campaign.families_of import families_for, family_of, refuse_retired
from runlock.conformance.campaign.interrupts import INTERRUPTED
from runlock.conformance.campaign.order import Order, Sampled
from runlock.conformance.campaign.result import Result
from runlock.conformance.campaign.supervisor import campaign
from runlock.conformance.campaign.targets import resolve
from runlock.conformance.errors import RunlockError
from runlock.conformance.family.family import DEFAULT, Family, family_named
from runlock.conformance.judging.selection import Selection
from runlock.conformance.report import result_folder as folder
from runlock.conformance.report.console import Page
from runlock.conformance.report.text import headline, violation

EXAMPLES: Final = 500
"""Number of schedules that take about ten seconds on the reference."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one clause, and its text."""

    verdict: str
    text: str = ""


SKIPPED: Final = Outcome("not judged", "it is left out by `skip`")


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The results of one campaign for all tests of a suite."""

    clauses: dict[str, Outcome] = field(default_factory=dict)
    nothing: str = ""  # why nothing was exercised
    undecided: str = ""  # why it could not be judged completely


class ConformanceSuite:
    """One test for each clause, on the runtime that `adapter` names.

    That is an adapter class, a function that returns a new adapter at each call, or a target as on the
    command line.  Command-line values for examples and seed override those of the class.
    """

    adapter: ClassVar[Any] = None
    examples: ClassVar[int] = EXAMPLES
    seed: ClassVar[int] = 0
    skip: ClassVar[Sequence[str]] = ()
    """Patterns of clauses that are not judged."""
    baseline: ClassVar[str | Path | None] = None
    """TOML file of expected violations, whose tests fail as expected."""

    pytestmark: ClassVar = [pytest.mark.runlock]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Create the tests, if there is a runtime to test."""
        suite = type(self)
        if suite.adapter is None:
            pytest.fail(f"{suite.__name__} names no runtime. Write `adapter = MyAdapter` in it.", False)
        if why := why_not(target_of(suite)):
            pytest.fail(why, pytrace=False)
        if "clause" in metafunc.fixturenames:
            metafunc.parametrize("clause", list(_family(target_of(suite)).spec.clauses))

    def test_campaign(self, runlock_outcomes: Outcomes) -> None:
        """Every schedule of the campaign could be judged, and nothing raised an exception."""
        if runlock_outcomes.undecided:
            pytest.fail(runlock_outcomes.undecided, pytrace=False)

    def test_clause(self, clause: str, runlock_outcomes: Outcomes, request: pytest.FixtureRequest) -> None:
        """The clause was exercised, and no violation was found."""
        request.node.user_properties.append(("clause", clause))
        outcome = runlock_outcomes.clauses.get(clause, SKIPPED)
        if outcome.verdict == "broken":
            pytest.fail(outcome.text, pytrace=False)
        if outcome.verdict == "expected":
            pytest.xfail(outcome.text)
        if outcome.verdict != "held":
            pytest.skip(f"{outcome.verdict.replace('-', ' ')}: {outcome.text}")


# --- the runtime --------------------------------------------------------------------------------


def why_not(target: str) -> str:
    """Why there is no such runtime, or None."""
    try:
        resolve(target)
    except RunlockError as error:
        return str(error)
    return ""


def _family(target: str) -> Family:
    """The family whose clauses are tested; the default one if the runtime cannot tell."""
    try:
        return family_of(resolve(target))
    except RunlockError:
        return family_named(DEFAULT)  # the campaign reports what is wrong with the runtime


def target_of(suite: type[ConformanceSuite]) -> str:
    """The target of a suite's runtime: the adapter's own name, or else its place in the suite."""
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
    """A module without a file, for the suite of the runtime on the command line."""

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
    """The results of the campaign of a suite; tests of a campaign that exercised nothing fail here."""
    order, baseline = _order(suite, config), _baseline(suite, config)
    results = Path(config.getoption("runlock_out"), f"{suite.__module__}.{suite.__name__}")
    worker = getattr(config, "workerinput", None)
    if worker is None:
        said = outcomes_of(order, results, baseline)
    else:
        named = f"runlock-{worker['testrunuid']}-{_digest(order, baseline)}"
        said = _shared(base.parent / named, order, results, baseline)
    if said.nothing:
        pytest.fail(said.nothing, pytrace=False)
    return said


def _order(suite: type[ConformanceSuite], config: pytest.Config) -> Order[Sampled]:
    examples, seed = config.getoption("runlock_examples"), config.getoption("runlock_seed")
    plan = Sampled(suite.examples if examples is None else examples, suite.seed if seed is None else seed)
    skip = tuple(config.getoption("runlock_skip") or suite.skip)
    return Order(target_of(suite), plan, Selection(skip=skip))


def _baseline(suite: type[ConformanceSuite], config: pytest.Config) -> Path | None:
    named = config.getoption("runlock_baseline") or suite.baseline
    return None if named is None else Path(named)


def _digest(order: Order[Sampled], baseline: Path | None) -> str:
    return hashlib.sha256(repr((order, baseline)).encode()).hexdigest()[:16]


def _shared(path: Path, order: Order[Sampled], results: Path, baseline: Path | None) -> Outcomes:
    """The result of another process, or else that of a campaign run here for all of them."""
    with _locked(path.with_suffix(".lock")):
        if not path.exists():
            fresh = path.with_suffix(".new")
            fresh.write_text(json.dumps(asdict(outcomes_of(order, results, baseline))), encoding="utf-8")
            os.replace(fresh, path)
        said = json.loads(path.read_text("utf-8"))
    return Outcomes(**{**said, "clauses": {one: Outcome(**of) for one, of in said["clauses"].items()}})


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that the operating system releases if the process ends."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def outcomes_of(order: Order[Sampled], results: Path, baseline: Path | None = None) -> Outcomes:
    try:
        known = None if baseline is None else read_baseline(baseline)
        target = order.resolved()
        refuse_retired("skip", order.clauses.skip, families_for(target))
        recorded = target.path
        result = campaign(order) if recorded is None else audit(recorded, order.target, order.clauses)
    except RunlockError as error:
        return Outcomes(nothing=str(error))
    if result.partial == INTERRUPTED:
        _interrupt()
    said = _read(result, results)
    return said if known is None else _expected(said, compared(known, result, known.today))


def _expected(said: Outcomes, found: Compared) -> Outcomes:
    """The outcomes with expected violations marked; a stale entry of the baseline fails its test."""
    clauses = {
        **said.clauses,
        **{clause: Outcome("expected", reason) for clause, reason in found.expected.items()},
        **dict.fromkeys(found.symptoms, Outcome("expected", "a consequence of an expected violation")),
        **{clause: Outcome("broken", why) for clause, why in found.stale.items()},
    }
    return replace(said, clauses=clauses)


def _interrupt() -> NoReturn:
    raise KeyboardInterrupt


def _read(result: Result, results: Path) -> Outcomes:
    """The outcomes for a result, with the traces of violations in the folder of results."""
    files = {}
    if result.witnesses or result.ledger.times or result.troubles or result.raised or results.exists():
        files = folder.write_traces(result, _reserved(results))
    summary = _page()
    headline(result, summary, files)
    clauses = {one.id: Outcome(one.verdict, one.why) for one in result.clauses}
    for witness in result.witnesses:
        page = _page()
        violation(result, witness, page, files[witness.clause], result.target)
        clauses[witness.clause] = Outcome("broken", _text(page))
    is_idle = not result.witnesses and not result.count("held")
    is_cut = bool(result.ledger.times or result.troubles or result.raised or result.partial)
    return Outcomes(clauses, _text(summary) if is_idle else "", _text(summary) if is_cut else "")


_RESERVED: Final[dict[Path, Path]] = {}
_LOCKS: Final = ExitStack()
atexit.register(_LOCKS.close)


def _reserved(results: Path) -> Path:
    """The folder for the traces of a suite, which no other pytest writes to while this process lives."""
    place = results.resolve()
    if place not in _RESERVED:
        _RESERVED[place] = _LOCKS.enter_context(folder.reserved(results))
    return _RESERVED[place]


def _page() -> Page:
    return Page(io.StringIO())


def _text(page: Page) -> str:
    written = page.console.file
    return written.getvalue().rstrip("\n") if isinstance(written, io.StringIO) else ""
