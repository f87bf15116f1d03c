"""The pytest plugin: its options, and what a `ConformanceSuite` is given; it loads the kit only when asked.

pytest imports this module in every run beside which the kit is installed, so that it imports nothing of it.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from runlock.conformance.pytest_plugin.suite import Outcomes


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options by which a runtime is named and its campaign is measured out."""
    group = parser.getgroup("runlock", "conformance of agent loops")
    group.addoption("--runlock-target", metavar="TARGET", help="Give each clause a test on this runtime.")
    group.addoption("--runlock-examples", type=_count, metavar="N", help="How many schedules to play.")
    group.addoption("--runlock-seed", type=_whole, metavar="N", help="Where their choices start from.")
    group.addoption(
        "--runlock-out",
        metavar="DIR",
        default="runlock-results",
        help="Where the traces of broken clauses are written.",
    )


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"`{text}` is no whole number") from None


def _count(text: str) -> int:
    number = _whole(text)
    if number < 0:
        raise ArgumentTypeError(f"{number} is no number of schedules, which is 0 or more")
    return number


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, and refuse a target that there is not."""
    config.addinivalue_line("markers", "runlock: a clause, tested on a runtime")
    target = config.getoption("runlock_target")
    if target is not None:
        from runlock.conformance.pytest_plugin.suite import why_not

        if why := why_not(target):
            raise pytest.UsageError(f"--runlock-target: {why}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Put the tests of the runtime that the command line names beside those that were collected."""
    target = config.getoption("runlock_target")
    if target is not None:
        from runlock.conformance.pytest_plugin.suite import tests_of

        items.extend(tests_of(target, session))


@pytest.fixture(scope="class")
def runlock_outcomes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """What became of each clause in the campaign of a suite, which is played once in a run of tests."""
    from runlock.conformance.pytest_plugin.suite import outcomes

    return outcomes(request.cls, request.config, tmp_path_factory.getbasetemp())
