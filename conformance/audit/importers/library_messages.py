"""Imports lists of messages in the forms of two libraries: AI SDK and pydantic-ai.

- AI SDK: `ModelMessage`, whose parts name the calls (vercel/ai, `packages/provider-utils/src/types`), and
  `UIMessage`, whose parts are calls with their results (`packages/ai/src/ui/ui-messages.ts`), so that no
  result can be an orphan.  What a provider executes itself is no call.
- pydantic-ai: `ModelMessage`, requests and responses with parts (pydantic/pydantic-ai,
  `pydantic_ai_slim/pydantic_ai/messages.py`).  A retry of a call is its result.

A list shows what any other list of messages does (see `messages`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.audit.importers.histories import assistant, call, result, text_of, user
from runlock.conformance.audit.importers.messages import ROLES, Messages

Raw = Mapping[str, Any]
Message = dict[str, Any]


def _parts(raw: Raw, name: str) -> list[Raw]:
    listed = raw.get(name)
    if isinstance(listed, str):
        return [{"type": "text", "text": listed}]
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


# --- AI SDK -------------------------------------------------------------------------------------

OWN: Final = frozenset({"tool-call", "tool-result", "tool-approval-request", "tool-approval-response"})
PAIRED: Final = ("tool-call", "tool-result")
OTHER: Final = frozenset({"text", "image", "file", "reasoning", "reasoning-file", "source", "custom"})


def _is_vercel(raw: Any) -> bool:
    """Whether the AI SDK has such a message."""
    if not isinstance(raw, dict) or raw.get("role") not in ROLES or "parts" in raw:
        return False
    return all(part.get("type") in OWN | OTHER for part in _parts(raw, "content"))


def _is_only_vercel(raw: Any) -> bool:
    return _is_vercel(raw) and any(part.get("type") in OWN for part in _parts(raw, "content"))


def _is_unpaired(part: Raw) -> bool:
    return part.get("type") in PAIRED and not part.get("toolCallId")


def _of_vercel(raw: Raw) -> Iterator[Message]:
    parts = _parts(raw, "content")
    text = "".join(str(one.get("text") or "") for one in parts if one.get("type") == "text")
    if raw["role"] == "assistant":
        asked = [one for one in parts if one.get("type") == "tool-call" and not one.get("providerExecuted")]
        calls = [
            call(str(one.get("toolCallId")), str(one.get("toolName")), one.get("input")) for one in asked
        ]
        yield assistant(text, calls)
    elif raw["role"] == "user":
        yield user(text)
    for one in parts if raw["role"] == "tool" else ():
        if one.get("type") == "tool-result":
            answer = one.get("output", one.get("result"))
            value = answer.get("value", answer) if isinstance(answer, dict) else answer
            yield result(str(one.get("toolCallId")), text_of(value))


ENDED: Final = ("output-available", "output-error", "output-denied")
"""States of a call that has a result."""


def _is_page(raw: Any) -> bool:
    """Whether the AI SDK keeps such a message for a page."""
    is_message = isinstance(raw, dict) and raw.get("role") in ROLES and isinstance(raw.get("parts"), list)
    return is_message and all(
        isinstance(one, dict) and isinstance(one.get("type"), str) for one in raw["parts"]
    )


def _is_call(part: Raw) -> bool:
    is_tool = part["type"] == "dynamic-tool" or part["type"].startswith("tool-")
    return is_tool and not part.get("providerExecuted") and part.get("state") != "input-streaming"


def _of_page(raw: Raw) -> Iterator[Message]:
    """A message: of the model, each step with the results of its calls."""
    if raw["role"] != "assistant":
        yield from [user(_said(raw["parts"]))] if raw["role"] == "user" else []
        return
    steps: list[list[Raw]] = [[]]
    for part in raw["parts"]:
        steps += [[]] if part["type"] == "step-start" else []
        steps[-1].append(part)
    for step in filter(None, steps):
        asked = [part for part in step if _is_call(part)]
        calls = [call(str(one.get("toolCallId")), _tool_of(one), one.get("input")) for one in asked]
        yield assistant(_said(step), calls)
        for one in (one for one in asked if one.get("state") in ENDED):
            yield result(str(one.get("toolCallId")), text_of(one.get("output", one.get("errorText"))))


def _tool_of(part: Raw) -> str:
    return str(part.get("toolName") or part["type"].removeprefix("tool-"))


def _said(parts: Sequence[Raw]) -> str:
    return "".join(str(one.get("text") or "") for one in parts if one["type"] == "text")


class Page(Messages):
    """Lists of messages in which a result stands within its call."""

    clauses = frozenset({"PAIR-1", "ROUND-3"})

    def recognises(self, record: Any) -> bool:
        """Whether it is a list of such messages, and not the request of a chat, which its stream answers."""
        is_request = isinstance(record, dict) and record.keys() >= {"id", "messages"}
        return not is_request and super().recognises(record)


# --- pydantic-ai --------------------------------------------------------------------------------

KINDS: Final = ("request", "response")


def _is_pydantic(raw: Any) -> bool:
    """Whether it is a message of pydantic-ai."""
    if not isinstance(raw, dict) or raw.get("kind") not in KINDS:
        return False
    return isinstance(raw.get("parts"), list) and all("part_kind" in one for one in _parts(raw, "parts"))


def _is_paired(part: Raw) -> bool:
    """Whether a part is a call or the result of one."""
    is_retry = part["part_kind"] == "retry-prompt" and bool(part.get("tool_name"))
    return is_retry or part["part_kind"] in ("tool-call", "tool-return")


def _lacks_id(part: Raw) -> bool:
    return _is_paired(part) and not part.get("tool_call_id")


def _of_pydantic(raw: Raw) -> Iterator[Message]:
    parts = _parts(raw, "parts")
    if raw["kind"] == "response":
        asked = [one for one in parts if one["part_kind"] == "tool-call"]
        text = "".join(str(one.get("content") or "") for one in parts if one["part_kind"] == "text")
        calls = [
            call(str(one.get("tool_call_id")), str(one.get("tool_name")), one.get("args")) for one in asked
        ]
        yield assistant(text, calls)
        return
    for one in parts:
        if _is_paired(one):
            yield result(str(one.get("tool_call_id")), text_of(one.get("content")))
        elif one["part_kind"] in ("user-prompt", "retry-prompt"):
            yield user(text_of(one.get("content")))


IMPORTERS: Final = (
    Messages(
        "ai-sdk-messages",
        "lists of messages of the AI SDK",
        _is_only_vercel,
        _of_vercel,
        merges=False,
        is_message=_is_vercel,
        lacks_id=lambda raw: any(map(_is_unpaired, _parts(raw, "content"))),
    ),
    Page(
        "ai-sdk-page",
        "lists of messages that a page of the AI SDK keeps",
        _is_page,
        _of_page,
        merges=False,
        is_message=_is_page,
    ),
    Messages(
        "pydantic-ai-messages",
        "lists of messages of pydantic-ai",
        _is_pydantic,
        _of_pydantic,
        merges=False,
        is_message=_is_pydantic,
        lacks_id=lambda raw: any(map(_lacks_id, _parts(raw, "parts"))),
    ),
)
