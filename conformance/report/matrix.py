"""The matrix for people and machines: a page of Markdown, and one JSON object with the same facts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from runlock.conformance.campaign.matrix import Column, rows
from runlock.conformance.campaign.result import ClauseVerdict, Result
from runlock.conformance.campaign.runtimes import Runtime
from runlock.conformance.driving.findings import Witness
from runlock.conformance.families.lifecycle.wording import step
from runlock.conformance.report.clause_names import title
from runlock.conformance.report.result_json import stimulus
from runlock.conformance.text import plain
from runlock.spec.model import load_spec

SCHEMA: Final = 1
MARKS: Final = {"held": "held", "broken": "**broken**", "error": "error"}
NOTHING: Final = ""
ENVIRONMENTS: Final = ".runlock"
"""Where the commands on the page look for the environments, whatever folder they were in here."""


def place(folder: Path, column: Column, witness: Witness) -> Path:
    """The file of a witness."""
    return folder / "witnesses" / column.runtime.name / f"{witness.clause}.jsonl"


def write_witnesses(columns: Sequence[Column], folder: Path) -> None:
    """Write the witness of each violation, and take away those of violations that are gone."""
    for column in columns:
        if column.result is None:
            continue
        for old in (folder / "witnesses" / column.runtime.name).glob("*.jsonl"):
            old.unlink()
        for witness in column.result.witnesses:
            path = place(folder, column, witness)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(witness.trace.to_jsonl(), encoding="utf-8")


def install_command(runtime: Runtime) -> str:
    """What makes the environment of a runtime."""
    return f"runlock matrix --install {runtime.name}"


def replay_command(folder: Path, column: Column, witness: Witness) -> str:
    """What plays a witness again."""
    target = column.runtime.target(Path(ENVIRONMENTS))
    return f"runlock replay {place(folder, column, witness)} '{target}'"


# --- for a machine ------------------------------------------------------------------------------


def as_json(columns: Sequence[Column], folder: Path, budget: Mapping[str, Any]) -> dict[str, Any]:
    """The whole matrix."""
    return {
        "schema": SCHEMA,
        "budget": dict(budget),
        "clauses": [{"id": one, "title": title(load_spec().clauses[one])} for one in rows(columns)],
        "runtimes": [_runtime(column, folder) for column in columns],
    }


def _runtime(column: Column, folder: Path) -> dict[str, Any]:
    runtime, result = column.runtime, column.result
    known = {"name": runtime.name, "title": runtime.title, "requirements": list(runtime.requirements)}
    if result is None:
        return {**known, "verdict": None, "why": column.why, "install": install_command(runtime)}
    return {
        **known,
        "verdict": result.verdict,
        "implementation": dict(result.implementation),
        "policies": dict(result.policies),
        "pages": dict(runtime.pages),
        "schedules": result.schedules,
        "troubles": [trouble.what for trouble in result.troubles],
        "clauses": {one.id: _verdict(one) for one in result.clauses},
        "violations": [_violation(column, witness, folder) for witness in result.witnesses],
    }


def _verdict(clause: ClauseVerdict) -> dict[str, Any]:
    return {"verdict": clause.verdict, "exercised": clause.exercised, "why": clause.why}


def _violation(column: Column, witness: Witness, folder: Path) -> dict[str, Any]:
    known = column.runtime.known(witness.clause)
    return {
        "clause": witness.clause,
        "because": witness.because,
        "witness": [stimulus(move) for move in witness.moves],
        "trace": str(place(folder, column, witness)),
        "replay": replay_command(folder, column, witness),
        "standalone": known.standalone if known is not None else None,
        "upstream": list(known.upstream) if known is not None else [],
    }


# --- for a person -------------------------------------------------------------------------------


def as_markdown(columns: Sequence[Column], folder: Path, budget: Mapping[str, Any]) -> str:
    """The page."""
    return "\n".join(_page(columns, folder, budget)) + "\n"


def _page(columns: Sequence[Column], folder: Path, budget: Mapping[str, Any]) -> Iterator[str]:
    yield "# Clauses by runtimes\n"
    yield (
        f"Made by `runlock matrix` with {budget['examples']} schedules for each runtime beside the "
        f"scripted ones, seed {budget['seed']}. [How to read the matrix](how-to-read-the-matrix.md) says "
        "what its words mean, and what they do not. An empty cell is a clause that was not tested there.\n"
    )
    yield from _versions(columns)
    yield from _table(columns)
    for column in columns:
        yield from _section(column, folder)


def _versions(columns: Sequence[Column]) -> Iterator[str]:
    yield "| runtime | version | held | broken | untested |"
    yield "|---|---|---|---|---|"
    for column in columns:
        link = f"[{column.runtime.title}](#{column.runtime.name})"
        if column.result is None:
            yield f"| {link} | not judged | | | |"
            continue
        counts = " | ".join(str(column.result.count(word)) for word in ("held", "broken", "untested"))
        yield f"| {link} | {column.result.implementation['version']} | {counts} |"
    yield ""


def _table(columns: Sequence[Column]) -> Iterator[str]:
    judged = [column for column in columns if column.result is not None]
    if not judged:
        return
    yield "| clause | " + " | ".join(column.runtime.title for column in judged) + " |"
    yield "|---" * (len(judged) + 1) + "|"
    for clause in rows(columns):
        cells = (_cell(column, clause) for column in judged)
        yield f"| **{clause}** {title(load_spec().clauses[clause])} | " + " | ".join(cells) + " |"
    yield ""


def _cell(column: Column, clause_id: str) -> str:
    assert column.result is not None
    found = next(one for one in column.result.clauses if one.id == clause_id)
    return "held, thinly" if found.is_thin else MARKS.get(found.verdict, NOTHING)


def _section(column: Column, folder: Path) -> Iterator[str]:
    name, title = column.runtime.name, column.runtime.title
    by_itself = re.sub(r"[^a-z0-9]+", "-", title.lower())  # the anchor that a heading has anyway
    anchor = "" if by_itself == name else f' <a id="{name}"></a>'
    yield f"## {title}{anchor}\n"
    if column.result is None:
        yield f"Not judged: {plain(column.why)}\n\n```\n{install_command(column.runtime)}\n```\n"
        return
    yield from _policies(column, column.result)
    for trouble in column.result.troubles:
        yield f"A schedule could not be judged: {plain(trouble.what)}\n"
    for witness in column.result.witnesses:
        yield from _broken(column, witness, folder)


def _policies(column: Column, result: Result) -> Iterator[str]:
    declared = {key: result.policies[key] for key in column.runtime.pages if key in result.policies}
    name, version = result.implementation["name"], result.implementation["version"]
    yield f"{name} {version}, in {result.schedules} schedules."
    for key, value in declared.items():
        words = ", ".join(value) if isinstance(value, list) else value
        yield f"It promises [`{key} = {words}`]({column.runtime.pages[key]})."
    yield "" if result.witnesses else "Nothing is broken.\n"


def _broken(column: Column, witness: Witness, folder: Path) -> Iterator[str]:
    clause = load_spec().clauses[witness.clause]
    yield f"### {clause.id} ({clause.level}) {title(clause)}\n"
    yield f"{_sentence(witness.because)}\n"
    yield from (f"{number}. {step(move)}" for number, move in enumerate(witness.moves, 1))
    yield f"\n```\n{replay_command(folder, column, witness)}\n```\n"
    known = column.runtime.known(clause.id)
    if known is None:
        yield "No program shows this without the kit yet: the adapter may be at fault.\n"
        return
    yield f"{known.sentence}\n"
    if known.standalone is not None:
        yield f"Without the kit: `docs/standalone/{known.standalone}`.\n"
    if known.upstream:
        yield f"Reported at {', '.join(f'<{address}>' for address in known.upstream)}.\n"


def _sentence(because: str) -> str:
    return f"{because[0].upper()}{plain(because[1:])}."


def dumped(report: Mapping[str, Any]) -> str:
    """The JSON object as it is written and printed."""
    return json.dumps(report, indent=1)
