"""The serialisable form of a result: what `check` writes as JSON, and what every report is made from."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runlock.conformance.campaign.result import Overall, Verdict
from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import DEFAULT, Family, family_named
from runlock.conformance.inputs import json_of
from runlock.conformance.report.clause_names import title
from runlock.conformance.report.result_folder import RESULT
from runlock.conformance.text import plain, quoted
from runlock.conformance.trace.moves import Move

SCHEMA: Final = 1

AUDITED: Final = "audit:"
"""The targets of audits begin with this."""

VERDICTS: Final[tuple[Verdict, ...]] = ("broken", "error", "untested", "held", "not-applicable")
"""The verdicts of clauses, the most important first."""


class Part(BaseModel):
    """A part of a stored result; fields of a later version are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class StoredClause(Part):
    """The verdict on one clause."""

    id: str
    level: str
    verdict: Verdict
    why: str
    exercised: int
    thin: bool
    offered: bool
    severity: str = ""
    official: dict[str, list[str]] = Field(default_factory=dict)
    """The requirements of other kits that ask for the same, by kit."""

    @property
    def area(self) -> str:
        """The family of the clause."""
        return self.id.rpartition("-")[0]


class StoredRow(Part):
    """One moment of a timeline."""

    calls: dict[str, str]
    run: str
    happened: str


class StoredMove(Part):
    """One stimulus of a witness."""

    method: str
    params: dict[str, Any]


class StoredViolation(Part):
    """A clause that broke, with its violation."""

    clause: str
    severity: str = ""
    reason: str = Field(validation_alias="because", serialization_alias="because")
    cause: str | None = None
    steps: int
    witness: list[StoredMove]
    timeline: list[StoredRow] = Field(default_factory=list)
    trace: str | None
    adapter: str = ""  # what makes it look like a mistake of the adapter


class StoredQuestion(StoredViolation):
    """A harm that was shown; the clause says by the policy, which is not declared, whether it may be."""

    question: str
    policy: str
    values: list[str]


class StoredIncident(Part):
    """Incidents of one kind: restarts that the kit did not order, or other answers to the same schedule."""

    kind: str
    what: str
    times: int
    recovered: int
    lasting: int
    trace: str | None = None

    @property
    def sentence(self) -> str:
        """How often it happened, and the first example."""
        return f"{self.kind}, {'once' if self.times == 1 else f'{self.times} times'}; first: {self.what}"


class StoredTrouble(Part):
    """An error that kept a schedule from being judged."""

    blame: str
    what: str
    trace: str | None = None


class StoredException(Part):
    """An exception of the adapter or the runtime."""

    error: str
    verb: str
    times: int
    trace: str | None = None

    @property
    def what(self) -> str:
        """The exception and its verb."""
        return f"{self.error} in {self.verb}" if self.verb else self.error


class StoredArrow(Part):
    """An arrow of a chart, and how often it was taken."""

    clause: str
    source: str = Field(alias="from")
    event: str
    to: str
    taken: int


class StoredPair(Part):
    """Two arrows in a row, and how often."""

    first: str
    then: str
    taken: int


class StoredRefusal(Part):
    """A stimulus that a state refuses, and how often it was sent there."""

    state: str
    stimulus: str
    sent: int


class StoredChart(Part):
    """The coverage of a chart."""

    chart: str
    why: str
    derived: bool = False
    unseen: int
    arrows: list[StoredArrow]
    pairs: list[StoredPair]
    refusals: list[StoredRefusal]


class StoredTour(Part):
    """The tours with one goal: one arrow or two consecutive ones, by their clauses."""

    chart: str
    goal: list[str]
    played: int
    reached: int


class StoredLevel(Part):
    """The schedules of one length."""

    stimuli: int
    played: int
    named: int
    spare: int
    broken: int
    reordered: int
    is_whole: bool


class StoredSearch(Part):
    """How far every schedule was tried."""

    depth: int
    races: int
    levels: list[StoredLevel]
    is_asked: bool
    one_order: bool
    left: int | None
    exhausted: int
    exhaustive: bool
    bounds: str
    reduction: list[str]


class StoredBaseline(Part):
    """The comparison with a baseline: clauses with reasons, and sentences about stale entries."""

    file: str
    today: str | None = None
    expected: dict[str, str]
    stale: dict[str, str]
    unseen: dict[str, str]


class Stored(Part):
    """A whole result."""

    schema_: int = Field(default=SCHEMA, alias="schema")
    flaky: str = ""  # how many incidents there were in how many scenarios
    incidents: list[StoredIncident] = Field(default_factory=list)
    target: str
    implementation: dict[str, Any]
    family: str = DEFAULT
    profile: str
    policies: dict[str, Any]
    spec: str
    verdict: Overall
    exit_code: int
    baseline: StoredBaseline | None = None
    budget: dict[str, Any]
    partial: str | None
    schedules: int
    stimuli: int
    clauses: list[StoredClause]
    violations: list[StoredViolation]
    questions: list[StoredQuestion] = Field(default_factory=list)
    coverage: list[StoredChart]
    tours: list[StoredTour] = Field(default_factory=list)
    search: StoredSearch | None = None
    troubles: list[StoredTrouble]
    warnings: list[str] = Field(default_factory=list)
    exceptions: list[StoredException] = Field(default_factory=list)
    unjudged_policies: list[str] = Field(default_factory=list)

    @property
    def outcome(self) -> Overall:
        """The verdict; with a baseline, the verdict on what it does not expect."""
        if self.baseline is None:
            return self.verdict
        return "held" if self.exit_code == 0 else "broken" if self.exit_code == 1 else "undecided"

    @property
    def played(self) -> str:
        """The number of schedules; of an audit, the number of threads."""
        return f"{self.schedules} {'threads' if self.target.startswith(AUDITED) else 'schedules'}"

    @property
    def unexpected(self) -> list[str]:
        """The incidents that no error of a schedule reports: a summary, and each kind in a sentence."""
        shown = [one.sentence for one in self.incidents if one.times > one.lasting]
        return [one for one in (self.flaky, *shown) if one]

    @property
    def expected(self) -> Mapping[str, str]:
        """Why each expected violation is accepted, by clause."""
        return {} if self.baseline is None else self.baseline.expected

    @property
    def complaints(self) -> Mapping[str, str]:
        """The problem of each stale entry of the baseline, by clause."""
        return {} if self.baseline is None else {**self.baseline.stale, **self.baseline.unseen}

    @property
    def who(self) -> str:
        """The runtime, by its own name and version."""
        return plain(f"{self.implementation.get('name', '?')} {self.implementation.get('version', '?')}")

    @cached_property
    def by_verdict(self) -> Mapping[Verdict, list[StoredClause]]:
        """The clauses of each verdict."""
        return {verdict: [one for one in self.clauses if one.verdict == verdict] for verdict in VERDICTS}

    def counts(self, clauses: list[StoredClause] | None = None) -> dict[Verdict, int]:
        """How many of the clauses have each verdict."""
        among = self.clauses if clauses is None else clauses
        return {verdict: sum(one.verdict == verdict for one in among) for verdict in VERDICTS}

    def replay(self, violation: StoredViolation) -> str:
        """The command that replays a violation; empty if its trace was not stored."""
        if violation.trace is None:
            return ""
        target = "TARGET" if self.target.startswith("trace:") else shlex.quote(plain(self.target))
        return f"runlock replay {shlex.quote(plain(violation.trace))} {target}"

    @cached_property
    def known_family(self) -> Family | None:
        """The family of the runtime, if this kit has it."""
        try:
            return family_named(self.family)
        except LookupError:
            return None

    def title(self, clause: str) -> str:
        """A clause in few words; an empty string if this kit does not know it."""
        family = self.known_family
        if family is None or clause not in family.spec.clauses:
            return ""
        return title(family, family.spec.clauses[clause])

    def severity(self, clause: str) -> str:
        """What it means that a clause is broken; an empty string if this kit does not know it."""
        family = self.known_family
        known = family.spec.clauses.get(clause) if family is not None else None
        return known.severity if known is not None else ""

    def words(self, violation: StoredViolation) -> list[str]:
        """The moves of a witness in words."""
        return [self._words(move) for move in violation.witness]

    def steps(self, violation: StoredViolation) -> list[str]:
        """The same, numbered."""
        size = len(str(len(violation.witness)))
        return [f"{number:>{size}}  {move}" for number, move in enumerate(self.words(violation), 1)]

    def _words(self, move: StoredMove) -> str:
        params = {key: value for key, value in move.params.items() if key != "turns"}
        try:
            if self.known_family is not None:
                return self.known_family.wording.move(Move(move.method, params, move.params.get("turns")))
        except (LookupError, TypeError, ValueError, AttributeError):  # not a stimulus of the protocol
            pass
        return plain(f"{move.method} {quoted(move.params)}")

    def of_clause(self, clause: str) -> StoredViolation | None:
        """How a clause broke, if it did."""
        return next((one for one in self.violations if one.clause == clause), None)


def word(verdict: Verdict | Literal["undecided"]) -> str:
    """A verdict as written for a person."""
    return verdict.replace("-", " ")


# --- read back ----------------------------------------------------------------------------------


def read_stored(path: Path) -> Stored:
    """Read a result, given as its file or as its folder."""
    file = path / RESULT if path.is_dir() else path
    right = "`runlock check TARGET -o DIR` leaves one in DIR."
    raw = json_of(file, right, missing=f"There is no result at {file}.")
    if not isinstance(raw, dict) or "schema" not in raw:
        raise UsageError(f"{file} is no result of `runlock check`.", f"A folder of results has a {RESULT}.")
    if raw["schema"] != SCHEMA:
        raise UsageError(f"{file} is of schema {quoted(raw['schema'])}.", f"This kit reads schema {SCHEMA}.")
    try:
        return Stored.model_validate(raw)
    except ValidationError as error:
        raise UsageError(
            f"{file} is no whole result: {_misfit(error)}.", "Run `runlock check` again."
        ) from None


def _misfit(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"it lacks {where}" if first["type"] == "missing" else f"{where} is {quoted(first['input'])}"
