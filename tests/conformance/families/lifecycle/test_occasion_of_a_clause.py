"""A clause about what a runtime shows if it likes is untested where it does not, and that is no gap."""

from runlock.conformance.campaign.verdicts import verdicts
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import corpus, play
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.variants import VARIANTS

SCRIPT = next(one for one in corpus(FAMILY) if one.name == "two-rounds-of-two")


def found(name):
    """The verdicts on a server of AG-UI after one script."""
    variant = next(one for one in VARIANTS if one.name == name)
    bench, tally = Bench(lambda: Hosted(variant)), Tally()
    bench.play(SCRIPT.scenario, play(SCRIPT), tally)
    every = {one.id: one for one in verdicts(bench, tally)}
    bench.close()
    return every


def test_what_was_not_shown_is_said_and_not_offered():
    """The reason names the occasion."""
    chunk = found("serving")["PRODUCER-20"]

    assert (chunk.verdict, chunk.why, chunk.offered) == (
        "untested",
        "it takes a chunk, and none was shown",
        False,
    )


def test_what_was_shown_is_judged():
    """With the occasion, the clause holds like any other."""
    assert found("serving-in-chunks")["PRODUCER-20"].verdict == "held"
