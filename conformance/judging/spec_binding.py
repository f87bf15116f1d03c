"""How words and checks are bound to each other: no clause without a check, no check without a clause."""

from __future__ import annotations

from collections.abc import Iterator, Set

from runlock.spec.model import Clause, Spec


def unchecked(spec: Spec, checked: Set[str]) -> dict[str, str]:
    """By clause, a sentence for each that nothing checks, though it forbids something and could be seen."""
    return {
        clause.id: (
            f"{_place(clause)}: nothing checks it; write an invariant or an arrow for it, "
            f"or say why it is untestable."
        )
        for clause in spec.clauses.values()
        if clause.id not in checked and clause.untestable is None and clause.level != "MAY"
    }


def unspoken(spec: Spec, checked: Set[str]) -> Iterator[str]:
    """Yield a sentence for each check of a clause that there is not."""
    yield from (
        f"A check is of {clause}, which is no clause; write its words into {_file(clause)}."
        for clause in sorted(checked - spec.clauses.keys())
    )


def _place(clause: Clause) -> str:
    return f"{_file(clause.id)}, clause {clause.id}"


def _file(clause_id: str) -> str:
    return f"{clause_id.rpartition('-')[0].lower()}.toml"
