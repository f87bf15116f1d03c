"""Sessions of coding agents that tests write, in the form that each agent keeps, and one fault in each."""

from __future__ import annotations

import json
from typing import Any

from recorded_events import PERSON, REPLY, Record, chat_turn, item, output

# --- Codex --------------------------------------------------------------------------------------


def line(kind: str, payload: Record) -> Record:
    """A line of a rollout."""
    return {"timestamp": "2026-01-01T00:00:00.000Z", "type": kind, "payload": payload}


def message(role: str, text: str) -> Record:
    """A message among the items of a rollout."""
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def rollout(*items: Record) -> list[Record]:
    """A rollout with these items, or lines."""
    begun = line(
        "session_meta", {"id": "s", "cli_version": "0.130.0", "cwd": "/w", "originator": "codex_cli_rs"}
    )
    return [begun, line("turn_context", {"cwd": "/w"}), *[_line(one) for one in items]]


def _line(one: Record) -> Record:
    return one if "payload" in one else line("response_item", one)


def patch(call: str) -> Record:
    """A call of a custom tool."""
    return {"type": "custom_tool_call", "call_id": call, "name": "apply_patch", "input": "*** Begin Patch"}


def patched(call: str) -> Record:
    """The output of a custom tool."""
    return {"type": "custom_tool_call_output", "call_id": call, "output": "Done"}


ASK, SAY = message("user", "Look it up."), message("assistant", "Here it is.")
ABORTED = line("event_msg", {"type": "turn_aborted", "reason": "interrupted"})
COMPACTED = line("compacted", {"message": "So far: one was found.", "replacement_history": [ASK, SAY]})
OLD_COMPACTED = line("compacted", {"message": "So far: one was found."})
ROLLED_BACK = line("event_msg", {"type": "thread_rolled_back", "num_turns": 1})

# --- gemini-cli ---------------------------------------------------------------------------------


def used(call: str, *results: str) -> Record:
    """A call of gemini-cli, with the responses that its result holds."""
    parts = [
        {"functionResponse": {"id": one, "name": "lookup", "response": {"output": "found"}}}
        for one in results
    ]
    made = {"id": call, "name": "lookup", "args": {}, "status": "success", "timestamp": "t"}
    return {**made, "result": parts or None}


def gemini(number: int, *calls: Record) -> Record:
    """A turn of the model, or its text."""
    return {
        "id": f"m{number}",
        "timestamp": "t",
        "type": "gemini",
        "content": "Here.",
        "toolCalls": list(calls),
    }


def person(number: int) -> Record:
    """What a person said to gemini-cli."""
    return {"id": f"m{number}", "timestamp": "t", "type": "user", "content": [{"text": "Look it up."}]}


HEAD = {"sessionId": "s", "projectHash": "p", "startTime": "t", "lastUpdated": "t", "kind": "main"}


def chat(*messages: Record) -> list[Record]:
    """A chat of gemini-cli, as one document."""
    return [{**HEAD, "messages": list(messages)}]


def lines(*messages: Record) -> list[Record]:
    """A chat of gemini-cli, with a message on each line."""
    return [HEAD, *messages]


# --- SWE-agent ----------------------------------------------------------------------------------


def trajectory(*messages: Record) -> list[Record]:
    """A trajectory of SWE-agent."""
    history = [{"message_type": "observation", "agent": "main", **one} for one in messages]
    return [{"trajectory": [], "history": history, "info": {"exit_status": None}, "environment": "w"}]


def observed(call: str) -> Record:
    """The result of a call in the history of SWE-agent."""
    return {"role": "tool", "content": "found", "tool_call_ids": [call]}


# --- OpenHands ----------------------------------------------------------------------------------


def _about(response: str, call: str, calls: tuple[str, ...], name: str) -> Record:
    listed = [
        {"id": one, "type": "function", "function": {"name": "execute_bash", "arguments": "{}"}}
        for one in calls
    ]
    said = {"role": "assistant", "content": "", "tool_calls": listed}
    return {
        "function_name": name,
        "tool_call_id": call,
        "model_response": {"id": response, "choices": [{"message": said}]},
        "total_calls_in_response": len(calls),
    }


def acts(response: str, call: str, *others: str, name: str = "execute_bash", action: str = "run") -> Record:
    """An action of OpenHands: a call of a response with others."""
    about = _about(response, call, (call, *others), name)
    return {"source": "agent", "action": action, "args": {"command": "ls"}, "tool_call_metadata": about}


def sees(response: str, call: str, *others: str) -> Record:
    """The observation that answers an action."""
    about = _about(response, call, (call, *others), "execute_bash")
    return {
        "source": "agent",
        "observation": "run",
        "content": "a b",
        "extras": {},
        "tool_call_metadata": about,
    }


TOLD = {"source": "user", "action": "message", "args": {"content": "List the files."}}
DONE = acts("r9", "z", name="finish", action="finish")

# --- all ----------------------------------------------------------------------------------------

RIGHT: dict[str, list[Record]] = {
    "codex, calls of one turn": rollout(ASK, item("a"), item("b"), output("a"), output("b"), SAY),
    "codex, a custom tool": rollout(ASK, patch("a"), patched("a"), SAY),
    "codex, a compaction": rollout(
        ASK, item("a"), output("a"), SAY, COMPACTED, ASK, item("b"), output("b"), SAY
    ),
    "codex, a rollback": rollout(ASK, item("a"), output("a"), SAY, ASK, SAY, ROLLED_BACK, ASK, SAY),
    "gemini-cli, calls of one turn": chat(person(1), gemini(2, used("a", "a"), used("b", "b")), gemini(3)),
    "gemini-cli, on lines": lines(person(1), gemini(2, used("a")), gemini(2, used("a", "a")), gemini(3)),
    "gemini-cli, after a rewind": lines(
        person(1), gemini(2, used("a")), {"$rewindTo": "m2"}, gemini(4, used("b", "b")), gemini(5)
    ),
    "swe-agent, a history alone": [
        {"history": trajectory(PERSON, chat_turn("a"), observed("a"), REPLY)[0]["history"]}
    ],
    "swe-agent, a call": trajectory(PERSON, chat_turn("a"), observed("a"), REPLY),
}

HIDDEN: dict[str, tuple[list[Record], str]] = {
    "codex, a turn that was aborted": (rollout(ASK, item("a"), ABORTED, ASK, SAY), "PAIR-1"),
    "codex, a compaction without what stayed": (
        rollout(ASK, item("a"), OLD_COMPACTED, output("a"), SAY),
        "PAIR-2",
    ),
}

WRONG: dict[str, tuple[list[Record], str]] = {
    "codex, a custom tool without an output": (rollout(ASK, patch("a"), ASK, SAY), "PAIR-1"),
    "codex, an output of no call": (rollout(ASK, output("a"), SAY), "PAIR-2"),
    "codex, an output after a message": (rollout(ASK, item("a"), ASK, output("a"), SAY), "PAIR-2"),
    "codex, an output whose call a compaction cut": (
        rollout(ASK, item("a"), COMPACTED, output("a"), SAY),
        "PAIR-2",
    ),
    "codex, two outputs": (rollout(ASK, item("a"), output("a"), output("a"), SAY), "PAIR-3"),
    "codex, one id for two calls": (
        rollout(ASK, item("a"), item("a"), output("a"), output("a"), SAY),
        "ROUND-3",
    ),
    "gemini-cli, a call without a result": (chat(person(1), gemini(2, used("a")), gemini(3)), "PAIR-1"),
    "gemini-cli, a response of another call": (
        chat(person(1), gemini(2, used("a", "a", "b")), gemini(3)),
        "PAIR-2",
    ),
    "gemini-cli, two responses": (chat(person(1), gemini(2, used("a", "a", "a")), gemini(3)), "PAIR-3"),
    "gemini-cli, one id for two calls": (
        chat(person(1), gemini(2, used("a", "a"), used("a", "a")), gemini(3)),
        "ROUND-3",
    ),
    "swe-agent, an open call": (trajectory(PERSON, chat_turn("a"), PERSON, REPLY), "PAIR-1"),
    "swe-agent, a result of no call": (trajectory(PERSON, observed("a"), REPLY), "PAIR-2"),
    "swe-agent, two results": (
        trajectory(PERSON, chat_turn("a"), observed("a"), observed("a"), REPLY),
        "PAIR-3",
    ),
    "swe-agent, one id for two calls": (
        trajectory(PERSON, chat_turn("a", "a"), observed("a"), observed("a"), REPLY),
        "ROUND-3",
    ),
}

ACTIONS_RIGHT: dict[str, list[Record]] = {
    "openhands, calls of one turn": [
        TOLD,
        acts("r1", "a", "b"),
        sees("r1", "a", "b"),
        acts("r1", "b", "a"),
        sees("r1", "b", "a"),
        DONE,
    ],
    "openhands, an action that was stopped": [TOLD, acts("r1", "a"), TOLD, DONE],
}
ACTIONS_WRONG: dict[str, tuple[list[Record], str]] = {
    "openhands, an action twice": ([TOLD, *[acts("r1", "a"), sees("r1", "a")] * 2, DONE], "ONCE-1"),
    "openhands, another tool": ([TOLD, acts("r1", "a", name="delete"), sees("r1", "a"), DONE], "CALL-23"),
}


def agent_of(name: str) -> str:
    """The format of a session by its name."""
    return name.partition(",")[0]


def whole(records: list[Any]) -> str:
    """A session as the text of its file: a document, or JSON Lines."""
    return "".join(json.dumps(one) + "\n" for one in records)
