"""Turns that broke off: a call that was cut off, arguments that do not parse, a stream that broke."""

from __future__ import annotations

import json
from typing import Any

from runlock.machines.lifecycle.runtime.state import Call
from runlock.machines.lifecycle.runtime.world import AskedCall, ModelTurn

CUT_OFF = "not executed: the turn ended for its length, and this call may have been cut off"
UNPARSED = "not executed: its arguments do not parse"


def cut_call(turn: ModelTurn) -> str | None:
    """The call that a turn may have cut off: the last one, where it ended for its length."""
    return turn.tool_calls[-1].id if turn.stop == "length" and turn.tool_calls else None


def taken_up(asked: AskedCall, cut: str | None, *, repairs: bool) -> Call:
    """The call that the model asks for, with what keeps it from being executed."""
    if not isinstance(asked.args, str):
        flaw = CUT_OFF if asked.id == cut else None
        return Call(asked.id, asked.name, dict(asked.args), flaw=flaw)
    whole = completed(asked.args) if repairs else {}
    return Call(asked.id, asked.name, whole, flaw=None if whole else UNPARSED)


def completed(text: str) -> dict[str, Any]:
    """The arguments that a text begins, closed after the last one that is whole; none of them if none is."""
    for end in (len(text), *(at for at in range(len(text) - 1, 0, -1) if text[at] == ",")):
        try:
            args = json.loads(f"{text[:end]}}}")
        except ValueError:
            continue
        return args if isinstance(args, dict) else {}
    return {}
