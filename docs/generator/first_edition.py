"""The end of the matrix page: what became of the violations that its first edition named."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from .markdown import table

KEPT: Final = Path(__file__).parent.parent / "first-edition.toml"

Object = Mapping[str, Any]


def section(report: Object) -> str:
    """Each violation of the first edition as kept, corrected or withdrawn, with the reason."""
    first = tomllib.loads(KEPT.read_text("utf-8"))
    titles = {one["name"]: one["title"] for one in report["runtimes"]}
    sorted_out = {name: _sorted_out(name, clauses, first) for name, clauses in first["violations"].items()}
    rows = [(f"[{titles[name]}](runtimes/{name}.md)", *map(_cell, each)) for name, each in sorted_out.items()]
    kept, corrected, withdrawn = (sum(map(len, column)) for column in zip(*sorted_out.values(), strict=True))
    reasons = "\n".join(_reasons(first, titles))
    return f"""## The first edition, judged again

The first edition of this matrix named {kept + corrected + withdrawn} violations. Each was judged again with
the adapters, the checks and the versions of today: {kept} are kept, {corrected} are corrected and
{withdrawn} are withdrawn. A violation is kept where the kit still sees it, and its program still shows it
without the kit.

{table(("runtime", "kept", "corrected", "withdrawn"), rows)}

{reasons}
"""


def _sorted_out(name: str, clauses: Sequence[str], first: Object) -> tuple[list[str], ...]:
    """The clauses of a runtime that are kept, with links, corrected, and withdrawn."""
    corrected = [one for one in clauses if f"{name} {one}" in first["corrected"]]
    withdrawn = [one for one in clauses if f"{name} {one}" in first["withdrawn"]]
    kept = [one for one in clauses if one not in (*corrected, *withdrawn)]
    return [f"[{one}](runtimes/{name}.md#{one.lower()})" for one in kept], corrected, withdrawn


def _cell(clauses: Sequence[str]) -> str:
    return ", ".join(clauses)


def _reasons(first: Object, titles: Mapping[str, str]) -> Iterator[str]:
    for word in ("corrected", "withdrawn"):
        for one, reason in first[word].items():
            name, clause = one.split()
            yield f"- {titles[name]}, {clause}, {word}: {reason}"
