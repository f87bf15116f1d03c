"""The host for JavaScript shows what the one for Python shows."""

import shutil
from pathlib import Path

import pytest
from hosted_fakes import Talk
from hosted_fakes import toy as hosted
from places import DOUBLES

from runlock.conformance import adapters
from runlock.conformance.families.lifecycle.adapter import Segment
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
    """The gate opens and is given up at once; a request to the model that is aborted is never sent."""
    seen = toy("run.start", {"run": "r1", "input": "late"})["observations"]

    assert [(one["kind"], one.get("on", one.get("name"))) for one in seen] == [
        ("gate.open", "tool"),
        ("gate.closed", None),
        ("event", "GivenUp"),
        ("event", "GivenUp"),
        ("run.finished", None),
    ]


async def nests(adapter, _):
    """The twin of what the JavaScript toy does."""
    inner = adapter.host.within("c1")
    await inner.infer([])
    kind = (await inner.tool("c2", "t0", {})).kind
    inner.observe("call.status", call="c2", origin="Running", to="Suspended")
    await adapter.host.infer([])
    adapter.host.observe("call.shown", call="c1", name="t0", args={"why": kind})
    return Segment("Suspended", ["c1"])


def test_both_hosts_show_the_same_of_a_run_within_a_call(toy):
    """Its gates have its own run and steps, and the numbers of the gates go on."""
    twin = Talk(hosted(start=nests)).sut.request
    turn = {"kind": "turn", "text": "", "tool_calls": [], "usage": {"input": 0, "output": 0}}
    play = [
        ("run.start", {"run": "r1", "input": "nests"}),
        ("gate.release", {"gate": "g1", "outcome": turn}),
        ("gate.release", {"gate": "g2", "outcome": {"kind": "pending"}}),
        ("gate.release", {"gate": "g3", "outcome": turn}),
    ]
    seen = [toy(*one)["observations"] for one in play]

    assert seen == [twin(*one)["observations"] for one in play]
    assert [one["run"] for report in seen for one in report] == ["r1/c1"] * 3 + ["r1"] * 3
