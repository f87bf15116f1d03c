"""`interlock list`: what there is to check, to be, to choose and to know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Final

from interlock.conformance.commands.streams import results
from interlock.conformance.exceptions import UsageError
from interlock.conformance.report.page import Page
from interlock.spec.model import Spec, load_spec

Entry = tuple[str, str]


def listing(kind: str | None) -> int:
    """Run the whole command; the exit code."""
    if kind is not None and kind not in LISTS:
        near = get_close_matches(kind, LISTS, n=1)
        right = f"Did you mean `{near[0]}`?" if near else f"There are {', '.join(LISTS)}."
        raise UsageError(f"There is no list of {kind}.", right)
    spec = load_spec()
    entries = list(_lists(spec) if kind is None else LISTS[kind](spec))
    width = max(len(name) for name, _ in entries) + 2
    with results() as stdout:
        page = Page(stdout)
        for name, text in entries:
            page.beside(name.ljust(width), text)
    return 0


def _lists(spec: Spec) -> Iterator[Entry]:
    for kind, entries in LISTS.items():
        names = [name for name, _ in entries(spec)]
        yield f"list {kind}", f"{len(names)}: {', '.join(names[:4])}{', …' if len(names) > 4 else ''}"


def _clauses(spec: Spec) -> Iterator[Entry]:
    return ((one.id, f"{one.level}: {one.sentence}") for one in spec.clauses.values())


def _profiles(spec: Spec) -> Iterator[Entry]:
    return ((one.name, one.sentence) for one in spec.profiles.values())


def _policies(spec: Spec) -> Iterator[Entry]:
    for one in spec.policies.values():
        yield (
            one.key,
            f"{one.sentence} {'Any' if one.kind == 'set of' else 'One'} of {', '.join(one.values)}.",
        )


def _errata(spec: Spec) -> Iterator[Entry]:
    return ((one.id, f"{one.title}. {one.decided}") for one in spec.errata.values())


def _targets(spec: Spec) -> Iterator[Entry]:
    for name, profile in spec.profiles.items():
        yield f"reference:{name}", f"The kit's own runtime. {profile.sentence}"
    yield "py:package.module:factory", "An adapter in process: the factory gives a new one at each call."
    yield (
        "cmd:./adapter --flag",
        "An adapter in any language, started without a shell, spoken to over a pipe.",
    )
    yield "trace:file.jsonl", "A recorded trace: judged, not driven."


LISTS: Final[dict[str, Callable[[Spec], Iterator[Entry]]]] = {
    "clauses": _clauses,
    "profiles": _profiles,
    "policies": _policies,
    "errata": _errata,
    "targets": _targets,
}
