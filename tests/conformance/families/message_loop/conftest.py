"""Walks over message loops."""

import pytest
from loop_walks import Walks


@pytest.fixture
def walks():
    """Makes walks over a loop, and closes it after the test."""
    made = []

    def make(loop):
        made.append(Walks(loop))
        return made[-1]

    yield make
    for one in made:
        one.close()
