"""What a search that was stopped leaves in a file, so that the same search goes on from there.

A shard of a length gives the same tally whoever plays it and whenever, so the tallies of the shards that were
played whole are all there is to keep.  They are of use to the same search alone: of the same runtime, within
the same bound, by the same kit.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final

from runlock.conformance.campaign.stages import Order
from runlock.conformance.campaign.units import Facts, Played, Unit
from runlock.conformance.driving.bench import KIT_VERSION
from runlock.conformance.driving.tally import Found, Tally
from runlock.conformance.errors import UsageError
from runlock.conformance.family.coverage import Coverage
from runlock.conformance.judging.judge import Violation
from runlock.conformance.judging.policy_hypotheses import Exclusion
from runlock.conformance.protocol import SPEC_REVISION, Scenario
from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.trace import Trace

FILE: Final = "search.json"

SAID: Final = {
    "target": "the target {}",
    "depth": "a depth of {}",
    "races": "at most {} races",
    "one order": "--one-order {}",
    "only": "the clauses {}",
    "seed": "the seed {}",
    "kit": "version {} of the kit",
    "spec": "revision {} of the spec",
}
"""What makes a search the same one, in words; the handshake is told as a whole."""


class Kept:
    """The file of a search, in its folder of results; it is there only while the search is not over."""

    def __init__(self, folder: Path, order: Order, facts: Facts) -> None:
        self.path = folder / FILE
        self._search = {
            "target": order.target,
            "depth": order.depth,
            "races": order.races,
            "one order": order.one_order,
            "only": list(order.only),
            "seed": order.seed,
            "kit": KIT_VERSION,
            "spec": SPEC_REVISION,
            "handshake": facts.handshake.to_wire(),
        }

    def read(self) -> dict[Unit, Played]:
        """What was played before; a `UsageError` if the file is of another search, or of none."""
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
            self._must_be(kept["search"])
            return {_unit(one["unit"]): Played(_tally(one["tally"])) for one in kept["units"]}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise UsageError(f"{self.path} cannot be read as a search that was stopped.", _ANEW) from error

    def _must_be(self, search: Mapping[str, Any]) -> None:
        for key, now in self._search.items():
            was = search.get(key)
            if was != now:
                said = "in its handshake the runtime says something else of itself by now"
                if key in SAID:
                    said = f"it had {SAID[key].format(_told(was))}, and this has {_told(now)}"
                raise UsageError(f"{self.path} is of another search that was stopped: {said}.", _ANEW)

    def write(self, played: Mapping[Unit, Played]) -> None:
        """Keep what was played whole and could be judged; the rest is played again."""
        whole = {unit: one for unit, one in played.items() if one.is_whole and not one.tally.troubles}
        units = [{"unit": list(unit), "tally": _told_tally(one.tally)} for unit, one in sorted(whole.items())]
        beside = self.path.with_suffix(".part")
        beside.write_text(json.dumps({"search": self._search, "units": units}) + "\n", encoding="utf-8")
        os.replace(beside, self.path)

    def remove(self) -> None:
        """The search is over."""
        self.path.unlink(missing_ok=True)


_ANEW: Final = "Delete it to begin anew, or name another folder with `-o`."


def _told(value: Any) -> str:
    return ", ".join(map(str, value)) or "all" if isinstance(value, list) else str(value)


# --- tallies ------------------------------------------------------------------------------------

# Of tours a search has none, and what troubled it is played again: neither is kept.


def _told_tally(tally: Tally) -> dict[str, Any]:
    return {
        "schedules": tally.schedules,
        "stimuli": tally.stimuli,
        "exercised": tally.exercised,
        "shown": tally.shown,
        "searched": _pairs(tally.searched),
        "coverage": {one.name: _pairs(getattr(tally.coverage, one.name)) for one in fields(Coverage)},
        "found": [_told_found(found) for found in tally.found.values()],
        "excluded": [
            {"one": one, "exclusion": asdict(exclusion), "found": _told_found(found)}
            for one, (exclusion, found) in tally.excluded.items()
        ],
    }


def _tally(told: Mapping[str, Any]) -> Tally:
    found = [_found(one) for one in told["found"]]
    return Tally(
        schedules=told["schedules"],
        stimuli=told["stimuli"],
        exercised=Counter(told["exercised"]),
        shown=Counter(told["shown"]),
        searched=_counter(told["searched"]),
        coverage=Coverage(**{name: _counter(pairs) for name, pairs in told["coverage"].items()}),
        found={one.violation.clause: one for one in found},
        excluded={
            (key, value): (Exclusion(**one["exclusion"]), _found(one["found"]))
            for one in told["excluded"]
            for key, value in [one["one"]]
        },
    )


def _pairs(counts: Mapping[Any, int]) -> list[Any]:
    return [[list(key), many] for key, many in counts.items()]


def _counter(pairs: Iterable[tuple[Iterable[Hashable], int]]) -> Counter[Any]:
    return Counter({tuple(key): many for key, many in pairs})


def _told_found(found: Found) -> dict[str, Any]:
    return {
        "violation": asdict(found.violation),
        "scenario": found.scenario.to_wire(),
        "moves": [{"method": one.method, "params": one.params, "turns": one.turns} for one in found.moves],
        "trace": found.trace.records,
    }


def _found(told: Mapping[str, Any]) -> Found:
    return Found(
        Violation(**told["violation"]),
        Scenario.model_validate(told["scenario"]),
        tuple(Move(**one) for one in told["moves"]),
        Trace(told["trace"]),
    )


def _unit(told: Iterable[int]) -> Unit:
    stage, number = told
    return int(stage), int(number)
