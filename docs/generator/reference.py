"""The pages that are lists: errata, profiles side by side, policies, and the words of the project."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runlock.conformance.family.family import DEFAULT
from runlock.conformance.report.clause_names import ranges
from runlock.spec.model import (
    Erratum,
    Policy,
    Value,
    load_spec,
)

from .markdown import WIDE, anchor, clause, clauses, policy, table, text


def pages() -> Iterator[tuple[str, str]]:
    """One page each."""
    yield "reference/errata.md", _errata()
    yield "reference/profiles.md", _profiles()
    yield "reference/policies.md", _policies()
    yield "reference/words.md", _words()


KINDS = """\
Three kinds of them taught the most. *One word for two things*: Done is an end and also the way on to the
next step (E-2), and a call is Created in a table and New in a list (E-6). *A rule that its own example
breaks*: the function that derives a run's status calls a round of fresh calls finished, while the first
row of the timeline below it says Running (E-1). *Two designs under one roof*: whether a wait needs all
calls or one (E-5), whether a step ends before its tools or behind them (E-9). The first are renamed, the
second decided, the third made policies.
"""

# --- errata -------------------------------------------------------------------------------------


def _errata() -> str:
    every = list(load_spec(DEFAULT).errata.values())
    rows = [(f"[{one.id}](#{one.id.lower()})", text(one.title), text(_documents(one))) for one in every]
    return f"""# Errata

The sources were written at different times, by people who were designing while they wrote. Put side by
side, and sometimes put beside themselves, they contradict each other: a table says one thing and the
example below it another, a function forgets a case, one word stands for two things. A specification cannot
leave that to taste, and it cannot silently pick a side either. So each of the {len(every)} places that were
found is kept here: what was found, with the line it stands on; what the spec decides; and why. Where both
sides are whole designs, the decision is a *policy*, and a runtime may have either.

{_linked(KINDS)}

Whoever holds a source to be right where the spec decided otherwise finds here what to argue with.

{table(("erratum", "what", "where"), rows)}
{"".join(map(_erratum, every))}"""


def _linked(words: str) -> str:
    return re.sub(r"\b(E-[0-9]+)\b", lambda found: f"[{found[1]}](#{found[1].lower()})", words)


def _documents(one: Erratum) -> str:
    return ", ".join(dict.fromkeys(place.document for place in one.places))


def _erratum(one: Erratum) -> str:
    places = "\n".join(f"- {text(p.document)}, *{text(p.section)}*, line {p.line}" for p in one.places)
    return f"""
## {one.id}: {text(one.title)} {{ #{one.id.lower()} }}

**Found.** {clauses(one.found)}

**Decided.** {clauses(one.decided)}

**Why.** {clauses(one.why)}

{places}
"""


# --- profiles and policies ----------------------------------------------------------------------


def _profiles() -> str:
    spec = load_spec(DEFAULT)
    settled = [one for one in spec.profiles.values() if one.policies]
    said = "".join(
        f"## {one.name} {{ #{anchor(one.name)} }}\n\n{text(one.sentence)} Source: {text(one.source)}.\n\n"
        for one in spec.profiles.values()
    )
    rows = [(policy(key), *(_value(one.policies.get(key)) for one in settled)) for key in spec.policies]
    return f"""{WIDE}# Profiles

A profile is a named choice for every policy that its source settles; where a source is silent the policy is
*open*, and a runtime declares a value or may have any one, the same throughout. `core` settles nothing: it
is what no runtime may break.

{said}
## Side by side

{table(("policy", *(one.name for one in settled)), rows)}"""


def _value(value: Value | None) -> str:
    if value is None:
        return "*open*"
    return f"`{value}`" if isinstance(value, str) else ", ".join(f"`{one}`" for one in value) or "none"


def _policies() -> str:
    every = load_spec(DEFAULT).policies.values()
    return f"""# Policies

Where sources, or runtimes that exist, legitimately differ, there is a policy: a name with a closed set of
values. A clause says under which values it applies. A runtime says in its handshake what it has; what it
leaves unsaid is [judged as a hypothesis](../decisions/policies-are-hypotheses.md).

{"".join(map(_policy, every))}"""


def _policy(one: Policy) -> str:
    how = "Any of" if one.kind == "set of" else "One of"
    rows = [(f"`{value}`", _takers(one, value), _asks(one, value)) for value in one.values]
    when = " and ".join(
        f"{policy(key)} is {' or '.join(f'`{v}`' for v in values)}" for key, values in one.when.items()
    )
    matters = f" It matters where {when}." if when else ""
    return f"""## {one.key} {{ #{anchor(one.key)} }}

{text(one.sentence)} {how} these.{matters} Sources: {text("; ".join(one.sources))}.

{table(("value", "taken by", "what it asks"), rows)}
"""


def _takers(one: Policy, value: str) -> str:
    found = [
        p.name for p in load_spec(DEFAULT).profiles.values() if value in _several(p.policies.get(one.key))
    ]
    return ", ".join(f"[{name}](profiles.md#{anchor(name)})" for name in found)


def _several(value: Value | None) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else value


def _asks(one: Policy, value: str) -> str:
    asked: dict[str, list[str]] = {}
    for each in load_spec(DEFAULT).clauses.values():
        if value in each.applies.get(one.key, ()):
            asked.setdefault(each.area, []).append(each.id)
    return "; ".join(
        f"{clause(ids[0])}" if len(ids) == 1 else f"[{area} {ranges(ids)}](../clauses/{area.lower()}.md)"
        for area, ids in asked.items()
    )


def _words() -> str:
    rows = [(f"**{text(one.word)}**", text(one.meaning)) for one in load_spec(DEFAULT).glossary.values()]
    return f"# Words\n\nOne word for one thing, everywhere.\n\n{table(('word', 'meaning'), rows)}"
