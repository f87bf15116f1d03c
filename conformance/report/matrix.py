"""The matrix as one JSON object, and the page of Markdown that is made from the object.

For each runtime, the object has its clauses by verdict and reason, how often each was exercised, and its
violations.  The witness of a violation is the lines of a scenario file without observations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from runlock.conformance import outputs
from runlock.conformance.campaign.entries import ThirdParty
from runlock.conformance.campaign.matrix import Column
from runlock.conformance.campaign.programs import PROGRAMS
from runlock.conformance.campaign.result import THIN, Result
from runlock.conformance.campaign.runtime import Known, Runtime
from runlock.conformance.campaign.runtimes import as_of, runtimes
from runlock.conformance.driving.findings import Witness
from runlock.conformance.driving.strategies.scripted import without_answers
from runlock.conformance.family.family import Family, family_named
from runlock.conformance.family.recordings import family_of_trace, render, to_text
from runlock.conformance.report import history as night
from runlock.conformance.report import matrix_policies, undeclared, versions
from runlock.conformance.report.clause_names import title
from runlock.conformance.report.findings import (
    DOCUMENTED,
    Finding,
    Violated,
    counted,
    findings,
    of_configuration,
    witness_text,
)
from runlock.conformance.text import in_markdown, plain
from runlock.conformance.trace.document import Document, Entry
from runlock.conformance.trace.scenario_file import DEFAULT_FAMILY, ENDING
from runlock.conformance.trace.trace import Trace
from runlock.spec.model import Clause

SCHEMA: Final = 2
TESTED: Final = ("held", "broken", "error")
THINLY: Final = "held, thinly"
MARKS: Final = {"broken": "**broken**"}
NOTHING: Final = ""
ENVIRONMENTS: Final = ".runlock"
"""The folder of environments in the commands on the page, independent of the actual folder."""

Object = Mapping[str, Any]
Grid = Callable[[str, Sequence[Object]], Iterator[str]]
"""Shows a family's clauses by its runtimes, from the name of the family and the runtimes."""


def place(folder: Path, runtime: str, clause: str) -> Path:
    """The file of a witness."""
    return folder / "witnesses" / runtime / f"{clause}{ENDING}"


def write_witnesses(columns: Sequence[Column], folder: Path) -> None:
    """Write the recording of each violation, and remove the files of violations that are gone."""
    for column in columns:
        if column.result is None:
            continue
        for old in (folder / "witnesses" / column.runtime.name).glob(f"*{ENDING}"):
            old.unlink()
        for witness in column.result.witnesses:
            path = place(folder, column.runtime.name, witness.clause)
            path.parent.mkdir(parents=True, exist_ok=True)
            outputs.write(path, to_text(witness.trace))


def install_command(runtime: Runtime) -> str:
    """The command that installs a runtime."""
    return f"runlock matrix --install {runtime.name}"


# --- for a machine ------------------------------------------------------------------------------


def as_json(columns: Sequence[Column], budget: Object) -> dict[str, Any]:
    """The whole matrix."""
    return of_columns(map(as_column, columns), budget, [column.runtime for column in columns])


def of_columns(columns: Iterable[Object], budget: Object, known: Sequence[Runtime]) -> dict[str, Any]:
    """The matrix of these columns, some of which may be of an earlier night."""
    report = {"schema": SCHEMA, "budget": dict(budget), "runtimes": [*columns]}
    return with_findings(report, known)


def with_findings(report: Object, known: Sequence[Runtime]) -> dict[str, Any]:
    """The matrix with its findings, and with how many there are of each."""
    numbers = counted(report, known)._asdict()
    return {**report, "counts": numbers, "findings": [one.as_json() for one in findings(report, known)]}


def as_column(column: Column) -> dict[str, Any]:
    """One runtime: its verdicts and violations, or why there are none."""
    runtime, result = column.runtime, column.result
    known = {"name": runtime.name, "title": runtime.title, "requirements": list(runtime.requirements)}
    if result is None:
        return {**known, "verdict": None, "why": column.why, "install": install_command(runtime)}
    return {
        **known,
        "verdict": result.verdict,
        "family": result.family_name,
        "implementation": dict(result.implementation),
        "profile": result.profile,
        "policies": dict(result.policies),
        **({"inferred": matrix_policies.inferred(column.inferred)} if column.inferred else {}),
        "schedules": result.schedules,
        "troubles": [trouble.what for trouble in result.troubles],
        "clauses": _by_verdict(result),
        **({} if result.settles_exactly else {"counted_up_to": THIN}),
        "exercised": _exercised(result),
        "violations": [_violation(witness, runtime.known(witness.clause)) for witness in result.witnesses],
    }


def _exercised(result: Result) -> dict[str, int]:
    """How often each clause was exercised; no further than THIN where the pace of the runtime decides it."""
    counts = {one.id: one.exercised for one in result.clauses if one.exercised}
    return counts if result.settles_exactly else {name: min(THIN, count) for name, count in counts.items()}


def _by_verdict(result: Result) -> dict[str, dict[str, list[str]]]:
    """The clauses by verdict and reason."""
    found: dict[str, dict[str, list[str]]] = {}
    for one in result.clauses:
        found.setdefault(one.verdict, {}).setdefault(one.why, []).append(one.id)
    return found


def _violation(witness: Witness, known: Known | None) -> dict[str, Any]:
    """A violation with its cause, unless it is known to have one of its own."""
    cause = {"cause": witness.cause} if witness.cause and known is None else {}
    return {
        "clause": witness.clause,
        **cause,
        "because": witness.reason,
        "witness": steps(witness.trace),
    }


def steps(trace: Trace) -> list[str]:
    """The lines of a scenario file that plays a trace again: its moves, without observations."""
    family = family_of_trace(trace)
    records = [record for record in trace.records if "handshake" not in record]
    recording = Document([Entry(record) for record in records], family=family)
    return render(without_answers(family_named(family), recording)).splitlines()


def dumped(value: Any, indent: str = "") -> str:
    """JSON in which lists and objects with only plain values are on one line."""
    members = list(value.values()) if isinstance(value, Mapping) else value
    if not isinstance(value, Mapping | list) or not any(isinstance(one, Mapping | list) for one in members):
        return json.dumps(value, ensure_ascii=False)
    inner = f"{indent} "
    texts = [dumped(one, inner) for one in members]
    if isinstance(value, Mapping):
        texts = [f"{json.dumps(key)}: {text}" for key, text in zip(value, texts, strict=True)]
    opening, closing = "{}" if isinstance(value, Mapping) else "[]"
    return f"{opening}\n" + ",\n".join(f"{inner}{text}" for text in texts) + f"\n{indent}{closing}"


# --- for a person -------------------------------------------------------------------------------


def witness_files(report: Object) -> Iterator[tuple[Path, str]]:
    """The witnesses of a report as scenario files, each with its place next to the page."""
    for runtime in report["runtimes"]:
        for found in runtime.get("violations", ()):
            yield place(Path(), runtime["name"], found["clause"]), witness_text(found)


def as_markdown(report: Object, history: Object | None = None, known: Sequence[Runtime] | None = None) -> str:
    """One page of everything, with the clauses by runtimes as a table; `history` is of versions and nights.

    `known` are the runtimes of the report, by default those of the kit.
    """
    sections = (line for one in report["runtimes"] for line in section(one, history or {}, known))
    return "\n".join((*overview(report, _table, "#{}", known), *sections)) + "\n"


def overview(report: Object, grid: Grid, page: str, known: Sequence[Runtime] | None = None) -> Iterator[str]:
    """All runtimes at a glance; `grid` shows the clauses, and `page` is where a runtime has its own part."""
    yield "# The matrix: clauses by runtimes\n"
    yield (
        "Which runtime holds which clause, as `runlock matrix` found with seed "
        f"{report['budget']['seed']}. The column *schedules* says how many schedules a runtime played: fewer "
        "where one takes seconds. [How to read the matrix](how-to-read-the-matrix.md) explains the words. "
        f"The versions were the newest ones on {as_of()}, and the reports of bugs were read then.\n"
    )
    yield from _versions(report["runtimes"], page, known)
    for family, some in _by_family(report["runtimes"]).items():
        yield from grid(family, some)


def _versions(found: Sequence[Object], page: str, known: Sequence[Runtime] | None) -> Iterator[str]:
    yield (
        "The columns *held*, *broken* and *untested* count clauses. A *finding* is one fault of a library, "
        "which a program shows without the kit; it may break several clauses, in several configurations. "
        "What a library *documents* as intended and this specification forbids is no violation: there, we "
        "disagree. "
        f"{_depth(found)}\n"
    )
    heads = ("runtime", "version", "schedules", "held", "broken", "findings", "documented", "untested")
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for one in found:
        link = f"[{one['title']}]({page.format(one['name'])})"
        if one["verdict"] is None:
            yield f"| {link} | not judged | | | | | | |"
        else:
            numbers = (one["implementation"]["version"], one["schedules"], *counts(one, known))
            yield f"| {link} | {' | '.join(map(str, numbers))} |"
    yield ""


def _depth(found: Sequence[Object]) -> str:
    """How much of what applies to the runtimes was tested, in a sentence; "" without a judged runtime."""
    shares = [share_tested(one) for one in found if one["verdict"] is not None]
    if not shares:
        return ""
    return (
        f"In the median, {median(shares):.0%} of the clauses that apply to a runtime were tested on it; its "
        "page says why the others were not."
    )


def share_tested(found: Object) -> float:
    """The share of the clauses that apply to a runtime that were held or broken, from 0 to 1."""
    tested = len(clauses(found, *TESTED))
    return tested / max(tested + len(untested(found)), 1)


def untested(found: Object) -> set[str]:
    """The clauses that apply to a runtime and were not tested.

    A clause about what its library does not have does not apply.
    """
    reasons = found["clauses"].get("untested", {})
    return {
        clause for why, listed in reasons.items() if not undeclared.is_absent(found, why) for clause in listed
    }


def counts(found: Object, known: Sequence[Runtime] | None = None) -> tuple[int, int, int, int, int]:
    """Held and broken clauses, findings, documented disagreements, and untested clauses of a runtime."""
    held, broken = (len(clauses(found, word)) for word in ("held", "broken"))
    own = of_configuration(found, known)
    documented = sum(one.against == DOCUMENTED for one in own)
    return held, broken, sum(one.is_violation for one in own), documented, len(untested(found))


def clauses(runtime: Object, *verdicts: str) -> set[str]:
    """The clauses of a runtime with one of these verdicts."""
    reasons = [runtime["clauses"].get(verdict, {}) for verdict in verdicts]
    return {clause for by_reason in reasons for listed in by_reason.values() for clause in listed}


def _by_family(found: Sequence[Object]) -> dict[str, list[Object]]:
    """The runtimes that were judged, by the name of their family."""
    families: dict[str, list[Object]] = {}
    for one in found:
        if one["verdict"] is not None:
            families.setdefault(_family(one).name, []).append(one)
    return families


def _family(found: Object) -> Family:
    return family_named(found.get("family", DEFAULT_FAMILY))


def _table(name: str, judged: Sequence[Object]) -> Iterator[str]:
    family = family_named(name)
    yield "An empty cell is a clause that was not tested there.\n"
    yield "| clause | " + " | ".join(one["title"] for one in judged) + " |"
    yield "|---" * (len(judged) + 1) + "|"
    for clause, verdicts in rows(name, judged):
        cells = (MARKS.get(verdict, verdict) for verdict in verdicts)
        yield f"| **{clause.id}** {title(family, clause)} | " + " | ".join(cells) + " |"
    yield ""


def rows(name: str, judged: Sequence[Object]) -> Iterator[tuple[Clause, list[str]]]:
    """The clauses of a family that were tested on any of the runtimes, with the verdict on each."""
    tested = {clause for one in judged for clause in clauses(one, *TESTED)}
    for clause in family_named(name).spec.clauses.values():
        if clause.id in tested:
            yield clause, [_verdict(one, clause.id) for one in judged]


def _verdict(runtime: Object, clause: str) -> str:
    verdict = next((word for word in TESTED if clause in clauses(runtime, word)), NOTHING)
    is_thin = verdict == "held" and runtime["exercised"].get(clause, 0) < THIN
    return THINLY if is_thin else verdict


def anchor(runtime: str, clause: str) -> str:
    """The anchor of a violation on the page."""
    return f"{runtime}-{clause.lower()}"


def section(found: Object, history: Object, known: Sequence[Runtime] | None = None) -> Iterator[str]:
    """What is known of one runtime: its violations, each with its steps."""
    every = runtimes() if known is None else known
    runtime = next(one for one in every if one.name == found["name"])
    by_itself = re.sub(
        r"[^a-z0-9]+", "-", runtime.title.lower()
    )  # the anchor that the heading has in any case
    anchor = "" if by_itself == runtime.name else f' <a id="{runtime.name}"></a>'
    yield f"## {runtime.title}{anchor}\n"
    if found["verdict"] is None:
        yield f"Not judged: {_shown(found['why'])}\n\n```sh\n{install_command(runtime)}\n```\n"
        return
    name, version = found["implementation"]["name"], found["implementation"]["version"]
    yield f"{name} {version}, in {found['schedules']} schedules. Adapter: `{runtime.adapter_file}`."
    yield "" if found["violations"] else "Nothing is broken.\n"
    yield from matrix_policies.section(found, runtime.pages)
    for trouble in found["troubles"]:
        yield f"A schedule could not be judged: {_shown(trouble)}\n"
    yield from _decisions(runtime)
    for finding in of_configuration(found, known):
        yield from _finding(finding, history)


def _decisions(runtime: Runtime) -> Iterator[str]:
    """What the adapter decides, on the page of everything; the site has a part of its own for it."""
    if isinstance(runtime, ThirdParty) and runtime.deviations:
        yield "The adapter decides:\n"
        yield from (f"- {_shown(what)} {_shown(why)}" for what, why in runtime.deviations.items())
        yield ""


def causes(found: Object) -> list[Object]:
    """The violations of a runtime that are not the consequence of another one."""
    return [one for one in found["violations"] if "cause" not in one]


def _finding(finding: Finding, history: Object) -> Iterator[str]:
    """A finding: its lead, the other clauses that label it, and what is known of it elsewhere."""
    lead = finding.lead
    yield from _broken(lead)
    yield f"- Severity: {finding.severity}.\n- Against {_against(finding)}."
    record = night.of(finding, history)
    yield f"- {night.dates(record)}\n" if record else ""
    yield from _labels([one for one in finding.violated if one is not lead])
    yield from _elsewhere(lead.known, lead.runtime, history)


def _against(finding: Finding) -> str:
    """What the finding is against, with the pages that say so."""
    pages = ", ".join(f"<{page}>" if page.startswith("https:") else page for page in finding.pages)
    if finding.against == DOCUMENTED:
        return f"the specification; its documentation says that it is meant, and we disagree: {pages}"
    return f"{finding.against}{f': {pages}' if pages else ''}"


def _labels(others: Sequence[Violated]) -> Iterator[str]:
    """The other clauses that the same fault breaks."""
    if others:
        yield "The same fault breaks:\n"
    for one in others:
        name = one.clause.id
        file = place(Path(), one.runtime.name, name)
        said = f" {one.known.sentence}" if one.known is not None else ""
        reason = _sentence(one.found["because"])
        yield f'- <a id="{anchor(one.runtime.name, name)}"></a>[{name}]({file}): {reason}{said}'
    if others:
        yield ""


def _broken(one: Violated) -> Iterator[str]:
    clause, runtime = one.clause, one.runtime
    file = place(Path(), runtime.name, clause.id)
    yield f"### {clause.id} ({clause.level}) {title(one.family, clause)}"
    yield f'<a id="{anchor(runtime.name, clause.id)}"></a>\n'
    yield from [f"{one.known.sentence}\n"] if one.known is not None else []
    yield f"{_sentence('the kit saw that ' + one.found['because'])}\n"
    yield from (f"{number}. {_shown(step)}" for number, step in enumerate(_steps(one), 1))
    target = runtime.target(Path(ENVIRONMENTS))
    yield f"\nThe [file]({file}) replays it:\n\n```sh\nrunlock replay {file} \\\n  '{target}'\n```\n"


def _steps(one: Violated) -> list[str]:
    """The moves of a witness in words."""
    return [one.family.wording.move(move) for move in one.moves]


def _elsewhere(known: Known | None, runtime: Runtime, history: Object) -> Iterator[str]:
    """What shows the violation without the kit, since when it is there, and what its maintainers know."""
    if known is None:
        yield "No program shows this without the kit yet: the adapter may be at fault.\n"
        return
    if known.standalone is not None:
        file, _, part = known.standalone.partition(" ")
        lines = "\n".join(runtime.lives_in.by_hand(str(PROGRAMS / file), part))
        yield f"Without the kit: `{PROGRAMS}/{known.standalone}`.\n\n```sh\n{lines}\n```\n"
        yield from _over_time(known.standalone, runtime, history)
    reports = [f"<{address}> ({state})" for address, state in known.upstream.items()]
    yield f"- Upstream: {', '.join(reports) or 'not reported yet'}."
    yield f"- Maintainers: {known.maintainers or 'no word yet'}.\n"


def _over_time(program: str, runtime: Runtime, history: Object) -> Iterator[str]:
    """In which releases the program was seen to show the violation."""
    seen = versions.seen(history, runtime.environment, program)
    if seen is not None:
        tried = f"Tried: {', '.join(history['environments'][runtime.environment]['versions'])}."
        yield f"- First seen in {seen.first}, last seen in {seen.last}, fixed in: {seen.fixed}. {tried}"
        gone = versions.absent(history, runtime.environment, program)
        yield from [f"- Not seen in {', '.join(gone)}."] if gone else []
    for version, why in versions.undecided(history, runtime.environment, program):
        yield f"- Not decided in {version}: {_shown(why)}."


def _shown(words: str) -> str:
    return in_markdown(plain(words))


def _sentence(because: str) -> str:
    return f"{because[0].upper()}{_shown(because[1:])}."
