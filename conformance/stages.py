"""What a campaign is made of: stages in a fixed order, each cut into units that can be played alone.

A unit gives the same tally whoever plays it and whatever was played before it, so that the number of
processes that share the units changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from interlock.conformance.campaign import SHARDS, Bench, Tally, run_shard, shard_sizes


@dataclass(frozen=True, slots=True)
class Order:
    """What a campaign was asked for; it crosses to the workers as it is."""

    target: str
    examples: int
    seed: int = 0
    only: tuple[str, ...] = ()
    timeout_scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Stage:
    """One way of finding schedules: `play` plays one of its `units`; `schedules` is what to expect of all."""

    name: str
    units: int
    schedules: int
    play: Callable[[Bench, int], Tally]


def stages_of(order: Order) -> tuple[Stage, ...]:
    """The stages of a campaign, in the order in which their tallies add up."""
    return (_walks(order),)


def _walks(order: Order) -> Stage:
    sizes = shard_sizes(order.examples)

    def play(bench: Bench, shard: int) -> Tally:
        return run_shard(bench, shard, sizes[shard], order.seed)

    return Stage("walks", SHARDS, order.examples, play)
