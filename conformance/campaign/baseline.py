"""The baseline: known and expected violations, each with its reason; an outdated entry fails the run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runlock.conformance.campaign.result import ClauseVerdict, Result
from runlock.conformance.errors import UsageError
from runlock.conformance.inputs import toml_of
from runlock.conformance.text import plain, quoted
from runlock.spec.model import Spec

TABLE: Final = "expected"
Words = Annotated[str, Field(pattern=r"\S")]


class Expected(BaseModel):
    """A clause that is known to break: its reason in the report, why that is accepted, and until when."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    clause: Words
    because: Words
    reason: Words
    expires: date | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """The contents of a baseline file."""

    file: str
    entries: Sequence[Expected]

    @property
    def today(self) -> date | None:
        """The date of the system clock if entries expire, or None if the date does not matter."""
        return date.today() if any(entry.expires is not None for entry in self.entries) else None


@dataclass(slots=True)
class Compared:
    """A result compared with a baseline: expected violations, stale entries, and entries that cannot be
    decided."""

    expected: dict[str, str] = field(default_factory=dict)  # clause: its reason
    stale: dict[str, str] = field(default_factory=dict)  # clause: a sentence
    unseen: dict[str, str] = field(default_factory=dict)  # clause: a sentence
    symptoms: set[str] = field(default_factory=set)  # clauses that break as a consequence of expected ones
    surprises: list[str] = field(default_factory=list)  # clauses that broke and were not expected to

    @property
    def is_broken(self) -> bool:
        """Whether there is an unexpected violation, or a stale entry."""
        return bool(self.stale or self.surprises)


def compared(baseline: Baseline, result: Result, today: date | None) -> Compared:
    """Compare a result with a baseline; clauses that were not selected are ignored."""
    found = Compared()
    verdicts = {clause.id: clause for clause in result.clauses}
    because = {witness.clause: witness.reason for witness in result.witnesses}
    for entry in baseline.entries:
        stale = _unknown(entry, result.family.spec) or _expired(entry, today)
        clause = verdicts.get(entry.clause)
        if not stale and clause is not None:
            stale = _outlived(entry, clause, because.get(entry.clause), result.partial)
        if stale:
            found.stale[entry.clause] = f"{baseline.file} {stale}"
        elif entry.clause in because:
            found.expected[entry.clause] = entry.reason
            found.symptoms |= {one.clause for one in result.witnesses if one.cause == entry.clause}
        elif clause is not None:
            found.unseen[entry.clause] = f"{baseline.file} {_not_exercised(entry, result.partial)}"
    explained = found.expected.keys() | found.symptoms
    found.surprises = [clause for clause in because if clause not in explained]
    return found


def _unknown(entry: Expected, spec: Spec) -> str:
    known = spec.clauses
    if entry.clause in known:
        return ""
    if retired := spec.retired.get(entry.clause.upper()):
        return f"expects {entry.clause} to break, but {retired}: give the entry the new id."
    near = get_close_matches(entry.clause.upper(), known, n=1)
    meant = f"did you mean {near[0]}?" if near else "`runlock list clauses` shows them all."
    return f"expects {entry.clause} to break, and the spec has no such clause: {meant}"


def _expired(entry: Expected, today: date | None) -> str:
    if entry.expires is None or today is None or today <= entry.expires:
        return ""
    return (
        f"expected {entry.clause} to break until {entry.expires}, and it is {today}: "
        "mend it, or give it a later date with its reason."
    )


def _outlived(entry: Expected, clause: ClauseVerdict, because: str | None, partial: str) -> str:
    """Why an entry is stale, or an empty string."""
    start = f"expects {entry.clause} to break"
    if because is not None:
        other = f"{start} because “{entry.because}”, and it broke because “{because}”: mend what is new."
        return "" if _is_alike(entry.because, because) else other
    if clause.verdict == "held" and not partial:
        return f"{start}, and it held, exercised {clause.exercised} times: take the entry out."
    if clause.verdict == "not-applicable":
        return f"{start}, and it does not apply, for {clause.why}: take the entry out."
    return ""


def _not_exercised(entry: Expected, partial: str) -> str:
    why = f"the result is partial ({partial})" if partial else "nothing exercised it"
    return f"expects {entry.clause} to break, and {why}: play more schedules."


def _is_alike(fragment: str, because: str) -> bool:
    return unnumbered(fragment) in unnumbered(because)


def unnumbered(text: str) -> str:
    """The text without the numbers of ids, which depend on the schedule that was found."""
    return re.sub(r"\b([a-z]+)\d+\b", r"\1", " ".join(plain(text).split()))


# --- the file -----------------------------------------------------------------------------------


def read_baseline(path: Path) -> Baseline:
    """Read a baseline, every entry with its reason."""
    right = "`runlock baseline write RESULT -o FILE` begins one."
    raw = toml_of(path, right, missing=f"There is no baseline at {path}.")
    listed = raw.get(TABLE, [])
    if raw.keys() - {TABLE} or not isinstance(listed, list):
        raise UsageError(f"{path} is no baseline.", f"It is a list of [[{TABLE}]].")
    entries = [_entry(path, number, one) for number, one in enumerate(listed, 1)]
    for clause in sorted(
        {one.clause for one in entries if [e.clause for e in entries].count(one.clause) > 1}
    ):
        right = "One entry a clause: name the words that all its violations share."
        raise UsageError(f"{path} expects {clause} twice.", right)
    return Baseline(str(path), entries)


def _entry(path: Path, number: int, raw: Any) -> Expected:
    name = raw.get("clause") if isinstance(raw, dict) else None
    place = f"{path}, {name if isinstance(name, str) else f'entry {number}'}"
    try:
        return Expected.model_validate(raw)
    except ValidationError as error:
        raise UsageError(f"{place}: {_complaint(error)}") from None


def _complaint(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"]))
    match where, first["type"]:
        case "", _:
            return f"it is {quoted(first['input'])}. An entry is a table under [[{TABLE}]]."
        case "reason", "missing" | "string_pattern_mismatch":
            return "there is no reason. Say why this violation is borne for now."
        case "expires", _:
            return f"expires is {quoted(first['input'])}. A date is written without quotes, as in 2027-01-31."
        case _, "missing":
            return f"it lacks {where}. An entry has a clause, because, a reason, and expires if it is to end."
        case _, "extra_forbidden":
            return f"there is no key {where}. An entry has clause, because, reason and expires."
    return f"{where} is {quoted(first['input'])}. It takes words."


def as_toml(violations: Sequence[tuple[str, str]]) -> str:
    """Entries for these clauses with their observed reasons; a person adds why they are accepted."""
    return "\n".join(
        ["# Write a reason into each entry: without one, it does not load.", *_entries(violations)]
    )


def _entries(violations: Sequence[tuple[str, str]]) -> Iterator[str]:
    for clause, because in violations:
        yield f"\n[[{TABLE}]]\nclause = {_string(clause)}\nbecause = {_string(because)}"
        yield 'reason = ""'
    yield ""


def _string(text: str) -> str:
    """A text as TOML, whose basic strings are those of JSON without control characters."""
    return json.dumps(plain(text), ensure_ascii=False)
