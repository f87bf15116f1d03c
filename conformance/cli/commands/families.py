"""The option `--family` of the commands that speak of what the kit knows."""

from __future__ import annotations

from difflib import get_close_matches

from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import Family, families


def families_chosen(name: str | None) -> tuple[Family, ...]:
    """The family of that name; all of them without a name, the default one first."""
    known = {one.name: one for one in families()}
    if name is None:
        return tuple(known.values())
    if name in known:
        return (known[name],)
    near = get_close_matches(name, known, n=1)
    right = f"Did you mean `{near[0]}`?" if near else f"There are {', '.join(known)}."
    raise UsageError(f"There is no family {name}.", right)
