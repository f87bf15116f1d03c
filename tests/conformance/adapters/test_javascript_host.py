"""The host for JavaScript shows what the one for Python shows."""

import shutil
from pathlib import Path

import pytest
from places import DOUBLES

from runlock.conformance import adapters
from runlock.conformance.transport.stdio import Pipe

NODE = shutil.which("node")
FAKES = [str(DOUBLES / "node_fakes.mjs"), str(Path(adapters.__file__).parent / "node" / "runlock.mjs")]
pytestmark = pytest.mark.skipif(NODE is None, reason="there is no `node` on the PATH")


@pytest.fixture
def toy():
    """A scenario on an adapter whose runs do what their input says; gives what sends a verb."""
    pipe = Pipe([NODE, *FAKES], timeout_scale=6)
    pipe.request("initialize", {"protocol": {"min": 1, "max": 1}, "kit": {"name": "t", "version": "1"}})
    pipe.request("scenario.open", {"scenario": "s"})
    yield pipe.request
    pipe.close()


def test_a_body_that_is_entered_with_an_aborted_signal_is_shown(toy):
    """The gate opens and is given up at once; a request to the model that is aborted already is never sent."""
    seen = toy("run.start", {"run": "r1", "input": "late"})["observations"]

    assert [(one["kind"], one.get("on", one.get("name"))) for one in seen] == [
        ("gate.open", "tool"),
        ("gate.closed", None),
        ("event", "GivenUp"),
        ("event", "GivenUp"),
        ("run.finished", None),
    ]
