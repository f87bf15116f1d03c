"""`runlock demo`: a violation to look at, before a runtime of one's own is connected."""

import pytest
from command_line import run


@pytest.mark.processes
def test_the_demo_shows_one_violation(capsys, tmp_path):
    """The rejected call that runs comes first; its trace is kept, and replays on the agent that is named."""
    out = tmp_path / "out"
    ran = run(capsys, "demo", "-o", out)

    assert ran.code == 1
    assert ran.out.splitlines()[0] == (
        "broken: py:runlock.conformance.adapters.demo:Adapter is tiny-agent 1.0, profile core"
    )
    assert ran.out.splitlines()[2] == "GATE-2 broken by tiny-agent 1.0: a rejected call is not executed"
    again = run(
        capsys, "replay", out / "GATE-2.jsonl", "py:runlock.conformance.adapters.demo:Adapter", "--in-process"
    )
    assert again.code == 1
