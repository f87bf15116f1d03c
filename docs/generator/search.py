"""What the search finds first: clauses by their ids, and pages by words that readers look for.

The builder's index holds headings and texts.  A tag counts for more than either, so that a tag decides what
is shown first.  The tag of a clause has no hyphen, since the search splits what is typed at hyphens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from runlock.conformance.family.family import DEFAULT, families

WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "install.html": ("install", "setup", "pip"),
    "one-minute.html": ("quickstart",),
    "tutorial.html": ("tutorial", "start", "beginner"),
    "every-schedule.html": ("exhaustive", "bounded"),
    "every-joint-state.html": ("explore", "model-checking"),
    "kills.html": ("selftest", "mutation"),
    "clauses/recover.html": ("crash", "restart", "recovery", "restore"),
    "clauses/once.html": ("idempotent", "idempotency", "exactly-once", "twice"),
    "clauses/decide.html": ("approve", "approval", "human", "loop", "reject", "hitl"),
    "clauses/cancel.html": ("abort", "cancel", "interrupt"),
    "protocol.html": ("json-rpc", "schema", "schemas", "handshake"),
    "ci.html": ("ci", "github", "gitlab", "jenkins", "junit", "baseline"),
    "matrix.html": ("matrix", "results"),
}
"""Pages, and the words that lead to each of them first; a word also finds those that begin with it."""

CLAUSE: Final = re.compile(r"(?:families/(.*)/)?clauses/[a-z]+\.html#([a-z]+)-(\d+)")
RUNTIME: Final = re.compile(r"runtimes/(.*)\.html")
STEM: Final = 5
"""The least length of a word that stands for longer ones, as `install` does for `installation`."""
FURTHER: Final = 0.5
"""The weight of what belongs to a family that is not the default one."""


def tagged(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries of the builder's index with their tags."""
    return [_tagged(one) for one in entries]


def _tagged(entry: dict[str, Any]) -> dict[str, Any]:
    location = entry["location"]
    if found := CLAUSE.fullmatch(location):
        return {**entry, **_of_clause(entry["title"], found[1] or DEFAULT, f"{found[2]}{found[3]}")}
    found = RUNTIME.fullmatch(location)
    tags = [found[1]] if found else list(WORDS.get(location, ()))
    weight = {"boost": FURTHER} if location.startswith("families/") else {}
    return {**entry, **({"tags": tags} if tags else {}), **weight}


def _of_clause(title: str, family: str, tag: str) -> dict[str, Any]:
    """The family in the title, since several have a clause of one id, and the tag."""
    weight = {} if family == DEFAULT else {"boost": FURTHER}
    return {"title": f"{title} ({family})", "tags": [tag], **weight}


def script() -> str:
    """What the page needs to know what is typed: areas of clauses, and words that lead to a page."""
    areas = sorted({area for family in families() for area in family.spec.areas})
    words = {word for words in WORDS.values() for word in words if re.fullmatch(f"[a-z]{{{STEM},}}", word)}
    stems = sorted(words, key=lambda word: (-len(word), word))
    return f"globalThis.AREAS = {json.dumps(areas)};\nglobalThis.STEMS = {json.dumps(stems)};\n"
