"""The evidence that pages show: what the kit found on real runtimes, and how large the specification is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from runlock.conformance.campaign.one_program import file_name, text_of
from runlock.conformance.campaign.programs import programs_of
from runlock.conformance.campaign.runtime import Known
from runlock.conformance.campaign.runtimes import runtimes
from runlock.conformance.family.family import Family, families
from runlock.conformance.report.findings import counted
from runlock.conformance.report.matrix import causes

from .markdown import table, text

MATRIX = Path(__file__).parent.parent / "matrix.json"
STANDALONE = MATRIX.parent / "standalone"
TELLING = (
    ("google-adk", "PAIR-4"),
    ("strands", "CANCEL-4"),
    ("vercel-ai-7", "DECIDE-14"),
    ("langgraph", "DERIVE-6"),
    ("langchain-batched", "DECIDE-15"),
    ("anthropic-async", "RUNNER-33"),
    ("gemini-cli", "PAIR-1"),
)
"""The violations that the landing page shows: runtime and clause."""


class Finding(NamedTuple):
    """A clause that a runtime breaks, and what is known of it besides the kit's counterexample."""

    runtime: Mapping[str, Any]
    clause: str
    known: Known | None


@cache
def findings() -> tuple[Finding, ...]:
    """Every violation in the matrix that is not the consequence of another one."""
    known = {one.name: one for one in runtimes()}
    return tuple(
        Finding(runtime, found["clause"], known[runtime["name"]].known(found["clause"]))
        for runtime in _judged()
        for found in causes(runtime)
    )


@cache
def _judged() -> tuple[Mapping[str, Any], ...]:
    return tuple(one for one in json.loads(MATRIX.read_text("utf-8"))["runtimes"] if one["verdict"])


def summary() -> str:
    """The numbers of the matrix, each with what it counts."""
    counts = counted(json.loads(MATRIX.read_text("utf-8")))
    return (
        f"{counts.libraries} released libraries were checked, in {counts.configurations} configurations, and "
        f"{counts.libraries_with} of them break at least one clause. The kit found {counts.violations} "
        "faults: each is one fault of one library, which may break several clauses, and is also shown by a "
        f"small program that uses the library alone, without the kit. {counts.promised} of them are against "
        "the library's own documentation, or against a rule of an API or a protocol. Faults "
        "that a library documents as its intended behaviour are not counted: there are "
        f"{counts.documented} more."
    )


def _summary(root: str) -> str:
    return summary()


def _telling(root: str) -> str:
    """A table of the violations in `TELLING`."""
    found = {(one.runtime["name"], one.clause): one for one in findings()}
    return table(("runtime", "what it does", "clause"), [_row(found[one], root) for one in TELLING])


def _row(one: Finding, root: str) -> tuple[str, ...]:
    assert one.known is not None  # a violation that only the kit shows is not put on the landing page
    reports = " ".join(f"[{_issue(page)}]({page})" for page in one.known.upstream)
    version = one.runtime["implementation"]["version"]
    place = f"[{one.clause}]({root}/runtimes/{one.runtime['name']}.md#{one.clause.lower()}){{ .id }}"
    return f"**{text(one.runtime['title'])}** {version}", f"{text(one.known.sentence)} {reports}", place


def _issue(page: str) -> str:
    """The short name of a report, as in `langgraph#6624`."""
    *_, repository, _, number = page.split("/")
    return f"{repository}#{number}"


def as_text() -> str:
    """The summary and the violations in `TELLING` for the README, which links to no page of the site."""
    found = {(one.runtime["name"], one.clause): one for one in findings()}
    rows = (_row(found[one], "docs") for one in TELLING)
    listed = "".join(
        f"- {runtime}: {said.strip()} ({one[1]})\n"
        for one, (runtime, said, _) in zip(TELLING, rows, strict=True)
    )
    return f"{summary()}\n\n{listed}"


# --- the specification --------------------------------------------------------------------------

ABOUT: Mapping[str, str] = {
    "lifecycle": "Runs and tool calls that are suspended, approved, cancelled, checkpointed and recovered "
    "after a crash.",
    "tool-runner": "The loop that a model SDK gives its user, who may change its state at each step.",
    "message-loop": "A turn as a sequence of stages with hooks, an authority stack that settles each tool "
    "call, subagents, and a stream of events.",
}


def _families(root: str) -> str:
    rows = [
        (
            f"[`{one.name}`]({root}/families/{one.name}/index.md)",
            ABOUT[one.name],
            *map(str, _sizes(one)),
        )
        for one in families()
    ]
    return table(("family", "what it specifies", "clauses", "charts", "mutants", "variants"), rows)


def _sizes(family: Family) -> tuple[int, ...]:
    spec, made = family.spec, family.made
    return len(spec.clauses), len(family.tables), len(made.mutants()), len(made.variants())


def _clauses(root: str) -> str:
    """How many clauses there are in all."""
    return f"{sum(len(one.spec.clauses) for one in families())} *clauses*"


def _source(root: str) -> str:
    """How to get the source, from the address in the setting of the site, which may be without one."""
    address = os.environ.get("RUNLOCK_REPO_URL", "")
    if not address:
        return (
            "Clone the repository that this page belongs to, or unpack an archive of it. (This copy of the "
            "pages was built without the address of the repository, which is the setting `RUNLOCK_REPO_URL`.)"
        )
    return f"```sh\ngit clone {address} runlock && cd runlock\n```"


KINDS: Mapping[str, Callable[[str], str]] = {
    "summary": _summary,
    "telling": _telling,
    "families": _families,
    "clauses": _clauses,
    "source": _source,
}
"""What a page can include, as in `<!-- evidence: summary -->`."""


def shown(name: str, root: str) -> str:
    """One piece of evidence, for a page whose root is `root`."""
    if name not in KINDS:
        raise LookupError(f"There is no evidence {name}; there are {', '.join(KINDS)}.")
    return KINDS[name](root)


# --- programs -----------------------------------------------------------------------------------


def files() -> Iterator[tuple[str, str]]:
    """The programs without the kit, each in a file of its own, and the examples, as text for a browser."""
    for program in programs_of(runtimes()):
        yield f"{STANDALONE.name}/{file_name(program)}.txt", text_of(program, STANDALONE)
    for path in sorted((MATRIX.parent / "examples").glob("*.py")):
        yield f"examples/{path.name}.txt", path.read_text("utf-8")
