"""The last line of a report: what to do about a finding, or what would let the campaign reach more."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from runlock.conformance.campaign.result import UNREACHED, Result
from runlock.conformance.text import plain

EVERYTHING: Final = "`--verbose` lists every clause and every transition"
SHOWN: Final = 3
"""Declarations that are named: those that would let most clauses be judged."""

MISSING: Final = (
    (re.compile(r"the policy (\S+) is not declared"), "declare"),
    (re.compile(r"the runtime does not show (\S+)"), "show"),
    (re.compile(r"the runtime does not take (\S+)"), "take"),
    (re.compile(r"the runtime has no (\S+ gate)"), "have a"),
)
"""Reasons why a clause is untested, and what an adapter would do about it."""


def next_step(result: Result) -> str:
    """One line: the commands for the leading finding, or the declarations and the budget that reach more."""
    if result.causes:
        first = result.causes[0].clause
        return (
            f"next: `runlock explain {first}` says what is asked for, `--skip {first}` hides it; {EVERYTHING}"
        )
    more = "; ".join((*_declarations(result), *_budget(result)))
    return f"next: {more or 'all that applies was exercised often'}; {EVERYTHING}"


def _declarations(result: Result) -> Iterator[str]:
    """The declarations that would let most clauses be judged, with the number of clauses."""
    whys = [plain(one.why) for one in result.clauses if one.verdict == "untested" and not one.offered]
    gains = Counter(
        f"{verb} `{found[1]}`" for why in whys for reason, verb in MISSING if (found := reason.fullmatch(why))
    )
    named = [f"{what} ({many})" for what, many in gains.most_common(SHOWN)]
    if named:
        yield f"to judge more clauses, {', '.join(named)}"
    elif whys:
        yield f"{len(whys)} untested for what the runtime does not offer"


def _budget(result: Result) -> Iterator[str]:
    """Whether a larger budget would exercise more clauses, or exercise some more often."""
    if any(one.why == UNREACHED for one in result.unexercised):
        yield "more `--examples` may reach the rest"
    elif result.unexercised:
        yield "no larger budget is known to reach the rest"
    if thin := sum(one.is_thin for one in result.clauses):
        yield f"more `--examples` for the {'thin clause' if thin == 1 else f'{thin} thin clauses'}"
