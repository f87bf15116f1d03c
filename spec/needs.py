"""What a clause may ask of a SUT: the first word of a need, and what may follow it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

__all__ = ["NEEDS", "known_words", "not_a_need"]

GATES: Final = {
    "model": ("turn", "fault"),
    "permission": ("allow", "block", "suspend", "set_result", "fault"),
    "tool": ("ok", "warning", "error", "raise", "fault", "pending", "activity"),
    "hook": ("continue", "terminate", "skip_inference", "rewrite", "fault"),
    "store.put": ("ok", "fault"),
}

NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "observes": (
        "run.status", "call.status", "phase", "resume", "message", "checkpoint", "decision", "event",
        "stream.closed", "run.finished",
    ),
    "gate": tuple(GATES),
    "stimulus": (
        "decide", "cancel", "cancel.waiting", "run.input", "run.again", "clock.advance", "deliver", "watch",
    ),
    "outcome": tuple(f"{gate}.{kind}" for gate, kinds in GATES.items() for kind in kinds),
    "tools": ("allow", "ask", "gate"),
    "control": (
        "settle=exact", "crash=any", "crash=soft", "crash=kill", "store=kit", "store=own", "store=none",
        "clock=virtual",
        "step=turns",
    ),
    "decisions": ("live", "ids", "suspensions", "payload", "after_error", "after_cancel"),
    "inspect": ("yes",),
    "hook": (
        "RunStart", "StepStart", "BeforeInference", "AfterInference", "ToolGate", "BeforeToolExecute",
        "AfterToolExecute", "StepEnd", "RunEnd",
    ),
    "stream": ("native", "ai-sdk-v6", "ag-ui"),
}  # fmt: skip


def known_words(word: object, known: Iterable[str]) -> str:
    """Say which words there are, the one that was probably meant first."""
    names = list(known)
    close = get_close_matches(str(word), names, n=1)
    listed = f"nown: {', '.join(names) or 'none'}."
    return f"did you mean {close[0]!r}? K{listed}" if close else f"k{listed}"


def not_a_need(need: str) -> str | None:
    """Say why two words are no need, if they are none."""
    word, _, what = need.partition(" ")
    if word not in NEEDS:
        return f"needs {need!r}, which begins with no word of needs; {known_words(word, NEEDS)}"
    if what not in NEEDS[word]:
        return f"needs {need!r}, but {what!r} does not follow {word}; {known_words(what, NEEDS[word])}"
    return None
