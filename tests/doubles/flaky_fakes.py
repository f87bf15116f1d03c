"""Right runtimes in this process that go wrong now and then, as factories for `py:flaky_fakes:NAME`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from runlock.conformance.campaign.targets import resolve
from runlock.conformance.family.family import family_named

Answer = dict[str, Any]
TARGET = "reference:tool-runner"
VERBS = {verb.replace(".", "_"): verb for verb in family_named("tool-runner").vocabulary.methods}


class Wrong(Exception):
    """What the runtime raises now and then."""


class Flaky:
    """The reference as an object with the verbs; `at` counts the answers of all objects of its class."""

    at: itertools.count[int]

    def __init_subclass__(cls) -> None:
        cls.at = itertools.count(1)

    def __init__(self) -> None:
        self.sut = resolve(TARGET).open()

    def __getattr__(self, name: str) -> Callable[[Answer], Answer]:
        if name not in VERBS:
            raise AttributeError(name)
        return lambda params: self.spoilt(VERBS[name], self.sut.request(VERBS[name], params))

    def spoilt(self, verb: str, answer: Answer) -> Answer:
        """The answer, as the runtime gives it."""
        return answer


class RaisesNowAndThen(Flaky):
    """Each 60th answer is an exception."""

    def spoilt(self, verb: str, answer: Answer) -> Answer:
        if verb != "initialize" and next(self.at) % 60 == 0:
            raise Wrong("not now")
        return answer


class EndsAfterEachScenario(Flaky):
    """After a scenario, it answers nothing any more."""

    is_over = False

    def spoilt(self, verb: str, answer: Answer) -> Answer:
        if self.is_over:
            raise Wrong("it is over")
        self.is_over = verb == "scenario.close"
        return answer


class LosesAnObservation(Flaky):
    """One observation in 150 is lost."""

    def spoilt(self, verb: str, answer: Answer) -> Answer:
        kept = [one for one in answer.get("observations", ()) if next(self.at) % 150]
        return {**answer, **({"observations": kept} if "observations" in answer else {})}


class StampsTheTime(Flaky):
    """Each observation has a number that never comes again."""

    def spoilt(self, verb: str, answer: Answer) -> Answer:
        stamped = [{**one, "stamp": next(self.at)} for one in answer.get("observations", ())]
        return {**answer, **({"observations": stamped} if "observations" in answer else {})}


class ChangesItsHandshake(Flaky):
    """Every second object has another version."""

    def spoilt(self, verb: str, answer: Answer) -> Answer:
        if verb == "initialize" and next(self.at) % 2 == 0:
            return {**answer, "implementation": {**answer["implementation"], "version": "other"}}
        return answer


class BreaksInADrawnSchedule(Flaky):
    """It ends between two scenarios, once, long after the scripted ones."""

    def spoilt(self, verb: str, answer: Answer) -> Answer:
        if verb == "scenario.open" and next(self.at) == 300:
            raise Wrong("between two schedules")
        return answer


class Breaks(Flaky):
    """It never shows that a tool waits."""

    def spoilt(self, verb: str, answer: Answer) -> Answer:
        kept = [
            one for one in answer.get("observations", ()) if one["kind"] != "gate.open" or one["on"] != "tool"
        ]
        return {**answer, **({"observations": kept} if "observations" in answer else {})}


class BreaksAndRaises(Breaks):
    """The same, and each 60th answer is an exception."""

    def spoilt(self, verb: str, answer: Answer) -> Answer:
        if verb != "initialize" and next(self.at) % 60 == 0:
            raise Wrong("not now")
        return super().spoilt(verb, answer)
