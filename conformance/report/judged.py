"""What a campaign judged, folded to a few lines: clauses by verdict, and why the others were not judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from runlock.conformance.campaign.result import THIN, ClauseVerdict, Result, Verdict
from runlock.conformance.report import coverage
from runlock.conformance.report import search_summary as searched
from runlock.conformance.report.clause_names import grouped, ranges
from runlock.conformance.report.console import NO_BREAK, Page
from runlock.conformance.text import plain

THIN_SHOWN: Final = 8
UNUSED_SHOWN: Final = 4
REASONS_SHOWN: Final = {"untested": 5, "not-applicable": 3}
NAMES_MAX: Final = 100
"""Maximum characters of the names of clauses; a reason with more is shown with their number alone."""

LABEL: Final = 16
NO_FAULT: Final = ", which is no fault: this runtime promises something else, or nothing can show it"


def summary(result: Result, page: Page, *, is_verbose: bool) -> None:
    """Write how many clauses have each verdict, and why the others were not judged."""
    for line in result.warnings:
        page.wrapped(f"warning: {plain(line)}", "yellow")
    _row(page, "exercised", _exercised_in_all(result))
    for label, text in _run(result):
        _row(page, label, text)
    _areas(result, page, "held")
    _areas(result, page, "broken")
    _reasons(result, page, "untested", "untested", ", for these reasons")
    _reasons(result, page, "not-applicable", "not applicable", NO_FAULT)
    _doubtful(result, page)
    if is_verbose:
        page.line()
        clause_table(result, page)
    if is_verbose and result.coverage:
        page.line()
        coverage.section(result, page, is_verbose=True)


def _row(page: Page, label: str, text: str, style: str = "") -> None:
    page.columns(f"{label:<{LABEL}}", text, style)


def _exercised_in_all(result: Result) -> str:
    exercised = result.count("held") + result.count("broken")
    schedules = f"{result.schedules} schedule{'' if result.schedules == 1 else 's'}"
    stimuli = f"{result.stimuli} {'stimulus' if result.stimuli == 1 else 'stimuli'}"
    return f"{exercised} of {len(result.clauses)} clauses, in {schedules} with {stimuli}"


def _run(result: Result) -> Iterator[tuple[str, str]]:
    """What was asked for: a search, the failures of the last run, and clauses that are not judged."""
    for number, line in enumerate(searched.lines(result)):
        yield "" if number else "search", line
    if replayed := result.budget.get("replayed"):
        failures = f"{replayed} failure{'' if replayed == 1 else 's'}"
        yield "replayed first", f"{failures} of the last run"
    if skipped := result.budget.get("skip"):
        yield "not judged", f"by request: {', '.join(map(plain, skipped))}"


def _areas(result: Result, page: Page, verdict: Verdict) -> None:
    """Write the number of clauses with a verdict, in all and in each area."""
    areas = Counter(one.id.rpartition("-")[0] for one in result.clauses if one.verdict == verdict)
    if areas:
        named = ", ".join(f"{area}{NO_BREAK}({many})" for area, many in areas.items())
        _row(page, verdict, f"{areas.total()}: {named}", "red" if verdict == "broken" else "")


def _reasons(result: Result, page: Page, verdict: Verdict, label: str, meaning: str) -> None:
    """Write why clauses were not judged: the reasons that concern most of them, and how many others."""
    by_reason: dict[str, list[str]] = {}
    for one in result.clauses:
        if one.verdict == verdict:
            by_reason.setdefault(plain(one.why), []).append(one.id)
    if not by_reason:
        return
    _row(page, label, f"{result.count(verdict)}{meaning}:", "dim")
    largest = sorted(by_reason.items(), key=lambda one: -len(one[1]))
    for why, names in largest[: REASONS_SHOWN[verdict]]:
        named = grouped(names)
        text = f"{why}: {named}" if len(named) <= NAMES_MAX else why
        page.columns(f"{'':<{LABEL}}{len(names):>3} ", text, "dim")
    if more := largest[REASONS_SHOWN[verdict] :]:
        others = sum(len(names) for _, names in more)
        reasons = f"for {len(more)} more reason{'' if len(more) == 1 else 's'}"
        page.columns(f"{'':<{LABEL}}{others:>3} ", f"{reasons}, which `--verbose` shows", "dim")


def _doubtful(result: Result, page: Page) -> None:
    """Write what held with little evidence, and which policies no check judged by."""
    if unused := result.unjudged_policies:
        more = f" and {len(unused) - UNUSED_SHOWN} more" if len(unused) > UNUSED_SHOWN else ""
        _row(page, "no check", f"judges by the declared {', '.join(unused[:UNUSED_SHOWN])}{more}", "dim")
    thin = [clause for clause in result.clauses if clause.is_thin]
    if thin:
        named = ", ".join(f"{clause.id}{NO_BREAK}({clause.exercised})" for clause in thin[:THIN_SHOWN])
        more = f" and {len(thin) - THIN_SHOWN} more" if len(thin) > THIN_SHOWN else ""
        _row(page, "thin", f"exercised under {THIN} times: {named}{more}", "dim")


# --- every clause -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Line:
    """Clauses of one area that share a level, a verdict and its reason."""

    area: str
    level: str
    verdict: str
    clauses: list[ClauseVerdict]
    why: str

    @property
    def text(self) -> str:
        """Which clauses, how often they were exercised, and the reason."""
        numbers = ranges([clause.id for clause in self.clauses])
        return f"{numbers}: {'; '.join(part for part in (_exercised(self.clauses), plain(self.why)) if part)}"


def clause_table(result: Result, page: Page) -> None:
    """Write the table of clauses, each area compact."""
    lines = list(_table_lines(result.clauses))
    area = max((len(line.area) for line in lines), default=0)
    page.columns(_left("area", "level", "verdict", max(area, 4)), "clauses, and why", "dim")
    last = ""
    for line in lines:
        shown = line.area if line.area != last else ""
        left = _left(shown, line.level, line.verdict.replace("-", " "), max(area, 4))
        page.columns(left, line.text, _ROW_STYLES[line.verdict])
        last = line.area


def _left(area: str, level: str, verdict: str, width: int) -> str:
    return f"{area:<{width}}  {level:<6}  {verdict:<14}  "


_ROW_STYLES: Final = {
    "held": "", "broken": "red", "untested": "yellow", "error": "yellow", "not-applicable": "dim",
}  # fmt: skip


def _table_lines(clauses: Sequence[ClauseVerdict]) -> Iterator[Line]:
    grouped: dict[tuple[str, ...], list[ClauseVerdict]] = {}
    for clause in clauses:
        area = clause.id.rpartition("-")[0]
        alone = clause.id if clause.verdict == "broken" else ""
        grouped.setdefault((area, alone, clause.verdict, clause.level, clause.why), []).append(clause)
    order = {"broken": 0, "error": 1, "held": 2, "untested": 3, "not-applicable": 4}
    areas = list(dict.fromkeys(key[0] for key in grouped))
    for key in sorted(grouped, key=lambda key: (areas.index(key[0]), order[key[2]])):
        area, _, verdict, level, why = key
        yield Line(area, level, verdict, grouped[key], why)


def _exercised(members: list[ClauseVerdict]) -> str:
    numbers = sorted(clause.exercised for clause in members)
    if not numbers[-1]:
        return ""
    if numbers[0] == numbers[-1]:
        return "exercised once" if numbers[0] == 1 else f"exercised {numbers[0]} times"
    return f"exercised {numbers[0]} to {numbers[-1]} times"
