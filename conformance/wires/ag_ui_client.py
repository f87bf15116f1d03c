"""A client of AG-UI over HTTP: one thread, its messages, and what waits in it.

It sends what a browser would send, and also what a browser should not: an answer to one interrupt of two, to
an interrupt that is unknown or was answered before, and a text while something waits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

import httpx

from runlock.conformance.wires.ui_clients import AgUiClient, Json

VERSION: Final = "1.1"
"""The revision of the protocol that the client declares: the newest that the kit knows."""

BODY_MAX: Final = 200
"""How many characters of an answer that is no stream are shown."""

LEGACY: Final = "on_interrupt"
"""The name of a custom event that asks, where an interrupt is no part of the end of a run."""

ENDS: Final = ("RUN_FINISHED", "RUN_ERROR")


class NoStream(Exception):
    """What answered is no stream of events; its words say what came instead, and `right` what to do.

    A request that `is_refused` has no stream at all.
    """

    def __init__(self, what: str, right: str, is_refused: bool = False) -> None:
        super().__init__(what)
        self.right = right
        self.is_refused = is_refused


class HttpClient(AgUiClient):
    """One thread at a URL."""

    def __init__(self, url: str, mark: str, plain: Callable[[str], str] = str) -> None:
        super().__init__()
        self._plain = plain  # the kit's name of a tool
        self._asked: list[Json] = []  # by events of the older kind, in the run that is under way
        self.url = url
        self.mark = mark
        self.thread = str(uuid5(NAMESPACE_URL, mark))  # some servers take nothing else
        self.fresh: list[Json] = []  # the messages that the next request brings
        self.interrupts: list[Json] = []  # of the newest run that ended with some
        self.last: Json = {}  # the last event of the newest run
        self.declared = ""  # the version that the server says it speaks

    def call(self, name: str) -> tuple[str, Any]:
        named, args = super().call(name)
        return self._plain(named), args

    def request(self, text: str | None = None) -> None:
        known = len(self.messages)
        super().request(text)
        self.fresh = self.messages[known:]

    def unanswered(self) -> list[str]:
        """The calls since the user last spoke that have no result, by the ids of the runtime.

        Where an interrupt waits, he may have spoken since it came: then they are from before that.
        """
        spoken = [at for at, one in enumerate(self.messages) if one["role"] == "user"] or [-1]
        turns = [self._unanswered(self.messages[at + 1 :]) for at in reversed(spoken)]
        return next(filter(None, turns), []) if self.interrupts else turns[0]

    def _unanswered(self, since: Sequence[Json]) -> list[str]:
        """In order: a later turn may use the id of a call that has its result for another one."""
        left: dict[str, None] = {}
        for one in since:
            left |= dict.fromkeys(call["id"] for call in one.get("toolCalls") or ())
            if one["role"] == "tool":
                left.pop(one.get("toolCallId", ""), None)
        return list(left)

    def answer(self, call: str, content: Any) -> None:
        """Say the result of a call, as the application that runs a tool of its own does."""
        made = {"id": f"a{len(self.messages)}", "role": "tool", "toolCallId": call}
        self.messages.append({**made, "content": json.dumps(content)})
        self.fresh.append(self.messages[-1])

    def body(self, more: Mapping[str, Any], *, leaves_out: bool = False) -> Json:
        """A request with all messages, or with the new ones alone."""
        ids = {
            "threadId": self.thread,
            "runId": f"{self.thread}-r{self.requests}",
            "protocolVersion": VERSION,
        }
        fixed: Json = {"state": {}, "tools": [], "context": [], "forwardedProps": {}}
        return {**ids, **fixed, "messages": self.fresh if leaves_out else self.messages, **more}

    async def run(
        self, http: httpx.AsyncClient, more: Json, took: Callable[[Json], None], *, leaves_out: bool = False
    ) -> None:
        """Send a request, and take in its events; raises NoStream, or `httpx.HTTPError`."""
        self.last, self.interrupts, self._asked = {}, [], []
        body = self.body(more, leaves_out=leaves_out)
        headers = {"accept": "text/event-stream"}
        async with http.stream("POST", self.url, json=body, headers=headers) as answer:
            await _refuse_other(answer)
            async for line in answer.aiter_lines():
                if line.startswith("data:") and (text := line[5:].strip()):
                    event = _event(text)
                    took(event)
                    self._take_in(event)

    def _take_in(self, event: Json) -> None:
        try:
            self.take(event)
        except (KeyError, TypeError) as error:
            raise NoStream(
                f"an event that is not whole: {json.dumps(event)[:BODY_MAX]} ({error!r})",
                "The protocol says which fields an event has.",
            ) from error

    def take(self, event: Json) -> None:
        super().take(event)
        if event["type"] == "RUN_STARTED":
            self.declared = str(event.get("protocolVersion") or "")
        if event["type"] == "MESSAGES_SNAPSHOT":
            self.messages = [dict(one) for one in event["messages"]]
        if event["type"] == "CUSTOM" and event.get("name") == LEGACY:
            self._asked.append({"id": f"{LEGACY}-{len(self._asked)}", LEGACY: _value(event.get("value"))})
        if event["type"] in ENDS:
            self.last = event
            self.interrupts = list((event.get("outcome") or {}).get("interrupts") or self._asked)

    def _finished(self, event: Json) -> None:
        """What waits is read from `interrupts`: not each of them names a call."""

    takes = {**AgUiClient.takes, "RUN_FINISHED": _finished}


def _value(value: Any) -> Any:
    """What such an event asks: JSON in a text, or JSON."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


async def _refuse_other(answer: httpx.Response) -> None:
    kind = answer.headers.get("content-type", "").partition(";")[0].strip()
    if answer.status_code == 200 and kind == "text/event-stream":
        return
    body = " ".join((await answer.aread()).decode("utf-8", "replace").split())[:BODY_MAX]
    said = f": {body}" if body else ""
    if answer.status_code != 200:
        right = _RIGHT.get(answer.status_code, "The application's own log says why.")
        raise NoStream(f"status {answer.status_code}{said}", right, is_refused=True)
    raise NoStream(
        f"{kind or 'an answer without a type'}, and no stream of events{said}",
        "Name the path of the agent, as in `http://127.0.0.1:8000/agent`.",
        is_refused=True,
    )


_RIGHT: Final = {
    401: "Run the application without its login, on this machine.",
    403: "Run the application without its login, on this machine.",
    404: "Name the path of the agent, as in `http://127.0.0.1:8000/agent`.",
    405: "Name the path that takes a POST, as in `http://127.0.0.1:8000/agent`.",
}


def _event(text: str) -> Json:
    try:
        event = json.loads(text)
    except ValueError:
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise NoStream(
            f"a line that is no event: {text[:BODY_MAX]}", "Each `data:` line is a JSON object with a type."
        )
    return event
