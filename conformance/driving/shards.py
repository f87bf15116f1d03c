"""Shards: a budget of schedules is cut into a fixed number of parts, whoever plays them."""

from __future__ import annotations

from typing import Final

SHARDS: Final = 16


def shard_sizes(examples: int) -> list[int]:
    """How many schedules each shard plays."""
    return [examples // SHARDS + (1 if shard < examples % SHARDS else 0) for shard in range(SHARDS)]
