"""Traces of right runtimes with one observation deleted, doubled or swapped with its neighbour."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from runlock.conformance.campaign.audit import facts_of, scenes
from runlock.conformance.campaign.rejudging import judged
from runlock.conformance.campaign.units import Facts
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.strategies.scripted import applicable, corpus, play
from runlock.conformance.errors import UsageError
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.family.chooser import Seeded
from runlock.conformance.trace.trace import Record, Trace

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
    def following(self) -> Record:
        """The observation after it, of a swap the second of the two."""
        found: Record = self.trace.records[self.at + 1]["observation"]
        return found

    @property
    def status(self) -> str | None:
        """What the call of the observation was last reported to be."""
        call = self.seen.get("call")
        told = (record["observation"] for record in self.trace.records[: self.at] if "observation" in record)
        said = [one["to"] for one in told if one["kind"] == "call.status" and one["call"] == call]
        return said[-1] if said else None

    @property
    def is_of_two_calls(self) -> bool:
        """Whether the two that were swapped speak of different calls."""
        first, second = _call(self.trace, self.seen), _call(self.trace, self.following)
        return None not in (first, second) and first != second

    def __str__(self) -> str:
        """What was done, in words."""
        return f"{self.way} {label(self.seen)}" + (
            f" | {label(self.following)}" if self.way == "swap" else ""
        )

    def records(self) -> list[Record]:
        """The records of the trace after the change."""
        whole = self.trace.records
        before, here, after = whole[: self.at], whole[self.at], whole[self.at + 1 :]
        if self.way == "swap":
            return [*before, after[0], here, *after[1:]]
        here_as_often = {"delete": [], "double": [here, here], "none": [here]}[self.way]
        return [*before, *here_as_often, *after]


def label(seen: Record) -> str:
    """The kind of an observation, and what tells it from others of its kind."""
    message = seen.get("message", {})
    parts = {
        "gate.open": (seen.get("on"),),
        "phase": (seen.get("phase"),),
        "call.status": (seen.get("to"),),
        "run.status": (seen.get("to"),),
        "decision": (seen.get("disposition"),),
        "resume": (seen.get("state"),),
        "event": (seen.get("name"),),
        "message": (message.get("role"), message.get("status")),
        "checkpoint": (f"{seen.get('trigger')}/{seen.get('cause')}",),
    }.get(seen["kind"], ())
    return ":".join([seen["kind"], *(part for part in parts if part)])


def _call(trace: Trace, seen: Record) -> str | None:
    """The call that an observation speaks of; a gate that is given up speaks of the one that it was for."""
    if seen["kind"] == "message":
        call: str | None = seen["message"].get("call")
        return call
    if seen["kind"] == "gate.closed":
        opened = (one for one in trace.of("observation") if one["kind"] == "gate.open")
        return next((one.get("call") for one in opened if one["gate"] == seen["gate"]), None)
    return seen.get("call")


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


def objection(mutation: Mutation) -> str:
    """What the judge of recorded traces has against the changed trace, or nothing."""
    (scene,) = scenes(Trace(mutation.records()))
    try:
        found = judged(RECORDED, scene, _facts(json.dumps(scene.records[0]["handshake"]))).violation
    except UsageError as error:
        return str(error)
    return f"{found.clause}: {found.reason}" if found is not None else ""


@cache
def _facts(handshake: str) -> Facts:
    return facts_of(RECORDED, Trace([{"handshake": json.loads(handshake)}]))


def recorded(profile: str, walks: int = 0, seed: int = 1) -> Iterator[tuple[str, Trace]]:
    """Traces of the reference under a profile: the applicable corpus, and a number of walks."""
    bench = Bench(lambda: Hosted(factory(profile)))
    for script in corpus(FAMILY):
        if not applicable(FAMILY, script, bench.handshake):
            session = bench.session(script.scenario)
            play(script)(session)
            yield f"{profile} {script.name}", session.trace
    for index in range(walks):
        session = bench.session(bench.scenarios[index % len(bench.scenarios)])
        walk(session, Seeded(seed, index))
        yield f"{profile} walk {seed}-{index}", session.trace
