"""Options of the test run, and what its tests share."""

import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from places import GOLDEN
from played_once import PlayedOnce

from runlock.conformance.campaign.worker import collect_rarely

# The tests start many processes of the kit, and each would compile it anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--rewrite` writes golden files anew instead of comparing with them."""
    parser.addoption(
        "--rewrite",
        action="store_true",
        help="write golden files anew; read the difference before committing it",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of the cases of a test that is `sampled(n)`, all but one in n are for the long lane.

    With `sampled(n, nightly=m)` all but one in m are `nightly` besides.
    """
    counts: Counter[str] = Counter()
    for item in items:
        sampled = item.get_closest_marker("sampled")
        if sampled is not None:
            name = item.nodeid.partition("[")[0]
            if counts[name] % sampled.args[0]:
                item.add_marker(pytest.mark.long)
            if counts[name] % sampled.kwargs.get("nightly", 1):
                item.add_marker(pytest.mark.nightly)
            counts[name] += 1


def pytest_collection_finish() -> None:
    """A quarter of the time of the tests went into collections that freed nothing."""
    collect_rarely()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def rewrites(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are written anew."""
    return bool(request.config.getoption("--rewrite"))


@pytest.fixture
def equals_golden(rewrites: bool) -> Callable[[Path | str, str], None]:
    """Compares a text with a file, one of `golden/` if only its name is given, or writes it anew."""

    def equals(file: Path | str, text: str) -> None:
        golden = GOLDEN / file
        if rewrites:
            golden.write_text(text, "utf-8")

        assert text == golden.read_text("utf-8")

    return equals


@pytest.fixture(scope="session")
def played_once(tmp_path_factory: pytest.TempPathFactory) -> PlayedOnce:
    """What is played once in a run of tests, shared by all of its workers."""
    base = tmp_path_factory.getbasetemp()
    return PlayedOnce((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "played-once")
