"""The lists of `runlock list`: each entry has a few facts, some of which are shown as columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from runlock.conformance.driving.strategies.scripted import corpus
from runlock.conformance.family.family import Family
from runlock.conformance.report import chart_text as chart
from runlock.conformance.report.clause_names import grouped
from runlock.conformance.report.examples import clauses_of, profiles_of
from runlock.diagrams.charts.picture import Picture, pictures
from runlock.spec.model import Clause, Policy

Entry = Mapping[str, Any]
"""The facts about one entry, by name; the first fact is its name."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Entries, the facts that are shown as columns, and those that can be filtered by."""

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
        """The list with only the entries that have these facts."""
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


def _clauses(family: Family) -> Listing:
    checks = Counter(
        [
            *(one.clause for one in family.invariants),
            *(clause for monitor in family.monitors for clause in monitor.clauses),
            *family.checked_by_comparison,
        ]
    )
    mutants = Counter(one.clause for one in family.made.mutants().values())
    entries = [
        {
            "id": one.id,
            "level": one.level,
            "severity": one.severity,
            "checks": checks[one.id],
            "mutants": mutants[one.id],
            "since": one.since,
            "sentence": one.sentence,
            "area": one.area,
            "core": one.core,
            "profile": _profiles_with(family, one),
            "untestable": one.untestable,
        }
        for one in family.spec.clauses.values()
    ]
    return Listing(
        entries,
        ("id", "level", "checks", "mutants", "since", "sentence"),
        ("area", "profile", "level"),
        _counted,
    )


def _profiles_with(family: Family, clause: Clause) -> list[str]:
    """The profiles under which a clause applies: one that settles no policy has the core."""
    bare = [one.name for one in family.spec.profiles.values() if not one.policies]
    return [*profiles_of(family, clause), *(bare if clause.core else [])]


def _counted(clauses: Sequence[Entry]) -> str:
    checked = sum(1 for one in clauses if one["checks"])
    seen = sum(1 for one in clauses if one["mutants"])
    hidden = sum(1 for one in clauses if one["untestable"])
    rest = len(clauses) - checked - hidden
    return (
        f"{len(clauses)} clauses: {checked} have a check, {hidden} cannot be tested from outside, and {rest} "
        f"are permissions, which cannot be broken. For {seen} clauses, a mutant shows that a check can fail."
    )


def _profiles(family: Family) -> Listing:
    clauses = family.spec.clauses.values()
    entries = [
        {
            "name": one.name,
            "family": family.name,
            "settles": len(one.policies),
            "clauses": sum(one.name in _profiles_with(family, clause) for clause in clauses),
            "sentence": one.sentence,
            "source": one.source,
        }
        for one in family.spec.profiles.values()
    ]
    return Listing(entries, ("name", "settles", "clauses", "sentence"))


def _policies(family: Family) -> Listing:
    clauses = family.spec.clauses.values()
    entries = [
        {
            "key": one.key,
            "clauses": sum(one.key in clause.applies for clause in clauses),
            "sentence": f"{one.sentence} {_any(one)} of {', '.join(one.values)}.",
            "values": one.values,
        }
        for one in family.spec.policies.values()
    ]
    return Listing(entries, ("key", "clauses", "sentence"))


def _any(policy: Policy) -> str:
    return "Any" if policy.kind == "set of" else "One"


def _errata(family: Family) -> Listing:
    entries = [
        {
            "id": one.id,
            "document": list(dict.fromkeys(place.document for place in one.places)),
            "title": one.title,
            "decided": one.decided,
        }
        for one in family.spec.errata.values()
    ]
    return Listing(entries, ("id", "title", "decided"))


def _targets(family: Family) -> Listing:
    own = [
        (f"reference:{one.name}", f"The kit's own runtime. {one.sentence}")
        for one in family.spec.profiles.values()
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


def _mutants(family: Family) -> Listing:
    entries = [
        {
            "name": one.name,
            "clause": one.clause,
            "fault": one.fault,
            "also": list(one.also),
            "area": one.clause.rpartition("-")[0],
            "profile": one.profile,
            "policies": dict(one.policies),
        }
        for one in family.made.mutants().values()
    ]
    return Listing(entries, ("name", "clause", "fault"), ("area", "profile"))


def _variants(family: Family) -> Listing:
    entries = [
        {"name": one.name, "profile": one.profile, "freedom": one.freedom, "policies": dict(one.policies)}
        for one in family.made.variants().values()
    ]
    return Listing(entries, ("name", "profile", "freedom"), ("profile",))


def _scenarios(family: Family) -> Listing:
    entries = []
    for one in corpus(family):
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


def _charts(family: Family) -> Listing:
    entries = []
    for table in family.tables:
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
    drawn = {table.name for table in family.tables}
    others = [_drawn(one) for name, one in pictures(family.name).items() if name not in drawn]
    return Listing([*entries, *others], ("name", "states", "arrows", "clauses"), ("area",))


def _drawn(picture: Picture) -> Entry:
    """A chart that is not a table, since it has regions."""
    return {
        "name": picture.name,
        "states": len(picture.leaves),
        "arrows": len(picture.arrows),
        "clauses": grouped(picture.clauses),
        "subject": picture.subject,
        "area": list(dict.fromkeys(one.rpartition("-")[0] for one in picture.clauses)),
    }


def _words(family: Family) -> Listing:
    entries = [{"word": one.word, "meaning": one.meaning} for one in family.spec.glossary.values()]
    return Listing(entries, ("word", "meaning"))


LISTS: Final[dict[str, Callable[[Family], Listing]]] = {
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
