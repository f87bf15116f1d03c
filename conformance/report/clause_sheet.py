"""The sheet of a clause, a policy, a profile, an erratum, a word, a chart or a mutant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any

from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import Family
from runlock.conformance.family.made import Mutant
from runlock.conformance.family.monitor import Monitor
from runlock.conformance.family.timeline import render
from runlock.conformance.report import chart_text as chart
from runlock.conformance.report.clause_names import file_of, grouped
from runlock.conformance.report.examples import (
    Example,
    example_of,
    illegal,
    legal,
    profiles_of,
)
from runlock.conformance.report.sheet import (
    Drawn,
    Part,
    Said,
    Sheet,
    in_columns,
)
from runlock.conformance.selftest.witnesses import mutants_of
from runlock.diagrams.charts.picture import Picture, pictures
from runlock.machines.table import Table
from runlock.spec.model import (
    Clause,
    Erratum,
    Policy,
    Profile,
    Retired,
    Term,
    Value,
)

Make = Callable[[], Sheet]


def found_in(name: str, among: Sequence[Family]) -> dict[str, list[Make]]:
    """What has that name, by family; the case is ignored only if there is no exact match."""
    every = [(family.name, one, make) for family in among for one, make in _named(family)]
    spelled = dict.fromkeys(one for _, one, _ in every)
    wanted = {name} if name in spelled else {one for one in spelled if one.lower() == name.lower()}
    found: dict[str, list[Make]] = {}
    for family, one, make in every:
        if one in wanted:
            found.setdefault(family, []).append(make)
    if not found:
        raise _unknown(name, list(spelled))
    return found


def _unknown(name: str, spelled: Sequence[str]) -> UsageError:
    known = {one.lower(): one for one in spelled}
    near = [known[one] for one in get_close_matches(name.lower(), known, n=3)]
    meant = f"Did you mean {' or '.join(near)}?" if near else "`runlock list` shows what there is."
    return UsageError(f"There is nothing called {name}.", meant)


def _named(family: Family) -> Iterator[tuple[str, Make]]:
    """The names in a family, and the function that makes the sheet of each."""
    spec, pictured = family.spec, pictures(family.name)
    charts = {table.name: table for table in family.tables}
    yield from ((name, partial(of_clause, family, one)) for name, one in spec.clauses.items())
    yield from ((name, partial(of_retired, family, one)) for name, one in spec.retired.items())
    yield from ((name, partial(of_policy, family, one)) for name, one in spec.policies.items())
    yield from ((name, partial(of_profile, family, one)) for name, one in spec.profiles.items())
    yield from ((name, partial(of_erratum, one)) for name, one in spec.errata.items())
    yield from ((name, partial(of_word, family, one)) for name, one in spec.glossary.items())
    yield from ((name, partial(of_chart, one)) for name, one in charts.items())
    yield from ((name, partial(of_picture, one)) for name, one in pictured.items() if name not in charts)
    yield from ((name, partial(of_mutant, family, one)) for name, one in family.made.mutants().items())


# --- a clause -----------------------------------------------------------------------------------


def of_clause(family: Family, clause: Clause) -> Sheet:
    """A clause: its text, its chart, its checks, a legal and an illegal example, its mutants."""
    right, wrong = legal(family, clause), illegal(family, clause)
    parts: list[Part] = [
        Said("intent", [clause.intent]),
        Said("words", [file_of(family, clause)]),
        Said("sources", clause.sources),
        Said("since", [f"revision {clause.since} of the spec"]),
        Said("applies", list(_applies(family, clause))),
        Said("severity", [clause.severity]),
        Said("needs", clause.needs),
        Said("occasion", [clause.occasion] if clause.occasion else []),
        Said("official", [f"{kit} {', '.join(ids)}" for kit, ids in clause.official.items()]),
        Said("checks", checks_of(family, clause)),
        Said("look at", clause.look_at),
        *_charts(family, clause),
        *_examples(clause, right, wrong),
        *_mutants(family, clause),
    ]
    return Sheet(
        "clause",
        clause.id,
        f" {clause.level}: {clause.sentence}",
        parts,
        _facts(family, clause, right, wrong),
    )


def _applies(family: Family, clause: Clause) -> Iterator[str]:
    if clause.core:
        yield "part of the universal core, which binds every runtime"
    for key, values in clause.applies.items():
        yield f"where {key} is {' or '.join(values)}"
    yield _under(family, profiles_of(family, clause))


def _under(family: Family, profiles: Sequence[str]) -> str:
    every = [one for one in family.spec.profiles.values() if one.policies]
    if len(profiles) == len(every):
        return "under every profile"
    return f"under {', '.join(profiles)}" if profiles else "under no profile as it stands"


def checks_of(family: Family, clause: Clause) -> list[str]:
    """The checks of a clause, or why there are none."""
    found = [
        f"{one.title or 'the sentence itself'} ({_asked(one.seeing)})"
        for one in sorted(family.invariants, key=lambda one: one.only_counts)
        if one.clause == clause.id
    ]
    if clause.untestable is None:
        found += [one for monitor in family.monitors if (one := _followed(family, monitor, clause.id))]
    if clause.id in family.checked_by_comparison:
        found.append(family.checked_by_comparison[clause.id])
    if clause.untestable is not None:
        found.append(f"none: it cannot be tested from outside, for {clause.untestable}")
    if not found:
        found.append("none: it permits, and forbids nothing" if clause.level == "MAY" else "none yet")
    return found


def _followed(family: Family, monitor: type[Monitor], clause: str) -> str:
    """What a monitor checks about a clause; an empty string if nothing."""
    names = ", ".join(table.name for table in chart.tables_of(family, clause))
    return monitor.says.format(charts=names) if clause in monitor.clauses else ""


def _asked(seeing: Any) -> str:
    return "asked at every quiescence" if seeing is None else f"asked at each {kind_of(seeing)}"


def kind_of(seeing: Any) -> str:
    """The kind of an observation; "observation" for a class of several kinds."""
    kind = seeing.model_fields["kind"].default
    return kind if isinstance(kind, str) else "observation"


def _charts(family: Family, clause: Clause) -> Iterator[Part]:
    for table in chart.tables_of(family, clause.id):
        lines = chart.shown(table, clause.id)
        more = chart.left_out(table, clause.id)
        yield Drawn(
            "chart",
            f"{table.name}; > marks what this clause says",
            _drawn(lines),
            [more] if more else [],
        )


def _drawn(lines: Sequence[chart.Line]) -> Callable[[int], list[str]]:
    return lambda width: chart.render(lines, width)


def _examples(clause: Clause, right: Example | None, wrong: Example | None) -> Iterator[Part]:
    if right is not None:
        yield _example("legal", f"{right.source}, on {right.target}", right, clause)
    else:
        yield Drawn("legal", "no scenario of the kit comes to it on a reference", _nothing)
    if wrong is not None:
        yield _example("illegal", f"{wrong.source}: {wrong.because}", wrong, clause)


def _nothing(_width: int) -> list[str]:
    return []


def _example(label: str, title: str, example: Example, clause: Clause) -> Drawn:
    seen = example.seen(clause)
    below = [f"at the last step: {', '.join(seen)}"] if seen else []
    return Drawn(label, title, lambda width: render(example.family, example.trace, width), below)


def _mutants(family: Family, clause: Clause) -> Iterator[Part]:
    rows = [(one.name, one.fault) for one in mutants_of(family, clause.id)]
    yield Drawn("mutants", "the reference made wrong on purpose" if rows else "none", _rows(rows))


def _facts(family: Family, clause: Clause, right: Example | None, wrong: Example | None) -> dict[str, Any]:
    return {
        **clause.model_dump(mode="json"),
        "file": file_of(family, clause),
        "profiles": profiles_of(family, clause),
        "charts": [
            {"name": table.name, "lines": [line.as_json() for line in chart.lines(table, clause.id)]}
            for table in chart.tables_of(family, clause.id)
        ],
        "checks": checks_of(family, clause),
        "legal": right.as_json(clause) if right is not None else None,
        "illegal": wrong.as_json(clause) if wrong is not None else None,
        "mutants": [{"name": one.name, "fault": one.fault} for one in mutants_of(family, clause.id)],
    }


def of_retired(family: Family, clause: Retired) -> Sheet:
    """A retired clause: what it said, why it went, and the clauses that say it now."""
    parts: list[Part] = [
        Said("it said", [clause.sentence]),
        Said("why", [clause.why]),
        Said("now", [f"{one}: {family.spec.clause(one).sentence}" for one in clause.instead]),
        Said("since", [f"revision {clause.since} of the spec, until {clause.revision}"]),
    ]
    rest = str(clause).removeprefix(clause.id)
    return Sheet("retired clause", clause.id, f"{rest}.", parts, clause.model_dump(mode="json"))


# --- everything else ----------------------------------------------------------------------------


def of_policy(family: Family, policy: Policy) -> Sheet:
    """A policy: its values, who takes which, and the clauses that depend on each."""
    spec = family.spec
    taken = {name: _taken(policy, one) for name, one in spec.profiles.items() if one.policies}
    asked = {value: _asking(family, policy.key, value) for value in policy.values}
    parts: list[Part] = [
        Said("values", [f"{'any' if policy.kind == 'set of' else 'one'} of {', '.join(policy.values)}"]),
        Said("matters", [f"where {key} is {' or '.join(values)}" for key, values in policy.when.items()]),
        Said("sources", policy.sources),
        Drawn("profiles", "what each takes", _rows(list(taken.items()))),
        Drawn("clauses", "what each value asks", _rows([(v, grouped(ids)) for v, ids in asked.items()])),
    ]
    values = {name: one.policies.get(policy.key) for name, one in spec.profiles.items() if one.policies}
    facts = {**policy.model_dump(mode="json"), "profiles": values, "clauses": asked}
    return Sheet("policy", policy.key, f": {policy.sentence}", parts, facts)


def _rows(rows: Sequence[Sequence[str]]) -> Callable[[int], list[str]]:
    return lambda width: in_columns(rows, width)


def _asking(family: Family, key: str, value: str) -> list[str]:
    return [one.id for one in family.spec.clauses.values() if value in one.applies.get(key, ())]


def _taken(policy: Policy, profile: Profile) -> str:
    """The value that a profile gives a policy, or why there is none."""
    if policy.key in profile.policies:
        return _value(profile.policies[policy.key])
    other = policy.ruled_out(profile.policies)
    return "open" if other is None else f"nothing, since {other} is {_value(profile.policies[other])}"


def _value(value: Value) -> str:
    return value if isinstance(value, str) else ", ".join(value) or "none"


def of_profile(family: Family, profile: Profile) -> Sheet:
    """A profile: what it settles, what it leaves open, and its clauses."""
    spec = family.spec
    rows = [(key, _value(profile.policies[key])) for key in spec.policies if key in profile.policies]
    left = [key for key, one in spec.policies.items() if _taken(one, profile) == "open"]
    under = [one.id for one in spec.clauses.values() if profile.name in profiles_of(family, one)]
    if not profile.policies:
        under = [one.id for one in spec.clauses.values() if one.core]
    settled: list[Part] = [Drawn("settles", f"{len(rows)} policies", _rows(rows))] if rows else []
    parts: list[Part] = [
        Said("family", [family.name]),
        Said("source", [profile.source]),
        Said("clauses", [f"{len(under)}: {grouped(under)}"]),
        Said("open", [", ".join(left) or "nothing"]),
        *settled,
    ]
    facts = {**profile.model_dump(mode="json"), "clauses": under}
    return Sheet("profile", profile.name, f": {profile.sentence}", parts, facts)


def of_erratum(erratum: Erratum) -> Sheet:
    """An erratum: what was found where, the decision, and the reason."""
    parts: list[Part] = [
        Said("found", [erratum.found]),
        Said("decided", [erratum.decided]),
        Said("why", [erratum.why]),
        Said("places", [f"{one.document} § {one.section}, line {one.line}" for one in erratum.places]),
    ]
    return Sheet("erratum", erratum.id, f": {erratum.title}", parts, erratum.model_dump(mode="json"))


def of_word(family: Family, term: Term) -> Sheet:
    """A word, and the other words in its explanation."""
    others = [
        one.word
        for one in family.spec.glossary.values()
        if one.word != term.word and f" {term.word}" in f" {one.meaning.lower()}"
    ]
    parts = [Said("see also", [", ".join(others)] if others else [])]
    return Sheet(
        "word", term.word, f": {term.meaning}", parts, {**term.model_dump(mode="json"), "see_also": others}
    )


def of_chart(table: Table) -> Sheet:
    """A chart: all its arrows, and what its states refuse."""
    lines = chart.lines(table)
    finals = ", ".join(state for state in table.states if table.is_final(state))
    parts: list[Part] = [
        Said("begins", [table.initial]),
        Said("ends", [finals] if finals else ["nowhere"]),
        Drawn("arrows", str(len(table.rows)), _drawn(lines)),
    ]
    facts = {
        "subject": table.subject,
        "initial": table.initial,
        "finals": sorted(table.finals),
        "lines": [line.as_json() for line in lines],
    }
    return Sheet("chart", table.name, f": the chart of a {table.subject}", parts, facts)


def of_picture(picture: Picture) -> Sheet:
    """The chart that is not a table: regions for two calls, and one that follows them."""
    lines = [
        chart.Line(one.source, one.event or "follows", one.target, one.phrase, one.clause)
        for one in picture.arrows
    ]
    regions = [f"{place.name}: {', '.join(one.name for one in place.inside)}" for place in picture.regions]
    parts: list[Part] = [Said("regions", regions), Drawn("arrows", str(len(lines)), _drawn(lines))]
    facts = {"subject": picture.subject, "lines": [line.as_json() for line in lines]}
    return Sheet("chart", picture.name, ": the chart of a run that follows its calls", parts, facts)


def of_mutant(family: Family, mutant: Mutant) -> Sheet:
    """A mutant: its fault, the clause that is blamed, and its witness."""
    clause = family.spec.clause(mutant.clause)
    example = example_of(family, mutant)
    own: Mapping[str, Any] = mutant.policies
    shown = [_example("witness", example.because, example, clause)] if example is not None else []
    parts: list[Part] = [
        Said("breaks", [f"{clause.id}: {clause.sentence}"]),
        Said("also", [", ".join(mutant.also)] if mutant.also else []),
        Said("profile", [mutant.profile]),
        Said("where", [f"{key} is {_value(value)}" for key, value in own.items()]),
        *shown,
    ]
    facts = {
        "fault": mutant.fault,
        "clause": clause.id,
        "also": list(mutant.also),
        "profile": mutant.profile,
        "policies": dict(own),
        "witness": example.as_json(clause) if example is not None else None,
    }
    return Sheet("mutant", mutant.name, f": {mutant.fault}", parts, facts)
