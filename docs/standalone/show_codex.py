"""What Codex does as an app server, with a scripted model and a tool server on loopback.

The `codex` is that of the environment of this Python.

A name on the command line shows one bug.

npm install node@22.23.3 @openai/codex@0.171.0
"""

import inspect
import json
import os
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

TOOL = {"name": "mark", "description": "mark", "inputSchema": {"type": "object", "properties": {}}}
RESULTS = {
    "initialize": {
        "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
        "serverInfo": {"name": "kit", "version": "1"},
    },
    "tools/list": {"tools": [TOOL]},
    "tools/call": {"content": [{"type": "text", "text": "marked"}], "isError": False},
}  # fmt: skip
SETTINGS = """
model = "kit"
model_provider = "kit"
[model_providers.kit]
name = "kit"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "KIT_KEY"
[mcp_servers.kit]
url = "{url}/tools"
default_tools_approval_mode = "prompt"
[analytics]
enabled = false
"""


def events(turn):
    """A streamed response of the model: text, or ids of calls."""
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": turn}]}
    call = {"type": "function_call", "namespace": "mcp__kit", "name": "mark", "arguments": "{}"}
    items = [message] if isinstance(turn, str) else [{**call, "call_id": one} for one in turn]
    yield "response.created", {"response": {"id": "r"}}
    for index, item in enumerate(items):
        yield "response.output_item.done", {"output_index": index, "item": item}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    yield "response.completed", {"response": {"id": "r", "usage": usage}}


class World(BaseHTTPRequestHandler):
    """The model, which gives its turns one after the other; and the tool server."""

    turns, requests = [], []
    waits, is_early, ran = False, False, Event()  # whether a response of calls waits at its end for the tool

    def do_GET(self):
        self.send_error(405)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tools":
            if body["method"] == "tools/call":
                self.ran.set()
            answer = {"jsonrpc": "2.0", "id": body.get("id"), "result": RESULTS.get(body["method"])}
            self.answer("application/json", json.dumps(answer) if "id" in body else "")
        elif self.path.endswith("/responses"):
            self.requests.append(body["input"])
            said = [json.dumps({"type": kind, **more}) for kind, more in events(self.turns.pop(0))]
            *most, end = [f"data: {one}\n\n" for one in said]
            self.answer("text/event-stream", "".join(most), end)
        else:
            self.send_error(404)

    def answer(self, kind, text, end=""):
        self.send_response(200 if text else 202)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text + end)))
        self.end_headers()
        self.wfile.write(text.encode())
        if World.waits and end and "call_id" in text:
            World.is_early = self.ran.wait(5)
        self.wfile.write(end.encode())

    def log_message(self, *args): ...


class Agent:
    """The agent, which is allowed whatever it asks for."""

    def __init__(self, *turns):
        World.turns, World.requests = list(turns), []
        server = ThreadingHTTPServer(("127.0.0.1", 0), World)
        Thread(target=server.serve_forever, daemon=True).start()
        home = Path(tempfile.mkdtemp())
        (home / ".codex").mkdir()
        url = f"http://127.0.0.1:{server.server_port}"
        (home / ".codex/config.toml").write_text(SETTINGS.format(url=url))
        path = f"{Path(sys.prefix, 'node_modules/.bin')}{os.pathsep}{os.environ['PATH']}"
        env = {"HOME": str(home), "PATH": path, "KIT_KEY": "x", "NO_PROXY": "127.0.0.1"}
        self.process = subprocess.Popen(
            ["codex", "app-server"], env=env, cwd=home, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.ids = 0
        self.ask("initialize", clientInfo={"name": "kit", "title": "kit", "version": "1"})
        started = self.ask("thread/start", cwd=str(home), approvalPolicy="on-request", sandbox="read-only")
        self.thread = started["thread"]["id"]

    def prompt(self, text):
        self.ask("turn/start", threadId=self.thread, input=[{"type": "text", "text": text}])
        for message in self.messages():
            if message.get("method") == "turn/completed":
                return message["params"]["turn"]["status"]
        raise SystemExit("the agent ended")

    def ask(self, method, **params):
        self.ids += 1
        self.send(id=self.ids, method=method, params=params)
        for message in self.messages():
            if "method" not in message and message["id"] == self.ids:
                return message["result"]
        raise SystemExit("the agent ended")

    def messages(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("method") == "mcpServer/elicitation/request":
                print("  it is allowed:", message["params"]["message"])
                self.send(id=message["id"], result={"action": "accept", "content": {}})
            else:
                yield message

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()


def repeated_id():
    """Two calls with one id in one turn give the model two results under that id.

    expected: one result for the id.
    it hurts: providers refuse a history with two results for one call, in this request and all later ones.
    """
    agent = Agent(["c1", "c1"], "done")
    print("actual: the turn is", agent.prompt("mark it twice"))
    last = World.requests[-1]
    results = [item["call_id"] for item in last if item["type"] == "function_call_output"]
    print("actual: the model is shown results for:", results)
    agent.process.kill()
    return results == ["c1", "c1"]


def runs_before_the_response_is_complete():
    """A call runs while the response that asks for it is still being written.

    expected: no tool runs before the model's response is complete.
    it hurts: if the response breaks, the tool has run for an answer that the model never gave.
    """
    agent = Agent(["c1"], "done")
    World.waits = True
    agent.prompt("mark it")
    print("actual: the tool ran before the end of the response:", World.is_early)
    agent.process.kill()
    return World.is_early


PROGRAMS = {one.__name__: one for one in (repeated_id, runs_before_the_response_is_complete)}


if __name__ == "__main__":
    still_there = []
    for name in sys.argv[1:] or PROGRAMS:
        print(f"{name}: {inspect.getdoc(PROGRAMS[name])}")
        if PROGRAMS[name]():
            still_there.append(name)
    raise SystemExit(f"still there: {', '.join(still_there)}" if still_there else 0)
