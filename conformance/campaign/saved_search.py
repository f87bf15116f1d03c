"""The file of a stopped search, from which the same search is resumed.

A shard of a length always gives the same tally, so the file holds the tallies of the complete shards.  They
are valid only for the same search: the same runtime, within the same bound, with the same kit.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from runlock.conformance.campaign.order import Exhaustive, Order
from runlock.conformance.campaign.stages import Unit
from runlock.conformance.campaign.units import Facts, Played
from runlock.conformance.driving.bench import KIT_VERSION
from runlock.conformance.driving.tally import Found, Tally
from runlock.conformance.errors import UsageError
from runlock.conformance.family.coverage import Coverage
from runlock.conformance.inputs import json_of
from runlock.conformance.judging.judge import Violation
from runlock.conformance.judging.policy_hypotheses import Exclusion
from runlock.conformance.outputs import replace
from runlock.conformance.protocol import SPEC_REVISION, Scenario
from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.trace import Trace, misfit

FILE: Final = "search.json"

SAID: Final = {
    "target": "the target {}",
    "depth": "a depth of {}",
    "races": "at most {} races",
    "one order": "--one-order {}",
    "only": "the clauses {}",
    "kit": "version {} of the kit",
    "spec": "revision {} of the spec",
}
"""The identity of a search, in words; includes the whole handshake."""


class SavedSearch:
    """The file of a search in its folder of results; it exists only while the search is incomplete."""

    def __init__(self, folder: Path, order: Order[Exhaustive], facts: Facts) -> None:
        self.path = folder / FILE
        self._scenario = facts.family.vocabulary.scenario
        self._search = {
            "target": order.target,
            "depth": order.plan.depth,
            "races": order.plan.races,
            "one order": order.plan.one_order,
            "only": list(order.clauses.only),
            "skip": list(order.clauses.skip),
            "kit": KIT_VERSION,
            "spec": SPEC_REVISION,
            "handshake": facts.handshake.to_wire(),
        }

    def read(self) -> dict[Unit, Played]:
        """The results of the earlier search; a `UsageError` if there are none that can be used."""
        if not self.path.exists():
            return {}
        try:
            saved = json_of(self.path, _ANEW)
            self._must_be(saved["search"])
            units = [(one["unit"], _tally(one["tally"], self._scenario)) for one in saved["units"]]
            return {_unit(unit): Played(tally) for unit, tally in units}
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise UsageError(f"{self.path} cannot be read as a search that was stopped.", _ANEW) from error

    def _must_be(self, search: Mapping[str, Any]) -> None:
        for key, now in self._search.items():
            was = search.get(key)
            if was != now:
                said = "in its handshake the runtime says something else of itself by now"
                if key in SAID:
                    said = f"it had {SAID[key].format(_in_words(was))}, and this has {_in_words(now)}"
                raise UsageError(f"{self.path} is of another search that was stopped: {said}.", _ANEW)

    def write(self, played: Mapping[Unit, Played]) -> None:
        """Save shards that are complete and without errors; the rest is repeated."""
        whole = {unit: one for unit, one in played.items() if one.is_whole and not one.tally.troubles}
        units = [
            {"unit": list(unit), "tally": _tally_as_json(one.tally)} for unit, one in sorted(whole.items())
        ]
        replace(self.path, json.dumps({"search": self._search, "units": units}) + "\n")

    def remove(self) -> None:
        """Remove the file, since the search is complete."""
        self.path.unlink(missing_ok=True)


_ANEW: Final = "Delete it to begin anew, or name another folder with `-o`."


def _in_words(value: Any) -> str:
    return ", ".join(map(str, value)) or "all" if isinstance(value, list) else str(value)


# --- tallies ------------------------------------------------------------------------------------

# A search has no tours, and shards with errors are repeated: neither is saved.


def _tally_as_json(tally: Tally) -> dict[str, Any]:
    return {
        "schedules": tally.schedules,
        "stimuli": tally.stimuli,
        "policies": sorted(tally.policies),
        "cut_short": tally.cut_short,
        "ended_by": tally.ended_by,
        "exercised": tally.exercised,
        "shown": tally.shown,
        "searched": _pairs(tally.searched),
        "coverage": {one.name: _pairs(getattr(tally.coverage, one.name)) for one in fields(Coverage)},
        "found": [_found_as_json(found) for found in tally.found.values()],
        "excluded": [
            {"one": one, "exclusion": asdict(exclusion), "found": _found_as_json(found)}
            for one, (exclusion, found) in tally.excluded.items()
        ],
    }


def _tally(stored: Mapping[str, Any], model: type[Scenario]) -> Tally:
    found = [_found(one, model) for one in stored["found"]]
    return Tally(
        schedules=_number(stored["schedules"]),
        stimuli=_number(stored["stimuli"]),
        policies=set(stored["policies"]),
        cut_short=_number(stored["cut_short"]),
        ended_by=_counter(stored["ended_by"].items(), str),
        exercised=_counter(stored["exercised"].items(), str),
        shown=_counter(stored["shown"].items(), str),
        searched=_SEARCHED.validate_python(_counter(stored["searched"])),
        coverage=_COVERAGE.validate_python({name: _counter(one) for name, one in stored["coverage"].items()}),
        found={one.violation.clause: one for one in found},
        excluded={
            (key, value): (_EXCLUSION.validate_python(one["exclusion"]), _found(one["found"], model))
            for one in stored["excluded"]
            for key, value in [one["one"]]
        },
    )


def _pairs(counts: Mapping[Any, int]) -> list[Any]:
    return [[list(key), many] for key, many in counts.items()]


def _counter(pairs: Iterable[tuple[Any, int]], key_of: Callable[[Any], Hashable] = tuple) -> Counter[Any]:
    return Counter({key_of(key): _number(many) for key, many in pairs})


def _number(stored: Any) -> int:
    if type(stored) is not int or stored < 0:
        raise ValueError(f"{stored!r} is no count")
    return stored


def _found_as_json(found: Found) -> dict[str, Any]:
    return {
        "violation": asdict(found.violation),
        "scenario": found.scenario.to_wire(),
        "moves": [{"method": one.method, "params": one.params, "turns": one.turns} for one in found.moves],
        "trace": found.trace.records,
        "muted": sorted(found.muted),
    }


def _found(stored: Mapping[str, Any], model: type[Scenario]) -> Found:
    return Found(
        _VIOLATION.validate_python(stored["violation"]),
        model.model_validate(stored["scenario"]),
        _MOVES.validate_python(stored["moves"]),
        _trace(stored["trace"]),
        frozenset(stored["muted"]),
    )


def _trace(records: Any) -> Trace:
    wrong = next(filter(None, map(misfit, records)), "")
    if wrong:
        raise ValueError(wrong)
    return Trace(records)


_SEARCHED: Final = TypeAdapter(Counter[tuple[int, str]])
_COVERAGE: Final = TypeAdapter(Coverage)
_VIOLATION: Final = TypeAdapter(Violation)
_EXCLUSION: Final = TypeAdapter(Exclusion)
_MOVES: Final = TypeAdapter(tuple[Move, ...])


def _unit(pair: Iterable[int]) -> Unit:
    stage, number = pair
    return int(stage), int(number)
