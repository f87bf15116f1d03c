"""An answer that does not come in time is waited for once, and a runtime that stays silent is given up."""

from collections.abc import Callable
from typing import Any

import pytest
from cli_fakes import Tiny

from runlock.conformance.campaign.adapter_check import NOT_REACHED, smoke
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.hypothesis_machine import conformance_test, generate
from runlock.conformance.driving.tally import Tally
from runlock.conformance.errors import TimedOut
from runlock.conformance.families.lifecycle.host.hosted import Hosted


class Silent:
    """A runtime that has no answer to `run.start` in some of its scenarios; each wait is counted."""

    waits = 0

    def __init__(self, hangs: Callable[[int], bool]) -> None:
        self.sut = Hosted(Tiny)
        self.hangs = hangs
        self.kill, self.close = self.sut.kill, self.sut.close

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Answer, or let the time pass."""
        if method == "run.start" and self.hangs(Silent.waits):
            Silent.waits += 1
            raise TimedOut("no answer to run.start")
        return self.sut.request(method, params)


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """No wait so far."""
    monkeypatch.setattr(Silent, "waits", 0)


def always(_: int) -> bool:
    """Each run hangs."""
    return True


def play(bench: Bench, tally: Tally) -> None:
    """Start one run, and drain it."""

    def schedule(session: Any) -> None:
        from runlock.conformance.trace.moves import Move

        session.send(Move("run.start", {"run": "r1", "input": "hello"}))
        session.drain()
        session.close()

    bench.play(bench.scenarios[0], schedule, tally)


def test_a_schedule_that_ran_out_of_time_is_not_repeated() -> None:
    """It is recorded at once, with the blame of the runtime."""
    bench, tally = Bench(lambda: Silent(always)), Tally()
    play(bench, tally)

    assert (Silent.waits, [one.blame for one in tally.troubles]) == (1, ["SUT"])


def test_a_bench_gives_up_after_two_or_three_waits() -> None:
    """Two are enough if nothing was judged; after that it takes a third one."""
    never_judged, tally = Bench(lambda: Silent(always)), Tally()
    play(never_judged, tally)
    assert not never_judged.is_silent
    play(never_judged, tally)
    assert never_judged.is_silent

    judged = Bench(lambda: Silent(lambda waits: judged.entered > 0))
    for _ in range(3):
        play(judged, tally)
    assert (judged.timeouts, judged.is_silent) == (2, False)
    play(judged, tally)
    assert judged.is_silent


def test_a_generated_schedule_is_not_repeated_either() -> None:
    """The Hypothesis machine counts the same way."""
    bench, tally = Bench(lambda: Silent(lambda waits: waits < 1)), Tally()
    generate(bench, 2, 0, tally)

    assert (Silent.waits, len(tally.troubles)) == (1, 1)


def test_a_test_waits_once() -> None:
    """Hypothesis runs a failing example again; that must not wait again."""
    with pytest.raises(TimedOut):
        conformance_test(lambda: Silent(always), examples=5)
    assert Silent.waits == 1


def test_smoke_waits_once() -> None:
    """After one wait the other verbs are not reached."""
    found = smoke(lambda: Silent(always))

    assert Silent.waits == 1
    assert [one.what for one in found.faults] == ["run.start"]
    assert found.verbs["gate.release"].state == NOT_REACHED
    assert found.verbs["gate.release"].why == "run.start has no answer"
