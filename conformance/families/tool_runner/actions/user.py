"""Actions of the user at an open yield: change the state, ask for a response, change tools, go on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runlock.conformance.families.tool_runner.actions.context import Action, Stage, release
from runlock.conformance.families.tool_runner.actions.model import asked, said
from runlock.conformance.families.tool_runner.state.records import Iteration
from runlock.conformance.family.chooser import Chooser, pick
from runlock.conformance.protocol import Message
from runlock.conformance.trace.moves import Move

Messages = list[dict[str, Any]]


def resume(stage: Stage, chooser: Chooser) -> Move | None:
    """The user takes the next item."""
    return release(stage, chooser, "yield", {"kind": "resume"})


def leave(stage: Stage, chooser: Chooser) -> Move | None:
    """The user leaves the loop."""
    return release(stage, chooser, "yield", {"kind": "break"})


def _note(stage: Stage) -> dict[str, Any]:
    return {"role": "user", "text": f"note {stage.fresh('n')}"}


def _turn(iteration: Iteration) -> dict[str, Any]:
    message = iteration.message or Message(role="assistant")
    return {
        "role": "assistant",
        "text": message.text,
        "tool_calls": [one.model_dump() for one in message.tool_calls],
    }


def _results(iteration: Iteration, calls: Sequence[str]) -> Messages:
    return [
        {"role": "tool", "call": call, "status": "ok", "text": f"answer of the user to {call}"}
        for call in calls
    ]


def _push(stage: Stage, messages: Messages) -> Move | None:
    if stage.acting is None or not messages or not stage.takes("runner.push"):
        return None
    return Move("runner.push", {"messages": messages})


def push_note(stage: Stage, chooser: Chooser) -> Move | None:
    """The user pushes a message of its own."""
    return _push(stage, [_note(stage)]) if stage.acting is not None else None


def push_turn(stage: Stage, chooser: Chooser) -> Move | None:
    """The user pushes the received turn."""
    iteration = stage.acting
    return _push(stage, [_turn(iteration)]) if iteration is not None and iteration.turn is not None else None


def push_turn_and_response(stage: Stage, chooser: Chooser) -> Move | None:
    """The user pushes the received turn and a result for each of its calls, or for some of them."""
    iteration = stage.acting
    if iteration is None or not iteration.calls or iteration.has_doubled_ids:
        return None
    ids = [call.id for call in iteration.calls]
    answered = ids[: len(ids) - chooser.choose(2)] or ids
    return _push(stage, [_turn(iteration), *_results(iteration, answered)])


def push_turn_response_and_note(stage: Stage, chooser: Chooser) -> Move | None:
    """The user pushes the turn, a result for each of its calls, and a message of its own."""
    iteration = stage.acting
    if iteration is None or not iteration.calls or iteration.has_doubled_ids:
        return None
    ids = [call.id for call in iteration.calls]
    return _push(stage, [_turn(iteration), *_results(iteration, ids), _note(stage)])


def push_turn_and_note(stage: Stage, chooser: Chooser) -> Move | None:
    """The user pushes the received turn and a message of its own after it."""
    iteration = stage.acting
    if iteration is None or iteration.turn is None:
        return None
    return _push(stage, [_turn(iteration), _note(stage)])


def _foreign_turn(stage: Stage, chooser: Chooser) -> dict[str, Any]:
    tools = sorted(stage.state.tools) or ["no-such-tool"]
    return {"role": "assistant", "text": said(stage), "tool_calls": [asked(stage, pick(chooser, tools))]}


def push_foreign_turn(stage: Stage, chooser: Chooser) -> Move | None:
    """The user pushes an assistant turn of its own, with a call."""
    return _push(stage, [_foreign_turn(stage, chooser)]) if stage.acting is not None else None


def push_ill_formed(stage: Stage, chooser: Chooser) -> Move | None:
    """The user pushes a result for a call that does not exist."""
    if stage.acting is None:
        return None
    orphan = {"role": "tool", "call": stage.fresh("x"), "status": "ok", "text": "of no call"}
    return _push(stage, [orphan])


def set_params(stage: Stage, chooser: Chooser) -> Move | None:
    """The user sets a param."""
    if stage.acting is None or not stage.takes("runner.set.params"):
        return None
    return Move("runner.set", {"params": {"max_tokens": 100 + chooser.choose(5)}})


def set_messages(stage: Stage, chooser: Chooser) -> Move | None:
    """The user replaces the messages with a note, or with a note and an assistant turn that has a call."""
    if stage.acting is None or not stage.takes("runner.set.messages"):
        return None
    messages = [_note(stage)]
    if chooser.choose(3) == 1:
        messages.append(_foreign_turn(stage, chooser))
    params: dict[str, Any] = {"messages": messages}
    if chooser.choose(3) == 1 and stage.takes("runner.set.params"):
        params["params"] = {"service_tier": "auto"}
    return Move("runner.set", params)


def respond(stage: Stage, chooser: Chooser) -> Move | None:
    """The user asks for the tool response to the received turn."""
    iteration = stage.acting
    if iteration is None or iteration.turn is None or not stage.takes("runner.respond"):
        return None
    return Move("runner.respond", {}) if iteration.pending_response is None else None


def change_tools(kind: str) -> Action:
    """The user adds, removes or replaces a tool."""

    def change(stage: Stage, chooser: Chooser) -> Move | None:
        """The user changes the set of tools."""
        if stage.acting is None or not stage.takes("runner.tools"):
            return None
        known, there = [tool.name for tool in stage.state.scenario.tools], stage.state.tools
        names = [name for name in known if (name in there) == (kind != "add")]
        if not names:
            return None
        name = pick(chooser, names)
        return Move("runner.tools", {"remove": [name]} if kind == "remove" else {"add": [name]})

    return change


def again(stage: Stage, chooser: Chooser) -> Move | None:
    """The user iterates over the same runner again."""
    run = stage.state.run
    if run is None or not run.is_done or not stage.takes("runner.again"):
        return None
    return Move("runner.again", {"run": stage.fresh("again")})
