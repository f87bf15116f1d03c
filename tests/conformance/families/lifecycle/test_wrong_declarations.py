"""A runtime that says of itself what it does not do is found out, policy by policy and value by value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from policy_fakes import TOGETHER_WITH

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.strategies.scripted import applicable, corpus, play
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.reference import ReferenceAdapter
from runlock.conformance.family.chooser import Seeded
from runlock.machines.lifecycle.runtime.choices import policies_of
from runlock.spec.model import load_spec

WALKS = 60
"""Walks within which a wrong word has to be found out, after the corpus."""


class Word(NamedTuple):
    """What a runtime does about a policy, and what it says."""

    policy: str
    does: str
    says: str


PROFILES = {
    Word("step.end", "before_tools", "after_tools"): "tirea",
    "round.mixed": "tirea",
    Word("round.block", "end_run", "fail_call"): "tirea",
    Word("replay.commit", "no", "yes"): "tirea",
    Word("replay.commit", "yes", "no"): "tirea-stream",
    "replay.start": "tirea",
    "durability": "tirea",
    Word("waiting", "parked", "reentered"): "tirea",
}
"""The profile under which a policy, or one word about it, makes a difference; else it is awaken-8."""

"""What else a runtime must do for a policy to matter."""

AT_THE_END_OF_A_ROUND = (
    "each of them acts when the round is over; whether the run is shown Waiting in between is left open"
)
MORE_THAN_PROMISED = "more is durable than was promised"
MORE_SHOWN = "a newcomer is shown more than was promised"
BY_ITS_CHECKPOINTS = (
    "with checkpoints at the named triggers, rounds are durable whatever is promised; what breaks the "
    "promise is a mutant that leaves a checkpoint out"
)
ALIKE = {
    Word("decision.window", "after_round", "waiting"): AT_THE_END_OF_A_ROUND,
    Word("decision.window", "after_round", "between_segments"): AT_THE_END_OF_A_ROUND,
    Word("decision.window", "waiting", "after_round"): AT_THE_END_OF_A_ROUND,
    Word("decision.window", "waiting", "between_segments"): AT_THE_END_OF_A_ROUND,
    Word("decision.window", "between_segments", "after_round"): AT_THE_END_OF_A_ROUND,
    Word("decision.window", "between_segments", "waiting"): AT_THE_END_OF_A_ROUND,
    Word(
        "decision.early", "refuse", "ignore"
    ): "what is refused has no effect, and its sender is told besides",
    Word("decision.kept", "acceptance", "checkpoint"): MORE_THAN_PROMISED,
    Word("decision.kept", "acceptance", "no"): MORE_THAN_PROMISED,
    Word("decision.kept", "checkpoint", "no"): MORE_THAN_PROMISED,
    Word(
        "decision.kept", "no", "checkpoint"
    ): "a reference that promises nothing stores decisions all the same",
    Word("durability", "round", "step"): MORE_THAN_PROMISED,
    Word("durability", "round", "segment"): MORE_THAN_PROMISED,
    Word("durability", "step", "segment"): MORE_THAN_PROMISED,
    Word("durability", "step", "round"): BY_ITS_CHECKPOINTS,
    Word("durability", "segment", "round"): BY_ITS_CHECKPOINTS,
    Word("durability", "segment", "step"): BY_ITS_CHECKPOINTS,
    Word(
        "input.fate", "dropped", "returned"
    ): "a reference that drops input does not say what it gives back, so that it may do it unseen",
    Word("wait.reshown", "yes", "on_request"): MORE_SHOWN,
    Word("wait.reshown", "yes", "no"): MORE_SHOWN,
    Word("wait.reshown", "on_request", "no"): MORE_SHOWN,
    Word("wait.reshown", "no", "on_request"): "a look shows what waits, whatever was declared",
    Word("state", "runtime", "caller"): "an adapter that holds the value for its caller shows the same",
    Word("state", "caller", "runtime"): "an adapter that holds the value for its caller shows the same",
}
"""The words that make no difference, each with the reason why."""

WORDS = [
    Word(key, does, says)
    for key, policy in load_spec("lifecycle").policies.items()
    if policy.kind == "one of"
    for does in policy.values
    for says in policy.values
    if does != says
]


def runtime(word: Word) -> ReferenceAdapter:
    """The reference, doing the one and saying the other."""
    profile = PROFILES.get(word) or PROFILES.get(word.policy) or "awaken-8"
    companions: dict[str, Any] = TOGETHER_WITH.get(word.policy, {})
    said = {**policies_of(profile, companions), word.policy: word.says}
    return ReferenceAdapter(profile, {**companions, word.policy: word.does}, declare={"policies": said})


def shown(word: Word) -> Iterator[dict[str, str]]:
    """What each schedule blames on the runtime."""
    bench = Bench(lambda: Hosted(lambda: runtime(word)))
    for script in corpus(FAMILY):
        if not applicable(FAMILY, script, bench.handshake):
            yield _blamed(bench, script.scenario, play(script))
    for index in range(WALKS):
        scenario = bench.scenarios[index % len(bench.scenarios)]
        yield _blamed(bench, scenario, lambda session, index=index: walk(session, Seeded(1, index)))


def _blamed(bench: Bench, scenario: Any, schedule: Any) -> dict[str, str]:
    tally = Tally()
    bench.play(scenario, schedule, tally)
    return {clause: found.violation.reason for clause, found in tally.found.items()}


@pytest.mark.sampled(1, nightly=12)
@pytest.mark.long
@pytest.mark.parametrize("word", [word for word in WORDS if word not in ALIKE], ids="-".join)
def test_a_wrong_word_is_found_out(word):
    """Anyone who does one thing and says another breaks a clause, in the scripted scenarios or soon after."""
    assert any(shown(word))


def test_only_what_exists_is_said_to_make_no_difference():
    """The table of words that make no difference has no row for a value that is gone."""
    assert set(ALIKE) <= set(WORDS)
