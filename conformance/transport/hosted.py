"""A hosted adapter behind the protocol's verbs: `HostedSut` is the `Sut` over an adapter in this process.

It keeps the open scenario and the life that the runtime has in it, and answers every verb.  An answer that is
an error has changed nothing, except where the runtime itself broke.
"""

from __future__ import annotations

import atexit
import weakref
from collections import deque
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from typing import Any, ClassVar, Final, Generic, TypeVar

from runlock.conformance.protocol import Empty, Handshake, Initialize, Inspect, Settle, Wire
from runlock.conformance.transport.hosted_life import HostedLife, Plan
from runlock.conformance.transport.hosting import (
    answer_or_error,
    check_version,
    has,
    illegal,
    must_have,
    parse,
    refuse_incomplete,
)
from runlock.conformance.transport.world import as_json

KILLED: Final[deque[HostedLife[Any]]] = deque()
"""Lives that were killed: kept for a while, since collecting them would run their clean-up."""
KILLED_MAX: Final = 64

LOOP_CONTROL: Final = {"settle": "exact", "clock": "virtual", "step": "turns"}
"""What every hosted adapter can do, since it runs on the kit's loop."""

Life = TypeVar("Life", bound=HostedLife[Any])


class HostedSut(Generic[Life]):
    """A hosted adapter as the kit's `Sut`.

    A family says which verbs there are and how their stimuli are planned, what an adapter must have and what
    it offers, how a life begins, and how a run is inspected.
    """

    life: ClassVar[Callable[..., Any]]
    """Makes a life from an adapter and its scenario."""
    methods: ClassVar[Mapping[str, tuple[Any, Any]]]
    """Each verb with the model of its parameters and of its answer."""
    plans: ClassVar[Mapping[str, Plan]]
    """For each stimulus, what checks and delivers it."""
    required: ClassVar[tuple[str, ...]] = ("open", "start")
    """The methods that every adapter has."""
    needed: ClassVar[Mapping[str, str]]
    """The method without which a stimulus is not offered."""
    shown_by: ClassVar[Mapping[str, str]] = {}
    """The observation that the kit makes when it releases a gate of this kind."""
    occupied: ClassVar[str] = "Scenario {}"
    """How an open scenario is named to a kit that opens another."""

    def __init__(self, factory: Callable[[], Any]) -> None:
        self.factory = factory
        self._scenario: Any = None
        self._life: Life | None = None
        self._lives: list[Life] = []  # the living one, if any, and those that crashed
        self._verbs: dict[str, Callable[[Any], dict[str, Any]]] = {
            "initialize": self._initialize,
            "scenario.open": self._open,
            "scenario.close": self._close,
            "shutdown": self._shutdown,
            "settle": self._settle,
            "deliver": self._deliver,
            "inspect": self._inspect,
        }
        # A dropped SUT takes its lives with it; left to the collector, their clean-up would run.
        weakref.finalize(self, _bury, self._lives)

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """One verb of the protocol, and its answer."""
        asked = parse(self.methods, method, params)
        return answer_or_error(lambda: self._answer(method, asked))

    def kill(self) -> None:
        """End it at once; its clean-up does not run while anyone looks."""
        if not KILLED:
            atexit.register(_bury, KILLED)
        for life in self._lives:
            life.die()
        KILLED.extend(self._lives)
        while len(KILLED) > KILLED_MAX:
            KILLED.popleft().bury()
        self._forget_all()

    def close(self) -> None:
        """Give back the loops and whatever stands on them."""
        _bury(self._lives)
        self._forget_all()

    # What a family adds.

    def begin_life(self, scenario: Any) -> Life:
        """The first life of a scenario."""
        life: Life = self.life(self.factory(), scenario)
        return life

    def control_of(self, adapter: Any, claimed: Mapping[str, Any]) -> dict[str, Any]:
        """How far the kit can control the runtime, given what its handshake says of that."""
        return {**LOOP_CONTROL, "store": "none", "crash": [], **claimed}

    def observed_of(self, claimed: Handshake, stimuli: Collection[str]) -> list[str]:
        """What is observed of an adapter with these gates and stimuli, whether it says so or not."""
        return ["run.finished", *(kind for gate, kind in self.shown_by.items() if gate in claimed.gates)]

    def look(self, life: Life, asked: Inspect) -> Any:
        """The adapter's snapshot of a run; may be a coroutine."""
        must_have(life.adapter, "inspect")
        return life.adapter.inspect(asked.run)

    # The verbs.

    def _answer(self, method: str, asked: Any) -> dict[str, Any]:
        if method in self._verbs:
            return self._verbs[method](asked)
        life = self._living()
        self.plans[method](life, asked, ())(0)
        return life.report(asked.turns)

    def _initialize(self, asked: Initialize) -> dict[str, Any]:
        check_version(asked)
        adapter = self.factory()
        refuse_incomplete(adapter, self.required)
        return self._handshake(adapter)

    def _handshake(self, adapter: Any) -> dict[str, Any]:
        """The adapter's own handshake, less what it lacks, plus what the kit's loop gives."""
        claimed = adapter.handshake
        answer: dict[str, Any] = claimed.to_wire()
        answer["protocol"] = claimed.protocol
        if claimed.family != Handshake.model_fields["family"].default:
            answer["family"] = claimed.family
        answer["control"] = self.control_of(adapter, claimed.control.to_wire())
        needed = self.needed
        answer["stimuli"] = [one for one in claimed.stimuli if one not in needed or has(adapter, needed[one])]
        shown = self.observed_of(claimed, answer["stimuli"])
        answer["observes"] = list(dict.fromkeys([*claimed.observes, *shown]))
        return answer

    def _open(self, scenario: Any) -> dict[str, Any]:
        if self._scenario is not None:
            named = self.occupied.format(self._scenario.scenario)
            raise illegal(f"{named} is open; it must be closed first.")
        life = self._live(self.begin_life(scenario))
        self._scenario = scenario
        try:
            life.open()
        except BaseException:
            self.close()
            raise
        return {}

    def _close(self, _: Empty) -> dict[str, Any]:
        self._opened()
        try:
            return self._closed()
        finally:
            if self._life is not None and not self._life.host.dead:
                self._life.wind_up()
            self.close()

    def _closed(self) -> dict[str, Any]:
        if self._life is None:
            return {"leaks": []}
        adapter, leaks = self._life.adapter, self._life.leaks()
        asides = {"asides": adapter.asides()} if has(adapter, "asides") else {}
        return {"leaks": leaks, **asides, **({"clock": "unread"} if self._life.loop.is_unread else {})}

    def _shutdown(self, _: Empty) -> dict[str, Any]:
        self.close()
        return {}

    def _settle(self, asked: Settle) -> dict[str, Any]:
        return self._living().report(asked.turns)

    def _deliver(self, asked: Any) -> dict[str, Any]:
        """Check all stimuli of a race before any of them is delivered."""
        life = self._living()
        earlier: list[Wire] = []
        deliveries = []
        for request in asked.stimuli:
            stimulus = parse(self.methods, request.method, request.params)
            deliveries.append(self.plans[request.method](life, stimulus, earlier))
            earlier.append(stimulus)
        for place, deliver in enumerate(deliveries):
            deliver(place)
        return life.report(asked.turns)

    def _inspect(self, asked: Inspect) -> dict[str, Any]:
        life = self._living()
        seen = self.look(life, asked)
        shown: dict[str, Any] = as_json(life.loop.run_alone(seen) if isinstance(seen, Coroutine) else seen)
        return shown

    def _opened(self) -> Any:
        if self._scenario is None:
            raise illegal("No scenario is open; scenario.open comes first.")
        return self._scenario

    def _living(self) -> Life:
        self._opened()
        if self._life is None:
            raise illegal("The runtime crashed; recover comes first.")
        return self._life

    def _live(self, life: Life) -> Life:
        self._life = life
        self._lives.append(life)
        return life

    def _forget_all(self) -> None:
        self._life, self._scenario = None, None
        self._lives.clear()


def _bury(lives: Iterable[HostedLife[Any]]) -> None:
    for life in lives:
        life.bury()
