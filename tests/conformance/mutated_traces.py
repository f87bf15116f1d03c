"""Traces of right runtimes with one observation deleted, doubled or swapped with its neighbour."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from interlock.conformance.adapters.reference import factory
from interlock.conformance.audit import facts_of, judged, scenes
from interlock.conformance.campaign import Bench
from interlock.conformance.chooser import Seeded
from interlock.conformance.corpus import applicable, corpus, play
from interlock.conformance.hosted import Hosted
from interlock.conformance.judge import Violation
from interlock.conformance.trace import Record, Trace
from interlock.conformance.walk import walk

PROFILES = ("tirea", "tirea-stream", "awaken-8", "awaken-9", "awaken-concurrent")
RECORDED = Path("a recorded trace")


@dataclass(frozen=True)
class Mutation:
    """One change to a trace: what was done, and at which record."""

    way: str
    at: int
    trace: Trace

    @property
    def seen(self) -> Record:
        """The observation that was deleted or doubled, or the first of the two that were swapped."""
        found: Record = self.trace.records[self.at]["observation"]
        return found

    @property
    def behind(self) -> Record:
        """The observation behind it, of a swap the second of the two."""
        found: Record = self.trace.records[self.at + 1]["observation"]
        return found

    def records(self) -> list[Record]:
        """The records of the trace after the change."""
        whole = self.trace.records
        before, here, after = whole[: self.at], whole[self.at], whole[self.at + 1 :]
        if self.way == "swap":
            return [*before, after[0], here, *after[1:]]
        return [*before, *after] if self.way == "delete" else [*before, here, here, *after]


def mutations(trace: Trace) -> Iterator[Mutation]:
    """Every change of one observation."""
    records = trace.records
    for at, record in enumerate(records):
        if "observation" not in record:
            continue
        yield Mutation("delete", at, trace)
        yield Mutation("double", at, trace)
        swappable = at + 1 < len(records) and "observation" in records[at + 1]
        if swappable and records[at + 1] != record:
            yield Mutation("swap", at, trace)


def objection(trace: Trace) -> Violation | None:
    """What the judge of recorded traces has against it."""
    (scene,) = scenes(trace)
    return judged(RECORDED, scene, facts_of(RECORDED, trace)).violation


def recorded(profile: str, walks: int = 0, seed: int = 1) -> Iterator[tuple[str, Trace]]:
    """Traces of the reference under a profile: the corpus as far as it applies, and so many walks."""
    bench = Bench(lambda: Hosted(factory(profile)))
    for script in corpus():
        if not applicable(script, bench.handshake):
            session = bench.session(script.scenario)
            play(script)(session)
            yield f"{profile} {script.name}", session.trace
    for index in range(walks):
        session = bench.session(bench.scenarios[index % len(bench.scenarios)])
        walk(session, Seeded(seed, index))
        yield f"{profile} walk {seed}-{index}", session.trace
