"""What gemini-cli does over the Agent Client Protocol, with a scripted model and a tool server on loopback.

The `gemini` is that of the environment of this Python.

A name on the command line shows one bug.

npm install node@22.23.3 @google/gemini-cli@0.61.0
"""

import inspect
import json
import os
import select
import subprocess
import sys
import tempfile
import time
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


class World(BaseHTTPRequestHandler):
    """The model, which gives its turns one after the other: text, or ids of calls; and the tool server."""

    turns, requests = [], []
    asked = None  # called when the model is asked for its first turn
    entered = None  # called when a tool is entered, which then waits until `over`
    over, told, hung_up = Event(), [], False

    def do_GET(self):
        self.send_error(405)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tools":
            self.wait_in(body)
            answer = {"jsonrpc": "2.0", "id": body.get("id"), "result": RESULTS.get(body["method"])}
            self.answer("application/json", json.dumps(answer) if "id" in body else "")
        else:
            self.requests.append(body["contents"])
            if World.asked is not None and len(self.requests) == 1:
                World.asked()
            turn = self.turns.pop(0)
            calls = [{"functionCall": {"id": one, "name": "mcp_kit_mark", "args": {}}} for one in turn]
            content = {"role": "model", "parts": [{"text": turn}] if isinstance(turn, str) else calls}
            candidates = [{"content": content, "finishReason": "STOP", "index": 0}]
            self.answer("text/event-stream", f"data: {json.dumps({'candidates': candidates})}\r\n\r\n")

    def wait_in(self, body):
        if World.entered is None:
            return
        World.told.append(body["method"])
        if body["method"] == "tools/call":
            World.entered()
            World.over.wait(20)
            World.hung_up = bool(select.select([self.connection], [], [], 0)[0])

    def answer(self, kind, text):
        self.send_response(200 if text else 202)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args): ...


class Agent:
    """The agent; `answer` is what is said to a permission request: the kind of an option, or `cancel`."""

    def __init__(self, *turns, answer="allow_once"):
        World.turns, World.requests, self.answer, self.seen = list(turns), [], answer, []
        server = ThreadingHTTPServer(("127.0.0.1", 0), World)
        Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}"
        home = Path(tempfile.mkdtemp())
        (home / ".gemini").mkdir()
        settings = {"security": {"folderTrust": {"enabled": False}}}
        (home / ".gemini/settings.json").write_text(json.dumps(settings))
        path = f"{Path(sys.prefix, 'node_modules/.bin')}{os.pathsep}{os.environ['PATH']}"
        env = {"HOME": str(home), "PATH": path, "GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": self.url}
        self.process = subprocess.Popen(
            ["gemini", "--acp", "-m", "gemini-2.5-flash"], env=env, cwd=home, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.home, self.ids = str(home), 0
        self.ask("initialize", protocolVersion=1, clientCapabilities={})

    def session(self):
        server = {"type": "http", "name": "kit", "url": self.url + "/tools", "headers": []}
        return self.ask("session/new", cwd=self.home, mcpServers=[server])["sessionId"]

    def prompt(self, session, text):
        self.seen = []
        ended = self.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])
        return ended["stopReason"]

    def ask(self, method, **params):
        self.ids += 1
        self.send(id=self.ids, method=method, params=params)
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("method") == "session/request_permission":
                self.seen.append("permission asked")
                self.permit(message)
            elif "method" in message:
                self.seen.append(message["params"]["update"]["sessionUpdate"])
            elif message["id"] == self.ids:
                return message["result"]
        raise SystemExit("the agent ended")

    def permit(self, message):
        outcome = {"outcome": "cancelled"}
        if self.answer == "cancel":
            self.send(method="session/cancel", params={"sessionId": message["params"]["sessionId"]})
        else:
            fitting = [one for one in message["params"]["options"] if one["kind"] == self.answer]
            print("  a permission is asked for; the answer is:", fitting[-1]["name"])
            outcome = {"outcome": "selected", "optionId": fitting[-1]["optionId"]}
        self.send(id=message["id"], result={"outcome": outcome})

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()


def ids(contents, kind):
    """The ids of the calls, or of the results, of a request."""
    return [part[kind]["id"] for one in contents for part in one["parts"] if kind in part]


def cancel_leaves_calls():
    """A cancel while a permission is asked for leaves the calls of the round without a result.

    expected: each call of the cancelled round has a result, or is left out.
    it hurts: providers refuse a history in which a call has no result, so that the session is stuck after a
      cancel.
    """
    agent = Agent(["c1", "c2"], "done", answer="cancel")
    session = agent.session()
    print("actual: the first prompt ends as", agent.prompt(session, "mark it twice"))
    agent.prompt(session, "go on")
    calls, results = ids(World.requests[-1], "functionCall"), ids(World.requests[-1], "functionResponse")
    print("actual: the next request has the calls", calls, "and results for", results)
    agent.process.kill()
    return calls == ["c1", "c2"] and not results


def unannounced_call():
    """A call that needs a permission is completed, and was never announced by a `tool_call`.

    expected: a `tool_call` comes before the first `tool_call_update`.
    it hurts: a client that shows calls by their announcement does not show this one, which the user has
      approved.
    """
    agent = Agent(["c1"], "done")
    agent.prompt(agent.session(), "mark it")
    print("actual: the updates of the session:", agent.seen)
    agent.process.kill()
    return "tool_call_update" in agent.seen and "tool_call" not in agent.seen


def cancelled_tool_runs_on():
    """A tool that runs at a cancel is not told: its call goes on when the prompt has ended.

    expected: the tool server learns of the cancel, or its client hangs up.
    it hurts: the user believes that the tool was stopped, and it goes on to its end.
    """
    agent = Agent(["c1"])
    session = agent.session()
    World.entered = lambda: agent.send(method="session/cancel", params={"sessionId": session})
    print("actual: the prompt ends as", agent.prompt(session, "mark it"))
    time.sleep(3)
    told = World.told[World.told.index("tools/call") + 1 :]
    World.over.set()
    time.sleep(1)
    print(
        "actual: while its tool runs, the tool server is told", told, "and its client hung up:", World.hung_up
    )
    agent.process.kill()
    World.entered = None
    return not told and not World.hung_up


def repeated_id():
    """Two calls with one id in one turn give the model two results under that id.

    expected: one result for the id.
    it hurts: providers refuse a history with two results for one call, in this request and all later ones.
    """
    agent = Agent(["c1", "c1"], "done")
    agent.prompt(agent.session(), "mark it twice")
    results = ids(World.requests[-1], "functionResponse")
    print("actual: the model is shown results for:", results)
    agent.process.kill()
    return results == ["c1", "c1"]


def grant_outlives_its_session():
    """A tool that is allowed for the session runs unasked in another session of the process.

    expected: a permission is asked for in the other session too.
    it hurts: what the user has allowed once runs unasked in a session for which it was never allowed.
    """
    agent = Agent(["c1"], "done", ["c2"], "done", answer="allow_always")
    agent.prompt(agent.session(), "mark it")
    agent.prompt(agent.session(), "mark it, in another session")
    results = ids(World.requests[-1], "functionResponse")
    print("actual: in the other session:", agent.seen, "and results for", results)
    agent.process.kill()
    return "permission asked" not in agent.seen and results == ["c2"]


def cancelled_prompt_is_forgotten():
    """A prompt that is cancelled before the model has answered is in no later request.

    expected: the model is shown "not the red one" in the next request.
    it hurts: the user sees what was said stand in the conversation, and the model is never shown it.
    """
    agent = Agent("", "done")
    session = agent.session()

    def cancel():
        agent.send(method="session/cancel", params={"sessionId": session})
        World.over.wait(3)  # the prompt ends before the model answers

    World.asked = cancel
    World.over.clear()
    print("actual: the first prompt ends as", agent.prompt(session, "not the red one"))
    World.over.set()
    World.asked = None
    agent.prompt(session, "now go on")
    was_shown, last = ("not the red one" in json.dumps(World.requests[one]) for one in (0, -1))
    print("actual: its first request shows the prompt:", was_shown, "and the next one:", last)
    agent.process.kill()
    return was_shown and not last


PROGRAMS = {
    one.__name__: one
    for one in (
        cancel_leaves_calls,
        unannounced_call,
        cancelled_tool_runs_on,
        repeated_id,
        grant_outlives_its_session,
        cancelled_prompt_is_forgotten,
    )
}


if __name__ == "__main__":
    still_there = []
    for name in sys.argv[1:] or PROGRAMS:
        print(f"{name}: {inspect.getdoc(PROGRAMS[name])}")
        if PROGRAMS[name]():
            still_there.append(name)
    raise SystemExit(f"still there: {', '.join(still_there)}" if still_there else 0)
