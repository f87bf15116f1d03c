"""The front-end clients of AG-UI and of the AI SDK: the messages that they build from the streamed events.

They follow @ag-ui/client 1.0.0 and `ai` 6.0.326, with one exception: where a later turn uses the id of a call
again, @ag-ui/client adds to the earlier call; here there are two calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from pydantic_core import from_json

Json = dict[str, Any]


class Client:
    """The messages of one thread."""

    takes: ClassVar[Mapping[str, Callable[..., None]]]  # the events that change them

    def __init__(self) -> None:
        self.messages: list[Json] = []
        self.requests = 0

    def request(self, text: str | None = None) -> None:
        """A request begins, with what the user says or without."""
        self.requests += 1
        if text is not None:
            self.messages.append({"id": f"u{self.requests}", "role": "user", **self.said(text)})

    def take(self, event: Json) -> None:
        """Take in an event of the stream."""
        take = self.takes.get(event["type"])
        if take is not None:
            take(self, event)

    def said(self, text: str) -> Json:
        """What the user says, in a message."""
        raise NotImplementedError

    def call(self, name: str) -> tuple[str, Any]:
        """What an approver sees of a call: its tool and its arguments."""
        raise NotImplementedError


class AgUiClient(Client):
    """Calls stand in a message of the assistant, and the result of each is a message of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.pending: dict[str, str] = {}  # the interrupts that are open, by their calls
        self._chunked: Json = {}  # the ids of the message and of the call that came in chunks last

    def request(self, text: str | None = None) -> None:
        super().request(text)
        self._chunked = {}

    def said(self, text: str) -> Json:
        return {"content": text}

    def call(self, name: str) -> tuple[str, Any]:
        """As every client; no tool and no arguments for a call that was asked about and never streamed."""
        if not (made := self._call(name).get("function")):
            return "", None
        try:
            return made["name"], json.loads(made["arguments"] or "{}")
        except ValueError:
            return made["name"], made["arguments"]

    def _call(self, name: str) -> Json:
        every = [call for message in self.messages for call in message.get("toolCalls", ())]
        return next((call for call in reversed(every) if call["id"] == name), {})

    def _message(self, name: str) -> Json:
        return next((one for one in self.messages if one["id"] == name), {})

    def _text_start(self, event: Json) -> None:
        if not self._message(event["messageId"]):
            self.messages.append({"id": event["messageId"], "role": "assistant", "content": ""})

    def _text(self, event: Json) -> None:
        self._message(event["messageId"])["content"] += event["delta"]

    def _call_start(self, event: Json) -> None:
        parent = event.get("parentMessageId") or self._own_message(event["toolCallId"])
        self._text_start({"messageId": parent})
        made = {"name": event["toolCallName"], "arguments": ""}
        calls = self._message(parent).setdefault("toolCalls", [])
        if all(call["id"] != event["toolCallId"] for call in calls):
            calls.append({"id": event["toolCallId"], "type": "function", "function": made})

    def _own_message(self, call: str) -> str:
        """The message of a call that names none: a new one, also where the id of the call was used before."""
        return f"{call}-{len(self.messages)}" if self._message(call) else call

    def _text_chunk(self, event: Json) -> None:
        """A start and a piece in one; without an id it goes on with the last one."""
        name = self._chunked["messageId"] = event.get("messageId") or self._chunked["messageId"]
        self._text_start({"messageId": name})
        self._text({"messageId": name, "delta": event.get("delta") or ""})

    def _call_chunk(self, event: Json) -> None:
        """The same for a call."""
        if event.get("toolCallId") not in (None, self._chunked.get("toolCallId")):
            self._call_start(event)
            self._chunked["toolCallId"] = event["toolCallId"]
        self._call_args({"delta": event.get("delta") or "", "toolCallId": self._chunked["toolCallId"]})

    def _call_args(self, event: Json) -> None:
        self._call(event["toolCallId"])["function"]["arguments"] += event["delta"]

    def _result(self, event: Json) -> None:
        """It follows the turn of its call, and the results that are there."""
        call = self._call(event["toolCallId"])
        turns = [at for at, one in enumerate(self.messages) if call in one.get("toolCalls", ())]
        at = turns[-1] + 1 if turns else len(self.messages)
        while at < len(self.messages) and self.messages[at]["role"] == "tool":
            at += 1
        made = {"id": event["messageId"], "role": "tool", "content": event["content"]}
        self.messages.insert(at, {**made, "toolCallId": event["toolCallId"]})

    def _encrypted(self, event: Json) -> None:
        find = self._call if event["subtype"] == "tool-call" else self._message
        find(event["entityId"])["encryptedValue"] = event["encryptedValue"]

    def _finished(self, event: Json) -> None:
        interrupts = (event.get("outcome") or {}).get("interrupts", ())
        self.pending = {one["toolCallId"]: one["id"] for one in interrupts}

    takes = {
        "TEXT_MESSAGE_START": _text_start,
        "TEXT_MESSAGE_CONTENT": _text,
        "TEXT_MESSAGE_CHUNK": _text_chunk,
        "TOOL_CALL_START": _call_start,
        "TOOL_CALL_ARGS": _call_args,
        "TOOL_CALL_CHUNK": _call_chunk,
        "TOOL_CALL_RESULT": _result,
        "REASONING_ENCRYPTED_VALUE": _encrypted,
        "RUN_FINISHED": _finished,
    }


class AiSdkClient(Client):
    """A call and all that becomes of it is one part of a message of the assistant.

    A request that follows such a message, as one that decides does, goes on with it.
    """

    message: Json  # the one that is streamed; it is among the messages from its first part on

    def request(self, text: str | None = None) -> None:
        super().request(text)
        last = self.messages[-1]
        new: Json = {"id": f"a{self.requests}", "role": "assistant", "parts": []}
        self.message = last if last["role"] == "assistant" else new

    def said(self, text: str) -> Json:
        return {"parts": [{"type": "text", "text": text}]}

    def call(self, name: str) -> tuple[str, Any]:
        part = self._part(name, self.message["parts"])
        return part["type"].removeprefix("tool-"), part.get("input")

    def approvals(self) -> list[Json]:
        """The parts whose approval is asked for, in the last message."""
        parts = self.messages[-1]["parts"] if self.messages else []
        return [part for part in parts if part.get("state") == "approval-requested"]

    def _part(self, call: str, among: list[Json]) -> Json:
        return next((one for one in reversed(among) if one.get("toolCallId") == call), {})

    def _streamed(self) -> list[Json]:
        if self.messages[-1] is not self.message:
            self.messages.append(self.message)
        parts: list[Json] = self.message["parts"]
        return parts

    def _step(self, event: Json) -> None:
        self.message["parts"].append({"type": "step-start"})

    def _text_start(self, event: Json) -> None:
        self._streamed().append({"type": "text", "text": "", "state": "streaming"})

    def _text(self, event: Json) -> None:
        self.message["parts"][-1]["text"] += event["delta"]

    def _text_end(self, event: Json) -> None:
        self.message["parts"][-1]["state"] = "done"

    def _input_start(self, event: Json) -> None:
        self._input(event, event["toolName"], state="input-streaming")

    def _input_delta(self, event: Json) -> None:
        part = self._part(event["toolCallId"], self.message["parts"])
        text = part.get("rawInput", "") + event["inputTextDelta"]
        tool, so_far = part["type"].removeprefix("tool-"), from_json(text, allow_partial=True)
        self._input(event, tool, state="input-streaming", input=so_far, rawInput=text)

    def _input_whole(self, event: Json) -> None:
        self._input(event, event["toolName"], state="input-available", input=event["input"])

    def _input_error(self, event: Json) -> None:
        error = {"rawInput": event["input"], "errorText": event["errorText"]}
        self._input(event, event["toolName"], state="output-error", **error)

    def _input(self, event: Json, tool: str, **fields: Any) -> None:
        """The part of the call in the present step becomes this; if there is none, it is added."""
        parts = self._streamed()
        steps = [index for index, part in enumerate(parts) if part["type"] == "step-start"]
        part = self._part(event["toolCallId"], parts[steps[-1] if steps else 0 :])
        if not part:
            parts.append(part)
        kept: Json = {key: part[key] for key in ("approval", "callProviderMetadata") if key in part}
        metadata = event.get("providerMetadata")
        made: Json = {"callProviderMetadata": metadata} if metadata else {}
        part.clear()
        part.update({"type": f"tool-{tool}", "toolCallId": event["toolCallId"], **kept, **made, **fields})

    def _request(self, event: Json) -> None:
        self._change(event, state="approval-requested", approval={"id": event["approvalId"]})

    def _denied(self, event: Json) -> None:
        self._change(event, state="output-denied")

    def _output(self, event: Json) -> None:
        self._change(event, state="output-available", output=event["output"])

    def _output_error(self, event: Json) -> None:
        self._change(event, state="output-error", errorText=event["errorText"])

    def _change(self, event: Json, **fields: Any) -> None:
        self._part(event["toolCallId"], self.message["parts"]).update(fields)

    takes = {
        "start-step": _step,
        "text-start": _text_start,
        "text-delta": _text,
        "text-end": _text_end,
        "tool-input-start": _input_start,
        "tool-input-delta": _input_delta,
        "tool-input-available": _input_whole,
        "tool-input-error": _input_error,
        "tool-approval-request": _request,
        "tool-output-denied": _denied,
        "tool-output-available": _output,
        "tool-output-error": _output_error,
    }
