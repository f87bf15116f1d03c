"""Turns of the reference loop that are driven gate by gate."""

from contextlib import ExitStack

import pytest
from loop_world import LoopTalk


@pytest.fixture
def talk():
    """Makes a driver of a fresh loop; it is closed with the test."""
    with ExitStack() as stack:

        def make(policies=None, **settings):
            made = LoopTalk(policies, **settings)
            stack.callback(made.close)
            return made

        yield make


@pytest.fixture
def begun(talk):
    """The same, with a turn that has started."""

    def make(policies=None, **settings):
        made = talk(policies, **settings)
        made.start()
        return made

    return make
