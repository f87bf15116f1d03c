"""What there is to say of a clause, a policy, a profile, an erratum, a word, a chart or a mutant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from runlock.conformance.errors import UsageError
from runlock.conformance.families.lifecycle.family import DETERMINISM
from runlock.conformance.families.lifecycle.invariants import INVARIANTS
from runlock.conformance.families.lifecycle.joint.conformance import CHECKED_BY_JOINT_STATES
from runlock.conformance.families.lifecycle.monitors.flow_charts import CHECKED_BY_PATHS
from runlock.conformance.families.lifecycle.monitors.status_charts import CHECKED_BY_CHARTS
from runlock.conformance.families.lifecycle.mutants import MUTANTS, Mutant
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
from runlock.conformance.selftest.witnesses import fault_of, mutants_of
from runlock.diagrams.charts.picture import DERIVED, Picture, pictures
from runlock.diagrams.lifecycle.timeline import render
from runlock.machines.catalogue import tables
from runlock.machines.table import Table
from runlock.spec.model import (
    Clause,
    Erratum,
    Policy,
    Profile,
    Term,
    Value,
    load_spec,
)


def sheets_of(name: str) -> list[Sheet]:
    """The sheets of whatever has that name; in another case, if nothing is written just so."""
    every = [(make, one) for make, names in _named() for one in names]
    found = [(make, one) for make, one in every if one == name]
    found = found or [(make, one) for make, one in every if one.lower() == name.lower()]
    if found:
        return [make(one) for make, one in found]
    known = {one.lower(): one for _, one in every}
    near = [known[one] for one in get_close_matches(name.lower(), known, n=3)]
    meant = f"Did you mean {' or '.join(near)}?" if near else "`runlock list` shows what there is."
    raise UsageError(f"There is nothing called {name}.", meant)


def _named() -> Iterator[tuple[Callable[[str], Sheet], Sequence[str]]]:
    """The names that there are, by what they name."""
    spec = load_spec()
    yield lambda name: of_clause(spec.clauses[name]), list(spec.clauses)
    yield lambda name: of_policy(spec.policies[name]), list(spec.policies)
    yield lambda name: of_profile(spec.profiles[name]), list(spec.profiles)
    yield lambda name: of_erratum(spec.errata[name]), list(spec.errata)
    yield lambda name: of_word(spec.glossary[name]), list(spec.glossary)
    yield lambda name: of_chart(_table(name)), [table.name for table in tables()]
    yield lambda _: of_derived(pictures()[DERIVED]), [DERIVED]
    yield lambda name: of_mutant(_mutant(name)), [mutant.name for mutant in MUTANTS]


def _mutant(name: str) -> Mutant:
    return next(mutant for mutant in MUTANTS if mutant.name == name)


def _table(name: str) -> Table:
    return next(table for table in tables() if table.name == name)


# --- a clause -----------------------------------------------------------------------------------


def of_clause(clause: Clause) -> Sheet:
    """A clause: its words, its chart, what judges it, a right and a wrong example, its mutants."""
    right, wrong = legal(clause), illegal(clause)
    parts: list[Part] = [
        Said("intent", [clause.intent]),
        Said("words", [file_of(clause)]),
        Said("sources", clause.sources),
        Said("since", [f"revision {clause.since} of the spec"]),
        Said("applies", list(_applies(clause))),
        Said("needs", clause.needs),
        Said("checks", checks_of(clause)),
        Said("look at", clause.look_at),
        *_charts(clause),
        *_examples(clause, right, wrong),
        *_mutants(clause),
    ]
    return Sheet(
        "clause", clause.id, f" {clause.level}: {clause.sentence}", parts, _facts(clause, right, wrong)
    )


def _applies(clause: Clause) -> Iterator[str]:
    if clause.core:
        yield "part of the universal core, which binds every runtime"
    for key, values in clause.applies.items():
        yield f"where {key} is {' or '.join(values)}"
    yield _under(profiles_of(clause))


def _under(profiles: Sequence[str]) -> str:
    every = [one for one in load_spec().profiles.values() if one.policies]
    if len(profiles) == len(every):
        return "under every profile"
    return f"under {', '.join(profiles)}" if profiles else "under no profile as it stands"


def checks_of(clause: Clause) -> list[str]:
    """What judges a clause, or why nothing does."""
    found = [f"{one.title} ({_asked(one.seeing)})" for one in INVARIANTS if one.clause == clause.id]
    if clause.id in CHECKED_BY_CHARTS:
        names = ", ".join(table.name for table in chart.tables_of(clause.id))
        found.append(f"what a runtime claims follows the chart {names}, arrow by arrow")
    if clause.id in CHECKED_BY_JOINT_STATES:
        found.append("what it shows, and that it rests, follows the joint charts of run, calls and gate")
    if clause.id in CHECKED_BY_PATHS and clause.untestable is None:
        found.append("what a runtime shows takes a drawn way, and no other")
    if clause.id == DETERMINISM:
        found.append("a schedule that was played is played again, and both lead to the same")
    if clause.untestable is not None:
        found.append(f"none: it cannot be tested from outside, for {clause.untestable}")
    if not found:
        found.append("none: it permits, and forbids nothing" if clause.level == "MAY" else "none yet")
    return found


def _asked(seeing: Any) -> str:
    return "asked at every quiescence" if seeing is None else f"asked at each {kind_of(seeing)}"


def kind_of(seeing: Any) -> str:
    """The kind of an observation."""
    return str(seeing.model_fields["kind"].default)


def _charts(clause: Clause) -> Iterator[Part]:
    for table in chart.tables_of(clause.id):
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
    return Drawn(label, title, lambda width: render(example.trace, width), below)


def _mutants(clause: Clause) -> Iterator[Part]:
    rows = [(one.name, fault_of(one)) for one in mutants_of(clause.id)]
    yield Drawn("mutants", "the reference made wrong on purpose" if rows else "none", _rows(rows))


def _facts(clause: Clause, right: Example | None, wrong: Example | None) -> dict[str, Any]:
    return {
        **clause.model_dump(mode="json"),
        "file": file_of(clause),
        "profiles": profiles_of(clause),
        "charts": [
            {"name": table.name, "lines": [line.as_json() for line in chart.lines(table, clause.id)]}
            for table in chart.tables_of(clause.id)
        ],
        "checks": checks_of(clause),
        "legal": right.as_json(clause) if right is not None else None,
        "illegal": wrong.as_json(clause) if wrong is not None else None,
        "mutants": [{"name": one.name, "fault": fault_of(one)} for one in mutants_of(clause.id)],
    }


# --- everything else ----------------------------------------------------------------------------


def of_policy(policy: Policy) -> Sheet:
    """A policy: its values, who takes which, and the clauses that ask for each."""
    spec = load_spec()
    taken = {name: _taken(policy, one) for name, one in spec.profiles.items() if one.policies}
    asked = {value: _asking(policy.key, value) for value in policy.values}
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


def _asking(key: str, value: str) -> list[str]:
    return [one.id for one in load_spec().clauses.values() if value in one.applies.get(key, ())]


def _taken(policy: Policy, profile: Profile) -> str:
    """What a profile settles a policy as, or why it does not."""
    if policy.key in profile.policies:
        return _value(profile.policies[policy.key])
    other = policy.ruled_out(profile.policies)
    return "open" if other is None else f"nothing, since {other} is {_value(profile.policies[other])}"


def _value(value: Value) -> str:
    return value if isinstance(value, str) else ", ".join(value) or "none"


def of_profile(profile: Profile) -> Sheet:
    """A profile: what it settles, what it leaves open, and the clauses under it."""
    spec = load_spec()
    rows = [(key, _value(profile.policies[key])) for key in spec.policies if key in profile.policies]
    left = [key for key, one in spec.policies.items() if _taken(one, profile) == "open"]
    under = [one.id for one in spec.clauses.values() if profile.name in profiles_of(one)]
    if not profile.policies:
        under = [one.id for one in spec.clauses.values() if one.core]
    settled: list[Part] = [Drawn("settles", f"{len(rows)} policies", _rows(rows))] if rows else []
    parts: list[Part] = [
        Said("family", [spec.family]),
        Said("source", [profile.source]),
        Said("clauses", [f"{len(under)}: {grouped(under)}"]),
        Said("open", [", ".join(left) or "nothing"]),
        *settled,
    ]
    facts = {**profile.model_dump(mode="json"), "clauses": under}
    return Sheet("profile", profile.name, f": {profile.sentence}", parts, facts)


def of_erratum(erratum: Erratum) -> Sheet:
    """An erratum: what was found where, what was decided, and why."""
    parts: list[Part] = [
        Said("found", [erratum.found]),
        Said("decided", [erratum.decided]),
        Said("why", [erratum.why]),
        Said("places", [f"{one.document} § {one.section}, line {one.line}" for one in erratum.places]),
    ]
    return Sheet("erratum", erratum.id, f": {erratum.title}", parts, erratum.model_dump(mode="json"))


def of_word(term: Term) -> Sheet:
    """A word, and the other words that are explained with it."""
    others = [
        one.word
        for one in load_spec().glossary.values()
        if one.word != term.word and f" {term.word}" in f" {one.meaning.lower()}"
    ]
    parts = [Said("see also", [", ".join(others)] if others else [])]
    return Sheet(
        "word", term.word, f": {term.meaning}", parts, {**term.model_dump(mode="json"), "see_also": others}
    )


def of_chart(table: Table) -> Sheet:
    """A chart: all its arrows, and what closes its states."""
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


def of_derived(picture: Picture) -> Sheet:
    """The chart that is no table: regions for two calls, and one that follows them."""
    lines = [
        chart.Line(one.source, one.event or "follows", one.target, one.phrase, one.clause)
        for one in picture.arrows
    ]
    regions = [f"{place.name}: {', '.join(one.name for one in place.inside)}" for place in picture.regions]
    parts: list[Part] = [Said("regions", regions), Drawn("arrows", str(len(lines)), _drawn(lines))]
    facts = {"subject": picture.subject, "lines": [line.as_json() for line in lines]}
    return Sheet("chart", picture.name, ": the chart of a run that follows its calls", parts, facts)


def of_mutant(mutant: Mutant) -> Sheet:
    """A mutant: its fault, the clause that is blamed, and its witness."""
    clause = load_spec().clause(mutant.clause)
    example = example_of(mutant)
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
        "fault": fault_of(mutant),
        "clause": clause.id,
        "also": list(mutant.also),
        "profile": mutant.profile,
        "policies": dict(own),
        "witness": example.as_json(clause) if example is not None else None,
    }
    return Sheet("mutant", mutant.name, f": {fault_of(mutant)}", parts, facts)
