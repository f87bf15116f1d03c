"""The result of inference, for a person and for a machine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from runlock.conformance import outputs
from runlock.conformance.campaign.inference.result import Against, Inferred, Value
from runlock.conformance.report.console import Page
from runlock.conformance.report.text import incidents
from runlock.conformance.text import plain

SCHEMA: Final = 1
SETS: Final = "what is a set is taken at the runtime's word"

WIDTH: Final = 21
"""How wide the column of policies is."""

Files = Mapping[Value, Path]


def write_witnesses(found: Inferred, folder: Path) -> Files:
    """Write the schedule that rules each value out; returns the files by value."""
    files = {one: folder / f"{one[0]}-not-{one[1]}.jsonl" for one in found.against}
    for one, path in files.items():
        outputs.write(path, found.against[one].trace.to_jsonl())
    return files


# --- for a person -------------------------------------------------------------------------------


def write(found: Inferred, files: Files, page: Page) -> None:
    """The whole report."""
    for line in incidents(found.ledger):
        page.wrapped(line, "red")
    page.headline(*_headline(found))
    _write_part("found out", found, list(found.settled), page)
    _write_part("mixed: no value explains all that was seen", found, found.mixed, page)
    _write_untold(found, page)
    _write_contradictions(found, page)
    _write_nearest(found, page)
    _write_paste(found, page)
    _write_end(found, files, page)


def _headline(found: Inferred) -> tuple[str, str, str]:
    party = found.handshake.implementation
    who = plain(f"{found.target} is {party.name} {party.version}")
    many = f"{len(found.settled)} of {len(found.policies)} policies found out"
    if found.exit_code == 1:
        wrong = [f"{len(found.mixed)} mixed"] if found.mixed else []
        wrong += [f"{len(found.contradicted)} declared wrongly"] if found.contradicted else []
        return "broken", f": {who}; {many}, {', '.join(wrong)}", "red"
    if found.exit_code:
        return "undecided", f": {who}; {many if found.settled else 'nothing was found out'}", "yellow"
    return "inferred", f": {who}; {many}", "green"


def _write_part(title: str, found: Inferred, keys: list[str], page: Page) -> None:
    if keys:
        _title(title, page)
    for key in keys:
        style = "red" if key in found.mixed or key in found.contradicted else "bold"
        page.line(f"  {key:<{WIDTH}}{''.join(found.left(key)) or 'mixed'}", style)
        _write_against(found, key, page)


def _write_against(found: Inferred, key: str, page: Page) -> None:
    for value in found.family.spec.policy(key).values:
        why = found.against.get((key, value))
        if why is not None:
            page.columns(" " * (WIDTH + 2), plain(f"{value} is ruled out: {_seen(why)}"), "dim")


def _seen(why: Against) -> str:
    said = f"{why.clause}, " if why.clause else ""
    return f"{why.reason} ({said}{why.steps} {'stimulus' if why.steps == 1 else 'stimuli'})"


def _write_untold(found: Inferred, page: Page) -> None:
    if found.untold:
        _title("still open", page)
    for key, why in found.untold.items():
        page.line(f"  {key:<{WIDTH}}{_listed(found.left(key))}", "yellow")
        page.columns(" " * (WIDTH + 2), plain(why))
        _write_against(found, key, page)


def _listed(values: list[str]) -> str:
    return f"{', '.join(values[:-1])} or {values[-1]}"


def _write_contradictions(found: Inferred, page: Page) -> None:
    if found.contradicted:
        _title("declared wrongly", page)
    for key, value in found.contradicted.items():
        has = " or ".join(found.left(key)) or "a mixture"
        page.columns(f"  {key:<{WIDTH}}", f"declared as {value}, and it is {has}", "red")


def _write_nearest(found: Inferred, page: Page) -> None:
    profile, differences = found.nearest, found.differences(found.nearest)
    _title("nearest profile", page)
    same = "no difference" if not differences else "but for:"
    page.line(f"  {profile.name}, {same}")
    for key, value in differences.items():
        has = " or ".join(found.left(key)) or "a mixture"
        page.line(f"    {key:<{WIDTH}}{has}, there {value}")


def _write_paste(found: Inferred, page: Page) -> None:
    _title("to paste into the handshake", page)
    pasteable = found.pasteable
    page.line(f'  "profile": {json.dumps(pasteable["profile"])},')
    policies = [f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in pasteable["policies"].items()]
    page.line('  "policies": {}' if not policies else '  "policies": {')
    for number, line in enumerate(policies, 1):
        page.line(line + ("," if number < len(policies) else ""))
    if policies:
        page.line("  }")
    if pasteable["profile"] != found.nearest.name:
        what = f"{found.nearest.name} says more of a runtime than this one shows, so that core is claimed."
        page.wrapped(what, "", "  ")
    for key in found.undecided:
        which = f"declare {_listed(found.left(key))}" if found.left(key) else "make it one of its values"
        page.wrapped(f"{key} is not as the profile has it: {which}.", "yellow", "  ")


def _write_end(found: Inferred, files: Files, page: Page) -> None:
    page.line()
    for line in _notes(found):
        page.wrapped(plain(line), "dim")
    for (key, value), path in list(files.items())[:1]:
        page.wrapped(f"What rules a value out is a schedule, as {path} is for {key}={value}:")
        target = found.target if " " not in found.target else repr(found.target)
        page.line(f"  runlock replay {path} {plain(target)}")


def _notes(found: Inferred) -> Iterator[str]:
    yield f"{found.schedules} schedules were played; {SETS}."
    if found.aside:
        yield f"Set aside, since they break: {', '.join(found.aside)}; `runlock check` says how."
    if found.troubles:
        yield f"{len(found.troubles)} schedules could not be judged: {found.troubles[0].what}"
    if found.partial:
        yield f"Partial: {found.partial}, so that more might be found out."


def _title(title: str, page: Page) -> None:
    page.line()
    page.line(title, "dim")


# --- for a machine ------------------------------------------------------------------------------


def as_json(found: Inferred, files: Files) -> dict[str, Any]:
    """The whole report as one JSON object."""
    nearest = found.nearest
    return {
        "schema": SCHEMA,
        "flaky": found.ledger.headline,
        "incidents": [asdict(replace(one, trace=None)) for one in found.ledger.all],
        "target": found.target,
        "implementation": found.handshake.implementation.to_wire(),
        "exit_code": found.exit_code,
        "schedules": found.schedules,
        "partial": found.partial,
        "policies": [_policy(found, files, one.key) for one in found.policies],
        "sets": found.sets,
        "nearest": {"profile": nearest.name, "differences": found.differences(nearest)},
        "handshake": found.pasteable,
        "undecided": found.undecided,
        "aside": list(found.aside),
        "troubles": [{"blame": one.blame, "what": one.what} for one in found.troubles],
    }


def _policy(found: Inferred, files: Files, key: str) -> dict[str, Any]:
    left = found.left(key)
    return {
        "key": key,
        "state": {0: "mixed", 1: "found out"}.get(len(left), "still open"),
        "values": left,
        "declared": found.declared.get(key),
        "contradicted": key in found.contradicted,
        "why": found.untold.get(key, ""),
        "against": [
            {
                "value": value,
                "because": why.reason,
                "clause": why.clause or None,
                "steps": why.steps,
                "trace": str(files[of, value]),
            }
            for (of, value), why in found.against.items()
            if of == key
        ],
    }
