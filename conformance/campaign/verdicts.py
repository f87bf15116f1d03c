"""Derives one verdict for each clause from the results of the schedules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Protocol

from runlock.conformance.campaign.result import UNREACHED, ClauseVerdict
from runlock.conformance.driving.occasions import fitting, out_of_reach
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.family import Family
from runlock.conformance.judging.applicability import SILENT, Applicability
from runlock.conformance.judging.selection import Selection
from runlock.conformance.protocol import Handshake

NOTHING_FITS: Final = "no schedule that reaches it fits"

UNUSED: Final = "a permission that no run certainly took"

INSPECTED: Final = "inspect yes"
"""The need of clauses for `inspect`, which no handshake declares; only an answer shows it."""


class Known(Protocol):
    """The applicability of each clause for a runtime, and the selected clauses."""

    @property
    def standings(self) -> Mapping[str, Applicability]: ...

    @property
    def family(self) -> Family: ...
    @property
    def handshake(self) -> Handshake: ...
    @property
    def selection(self) -> Selection: ...


def verdicts(bench: Known, tally: Tally) -> Iterator[ClauseVerdict]:
    """The verdict on each selected clause."""
    for clause_id, standing in bench.standings.items():
        level = standing.clause.level
        count = tally.exercised[clause_id]
        if not bench.selection.has(clause_id):
            continue
        if clause_id in tally.found:
            yield ClauseVerdict(clause_id, level, "broken", tally.found[clause_id].violation.reason, count)
        elif clause_id in tally.unrepeated:
            yield ClauseVerdict(clause_id, level, "error", tally.unrepeated[clause_id], count)
        elif not standing.is_judged:
            verdict: Any = standing.verdict
            yield ClauseVerdict(clause_id, level, verdict, standing.why, 0, standing.offered)
        elif count and tally.cut_short:
            why = f"not judged to the end of {tally.cut_short} schedules, which broke other clauses"
            yield ClauseVerdict(clause_id, level, "untested", why, count)
        elif count:
            yield ClauseVerdict(clause_id, level, "held", "", count)
        elif not standing.hears_silence:
            yield ClauseVerdict(clause_id, level, "untested", SILENT, offered=False)
        elif INSPECTED in standing.clause.needs and not tally.shown["observes inspect"]:
            yield ClauseVerdict(clause_id, level, "untested", "no look at a run was answered", offered=False)
        elif standing.clause.occasion:
            why = f"it takes {standing.clause.occasion}, and none was shown"
            yield ClauseVerdict(clause_id, level, "untested", why, offered=False)
        elif why := out_of_reach(bench.family, clause_id, bench.handshake):
            yield ClauseVerdict(clause_id, level, "untested", f"{NOTHING_FITS}: {why}", offered=False)
        else:
            yield _unreached(bench, standing, tally)


def _unreached(bench: Known, standing: Applicability, tally: Tally) -> ClauseVerdict:
    """The verdict on a testable clause that was not exercised; a permission that no run took is no gap."""
    clause = standing.clause
    if clause.level == "MAY":
        return ClauseVerdict(clause.id, clause.level, "not-applicable", UNUSED)
    return ClauseVerdict(clause.id, clause.level, "untested", _why_unreached(bench, standing, tally))


def _why_unreached(bench: Known, standing: Applicability, tally: Tally) -> str:
    """Why a testable clause was not exercised; a declared feature that never occurred is named first.

    Schedules known to reach it are played whatever the budget is, so a larger budget is advised only
    where none is known.
    """
    claimed = [need for need in standing.clause.needs if need.startswith(("gate ", "observes "))]
    never = next((need.partition(" ") for need in claimed if not tally.shown[need]), None)
    if never is None or not tally.schedules:
        known = fitting(bench.family, standing.clause.id, bench.handshake) if tally.schedules else None
        return f"{known.name} was played, which reaches it elsewhere" if known else UNREACHED
    if never[0] == "gate":
        return f"the handshake names a {never[2]} gate, and none was ever opened"
    return f"the handshake says that {never[2]} is shown, and it never was"
