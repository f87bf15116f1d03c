"""Options of the test run."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--rewrite` writes golden files anew instead of comparing with them."""
    parser.addoption(
        "--rewrite",
        action="store_true",
        help="write golden files anew; read the difference before committing it",
    )


@pytest.fixture
def rewrites(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are written anew."""
    return bool(request.config.getoption("--rewrite"))
