"""The reference killed at every instant of its store, and at lines in between: it comes back, and ends."""

import json
import subprocess
import sys

import pytest
from kill_campaign import CASES, WRONG
from places import DOUBLES

SCRIPT = DOUBLES / "kill_campaign.py"


def told(*words):
    """What the script of deaths says; it is a process of its own, since only such a one may fork."""
    ran = subprocess.run([sys.executable, str(SCRIPT), *words], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(one, marks=() if one == "step" else [pytest.mark.processes, pytest.mark.nightly])
        for one in CASES
    ],
)
def test_a_killed_run_comes_back_and_ends(case: str) -> None:
    """Nothing durable is lost or half there, nothing final runs again, nothing twice for one kill."""
    swept = told(case, "500")

    assert swept["wrong"] == []
    assert swept["deaths"] > sum(swept["store"].values())
    assert {"before", "inside: statement", "inside: machine", "after"} == set(swept["store"])


@pytest.mark.processes
def test_what_is_wrong_with_a_store_or_with_a_recovery_shows() -> None:
    """Runtimes and stores that are wrong on purpose are found out, each by its own sentence."""
    assert told("wrong") == dict.fromkeys(WRONG, True)
