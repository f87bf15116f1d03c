"""What there is, list by list: each entry a few facts, of which a list shows some as columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from runlock.conformance.driving.strategies.scripted import corpus
from runlock.conformance.families.lifecycle.family import DETERMINISM, FAMILY
from runlock.conformance.families.lifecycle.invariants import INVARIANTS
from runlock.conformance.families.lifecycle.joint.conformance import CHECKED_BY_JOINT_STATES
from runlock.conformance.families.lifecycle.monitors.flow_charts import CHECKED_BY_PATHS
from runlock.conformance.families.lifecycle.monitors.status_charts import CHECKED_BY_CHARTS
from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.families.lifecycle.variants import VARIANTS
from runlock.conformance.report import chart_text as chart
from runlock.conformance.report.clause_names import grouped
from runlock.conformance.report.examples import clauses_of, profiles_of
from runlock.conformance.selftest.witnesses import fault_of
from runlock.diagrams.charts.picture import DERIVED, pictures
from runlock.machines.catalogue import tables
from runlock.spec.model import Policy, load_spec

Entry = Mapping[str, Any]
"""What is known of one thing, by the name of the fact; the first fact is its name."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Entries, the facts that are shown as columns, and those by which a part can be asked for."""

    entries: Sequence[Entry]
    columns: Sequence[str]
    filters: Sequence[str] = ()
    summary: Callable[[Sequence[Entry]], str] | None = None

    def row(self, entry: Entry) -> list[str]:
        """The cells of an entry."""
        return [_cell(entry[column]) for column in self.columns]

    def values(self, fact: str) -> list[str]:
        """The values that a fact has, each once."""
        return list(dict.fromkeys(value for entry in self.entries for value in _several(entry[fact])))

    def kept(self, wanted: Mapping[str, str]) -> Listing:
        """The list with the entries alone that have these facts."""
        kept = [
            entry
            for entry in self.entries
            if all(value in _several(entry[fact]) for fact, value in wanted.items())
        ]
        return replace(self, entries=kept)


def _several(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def _cell(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def _clauses() -> Listing:
    checks = Counter(
        [
            *(one.clause for one in INVARIANTS),
            *CHECKED_BY_CHARTS,
            *CHECKED_BY_PATHS,
            *CHECKED_BY_JOINT_STATES,
            DETERMINISM,
        ]
    )
    mutants = Counter(one.clause for one in MUTANTS)
    entries = [
        {
            "id": one.id,
            "level": one.level,
            "checks": checks[one.id],
            "mutants": mutants[one.id],
            "since": one.since,
            "sentence": one.sentence,
            "area": one.area,
            "core": one.core,
            "profile": profiles_of(one),
            "untestable": one.untestable,
        }
        for one in load_spec().clauses.values()
    ]
    return Listing(
        entries,
        ("id", "level", "checks", "mutants", "since", "sentence"),
        ("area", "profile", "level"),
        _counted,
    )


def _counted(clauses: Sequence[Entry]) -> str:
    checked = sum(1 for one in clauses if one["checks"])
    seen = sum(1 for one in clauses if one["mutants"])
    hidden = sum(1 for one in clauses if one["untestable"])
    return (
        f"{len(clauses)} clauses: {checked} are checked, {seen} of them are seen to fail on a mutant, "
        f"{hidden} cannot be tested from outside."
    )


def _profiles() -> Listing:
    clauses = load_spec().clauses.values()
    entries = [
        {
            "name": one.name,
            "family": load_spec().family,
            "settles": len(one.policies),
            "clauses": sum(one.name in profiles_of(clause) for clause in clauses)
            or sum(clause.core for clause in clauses),
            "sentence": one.sentence,
            "source": one.source,
        }
        for one in load_spec().profiles.values()
    ]
    return Listing(entries, ("name", "settles", "clauses", "sentence"))


def _policies() -> Listing:
    clauses = load_spec().clauses.values()
    entries = [
        {
            "key": one.key,
            "clauses": sum(one.key in clause.applies for clause in clauses),
            "sentence": f"{one.sentence} {_any(one)} of {', '.join(one.values)}.",
            "values": one.values,
        }
        for one in load_spec().policies.values()
    ]
    return Listing(entries, ("key", "clauses", "sentence"))


def _any(policy: Policy) -> str:
    return "Any" if policy.kind == "set of" else "One"


def _errata() -> Listing:
    entries = [
        {
            "id": one.id,
            "document": list(dict.fromkeys(place.document for place in one.places)),
            "title": one.title,
            "decided": one.decided,
        }
        for one in load_spec().errata.values()
    ]
    return Listing(entries, ("id", "title", "decided"))


def _targets() -> Listing:
    own = [
        (f"reference:{one.name}", f"The kit's own runtime. {one.sentence}")
        for one in load_spec().profiles.values()
        if one.policies
    ]
    said = [
        *own,
        ("mutant:NAME", "The kit's own runtime, made wrong on purpose; `list mutants` has the names."),
        ("variant:NAME", "The kit's own runtime, different and right; `list variants` has the names."),
        ("py:package.module:factory", "An adapter in process: the factory gives a new one at each call."),
        ("cmd:./adapter --flag", "An adapter in any language, started without a shell, over a pipe."),
        ("trace:file.jsonl", "A recorded trace: judged, not driven."),
    ]
    return Listing([{"target": name, "sentence": text} for name, text in said], ("target", "sentence"))


def _mutants() -> Listing:
    entries = [
        {
            "name": one.name,
            "clause": one.clause,
            "fault": fault_of(one),
            "also": list(one.also),
            "area": one.clause.rpartition("-")[0],
            "profile": one.profile,
            "policies": dict(one.policies),
        }
        for one in MUTANTS
    ]
    return Listing(entries, ("name", "clause", "fault"), ("area", "profile"))


def _variants() -> Listing:
    entries = [
        {"name": one.name, "profile": one.profile, "freedom": one.freedom, "policies": dict(one.policies)}
        for one in VARIANTS
    ]
    return Listing(entries, ("name", "profile", "freedom"), ("profile",))


def _scenarios() -> Listing:
    entries = []
    for one in corpus(FAMILY):
        named = clauses_of(one)
        entries.append(
            {
                "name": one.name,
                "steps": len(one.moves),
                "about": " ".join(line for line in one.about.splitlines() if line != ", ".join(named)),
                "clauses": named,
                "area": list(dict.fromkeys(clause.rpartition("-")[0] for clause in named)),
                "needs": list(one.needs),
                "target": one.target,
            }
        )
    return Listing(entries, ("name", "steps", "about"), ("area",))


def _charts() -> Listing:
    entries = []
    for table in tables():
        named = dict.fromkeys(line.clause for line in chart.lines(table))
        entries.append(
            {
                "name": table.name,
                "states": len(table.states),
                "arrows": len(table.rows),
                "clauses": grouped(list(named)),
                "subject": table.subject,
                "area": list(dict.fromkeys(one.rpartition("-")[0] for one in named)),
            }
        )
    return Listing([*entries, _derived()], ("name", "states", "arrows", "clauses"), ("area",))


def _derived() -> Entry:
    """The one chart that is no table: it has a region for each call, of which two are drawn."""
    picture = pictures()[DERIVED]
    return {
        "name": picture.name,
        "states": len(picture.leaves),
        "arrows": len(picture.arrows),
        "clauses": grouped(picture.clauses),
        "subject": picture.subject,
        "area": list(dict.fromkeys(one.rpartition("-")[0] for one in picture.clauses)),
    }


def _words() -> Listing:
    entries = [{"word": one.word, "meaning": one.meaning} for one in load_spec().glossary.values()]
    return Listing(entries, ("word", "meaning"))


LISTS: Final[dict[str, Callable[[], Listing]]] = {
    "clauses": _clauses,
    "profiles": _profiles,
    "policies": _policies,
    "errata": _errata,
    "targets": _targets,
    "mutants": _mutants,
    "variants": _variants,
    "scenarios": _scenarios,
    "charts": _charts,
    "words": _words,
}
