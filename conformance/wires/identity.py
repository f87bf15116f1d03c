"""Which call of the kit a runtime means, whatever it has made of its id.

The kit marks what it says, and the argument `k` of each call, with the name of the thread.  So a request
belongs to a schedule or does not, and a call is known by its argument where its id was changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from runlock.conformance.protocol import Message, ToolCall
from runlock.conformance.wires.ui_clients import Json


class Identity:
    """The calls of one schedule; `tools` has the kit's tool that stands for each tool of the scenario.

    `plain_name` is the kit's name of a tool that the application calls by another one.  Where one process
    plays several schedules, and knows calls by their ids alone, `unique` makes these differ.
    """

    def __init__(
        self,
        mark: str,
        tools: Mapping[str, str],
        plain_name: Callable[[str], str] = str,
        *,
        unique: bool = False,
    ) -> None:
        self._plain_name = plain_name
        self._suffix = re.sub(r"\W", "_", f"_{mark.strip('~')}_") if unique else ""
        self.mark = mark
        self.tools = tools
        self.newest: list[ToolCall] = []  # of the newest turn, as the kit made them
        self._made: list[ToolCall] = []  # all of them
        self._in_history: dict[str, str] = {}  # the kit's ids, by those of the requests to the model
        self._in_stream: dict[str, str] = {}  # and by those of the stream, where they are others

    def asked(self, calls: list[ToolCall]) -> list[ToolCall]:
        """The model asks for calls: they are remembered, and returned as the runtime gets them."""
        self.newest = calls
        self._made += calls
        again = {call.id for call in calls}
        self._in_stream = {one: call for one, call in self._in_stream.items() if call not in again}
        return [self._marked(call) for call in calls]

    def _marked(self, call: ToolCall) -> ToolCall:
        args = {**call.args, "k": f"{call.id}{self.mark}"} if isinstance(call.args, dict) else call.args
        called = f"{call.id}{self._suffix}"
        return ToolCall(id=called, name=self.tools.get(call.name, call.name), args=args)

    def plain(self, text: str) -> str:
        """A text without the mark."""
        plain = text.replace(self.mark, "")
        return plain.replace(self._suffix, "") if self._suffix else plain

    def call_of(self, args: Any, called: str) -> str:
        """The kit's id of a call with these arguments, which the runtime calls so."""
        known = args.get("k") if isinstance(args, dict) else None
        return self.plain(known if isinstance(known, str) else called)

    def arguments(self, call: str, args: Any) -> Any:
        """Arguments as the kit made them, or what they are now."""
        if not isinstance(args, dict):
            return args
        plain: Json = json.loads(self.plain(json.dumps(args)))
        like = [one for one in self._made if one.id == call and {**_object(one.args), "k": call} == plain]
        return _object(like[-1].args) if like else plain

    def name(self, call: str, name: str, args: Any) -> str:
        """The scenario's name of a tool: several of them may be one tool of the kit."""
        known = [one for one in self._made if one.id == call and self.tools.get(one.name, one.name) == name]
        like = [one for one in known if one.args == self.arguments(call, args)]
        return (like or known)[-1].name if known else name

    def seen(self, message: Message) -> Message:
        """A message of a request to the model in the kit's words."""
        calls = self._told_apart(message.tool_calls)
        self._in_history |= {one.id: call.id for one, call in zip(message.tool_calls, calls, strict=True)}
        changed: dict[str, Any] = {"text": self.plain(message.text), "tool_calls": calls}
        if message.call is not None:
            changed["call"] = self._in_history.get(message.call) or self.plain(message.call)
        return message.model_copy(update=changed)

    def _told_apart(self, shown: list[ToolCall]) -> list[ToolCall]:
        """The calls of a turn; of those that the kit gave one id, some may have got another one since."""
        names = [one.id for one in shown]
        found = [self._original(one) for one in shown]
        for at, call in enumerate(found):
            is_renamed = names[at] != names[0] and call.id in {one.id for one in found[:at]}
            if is_renamed and names[at] not in names[:at]:
                found[at] = call.model_copy(update={"id": f"{call.id}-{at + 1}"})
        return found

    def _original(self, one: ToolCall) -> ToolCall:
        call = self.call_of(one.args, one.id)
        return ToolCall(
            id=call, name=self.name(call, one.name, one.args), args=self.arguments(call, one.args)
        )

    def streamed(self, event: Json) -> str:
        """An event of the stream as JSON, with the kit's ids."""
        if event["type"] in ("TOOL_CALL_START", "TOOL_CALL_CHUNK") and event.get("toolCallName"):
            event = {**event, "toolCallName": self._plain_name(str(event.get("toolCallName")))}
            self._recognise(str(event.get("toolCallId")), event["toolCallName"])
        return self.named(event)

    def named(self, value: Json) -> str:
        """What a request or an event says, as JSON, with the kit's ids."""
        text = self.plain(json.dumps(value))
        for called, call in self._in_stream.items():
            text = text.replace(json.dumps(called), json.dumps(call))
        return text

    def _recognise(self, called: str, name: str) -> None:
        """A stream opens a call: by an id that the kit knows, or the first one of its tool in the round."""
        known = {call.id for call in self.newest}
        left = [
            call.id
            for call in self.newest
            if call.id not in self._in_stream.values() and self.tools.get(call.name) == name
        ]
        if called not in known and called not in self._in_stream and left:
            self._in_stream[called] = left[0]


def _object(args: Any) -> Json:
    """Arguments, if they are an object."""
    return dict(args) if isinstance(args, dict) else {}
