"""The page of each family: what it specifies, its profiles, and where its clauses and charts are."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.conformance.family.family import DEFAULT, Family, families

from .evidence import ABOUT
from .markdown import anchor, folder_of, table, text

EACH = "Each clause has its reason, its source, an example that keeps it and one that breaks it"


def pages() -> Iterator[tuple[str, str]]:
    """One page for each family."""
    for family in families():
        yield f"families/{family.name}/index.md", _page(family)


def _page(family: Family) -> str:
    reference = "reference" if family.name == DEFAULT else f"reference:{family.name}"
    inside = "../../" if not folder_of(family.name) else ""
    rows = [(f"[{title}]({inside}{page})", about) for title, page, about in _parts(family)]
    profiles = [
        (
            f"[`{one.name}`]({inside}reference/profiles.md#{anchor(one.name)})",
            text(one.sentence),
            text(one.source),
        )
        for one in family.spec.profiles.values()
    ]
    return f"""# The family {family.name}

{ABOUT[family.name]}

{table(("page", "what it has"), rows)}
`runlock check {reference}` checks the reference of this family. A runtime of this family has
`"family": "{family.name}"` in its handshake.

## Profiles

{table(("profile", "what it is", "source"), profiles)}"""


def _parts(family: Family) -> Iterator[tuple[str, str, str]]:
    spec = family.spec
    yield "Clauses", "clauses/index.md", f"{len(spec.clauses)} clauses in {len(spec.areas)} areas. {EACH}"
    yield "State charts", "charts/index.md", f"{len(family.tables)} charts, as pictures, tables and files"
    yield "Policies", "reference/policies.md", f"{len(spec.policies)} choices that runtimes make differently"
    yield "Profiles", "reference/profiles.md", f"{len(spec.profiles)} named choices of policies"
    yield (
        "Errata",
        "reference/errata.md",
        f"{len(spec.errata)} contradictions in the sources, and how each is decided",
    )
    yield "Glossary", "reference/glossary.md", f"{len(spec.glossary)} terms"
