"""The history of each finding: in which release, and on which day, it was first seen, last seen and fixed.

`history.json` has a record for each finding that was ever seen, and what each of the last nights did.  Only
columns that were run in a night change a record.  A finding that is not seen any more is fixed only if its
worst clause is held, and no other clause of it is broken, in each configuration that showed it.  Else nothing
is known: the clause may be untested there, or broken by another fault.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from runlock.conformance.campaign.releases import followed
from runlock.conformance.campaign.runtime import Runtime
from runlock.conformance.inputs import json_of
from runlock.conformance.report.findings import Finding, findings

SCHEMA: Final = 1
FILE: Final = "history.json"
NEVER: Final = "not yet"

Object = Mapping[str, Any]
Key = tuple[str, str, tuple[str, ...]]
Records = dict[Key, dict[str, Any]]


def known(file: Path) -> Any:
    """The content of the file, if it is there."""
    return json_of(file) if file.is_file() else {"schema": SCHEMA, "judged": {}, "findings": [], "nights": []}


def release_of(runtime: Runtime) -> str:
    """The packages whose releases are followed; else all that it names, or its name."""
    return " ".join(followed(runtime) or runtime.requirements) or runtime.name


def of(finding: Finding, history: Object) -> Object | None:
    """The record of a finding."""
    return next((one for one in history.get("findings", ()) if _key(one) == _name(finding)), None)


def dates(record: Object) -> str:
    """When a finding was seen, in one line."""
    fixed = _moment(record["fixed"]) if record["fixed"] else NEVER
    first, last = _moment(record["first"]), _moment(record["last"])
    told = f"First seen in {first}, last seen in {last}, fixed in: {fixed}."
    unknown = record["undecided"]
    return f"{told} Not decided in {_moment(unknown)}." if unknown else told


def _moment(at: Object) -> str:
    return f"{at['release']} ({at['day']})"


def merged(
    records: Sequence[Object], report: Object, runtimes: Sequence[Runtime], ran: Collection[str], day: str
) -> list[dict[str, Any]]:
    """The records after a night in which the columns of these names were run."""
    found = {_name(one): one for one in findings(report, runtimes)}
    after = _renamed({_key(one): dict(one) for one in records}, found)
    now = {one.name: {"release": release_of(one), "day": day} for one in runtimes}
    moments = {name: moment for name, moment in now.items() if name in ran}
    for key, finding in found.items():
        after[key] = _seen(after.get(key), finding, moments if key in after else now)
    for key in after.keys() - found.keys():
        after[key] |= _unseen(after[key], report, moments)
    return [after[key] for key in sorted(after)]


def _name(finding: Finding) -> Key:
    return finding.name.library, finding.name.program, finding.name.situation


def _key(record: Object) -> Key:
    """The name of a finding: its situation is part of it only as long as no program shows it."""
    situation = () if record["program"] else tuple(record["situation"])
    return record["library"], record["program"] or "", situation


def _renamed(records: Records, found: Mapping[Key, Finding]) -> Records:
    """The records, in which a finding that a program shows since then has its new name."""
    renamed = dict(records)
    for key, finding in found.items():
        old = next((one for one in records if _is_former(records[one], one, finding, found)), None)
        if key not in records and old in renamed:
            renamed[key] = renamed.pop(old)
    return renamed


def _is_former(record: Object, key: Key, finding: Finding, found: Mapping[Key, Finding]) -> bool:
    """Whether a record is of what a program shows now: it had none, and its worst clause is one of these."""
    is_gone = key not in found and not record["program"] and record["fixed"] is None
    is_same = record["library"] == finding.name.library and record["clauses"][0] in finding.clauses
    return bool(finding.name.program) and is_gone and is_same


def _seen(old: Object | None, finding: Finding, moments: Mapping[str, Object]) -> dict[str, Any]:
    """The record of a finding that is there; it changes only where a column was run that shows it."""
    shown = next((moments[name] for name in finding.configurations if name in moments), None)
    content = {**finding.as_json(), "situation": sorted(finding.name.situation), "sentence": finding.sentence}
    if shown is None and old is not None:
        return {**old, **content}
    first = old["first"] if old is not None else shown
    return {**content, "first": first, "last": shown, "fixed": None, "undecided": None}


def _unseen(record: Object, report: Object, moments: Mapping[str, Object]) -> dict[str, Any]:
    """What changes in the record of a finding that was not seen."""
    now = next((moments[name] for name in record["configurations"] if name in moments), None)
    if now is None or record["fixed"]:
        return {}
    columns = {one["name"]: one for one in report["runtimes"]}
    is_fixed = all(_is_held(record["clauses"], columns.get(name)) for name in record["configurations"])
    if is_fixed:
        return {"fixed": now, "undecided": None}
    is_known = record["undecided"] and record["undecided"]["release"] == now["release"]
    return {} if is_known else {"undecided": now}


def _is_held(clauses: Sequence[str], column: Object | None) -> bool:
    """Whether a column holds the first clause, and breaks none of them."""
    if column is None or column["verdict"] is None:
        return False
    broken = _listed(column, "broken") | _listed(column, "error")
    return clauses[0] in _listed(column, "held") and not broken & {*clauses}


def _listed(column: Object, verdict: str) -> set[str]:
    return {clause for some in column["clauses"].get(verdict, {}).values() for clause in some}


# --- what a night changed -----------------------------------------------------------------------


def changes(before: Sequence[Object], after: Sequence[Object]) -> list[dict[str, str]]:
    """What became of findings in a night, each with the finding in words."""
    old = {_key(one): one for one in before}
    words = [(one, _change(old.get(_key(one)), one)) for one in after]
    return [{"finding": label(one), "what": word} for one, word in words if word]


def _change(old: Object | None, new: Object) -> str:
    """The word for a change of a record; empty if there is none."""
    if old is None:
        return "new"
    if new["fixed"] and not old["fixed"]:
        return f"fixed in {new['fixed']['release']}"
    if old["fixed"] and not new["fixed"]:
        return f"is back in {new['last']['release']}"
    is_unknown = new["undecided"] and new["undecided"] != old["undecided"]
    return f"not decided in {new['undecided']['release']}" if is_unknown else ""


def label(record: Object) -> str:
    """A finding in words: the library, the worst clause with its severity, and what shows it."""
    shown = record["program"] or " ".join(record["situation"]) or "a plain run"
    return f"{record['library']}: {record['clauses'][0]} ({record['severity']}), {shown}"
