"""What the Copilot CLI does over the Agent Client Protocol, with a scripted model and a tool server.

The `copilot` is that of the environment of this Python.

A name on the command line shows one bug.

npm install node@22.23.3 @github/copilot@1.0.102
"""

import inspect
import json
import os
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

TOOL = {"name": "mark", "description": "mark", "inputSchema": {"type": "object", "properties": {}}}
RESULTS = {
    "initialize": {
        "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
        "serverInfo": {"name": "kit", "version": "1"},
    },
    "tools/list": {"tools": [TOOL]},
    "tools/call": {"content": [{"type": "text", "text": "marked"}], "isError": False},
}  # fmt: skip
ALONE = {"COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_MODEL": "any"}


class World(BaseHTTPRequestHandler):
    """The model, which gives its turns one after the other: text, or ids of calls; and the tool server."""

    turns, requests = [], []

    def do_GET(self):
        self.send_error(405)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tools":
            answer = {"jsonrpc": "2.0", "id": body.get("id"), "result": RESULTS.get(body["method"])}
            self.answer("application/json", json.dumps(answer) if "id" in body else "")
        else:
            self.requests.append(body["messages"])
            self.answer("text/event-stream", streamed(self.turns.pop(0), body["tools"]))

    def answer(self, kind, text):
        self.send_response(200 if text else 202)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args): ...


def streamed(turn, tools):
    """A response of Chat Completions; its calls are of the tool of the tool server."""
    delta, ends = {"role": "assistant", "content": turn}, "stop"
    if not isinstance(turn, str):
        [name] = [one["function"]["name"] for one in tools if one["function"]["name"].endswith("mark")]
        function = {"name": name, "arguments": "{}"}
        calls = [
            {"index": i, "id": one, "type": "function", "function": function} for i, one in enumerate(turn)
        ]
        delta, ends = {"role": "assistant", "tool_calls": calls}, "tool_calls"
    fixed = {"id": "r", "object": "chat.completion.chunk", "created": 0, "model": "any"}
    choices = [{"delta": delta, "finish_reason": None}], [{"delta": {}, "finish_reason": ends}]
    chunks = [{**fixed, "choices": [{"index": 0, **one} for one in some]} for some in choices]
    return "".join(f"data: {one}\n\n" for one in (*map(json.dumps, chunks), "[DONE]"))


class Agent:
    """The agent; `answer` is what is said to a permission request: the kind of an option."""

    def __init__(self, *turns, answer="allow_once"):
        World.turns, World.requests, self.answer = list(turns), [], answer
        server = ThreadingHTTPServer(("127.0.0.1", 0), World)
        Thread(target=server.serve_forever, daemon=True).start()
        self.url, self.home, self.ids = f"http://127.0.0.1:{server.server_port}", tempfile.mkdtemp(), 0
        path = f"{Path(sys.prefix, 'node_modules/.bin')}{os.pathsep}{os.environ['PATH']}"
        model = {"COPILOT_PROVIDER_BASE_URL": self.url + "/v1", "COPILOT_PROVIDER_API_KEY": "x"}
        self.process = subprocess.Popen(
            ["copilot", "--acp"], env={"HOME": self.home, "PATH": path, **model, **ALONE}, cwd=self.home,
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.ask("initialize", protocolVersion=1, clientCapabilities={})

    def prompt(self, text):
        server = {"type": "http", "name": "kit", "url": self.url + "/tools", "headers": []}
        session = self.ask("session/new", cwd=self.home, mcpServers=[server])["sessionId"]
        said = [{"type": "text", "text": text}]
        return self.ask("session/prompt", sessionId=session, prompt=said)["stopReason"]

    def ask(self, method, **params):
        self.ids += 1
        self.send(id=self.ids, method=method, params=params)
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("method") == "session/request_permission":
                self.permit(message)
            elif "method" not in message and message["id"] == self.ids:
                return message["result"]
        raise SystemExit("the agent ended")

    def permit(self, message):
        fitting = [one for one in message["params"]["options"] if one["kind"] == self.answer]
        print("  a permission is asked for; the answer is:", fitting[-1]["name"])
        outcome = {"outcome": "selected", "optionId": fitting[-1]["optionId"]}
        self.send(id=message["id"], result={"outcome": outcome})

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()


def repeated_id():
    """Two calls with one id in one turn give the model two results under that id.

    expected: one result for the id.
    it hurts: providers refuse a history with two results for one call, in this request and all later ones.
    """
    agent = Agent(["c1", "c1"], "done")
    print("actual: the prompt ends as", agent.prompt("mark it twice"))
    results = [one["tool_call_id"] for one in World.requests[-1] if one["role"] == "tool"]
    print("actual: the model is shown results for:", results)
    agent.process.kill()
    return results == ["c1", "c1"]


def rejection_ends_the_turn():
    """A rejected permission ends the prompt with `end_turn`, and the model is not asked again.

    expected: the model is asked again, with the rejection; or another reason than that the model has ended.
    it hurts: a client takes the task for done, when the model still waits for the result of its call.
    """
    agent = Agent(["c1"], "I shall not.", answer="reject_once")
    ended = agent.prompt("mark it")
    print("actual: the prompt ends as", ended, "and turns of the model that are left:", len(World.turns))
    agent.process.kill()
    return ended == "end_turn" and len(World.turns) == 1


PROGRAMS = {one.__name__: one for one in (repeated_id, rejection_ends_the_turn)}


if __name__ == "__main__":
    still_there = []
    for name in sys.argv[1:] or PROGRAMS:
        print(f"{name}: {inspect.getdoc(PROGRAMS[name])}")
        if PROGRAMS[name]():
            still_there.append(name)
    raise SystemExit(f"still there: {', '.join(still_there)}" if still_there else 0)
