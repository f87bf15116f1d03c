"""What the search finds first: clauses by their ids, and pages by words that readers look for.

The builder's index holds headings and texts.  A tag counts for more than either, so that a tag decides what
is shown first.  The tag of a clause has no hyphen, since the search splits what is typed at hyphens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from runlock.conformance.family.family import families

RUNTIMES = ("langgraph", "langchain", "strands", "vercel", "openai", "pydantic-ai", "google-adk")
WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "index.html": ("install", "setup", "quickstart", "pip"),
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
    "matrix.html": ("matrix", "results", *RUNTIMES),
}
"""Pages, and the words that lead to each of them first; a word also finds those that begin with it."""

CLAUSE: Final = re.compile(r"(families/.*)?clauses/[a-z]+\.html#([a-z]+)-(\d+)")
FURTHER: Final = 0.5
"""The weight of what belongs to a family that is not the default one."""


def tagged(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries of the builder's index with their tags."""
    return [_tagged(one) for one in entries]


def _tagged(entry: dict[str, Any]) -> dict[str, Any]:
    location = entry["location"]
    found = CLAUSE.fullmatch(location)
    tags = [f"{found[2]}{found[3]}"] if found else list(WORDS.get(location, ()))
    weight = {"boost": FURTHER} if location.startswith("families/") else {}
    return {**entry, **({"tags": tags} if tags else {}), **weight}


def areas() -> str:
    """A script with the areas of all families, by which the page recognizes the id of a clause."""
    known = sorted({area for family in families() for area in family.spec.areas})
    return f"globalThis.AREAS = {json.dumps(known)};\n"
