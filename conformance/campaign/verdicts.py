"""From what the schedules showed to one verdict for each clause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final, Protocol

from runlock.conformance.campaign.result import ClauseVerdict
from runlock.conformance.driving.tally import Tally
from runlock.conformance.judging.applicability import SILENT, Standing

INSPECTED: Final = "inspect yes"
"""What a clause needs about a look at a run: no handshake says whether there is one, only the answer does."""


class Known(Protocol):
    """How each clause stands with a runtime, and which clauses were asked for."""

    @property
    def standings(self) -> Mapping[str, Standing]: ...

    @property
    def only(self) -> Sequence[str]: ...


def verdicts(bench: Known, tally: Tally) -> Iterator[ClauseVerdict]:
    """What became of each clause that was asked for."""
    for clause_id, standing in bench.standings.items():
        level = standing.clause.level
        count = tally.exercised[clause_id]
        if bench.only and not any(fnmatchcase(clause_id, pattern) for pattern in bench.only):
            continue
        if clause_id in tally.found:
            yield ClauseVerdict(clause_id, level, "broken", tally.found[clause_id].violation.because, count)
        elif not standing.is_judged:
            verdict: Any = standing.verdict
            yield ClauseVerdict(clause_id, level, verdict, standing.why, 0, standing.offered)
        elif count:
            yield ClauseVerdict(clause_id, level, "held", "", count)
        elif not standing.hears_silence:
            yield ClauseVerdict(clause_id, level, "untested", SILENT, offered=False)
        elif INSPECTED in standing.clause.needs and not tally.shown["observes inspect"]:
            yield ClauseVerdict(clause_id, level, "untested", "no look at a run was answered", offered=False)
        else:
            yield ClauseVerdict(clause_id, level, "untested", _unreached(standing, tally))


def _unreached(standing: Standing, tally: Tally) -> str:
    """Why a clause that can be judged was not: a claim of the handshake that never came true goes first."""
    if standing.clause.level == "MAY":
        return "it is a permission, and was not taken"
    claimed = [need for need in standing.clause.needs if need.startswith(("gate ", "observes "))]
    never = next((need.partition(" ") for need in claimed if not tally.shown[need]), None)
    if never is None or not tally.schedules:
        return "no schedule reached it"
    if never[0] == "gate":
        return f"the handshake names a {never[2]} gate, and none was ever opened"
    return f"the handshake says that {never[2]} is shown, and it never was"
