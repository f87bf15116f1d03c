"""Compares what two commits of the kit say of the same runs, verdict by verdict.

    python tests/benchmarks/verdicts.py record FOLDER [EVERY] [WALKS]
    python tests/benchmarks/verdicts.py judge FOLDER RESULT [MOST]
    python tests/benchmarks/verdicts.py compare BEFORE AFTER

`record` plays every reference under each of its profiles, every variant and every mutant of every family
through the scripts, the stored witnesses and WALKS random walks (4), and judges none of it; a mutant plays
its own witness, and of the rest one schedule in EVERY (8).  `judge` judges these traces, at most about MOST
of each runtime, and the stored traces of the tests.  To compare two commits, record with one, judge the
folder with both, and compare the results.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.strategies.scripted import applicable, corpus, play, witnesses
from runlock.conformance.errors import RunlockError
from runlock.conformance.family.chooser import Seeded
from runlock.conformance.family.family import Family, families, family_named
from runlock.conformance.judging.judge import Judge
from runlock.conformance.trace.trace import Trace

STORED = Path(__file__).resolve().parents[1] / "data"


@dataclass(frozen=True)
class Runtime:
    """A runtime of a family: a reference under a profile, a variant or a mutant."""

    family: str
    kind: str
    name: str

    def factory(self) -> Callable[[], Any]:
        """A factory of its hosted adapter."""
        made = family_named(self.family).made
        if self.kind == "reference":
            return made.reference(self.name, {})
        return (made.mutants() if self.kind == "mutant" else made.variants())[self.name]

    def __str__(self) -> str:
        return f"{self.family} {self.kind} {self.name}"


def runtimes() -> Iterator[Runtime]:
    """Every runtime that comes with the kit."""
    for family in families():
        for kind, names in (
            ("reference", family.spec.profiles),
            ("variant", family.made.variants()),
            ("mutant", family.made.mutants()),
        ):
            yield from (Runtime(family.name, kind, name) for name in names)


# --- recording ----------------------------------------------------------------------------------


def schedules(bench: Bench, runtime: Runtime, every: int, walks: int) -> Iterator[tuple[str, Any, Any]]:
    """The schedules of a runtime, each with its name and its scenario."""
    family = bench.family
    scripts = [*corpus(family), *witnesses(family, sys.maxsize)]
    for index, script in enumerate(scripts):
        is_own = script.name == runtime.name
        is_drawn = runtime.kind != "mutant" or (index + len(runtime.name)) % every == 0
        if (is_own or is_drawn) and not applicable(family, script, bench.handshake):
            yield script.name, script.scenario, play(script)
    for index in range(walks if runtime.kind == "mutant" else 10 * walks):
        scenario = bench.scenarios[index % len(bench.scenarios)]
        yield f"walk {index}", scenario, partial(_walk, index)


def _walk(index: int, session: Session) -> None:
    walk(session, Seeded(1, index))


def record(runtime: Runtime, folder: Path, every: int, walks: int) -> None:
    """Write the traces of a runtime, one line a schedule."""
    try:
        bench = Bench(lambda: family_named(runtime.family).host(runtime.factory()))
    except RunlockError:
        return  # no reference behaves as this profile says
    bench.family = replace(bench.family, invariants=(), monitors=())
    with gzip.open(folder / f"{runtime}.jsonl.gz", "wt", encoding="utf-8") as file:
        for name, scenario, schedule in schedules(bench, runtime, every, walks):
            try:
                session = bench.session(scenario)
                schedule(session)
            except RunlockError:
                bench.renew()
                continue
            file.write(json.dumps([name, session.trace.records]) + "\n")
    bench.close()


# --- judging ------------------------------------------------------------------------------------


def judged(judge: Judge, family: Family, trace: Trace) -> Judge:
    """A judge after the whole trace."""
    shown: list[Any] = []
    for entry in trace.records:
        ((key, value),) = entry.items()
        if key == "stimulus":
            judge.stimulus(value["method"], value["params"])
        elif key == "crash":
            judge.stimulus("crash", {})
        elif key == "observation":
            shown.append(value)
        elif key == "report":
            judge.answer(family.vocabulary.report.model_validate({**value, "observations": shown}))
            shown = []
    return judge


def verdicts(runtime: Runtime, folder: Path, most: int) -> dict[str, Any]:
    """For each schedule of a runtime the first violation; and how often each clause was exercised."""
    family = family_named(runtime.family)
    bench = Bench(lambda: family.host(runtime.factory()))
    found: dict[str, Any] = {}
    exercised: Counter[str] = Counter()
    with gzip.open(folder / f"{runtime}.jsonl.gz", "rt", encoding="utf-8") as file:
        lines = [line for line in file if line.startswith(f'["{runtime.name}"')]
        file.seek(0)
        every = list(file)
        lines += every[:: max(1, len(every) // most)]
        for name, records in map(json.loads, dict.fromkeys(lines)):
            trace = Trace(records)
            scenario = family.vocabulary.scenario.model_validate(next(trace.of("scenario")))
            judge = judged(bench.judge(scenario), family, trace)
            exercised.update(judge.exercised)
            why = judge.violation
            found[name] = why and [why.clause, why.reason, why.stimulus]
    bench.close()
    return {"schedules": found, "exercised": dict(sorted(exercised.items()))}


def stored() -> dict[str, Any]:
    """What an audit says of each stored trace."""
    from runlock.conformance.campaign.audit import audit

    found = {}
    for path in sorted(STORED.glob("*_traces/*.jsonl")):
        result = audit(path, path.stem)
        found[f"{path.parent.name} {path.stem}"] = {
            "schedules": {one.clause: [one.clause, one.reason, 0] for one in result.witnesses},
            "exercised": {one.id: one.exercised for one in result.clauses if one.exercised},
        }
    return found


# --- comparing ----------------------------------------------------------------------------------


def compare(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """The differences, one line each, and their numbers."""
    changes: Counter[str] = Counter()
    for name in sorted(before.keys() | after.keys()):
        old, new = (one.get(name, {"schedules": {}, "exercised": {}}) for one in (before, after))
        for schedule in sorted(old["schedules"].keys() | new["schedules"].keys()):
            was, now = (one["schedules"].get(schedule) for one in (old, new))
            kind = _change(was, now)
            changes[kind] += 1
            if kind != "same":
                yield f"{kind}: {name}, {schedule}: {was} -> {now}"
        yield from _untested(name, old["exercised"], new["exercised"])
    yield ", ".join(f"{count} {kind}" for kind, count in sorted(changes.items()))


def _change(was: list[Any] | None, now: list[Any] | None) -> str:
    if was == now:
        return "same"
    if was is None or now is None:
        return "no longer seen" if now is None else "newly seen"
    return "other reason" if was[0] == now[0] else "other clause"


def _untested(name: str, old: dict[str, int], new: dict[str, int]) -> Iterator[str]:
    gone, added = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    if gone or added:
        yield f"exercised: {name}: no longer {gone}, newly {added}"


def _judge_one(folder: Path, most: int, runtime: Runtime) -> tuple[str, dict[str, Any]]:
    return str(runtime), verdicts(runtime, folder, most)


def main(command: str, *given: str) -> None:
    """Run one of the three commands."""
    if command == "compare":
        before, after = (json.loads(Path(one).read_text("utf-8")) for one in given)
        print("\n".join(compare(before, after)))
        return
    folder = Path(given[0])
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(2) as pool:
        if command == "record":
            every, walks = (int(one) for one in (*given[1:], "8", "4")[:2])
            list(pool.map(partial(record, folder=folder, every=every, walks=walks), runtimes()))
        else:
            most = int(given[2]) if len(given) > 2 else sys.maxsize
            there = [one for one in runtimes() if (folder / f"{one}.jsonl.gz").exists()]
            found = dict(pool.map(partial(_judge_one, folder, most), there, chunksize=4)) | stored()
            Path(given[1]).write_text(json.dumps(found, sort_keys=True), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
