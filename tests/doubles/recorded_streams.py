"""What coding agents print or keep event by event, as tests write it, and one fault in each."""

from __future__ import annotations

import json
from typing import Any

from recorded_events import Record, block

# --- Claude Code --------------------------------------------------------------------------------

BEGUN = {"type": "system", "subtype": "init", "session_id": "s", "claude_code_version": "2.1.0"}
OVER = {"type": "result", "subtype": "success", "session_id": "s", "num_turns": 2}
COMPACTED = {"type": "system", "subtype": "compact_boundary", "session_id": "s"}


def _record(kind: str, message: Record, agent: str | None) -> Record:
    return {"type": kind, "message": message, "session_id": "s", "parent_tool_use_id": agent}


def tells(id_: str, *calls: str, agent: str | None = None) -> Record:
    """A block of a turn: calls, or else a text."""
    used = [block("tool_use", id=one, name="lookup", input={}) for one in calls]
    content = used or [block("text", text="Here.")]
    return _record("assistant", {"id": id_, "role": "assistant", "model": "m", "content": content}, agent)


def gives(*calls: str, agent: str | None = None) -> Record:
    """The results of calls."""
    content = [block("tool_result", tool_use_id=one, content="found") for one in calls]
    return _record("user", {"role": "user", "content": content}, agent)


STOPPED = _record("user", {"role": "user", "content": "[Request interrupted by user for tool use]"}, None)

# --- Codex --------------------------------------------------------------------------------------

STARTED, TURN = {"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}
DONE, FAILED = {"type": "turn.completed", "usage": {}}, {"type": "turn.failed", "error": {"message": "no"}}
TEXT = {"type": "item.completed", "item": {"id": "item_9", "type": "agent_message", "text": "Here."}}


def starts(id_: str) -> Record:
    """A command that is executed."""
    item = {"id": id_, "type": "command_execution", "command": "ls", "aggregated_output": ""}
    return {"type": "item.started", "item": {**item, "exit_code": None, "status": "in_progress"}}


def completes(id_: str, kind: str = "command_execution") -> Record:
    """It ended, or a change of files, which only ends."""
    item = {"id": id_, "type": kind, "aggregated_output": "a b", "exit_code": 0, "status": "completed"}
    return {"type": "item.completed", "item": item}


# --- OpenHands ----------------------------------------------------------------------------------


def acts(response: str, id_: str, asked: str = "lookup", tool: str = "lookup") -> Record:
    """An action of the SDK."""
    named = {"id": id_, "name": asked, "arguments": "{}", "origin": "completion"}
    about = {"tool_name": tool, "tool_call_id": id_, "tool_call": named, "llm_response_id": response}
    return {"id": f"a{id_}", "source": "agent", "kind": "ActionEvent", "thought": [], **about}


def sees(id_: str, tool: str = "lookup") -> Record:
    """The observation of an action."""
    said = {"content": [{"type": "text", "text": "found"}], "is_error": False, "kind": "Said"}
    about = {"tool_name": tool, "tool_call_id": id_, "action_id": f"a{id_}", "observation": said}
    return {"id": f"o{id_}", "source": "environment", "kind": "ObservationEvent", **about}


def errs(id_: str) -> Record:
    """An error instead of an observation."""
    about = {"tool_name": "lookup", "tool_call_id": id_, "error": "A restart occurred."}
    return {"id": f"e{id_}", "source": "agent", "kind": "AgentErrorEvent", **about}


# --- all ----------------------------------------------------------------------------------------

RIGHT: dict[str, tuple[list[Record], str]] = {
    "claude-stream, a turn in several records": (
        [
            BEGUN,
            tells("m", "a"),
            tells("m", "b"),
            gives("a"),
            tells("m", "c"),
            gives("c"),
            gives("b"),
            tells("n"),
        ],
        "PAIR-1 PAIR-2 PAIR-3",
    ),
    "claude-stream, an agent that a call starts": (
        [
            BEGUN,
            tells("m", "a"),
            tells("x", "b", agent="a"),
            gives("b", agent="a"),
            tells("y", agent="a"),
            gives("a"),
            tells("n"),
            OVER,
        ],
        "PAIR-1 PAIR-2 PAIR-3",
    ),
    "claude-stream, two prompts": (
        [BEGUN, tells("m", "a"), gives("a"), tells("n"), OVER, tells("o", "b"), gives("b"), tells("p")],
        "PAIR-1 PAIR-2 PAIR-3",
    ),
    "codex-exec, two commands at once": (
        [STARTED, TURN, starts("i"), starts("j"), completes("j"), completes("i"), TEXT, DONE],
        "RUN-21",
    ),
    "codex-exec, a change of files and a second turn": (
        [STARTED, TURN, completes("i", "file_change"), DONE, TURN, starts("j"), completes("j"), FAILED],
        "RUN-21",
    ),
    "openhands-sdk, two actions of a turn": (
        [acts("r", "a"), acts("r", "b"), sees("b"), sees("a"), acts("s", "c"), sees("c")],
        "CALL-23",
    ),
    "openhands-sdk, an error and an observation": (
        [acts("r", "a"), errs("a"), acts("s", "b"), sees("b")],
        "CALL-23",
    ),
}

HIDDEN: dict[str, tuple[list[Record], str]] = {
    "claude-stream, a request that was interrupted": (
        [BEGUN, tells("m", "a"), STOPPED, tells("n"), OVER],
        "PAIR-1",
    ),
    "claude-stream, a compaction": (
        [BEGUN, tells("m", "a"), COMPACTED, gives("a"), tells("n"), OVER],
        "PAIR-2",
    ),
}

WRONG: dict[str, tuple[list[Record], str]] = {
    "claude-stream, an open call": ([BEGUN, tells("m", "a", "b"), gives("a"), tells("n"), OVER], "PAIR-1"),
    "claude-stream, a result of no call": ([BEGUN, gives("a"), tells("n"), OVER], "PAIR-2"),
    "claude-stream, two results": (
        [BEGUN, tells("m", "a"), gives("a"), gives("a"), tells("n"), OVER],
        "PAIR-3",
    ),
    "claude-stream, one id for two calls": (
        [BEGUN, tells("m", "a"), tells("m", "a"), gives("a"), gives("a"), tells("n"), OVER],
        "ROUND-3",
    ),
    "codex-exec, a command twice": (
        [STARTED, TURN, starts("i"), completes("i"), starts("i"), completes("i"), DONE],
        "ONCE-1",
    ),
    "codex-exec, a command after the end": ([STARTED, TURN, DONE, starts("i"), completes("i")], "RUN-20"),
    "codex-exec, an end after an end": ([STARTED, TURN, FAILED, DONE], "RUN-21"),
    "openhands-sdk, two observations": ([acts("r", "a"), sees("a"), sees("a"), acts("s", "b")], "ONCE-1"),
    "openhands-sdk, another tool": ([acts("r", "a", tool="delete"), sees("a", "delete")], "CALL-23"),
}


def written(records: list[Any]) -> str:
    """JSON Lines."""
    return "".join(json.dumps(one) + "\n" for one in records)
