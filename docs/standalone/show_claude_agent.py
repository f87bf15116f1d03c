"""What the Claude Agent SDK does, with a scripted model on loopback.

A name on the command line shows one bug.

pip install claude-agent-sdk==0.2.189 mcp==2.3.0
"""

import asyncio
import inspect
import json
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool

SETTINGS = {
    "ANTHROPIC_API_KEY": "x", "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ENABLE_TOOL_SEARCH": "false",
}  # fmt: skip
CALL = {"type": "tool_use", "id": "c1", "name": "mcp__kit__mark", "input": {}}


def events(block):
    """A streamed response of the model with one block: the text `done`, or a call."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "kit",
        "content": [],
        "usage": usage,
    }
    delta = {"type": "input_json_delta", "partial_json": "{}"}
    if block["type"] == "text":
        delta = {"type": "text_delta", "text": "done"}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    reason = "tool_use" if block is CALL else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
    yield {"type": "message_stop"}


class Model(BaseHTTPRequestHandler):
    """Gives a call first and then a text; the response with the call waits before its end for the tool."""

    ran, is_early, asked = Event(), False, 0

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        Model.asked += 1
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in events(CALL if self.asked == 1 else {"type": "text", "text": ""}):
            if event["type"] == "message_delta" and self.asked == 1:
                Model.is_early = self.ran.wait(5)
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, *args): ...


@tool("mark", "mark", {})
async def mark(args):
    Model.ran.set()
    return {"content": [{"type": "text", "text": "marked"}]}


async def runs_before_the_response_is_complete():
    """A call runs while the response that asks for it is still being written.

    expected: no tool runs before the model's response is complete.
    it hurts: if the response breaks, the tool has run for an answer that the model never gave.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    Thread(target=server.serve_forever, daemon=True).start()
    home = tempfile.mkdtemp()
    url = f"http://127.0.0.1:{server.server_port}"
    options = ClaudeAgentOptions(
        tools=[], allowed_tools=["mcp__kit__mark"], setting_sources=[], cwd=home,
        mcp_servers={"kit": create_sdk_mcp_server("kit", tools=[mark])},
        env={**SETTINGS, "ANTHROPIC_BASE_URL": url, "HOME": home, "CLAUDE_CONFIG_DIR": home},
    )  # fmt: skip
    async for message in query(prompt="mark it", options=options):
        if isinstance(message, ResultMessage):
            print("actual: the turn is a", message.subtype)
    print("actual: the tool ran before the end of the response:", Model.is_early)
    return Model.is_early


PROGRAMS = {one.__name__: one for one in (runs_before_the_response_is_complete,)}


if __name__ == "__main__":
    still_there = []
    for name in sys.argv[1:] or PROGRAMS:
        print(f"{name}: {inspect.getdoc(PROGRAMS[name])}")
        if asyncio.run(PROGRAMS[name]()):
            still_there.append(name)
    raise SystemExit(f"still there: {', '.join(still_there)}" if still_there else 0)
