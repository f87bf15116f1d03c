"""The pytest plugin: its options, and the fixtures of a `ConformanceSuite`; it loads the kit only on use.

pytest imports this module in every test run in an environment with the kit, so it imports nothing else of it.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from runlock.conformance.pytest_plugin.suite import Outcomes


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options that name a runtime and size its campaign."""
    group = parser.getgroup("runlock", "conformance of agent loops")
    group.addoption("--runlock-target", metavar="TARGET", help="Add a test of each clause on this runtime.")
    group.addoption("--runlock-examples", type=_count, metavar="N", help="Number of schedules.")
    group.addoption("--runlock-seed", type=_whole, metavar="N", help="Seed of the random choices.")
    group.addoption("--runlock-skip", action="append", metavar="PATTERN", help="Do not judge these clauses.")
    group.addoption("--runlock-baseline", metavar="FILE", help="TOML file of expected violations.")
    group.addoption(
        "--runlock-out",
        metavar="DIR",
        default="runlock-results",
        help="Folder for the traces of broken clauses.",
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
    """Register the marker, and reject a target that does not exist."""
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
    """Add the tests of the runtime on the command line to those that were collected."""
    target = config.getoption("runlock_target")
    if target is not None:
        from runlock.conformance.pytest_plugin.suite import tests_of

        items.extend(tests_of(target, session))


@pytest.fixture(scope="class")
def runlock_outcomes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """The result of each clause in the campaign of a suite, which runs once in a test run."""
    from runlock.conformance.pytest_plugin.suite import outcomes

    return outcomes(request.cls, request.config, tmp_path_factory.getbasetemp())
