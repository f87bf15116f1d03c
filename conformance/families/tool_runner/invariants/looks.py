"""What the checks of several areas look at: how a request follows on the one before it, and words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from runlock.conformance.families.tool_runner.messages import RunnerGate
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.families.tool_runner.state.plan import IterationPlan, plans
from runlock.conformance.families.tool_runner.state.records import Iteration, same, without_system
from runlock.conformance.protocol import Message

Follows = Literal["first", "iteration", "retry", "tool fault", "out of turn"]


def surely_cancelled(state: ObservedRunner) -> bool:
    """Whether the runner must have taken a cancel in."""
    cancelled = [run for run in state.runs.values() if run.cancel_at is not None]
    return any(run.cancel_settled or not state.met_a_race(run.cancelled_in) for run in cancelled)


def follows(state: ObservedRunner) -> Follows:
    """How a request that is sent now follows on the iteration before it."""
    before = state.iteration
    if before is None:
        return "first"
    if before.retried_at is not None:
        return "retry" if before.fault else "tool fault"
    if before.turn is None or not before.goes_on or before.yielded is not None:
        return "out of turn"
    return "iteration"


def every(state: ObservedRunner, iteration: Iteration, holds: Callable[[IterationPlan], object]) -> bool:
    """Whether something holds under every reading of the policies."""
    return all(holds(plan) for plan in plans(state, iteration))


def some(state: ObservedRunner, iteration: Iteration, holds: Callable[[IterationPlan], object]) -> bool:
    """Whether something holds under at least one reading of the policies."""
    return any(holds(plan) for plan in plans(state, iteration))


def is_changed(state: ObservedRunner, iteration: Iteration) -> bool | None:
    """Whether an iteration is changed; None if that depends on an open policy."""
    found = {plan.changed for plan in plans(state, iteration)}
    return found.pop() if len(found) == 1 else None


def ends_by_fault(state: ObservedRunner, iteration: Iteration) -> bool:
    """Whether a tool broke, or threw where that may end the run."""
    raised = any(gate.kind == "raise" for gate in iteration.entries)
    return bool(iteration.faulted_tools) or (raised and "end_run" in state.values("tool.raises"))


@dataclass(slots=True)
class Reading:
    """A request compared with what the user gave: what is missing, and what the runner added."""

    number: int
    before: Iteration
    messages: list[Message]
    given: list[Message]
    missing: list[Message] = field(default_factory=list)
    added: list[tuple[int, Message]] = field(default_factory=list)  # with their places
    places: list[int] = field(default_factory=list)  # of what was given and is there

    @property
    def turns(self) -> list[int]:
        """The places at which the runner put the received turn."""
        return [place for place, message in self.added if same(message, self.before.message)]

    @property
    def results(self) -> list[tuple[int, Message]]:
        """The results that the runner put there, with their places."""
        return [(place, message) for place, message in self.added if message.role == "tool"]

    @property
    def strangers(self) -> list[Message]:
        """What the runner added, and is neither the received turn nor a result."""
        others = [message for _, message in self.added if message.role != "tool"]
        return [message for message in others if not same(message, self.before.message)]

    def owner(self, place: int) -> Message | None:
        """The assistant's message right before a run of results."""
        while place > 0 and self.messages[place - 1].role == "tool":
            place -= 1
        owner = self.messages[place - 1] if place > 0 else None
        return owner if owner is not None and owner.role == "assistant" else None

    def results_after(self, turn: Message) -> list[Message]:
        """The results directly after a turn."""
        start = next((n for n, message in enumerate(self.messages) if same(message, turn)), None)
        found: list[Message] = []
        if start is not None:
            for message in self.messages[start + 1 :]:
                if message.role != "tool":
                    break
                found.append(message)
        return found


def reading(state: ObservedRunner, seen: RunnerGate) -> Reading | None:
    """Compare a request with the iteration before it; None if it does not follow on one."""
    if seen.on != "model" or seen.messages is None or state.is_cancelled:
        return None
    if follows(state) not in ("iteration", "tool fault"):
        return None
    before = state.iteration
    assert before is not None
    if before.request.seen.messages is None:
        return None
    key = ("reading", id(seen))
    if key not in state.known:
        state.known[key] = _read(len(state.iterations) + 1, before, without_system(seen.messages))
    found: Reading = state.known[key]
    return found


def _read(number: int, before: Iteration, messages: list[Message]) -> Reading:
    made = Reading(number, before, messages, [*before.before_pushes(), *before.pushes()])
    place = 0
    for message in made.given:
        found = next((n for n in range(place, len(messages)) if same(messages[n], message)), None)
        if found is None:
            made.missing.append(message)
        else:
            made.places.append(found)
            place = found + 1
    known = set(made.places)
    made.added = [(n, message) for n, message in enumerate(messages) if n not in known]
    return made


def request(number: int) -> str:
    """How a request is named in a reason."""
    return f"request {number}"


def named(message: Message) -> str:
    """A message as a reason names it."""
    if message.role == "tool":
        return f"the result of call {message.call}"
    calls = ", ".join(call.id for call in message.tool_calls)
    what = f"with calls {calls}" if calls else f"“{message.text[:40]}”"
    return f"the {message.role} message {what}"


def turn_of(iteration: Iteration) -> str:
    """The received turn as a reason names it."""
    ids = [call.id for call in iteration.calls]
    what = f", which asks for {', '.join(ids)}" if ids else ""
    stop = iteration.turn.stop if iteration.turn is not None else ""
    return f"the turn of request {iteration.number} (stop reason {stop}{what})"


def acts_of(iteration: Iteration) -> str:
    """What the user did in an iteration, as a reason names it."""
    did = [
        words
        for words, done in (
            ("pushed messages", iteration.pushed),
            ("set messages", iteration.sets_messages),
            ("set params", iteration.was_set and not iteration.sets_messages),
        )
        if done
    ]
    return f"the user {' and '.join(did)}" if did else "the user changed nothing"


def entering(state: ObservedRunner, seen: RunnerGate) -> tuple[Iteration, str, str] | None:
    """The iteration, the phase and the call of an entry that can be judged."""
    iteration = state.iteration
    if iteration is None or seen.call is None or iteration.has_doubled_ids:
        return None
    return iteration, state.phase(iteration)[0], seen.call
