"""Mistakes that authors of adapters make, recognized in the trace of a violation.

A runtime that breaks a clause and an adapter that shows a correct runtime wrongly look the same to the judge.
Three signs tell them apart often enough to be worth a sentence: a status with another origin than the status
before it, a refusal that was not passed on, and a clock that the runtime has never read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from runlock.conformance.trace.trace import Trace

STATUSES: Final = ("run.status", "call.status")
ENDS: Final = ("Succeeded", "Failed", "Cancelled", "Done")
LIMITS: Final = ("expires_ms", "timeout_ms")

READ: Final = (
    "In Python the clock of the kit is that of the event loop: `loop.time()`, `asyncio.sleep` and timers of "
    "the loop follow it, `time.monotonic` and threads do not."
)


@dataclass
class Answer:
    """A stimulus, and what was shown in answer to it."""

    method: str
    params: Mapping[str, Any]
    shown: list[Mapping[str, Any]] = field(default_factory=list)
    refused: Sequence[Any] = ()


def mistake(trace: Trace) -> str:
    """What looks like a mistake of the adapter, in one or two sentences; empty if nothing does."""
    answers = list(_answers(trace))
    if not answers:
        return ""
    signs = (_wrong_origin(answers), _lost_refusal(answers), _unread_clock(trace, answers))
    found = next(filter(None, signs), "")
    return f"this looks like the adapter: {found}" if found else ""


def _answers(trace: Trace) -> Iterator[Answer]:
    """The answers of a trace; those of one `deliver` are one answer, to the last stimulus of it."""
    answer = None
    for record in trace.records:
        if "stimulus" in record:
            answer = Answer(record["stimulus"]["method"], record["stimulus"].get("params", {}))
            yield answer
        elif "observation" in record and answer is not None:
            answer.shown.append(record["observation"])
        elif "report" in record and answer is not None:
            answer.refused = record["report"].get("refused", ())


def _wrong_origin(answers: Sequence[Answer]) -> str:
    """A status in the last answer that does not name the one before it."""
    last: dict[tuple[str, Any], Any] = {}
    for answer in answers:
        if answer.method == "recover":  # the runtime after a crash shows everything anew
            last.clear()
        for seen in answer.shown:
            if seen.get("kind") not in STATUSES:
                continue
            who = (seen["kind"], seen.get("call", seen.get("run")))
            if answer is answers[-1] and not _follows(seen, last.get(who)):
                return _origin_in_words(seen, last.get(who))
            last[who] = seen.get("to")
    return ""


def _follows(seen: Mapping[str, Any], before: Any) -> bool:
    """Whether a status names the one before it, or is the first one of another call or run of that id."""
    is_new = seen.get("from") is None and before in ENDS
    return "from" not in seen or seen["from"] == before or is_new


def _origin_in_words(seen: Mapping[str, Any], before: Any) -> str:
    who = f"call {seen['call']}" if seen["kind"] == "call.status" else "the run"
    was = "no status was" if before is None else f"{before} was"
    return (
        f"it shows that {who} goes from {seen['from']} to {seen.get('to')}, and {was} shown before. The "
        "field `from`, in Python `origin`, is the status that was shown before it, and None for the first "
        "one."
    )


def _lost_refusal(answers: Sequence[Answer]) -> str:
    """A decision, in the last stimulus, for a call that does not wait, of which nothing came."""
    last = answers[-1]
    if last.method != "decide" or last.shown or last.refused:
        return ""
    waiting = _waiting(answers)
    for decision in last.params.get("decisions", ()):
        if decision["call"] not in waiting:
            return (
                f"it was given decision {decision['id']} for call {decision['call']}, which does not wait, "
                "and nothing came of it. If the runtime has turned it down, the adapter says so: it raises "
                "`Refused`, or calls `host.refuse` for one decision of several."
            )
    return ""


def _waiting(answers: Sequence[Answer]) -> set[str]:
    """The calls that were last shown as waiting."""
    waiting: set[str] = set()
    for seen in (seen for answer in answers for seen in answer.shown):
        if seen.get("kind") == "run.finished":
            waiting |= set(seen.get("pending", ()))
        elif seen.get("kind") == "call.status":
            waiting -= {seen["call"]}
            waiting |= {seen["call"]} if seen.get("to") == "Suspended" else set()
    return waiting


def _unread_clock(trace: Trace, answers: Sequence[Answer]) -> str:
    """A clock that was advanced where a tool has a limit, and that nothing has read."""
    limited = any(
        tool.get(limit) for one in trace.of("scenario") for tool in one.get("tools", ()) for limit in LIMITS
    )
    if not limited or not any(end.get("clock") == "unread" for end in trace.of("end")):
        return ""
    advanced = sum(answer.params.get("ms", 0) for answer in answers if answer.method == "clock.advance")
    return f"the clock was advanced by {advanced} ms, and the runtime never looked at it. {READ}"
