"""fast-agent over ACP: after a cancel the model is shown an empty turn that it did not make.

The `fast-agent-acp` is that of the environment of this Python.

pip install fast-agent-mcp==0.10.48

expected: what the user said, and no turn of the model, or a note that it was cancelled.
it hurts: some providers refuse a turn without content, in the next request and in all later ones.
"""

import json
import os
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

print(__doc__)

FIXED = {"id": "r", "object": "chat.completion.chunk", "created": 0, "model": "any"}


class Model(BaseHTTPRequestHandler):
    """Says one word; the first time, the prompt is cancelled and ends before that."""

    requests, over = [], Event()
    asked = None  # called with the first request

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.requests.append([(one["role"], one.get("content")) for one in body["messages"]])
        if len(self.requests) == 1:
            Model.asked()
            self.over.wait(20)
        choices = {"delta": {"role": "assistant", "content": "done"}}, {"delta": {}, "finish_reason": "stop"}
        chunks = [json.dumps({**FIXED, "choices": [{"index": 0, **one}]}) for one in choices]
        text = "".join(f"data: {one}\n\n" for one in (*chunks, "[DONE]"))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args): ...


class Agent:
    """The agent, as a client of the protocol drives it."""

    def __init__(self):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
        Thread(target=server.serve_forever, daemon=True).start()
        self.home, self.ids = tempfile.mkdtemp(), 0
        path = f"{Path(sys.prefix, 'bin')}{os.pathsep}{os.environ['PATH']}"
        model = {"GENERIC_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1", "GENERIC_API_KEY": "x"}
        self.process = subprocess.Popen(
            ["fast-agent-acp", "--model", "generic.any"], env={"HOME": self.home, "PATH": path, **model},
            cwd=self.home, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.ask("initialize", protocolVersion=1, clientCapabilities={})
        self.session = self.ask("session/new", cwd=self.home, mcpServers=[])["sessionId"]

    def prompt(self, text):
        said = [{"type": "text", "text": text}]
        return self.ask("session/prompt", sessionId=self.session, prompt=said)["stopReason"]

    def ask(self, method, **params):
        self.ids += 1
        self.send(id=self.ids, method=method, params=params)
        for line in self.process.stdout:
            message = json.loads(line)
            if "method" not in message and message["id"] == self.ids:
                return message["result"]
        raise SystemExit("the agent ended")

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()


def main():
    agent = Agent()
    Model.asked = lambda: agent.send(method="session/cancel", params={"sessionId": agent.session})
    print("actual: the first prompt ends as", agent.prompt("read it"))
    Model.over.set()
    agent.prompt("no, read the other")
    shown = [one for one in Model.requests[-1] if one[0] != "system"]
    print("actual: the model is shown:", *shown, sep="\n  ")
    agent.process.kill()
    return any(one[0] == "assistant" and not one[1] for one in shown)


raise SystemExit("still there" if main() else 0)
