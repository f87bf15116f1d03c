"""Lists of messages as public reports describe them, each with the clause that it breaks, or none.

The reports are of agents that a provider refused, or that lost a result; words and details are ours.
"""

from __future__ import annotations

from typing import Any

from recorded_events import PERSON, REPLY, block, chat_result, chat_turn, inner, item, output, results, turn

SUMMARY = {"role": "user", "content": "Summary of what was said so far: one place was found."}
NOTE = {"role": "user", "content": "Also look at the second page."}
CANCELLED = {"role": "tool", "tool_call_id": "b", "content": "cancelled, since another call failed"}
SYSTEM = {"role": "system", "content": "You look things up."}
TEXT = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And?"}]}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Here."}]}
ASKS, TOLD = inner(turn("m", "a", "b")), inner(results("a", "b"))
MIXED = {
    "role": "user",
    "content": [
        block("tool_result", tool_use_id="a", content="found"),
        block("text", text="And?"),
    ],
}

REPORTED: dict[str, tuple[list[Any], str]] = {
    # a message of the user while tools run
    "steered, between a turn and its results": (
        [PERSON, chat_turn("a", "b"), chat_result("a"), NOTE, chat_result("b"), REPLY], "PAIR-2"
    ),
    "steered, instead of the results": ([PERSON, chat_turn("a"), NOTE, REPLY], "PAIR-1"),
    "steered, after the round": ([PERSON, chat_turn("a"), chat_result("a"), NOTE, REPLY], ""),
    "steered, in the message of the results": ([PERSON, inner(turn("m", "a")), MIXED, REPLY], ""),
    # a thread that was made shorter
    "compacted, in the middle of a round": ([SYSTEM, SUMMARY, chat_result("b"), REPLY], "PAIR-2"),
    "compacted, without the results": ([SUMMARY, chat_turn("a", "b"), REPLY], "PAIR-1"),
    "compacted, before a whole round": ([SUMMARY, chat_turn("a"), chat_result("a"), REPLY], ""),
    "trimmed, so that it begins with a result": ([TOLD, REPLY], "PAIR-2"),
    # one of several calls
    "handed over, and its siblings dropped": (
        [PERSON, chat_turn("a", "b", "c"), chat_result("a"), REPLY], "PAIR-1"
    ),
    "failed, and the sibling has no result": ([PERSON, ASKS, inner(results("a")), REPLY], "PAIR-1"),
    "failed, and the sibling is said to be cancelled": (
        [PERSON, chat_turn("a", "b"), chat_result("a"), CANCELLED, REPLY], ""
    ),
    # a result that comes again, or late
    "timed out, and answered after all": (
        [PERSON, chat_turn("a"), chat_result("a"), chat_result("a"), REPLY], "PAIR-3"
    ),
    "in the background, answered a turn later": (
        [PERSON, chat_turn("a"), REPLY, chat_result("a"), REPLY], "PAIR-1"
    ),
    "delivered twice": ([PERSON, item("a"), output("a"), output("a"), SAID], "PAIR-3"),
    # a turn that broke off
    "broken off, and the dead call is kept": (
        [PERSON, chat_turn("a"), chat_turn("b"), chat_result("b"), REPLY], "PAIR-1"
    ),
    "broken off, and both tries have one id": (
        [PERSON, chat_turn("a", "a"), chat_result("a"), chat_result("a"), REPLY], "ROUND-3"
    ),
    # the thread goes on after a stop
    "stopped, and asked again": ([PERSON, item("a"), item("b"), output("a"), TEXT, SAID], "PAIR-1"),
    "stopped, and only the turn is gone": ([PERSON, output("a"), TEXT, SAID], "PAIR-2"),
    "stopped, with results for all": (
        [PERSON, chat_turn("a", "b"), chat_result("a"), CANCELLED, PERSON, REPLY], ""
    ),
    # what the provider executes
    "searched by the provider": (
        [PERSON, {"type": "web_search_call", "id": "w"}, item("a"), output("a"), SAID], ""
    ),
    "joined turns, results in the order of the calls": ([PERSON, ASKS, TOLD, REPLY], ""),
    "results in another order": ([PERSON, ASKS, inner(results("b", "a")), REPLY], ""),
}  # fmt: skip
