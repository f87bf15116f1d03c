"""What the search finds first: clauses by their ids, and pages by words that readers look for.

The builder's index holds headings and texts.  A tag counts for more than either, so that a tag decides what
is shown first.  A tag has no hyphen, since the search splits what is typed at hyphens: the page turns ids of
clauses, names with a hyphen and phrases into their tags.  Of each text the index keeps the beginning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from runlock.conformance.campaign.runtimes import runtimes
from runlock.conformance.family.family import DEFAULT, families

WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "install.html": ("install", "setup", "pip", "docker", "uvx", "pipx"),
    "one-minute.html": ("quickstart",),
    "tutorial.html": ("tutorial", "start", "beginner"),
    "adapters.html": ("adapter", "connect"),
    "check-a-url.html": ("ag-ui", "ag-ui-server", "url", "endpoint"),
    "agents.html": ("acp", "command-line-agent"),
    "every-schedule.html": ("exhaustive", "bounded"),
    "every-joint-state.html": ("explore", "model-checking"),
    "infer.html": ("infer", "inference"),
    "kills.html": ("selftest", "mutation", "mutants"),
    "play.html": ("playground", "simulator"),
    "pytest.html": ("pytest",),
    "audit/index.html": ("audit", "session", "recording"),
    "audit/index.html#otel-genai": ("otel", "opentelemetry"),
    "audit/index.html#openinference": ("openinference", "phoenix"),
    "audit/index.html#ai-sdk": ("ai-sdk-messages",),
    "audit/index.html#claude-code": ("claude-code", "transcript"),
    "clauses/recover.html": ("crash", "restart", "recovery", "restore", "resume-crash"),
    "clauses/once.html": ("idempotent", "idempotency", "exactly-once", "twice", "runs-twice", "run-twice"),
    "clauses/decide.html": ("approve", "approval", "human", "loop", "reject", "hitl"),
    "clauses/cancel.html": ("abort", "cancel", "interrupt"),
    "clauses/store.html": ("checkpoint", "durable"),
    "clauses/stream.html": ("stream", "sse"),
    "how-loops-behave.html": ("behave", "behaviour", "statuses"),
    "charts/Run.html": ("run_status",),
    "charts/ResumeToolCall.html": ("resume_tool_call",),
    "charts/ToolCall.html": ("toolcall",),
    "charts/ToolCallPhases.html": ("tool_call", "phases"),
    "protocol.html": ("json-rpc", "schema", "schemas", "handshake"),
    "reference/policies.html": ("policy", "policies"),
    "reference/glossary.html": ("glossary", "definition"),
    "reference/command-line.html": ("options", "cli"),
    "reference/command-line.html#exit-codes": ("exit-codes", "exit-code"),
    "ci.html": ("ci", "github", "gitlab", "jenkins", "junit", "baseline", "sarif"),
    "questions.html": ("safest", "safer"),
    "matrix.html": ("matrix", "results"),
    "families/tool-runner/index.html": ("tool-runner",),
    "families/message-loop/index.html": ("message-loop",),
    "libraries/vercel-ai.html": ("vercel", "ai-sdk"),
}
"""Pages, and the words that lead to each of them first; a word also finds those that begin with it."""

CLAUSE: Final = re.compile(r"(?:families/(.*)/)?clauses/[a-z]+\.html#([a-z]+)-(\d+)")
LIBRARY: Final = re.compile(r"libraries/([\w.-]+)\.html(?:#(.+))?")
STEM: Final = 5
"""The least length of a word that stands for longer ones, as `install` does for `installation`."""
BEGINNING: Final = 220
"""Maximum characters of a text that the index keeps; all of it for a page that is not generated."""
GENERATED: Final = re.compile(
    r"(families|clauses|charts|libraries|reference)/|(questions|scenarios|changelog|bugs|matrix|protocol)\.html"
)
NAME: Final = re.compile("[a-z0-9]+([-_][a-z0-9]+)+")
"""A name in several parts: at a hyphen it may also be written with a space."""

FURTHER: Final = 0.5
"""The weight of what belongs to a family that is not the default one."""


def tagged(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries of the builder's index with their tags."""
    return [_tagged(one) for one in entries]


def _tagged(entry: dict[str, Any]) -> dict[str, Any]:
    location = entry["location"]
    entry = {**entry, "text": _beginning(entry["text"], bool(GENERATED.match(location)))}
    if found := CLAUSE.fullmatch(location):
        return {**entry, **_of_clause(entry["title"], found[1] or DEFAULT, f"{found[2]}{found[3]}")}
    tags = [_joined(word) for word in (*_names(location), *WORDS.get(location, ()))]
    weight = {"boost": FURTHER} if location.startswith("families/") else {}
    return {**entry, **({"tags": tags} if tags else {}), **weight}


def _of_clause(title: str, family: str, tag: str) -> dict[str, Any]:
    """The family in the title, since several have a clause of one id, and the tag."""
    weight = {} if family == DEFAULT else {"boost": FURTHER}
    return {"title": f"{title} ({family})", "tags": [tag], **weight}


def _names(location: str) -> Iterator[str]:
    """The name of a library leads to its page, and that of a further configuration to its section."""
    if found := LIBRARY.fullmatch(location):
        library, section = found.groups()
        if section is None:
            yield library
        elif section != library and section in {one.name for one in runtimes()}:
            yield section


def _beginning(text: str, is_cut: bool) -> str:
    """A text without tags, and its beginning if the page is one of many alike."""
    words = " ".join(re.sub(r"<[^>]*>", " ", text).split())
    if not is_cut or len(words) <= BEGINNING:
        return words
    return f"{words[:BEGINNING].rpartition(' ')[0]} …"


def _joined(word: str) -> str:
    """The tag of a word; that of a name with an underscore begins with no word that is typed."""
    if "_" in word:
        return f"x{word.replace('_', '')}"
    return word.replace("-", "")


def script() -> str:
    """What the page needs to know what is typed: areas of clauses, words, names, and tags of sections."""
    areas = sorted({area for family in families() for area in family.spec.areas})
    every = {word for words in WORDS.values() for word in words}
    stems = _longest_first(word for word in every if re.fullmatch(f"[a-z]{{{STEM},}}", word))
    names = _longest_first(word for word in every | {one.name for one in runtimes()} if NAME.fullmatch(word))
    sections = sorted(_joined(word) for place, words in WORDS.items() if "#" in place for word in words)
    known = {"AREAS": areas, "STEMS": stems, "NAMES": names, "SECTIONS": sections}
    return "".join(f"globalThis.{name} = {json.dumps(words)};\n" for name, words in known.items())


def _longest_first(words: Iterable[str]) -> list[str]:
    return sorted(words, key=lambda word: (-len(word), word))
