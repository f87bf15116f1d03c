"""References that offer a part of what they can, drawn at random: each is right, and each can be green."""

from __future__ import annotations

from contextlib import closing

from reaching import play_occasions
from weaker_handshakes import Offer, Reference, features, plain_references, without

from runlock.conformance.campaign.verdicts import verdicts
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.occasions import occasions, out_of_reach
from runlock.conformance.driving.strategies.random_walk import run_shard
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.chooser import Seeded, chance, pick
from runlock.conformance.family.family import Family

SHARES = (1_000, 8, 2)
"""One in this number of the features of a field is left out: hardly any, some, or half of them."""


WALKS = 8
"""Random schedules that are played on each reference, which meet what no script needs."""


def drawn(family: Family, seed: int) -> tuple[Reference, Offer]:
    """A reference, and a part of what it can offer."""
    chooser = Seeded(seed)
    reference = pick(chooser, plain_references(family.name))
    offer, every = reference.offer, list(features(reference.offer))
    share = {place: pick(chooser, SHARES) for place in dict.fromkeys(one.place for one in every)}
    for feature in [one for one in every if chance(chooser, share[one.place])]:
        less = without(offer, [feature])
        offer = less if reference.handshake(less) is not None else offer
    return reference, offer


def played(bench: Bench) -> Tally:
    """The schedules that reach each clause that is asked of the runtime, and some random walks."""
    family, handshake = bench.family, bench.handshake
    judged = [clause for clause, one in bench.standings.items() if one.is_judged]
    asked = [clause for clause in judged if not out_of_reach(family, clause, handshake)]
    known = {clause: occasions(family, clause) for clause in asked}
    tally = play_occasions(bench, {clause: scripts for clause, scripts in known.items() if scripts})
    tally.exercised[family.judging.determinism] += 1  # each schedule would have to be played twice
    tally.add(run_shard(bench, 0, WALKS, seed=0))
    return tally


def unreached(bench: Bench, tally: Tally) -> dict[str, str]:
    """The clauses that are asked of the runtime and were not exercised, and why."""
    asked = [one for one in verdicts(bench, tally) if one.verdict == "untested" and one.offered]
    return {one.id: one.why for one in asked if one.level != "MAY"}


def objections(family: Family, seed: int) -> dict[str, object]:
    """What keeps such a reference from being green, by clause or by the party at fault."""
    reference, offer = drawn(family, seed)
    with closing(reference.bench(offer)) as bench:
        tally = played(bench)
        left = unreached(bench, tally)
    broken = {clause: found.violation.reason for clause, found in tally.found.items()}
    return {**left, **broken, **{one.blame: one.what for one in tally.troubles}}
