"""The pages that are lists: errata, profiles side by side, policies, and the words of the project."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runlock.conformance.family.family import DEFAULT, Family, families
from runlock.conformance.report.clause_names import ranges
from runlock.spec.model import (
    Erratum,
    Policy,
    Value,
)

from .markdown import WIDE, anchor, clause, clauses, folder_of, in_family, policy, source, table, text


def pages() -> Iterator[tuple[str, str]]:
    """For each family, a page of each kind that is not empty."""
    for family in families():
        folder = f"{folder_of(family.name)}reference"
        yield f"{folder}/profiles.md", _profiles(family)
        yield f"{folder}/policies.md", _policies(family)
        yield f"{folder}/errata.md", _errata(family)
        yield f"{folder}/glossary.md", _glossary(family)


KINDS = """\
Three kinds of them taught the most. *One word for two things*: Done is an end and also the way on to the
next step (E-2), and a call is Created in a table and New in a list (E-6). *A rule that its own example
breaks*: the function that derives a run's status calls a round of fresh calls finished, while the first
row of the timeline below it says Running (E-1). *Two designs in one source*: whether a wait needs all
calls or one (E-5), whether a step ends before its tools or after them (E-9). The first are renamed, the
second decided, the third made policies.
"""

# --- errata -------------------------------------------------------------------------------------


def _errata(family: Family) -> str:
    every = list(family.spec.errata.values())
    rows = [(f"[{one.id}](#{one.id.lower()})", text(one.title), _documents(one)) for one in every]
    kinds = f"{_linked(KINDS)}\n\n" if family.name == DEFAULT else ""
    return f"""# {in_family("Errata", family.name)}

The sources were written at different times, by people who were designing while they wrote. They contradict
each other, and sometimes themselves: a table says one thing and the example below it another, a function
forgets a case, one word has two meanings. Each of the {len(every)} places that were found is listed here:
what was found, with its line; what the specification decides; and why. Where both sides are complete
designs, the decision is a *policy*, and a runtime may have either.

{kinds}{table(("erratum", "what", "where"), rows)}
{"".join(_erratum(family, one) for one in every)}"""


def _linked(words: str) -> str:
    return re.sub(r"\b(E-[0-9]+)\b", lambda found: f"[{found[1]}](#{found[1].lower()}){{ .id }}", words)


def _documents(one: Erratum) -> str:
    return ", ".join(
        f'<span class="whole">{name}</span>' for name in dict.fromkeys(p.document for p in one.places)
    )


def _erratum(family: Family, one: Erratum) -> str:
    places = "\n".join(f"- {text(p.document)}, *{text(p.section)}*, line {p.line}" for p in one.places)
    return f"""
## {one.id}: {text(one.title)} {{ #{one.id.lower()} }}

**Found.** {clauses(one.found, family=family.name)}

**Decided.** {clauses(one.decided, family=family.name)}

**Why.** {clauses(one.why, family=family.name)}

{places}
"""


# --- profiles and policies ----------------------------------------------------------------------


def _profiles(family: Family) -> str:
    spec = family.spec
    settled = [one for one in spec.profiles.values() if one.policies]
    said = "".join(
        f"## {one.name} {{ #{anchor(one.name)} }}\n\n{text(one.sentence)} Source: {text(one.source)}.\n\n"
        for one in spec.profiles.values()
    )
    rows = [(policy(key), *(_value(one.policies.get(key)) for one in settled)) for key in spec.policies]
    free = next(one.name for one in spec.profiles.values() if not one.policies)
    width = WIDE if family.name == DEFAULT else ""  # that of another family is a section of a page
    return f"""{width}# {in_family("Profiles", family.name)}

A profile is a named choice of a value for each policy that its source decides. Where a source says nothing,
the policy is *open*: a runtime declares a value, or may have any value, always the same. `{free}` decides
nothing: it is what no runtime may break.

{said}
## Side by side

{table(("policy", *(one.name for one in settled)), rows)}"""


def _value(value: Value | None) -> str:
    if value is None:
        return "*open*"
    return f"`{value}`" if isinstance(value, str) else ", ".join(f"`{one}`" for one in value) or "none"


def _policies(family: Family) -> str:
    root = "../" * folder_of(family.name).count("/")
    return f"""# {in_family("Policies", family.name)}

A policy is a choice that sources and existing runtimes make differently: a name with a closed set of
values. Its table names for each value the [profiles](profiles.md) that take it, which are designs of loops,
and the clauses that apply under it. A runtime declares its values in its handshake; a policy that it does
not declare is [judged as a hypothesis](../{root}decisions/policies-are-hypotheses.md).

{"".join(_policy(family, one) for one in family.spec.policies.values())}"""


def _policy(family: Family, one: Policy) -> str:
    how = "Any of" if one.kind == "set of" else "One of"
    rows = [(f"`{value}`", _takers(family, one, value), _asks(family, one, value)) for value in one.values]
    when = " and ".join(
        f"{policy(key)} is {' or '.join(f'`{v}`' for v in values)}" for key, values in one.when.items()
    )
    matters = f" It matters where {when}." if when else ""
    sources = "; ".join(source(each, family.name) for each in one.sources)
    return f"""## {one.title[0].upper()}{text(one.title[1:])}: `{one.key}` {{ #{anchor(one.key)} }}

{text(one.sentence)} {how} these.{matters} Sources: {sources}.

{table(("value", "profiles", "clauses"), rows)}
{"".join(_questions(family, one))}"""


def _questions(family: Family, one: Policy) -> Iterator[str]:
    """What a report asks where the policy is not declared."""
    for each in family.spec.questions:
        if each.policy == one.key:
            asked = f"Where it is not declared and `{each.without}` is ruled out, a report asks whether"
            yield f"\n{asked} this is meant: {text(each.harm)}.\n"


def _takers(family: Family, one: Policy, value: str) -> str:
    profiles = family.spec.profiles.values()
    found = [each.name for each in profiles if value in _several(each.policies.get(one.key))]
    return ", ".join(f"[{name}](profiles.md#{anchor(name)})" for name in found)


def _several(value: Value | None) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else value


def _asks(family: Family, one: Policy, value: str) -> str:
    asked: dict[str, list[str]] = {}
    for each in family.spec.clauses.values():
        if value in each.applies.get(one.key, ()):
            asked.setdefault(each.area, []).append(each.id)
    return "; ".join(
        clause(ids[0], family=family.name)
        if len(ids) == 1
        else f"[{area} {ranges(ids)}](../clauses/{area.lower()}.md)"
        for area, ids in asked.items()
    )


def _glossary(family: Family) -> str:
    rows = [(f"**{text(one.word)}**", text(one.meaning)) for one in family.spec.glossary.values()]
    headline = in_family("Glossary", family.name)
    return f"# {headline}\n\nEach term has one meaning.\n\n{table(('term', 'meaning'), rows)}"
