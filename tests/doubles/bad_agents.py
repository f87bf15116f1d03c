"""Programs that are no agents, or that are not wired up: `python bad_agents.py NAME`."""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

TOOLS = {"toolless": [], "half": ["read"]}

GREETINGS: dict[str, Any] = {
    "newer": {"protocolVersion": 7},
    "second": {"protocolVersion": 2, "capabilities": {"session": {}}},
    "mute": {"protocolVersion": 2, "capabilities": {"session": {}}},
    "echo": {"protocolVersion": 2, "agentCapabilities": {}, "agentInfo": {}},
    "wordless": {"protocolVersion": 2},
    "sessionless": {"protocolVersion": 2, "capabilities": {"auth": {}}},
}
"""How agents answer `initialize` that do not speak the version which they are asked for, or not all of it."""


def answers(name: str, asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What a message is answered with."""
    method, number = asked.get("method"), {"id": asked.get("id")}
    if method == "initialize":
        greeting = GREETINGS.get(name, {"protocolVersion": 1})
        ways = [{"id": "browser", "name": "Log in"}]
        yield {**number, "result": {**greeting, "authMethods": ways}}
    elif method == "session/new" and name == "locked":
        yield {**number, "error": {"code": -32000, "message": "Authentication required"}}
    elif method == "session/new":
        yield {**number, "result": {"sessionId": "s1"}}
    elif method == "session/prompt" and name == "failing":
        yield {**number, "error": {"code": -32603, "message": "no API key"}}
    elif method == "session/prompt" and name == "mute":
        yield {**number, "result": {"messageId": "m1"}}
    elif method == "session/prompt":
        if name in TOOLS:
            ask_model(asked["params"]["prompt"][0]["text"], TOOLS[name])
        yield {**number, "result": {"stopReason": "end_turn"}}


def ask_model(text: str, tools: list[str]) -> None:
    """A request to the model with some of the tools."""
    offered = [{"type": "function", "function": {"name": one, "parameters": {}}} for one in tools]
    body = {"model": "m", "messages": [{"role": "user", "content": text}], "tools": offered}
    url = f"{os.environ['OPENAI_BASE_URL']}/chat/completions"
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    urllib.request.urlopen(request).read()


def main(name: str) -> None:
    """Read messages until the input ends."""
    if name == "leaving":
        print("no config", file=sys.stderr)
        raise SystemExit(3)
    for line in sys.stdin:
        if name == "page":
            print("Welcome! What can I do for you?", flush=True)
            continue
        for answer in answers(name, json.loads(line)):
            print(json.dumps({"jsonrpc": "2.0", **answer}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
