"""Right runtimes that show very much, for `py:flooding_fakes:NAME`."""

from __future__ import annotations

from typing import Any

from flaky_fakes import Flaky

Answer = dict[str, Any]


class Floods(Flaky):
    """It shows this number of observations more at the start of a run."""

    number = 5_000

    def spoilt(self, verb: str, answer: Answer) -> Answer:
        if verb != "run.start":
            return answer
        more = [{"kind": "note", "run": "r1", "at": at} for at in range(self.number)]
        return {**answer, "observations": [*answer["observations"], *more]}


class FloodsMore(Floods):
    number = 40_000


class FloodsBeyondMeasure(Floods):
    number = 200_000


class OpensGates(Flaky):
    """It opens thousands of gates, and waits at them."""

    number = 3_000

    def spoilt(self, verb: str, answer: Answer) -> Answer:
        gates = [one for one in answer.get("observations", ()) if one["kind"] == "gate.open"]
        if not gates:
            return answer
        more = [{**gates[0], "gate": f"more-{at}"} for at in range(self.number)]
        return {**answer, "observations": [*answer["observations"], *more]}
