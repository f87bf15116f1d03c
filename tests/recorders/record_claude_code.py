"""Records session transcripts of Claude Code, offline: its SDK talks to a scripted model on this machine.

It needs claude-agent-sdk, which brings the command line tool:

    python tests/recorders/record_claude_code.py tests/data/recordings/claude_code
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    PermissionResultDeny,
    create_sdk_mcp_server,
    tool,
)

Turn = str | list[tuple[str, str, dict[str, Any]]]
PREFIX = "mcp__kit__"


class Model(BaseHTTPRequestHandler):
    """The Messages endpoint: it streams scripted turns to requests that offer the tools of the scenario."""

    turns: list[Turn] = []

    def log_message(self, format: str, *args: Any) -> None:
        """Be silent."""

    def do_HEAD(self) -> None:
        """A look whether the endpoint is there."""
        self.send_response(200)
        self.end_headers()

    def do_POST(self) -> None:
        """Answer a request; one without the tools of the scenario asks for a title or the like."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "count_tokens" in self.path:
            self._json({"input_tokens": 3})
            return
        offered = [one.get("name", "") for one in body.get("tools", [])]
        is_scripted = any(name.startswith(PREFIX) for name in offered)
        turn: Turn = self.turns.pop(0) if is_scripted and self.turns else "ok"
        if body.get("stream"):
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for event in events(turn):
                self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        else:
            self._json(message([{"type": "text", "text": "ok"}], "end_turn"))

    def _json(self, value: Any) -> None:
        text = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


NUMBERS = count(1)


def message(content: list[dict[str, Any]], stop: str | None) -> dict[str, Any]:
    """A message of the model, with an id of its own."""
    usage = {"input_tokens": 3, "output_tokens": 5}
    return {
        "id": f"msg_{next(NUMBERS)}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": content, "stop_reason": stop, "stop_sequence": None, "usage": usage,
    }  # fmt: skip


def events(turn: Turn) -> Iterator[dict[str, Any]]:
    """The events that stream a turn."""
    yield {"type": "message_start", "message": message([], None)}
    parts = [("text", turn)] if isinstance(turn, str) else [("tool_use", one) for one in turn]
    for index, (kind, part) in enumerate(parts):
        at = {"index": index}
        if kind == "text":
            yield {"type": "content_block_start", **at, "content_block": {"type": "text", "text": ""}}
            yield {"type": "content_block_delta", **at, "delta": {"type": "text_delta", "text": part}}
        else:
            name, id_, args = part
            block = {"type": "tool_use", "id": id_, "name": PREFIX + name, "input": {}}
            yield {"type": "content_block_start", **at, "content_block": block}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(args)}
            yield {"type": "content_block_delta", **at, "delta": delta}
        yield {"type": "content_block_stop", **at}
    reason = "end_turn" if isinstance(turn, str) else "tool_use"
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": 5},
    }
    yield {"type": "message_stop"}


@tool("weather", "Tell the weather.", {"city": str})
async def weather(args: dict[str, Any]) -> dict[str, Any]:
    """A tool that works."""
    return {"content": [{"type": "text", "text": f"{args['city']}: 20 degrees"}]}


@tool("remove", "Delete a file.", {"file": str})
async def remove(args: dict[str, Any]) -> dict[str, Any]:
    """A tool that is denied for one file."""
    return {"content": [{"type": "text", "text": f"{args['file']} is deleted"}]}


async def permitted(name: str, given: dict[str, Any], context: Any) -> Any:
    """Approve everything but the deletion of b.txt."""
    if given.get("file") == "b.txt":
        return PermissionResultDeny(message="keep it")
    return PermissionResultAllow()


SCENARIOS: dict[str, tuple[list[str], list[Turn]]] = {
    "plain": (
        ["How is the weather in Oslo and Rome?", "And in Lima?"],
        [
            [("weather", "toolu_1", {"city": "Oslo"}), ("weather", "toolu_2", {"city": "Rome"})],
            "Oslo and Rome: 20 degrees each.",
            [("weather", "toolu_3", {"city": "Lima"})],
            "Lima: 20 degrees.",
        ],
    ),
    "denied": (
        ["Delete a.txt and b.txt."],
        [
            [("remove", "toolu_1", {"file": "a.txt"}), ("remove", "toolu_2", {"file": "b.txt"})],
            "a.txt is deleted, b.txt is kept.",
        ],
    ),
}


async def play(prompts: list[str], home: Path, port: int) -> None:
    """One session with these prompts."""
    work = home / "work"
    work.mkdir()
    options = ClaudeAgentOptions(
        mcp_servers={"kit": create_sdk_mcp_server("kit", tools=[weather, remove])},
        can_use_tool=permitted,
        cwd=str(work),
        setting_sources=[],
        env={
            "HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "config"), "ANTHROPIC_API_KEY": "x",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}", "ENABLE_TOOL_SEARCH": "false",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "NO_PROXY": "127.0.0.1",
        },
    )  # fmt: skip
    async with ClaudeSDKClient(options) as client:
        for prompt in prompts:
            await client.query(prompt)
            async for _ in client.receive_response():
                pass


KEPT = ("user", "assistant")
CHAIN = ("type", "uuid", "parentUuid", "isSidechain", "sessionId", "version", "subtype")


def trimmed(line: str) -> str:
    """A record; one that is no message keeps its place in the chain, and not the texts of the tool itself."""
    record = json.loads(line)
    if record["type"] not in KEPT:
        record = {key: record[key] for key in CHAIN if key in record}
    return json.dumps(record, separators=(",", ":")) + "\n"


def main(folder: Path) -> None:
    """Write one transcript for each scenario, with the folders of this machine left out."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (prompts, turns) in SCENARIOS.items():
        Model.turns = list(turns)
        server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        home = Path(tempfile.mkdtemp())
        try:
            asyncio.run(play(prompts, home, server.server_address[1]))
            (found,) = (home / "config" / "projects").rglob("*.jsonl")
            text = "".join(trimmed(line) for line in found.read_text().splitlines())
            (folder / f"{name}.jsonl").write_text(text.replace(str(home), "/home/user"))
        finally:
            server.shutdown()
            shutil.rmtree(home)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
