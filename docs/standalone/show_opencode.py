"""What opencode does over the Agent Client Protocol, with a scripted model and a tool server on loopback.

The `opencode` is that of the environment of this Python.

A name on the command line shows one bug.

npm install node@22.23.3 opencode-ai@1.18.33
"""

import inspect
import json
import os
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread, Timer

TOOL = {"name": "mark", "description": "mark", "inputSchema": {"type": "object", "properties": {}}}
RESULTS = {
    "initialize": {
        "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
        "serverInfo": {"name": "kit", "version": "1"},
    },
    "tools/list": {"tools": [TOOL]},
    "tools/call": {"content": [{"type": "text", "text": "marked"}], "isError": False},
}  # fmt: skip


def chunks(delta, ended):
    """A streamed response of the model: its content, and its end."""
    choices = (
        [{"index": 0, "delta": delta, "finish_reason": None}],
        [{"index": 0, "delta": {}, "finish_reason": ended}],
    )
    written = [json.dumps({"object": "chat.completion.chunk", "choices": one}) for one in choices]
    first, *end = [f"data: {one}\n\n" for one in [*written, "[DONE]"]]
    return first, "".join(end)


class World(BaseHTTPRequestHandler):
    """The model, which gives its turns one after the other: text, or ids of calls; and the tool server."""

    turns, requests, tool = [], [], "kit_mark"
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
        elif not body.get("tools"):
            self.answer("text/event-stream", *chunks({"content": "A title"}, "stop"))
        else:
            self.requests.append(body["messages"])
            turn = self.turns.pop(0)
            function = {"name": self.tool, "arguments": '{"where": "here"}'}
            calls = [
                {"index": at, "id": one, "type": "function", "function": function}
                for at, one in enumerate(turn)
            ]
            is_text = isinstance(turn, str)
            delta = {"content": turn} if is_text else {"tool_calls": calls}
            self.answer("text/event-stream", *chunks(delta, "stop" if is_text else "tool_calls"))

    def answer(self, kind, text, end=""):
        self.send_response(200 if text else 202)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text + end)))
        self.end_headers()
        self.wfile.write(text.encode())
        if World.waits and "tool_calls" in text:
            World.is_early = self.ran.wait(5)
        self.wfile.write(end.encode())

    def log_message(self, *args): ...


class Agent:
    """The agent; `answer` is what is said to a permission request: the kind of an option, or `cancel`."""

    def __init__(self, *turns, answer="allow_once", tool="kit_mark"):
        World.turns, World.requests, World.tool = list(turns), [], tool
        self.answer, self.seen, self.states = answer, [], []
        server = ThreadingHTTPServer(("127.0.0.1", 0), World)
        Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}"
        home = Path(tempfile.mkdtemp())
        folder = home / ".config/opencode"
        folder.mkdir(parents=True)
        options = {"baseURL": self.url + "/v1", "apiKey": "x"}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": options,
            "models": {"m": {"tool_call": True}},
        }
        settings = {
            "provider": {"p": provider}, "model": "p/m", "small_model": "p/m", "enabled_providers": ["p"],
            "permission": {"*": "ask"}, "share": "disabled", "autoupdate": False,
        }  # fmt: skip
        (folder / "opencode.json").write_text(json.dumps(settings))
        path = f"{Path(sys.prefix, 'node_modules/.bin')}{os.pathsep}{os.environ['PATH']}"
        env = {"HOME": str(home), "PATH": path, "OPENCODE_DISABLE_MODELS_FETCH": "1"}
        self.process = subprocess.Popen(
            ["opencode", "acp"], env=env, cwd=home, text=True,
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
                self.shown = message["params"]["toolCall"]["rawInput"]
                self.permit(message)
            elif "method" in message:
                update = message["params"]["update"]
                self.seen.append(update["sessionUpdate"])
                self.states += [update["status"]] if "toolCallId" in update else []
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


def permission_without_arguments():
    """A permission is asked for without the arguments of the call; they come later, as an update.

    expected: the request shows the arguments of the call.
    it hurts: the user decides without knowing what the call will do.
    """
    agent = Agent(["c1"], "done")
    agent.prompt(agent.session(), "mark it")
    (call,) = World.requests[-1][-2]["tool_calls"]
    print("actual: the request for the permission shows", agent.shown, "of", call["function"]["arguments"])
    agent.process.kill()
    return agent.shown == {} and json.loads(call["function"]["arguments"]) == {"where": "here"}


def denial_ends_as_an_answer():
    """A denial ends the prompt as `end_turn`, as if the model had answered; it is not asked again.

    expected: the model learns of the denial, or the prompt ends as cancelled or refused.
    it hurts: a client takes the prompt for answered, though the model never got to answer.
    """
    agent = Agent(["c1"], answer="reject_once")
    ended = agent.prompt(agent.session(), "mark it")
    print(
        "actual: the prompt ends as", ended, "after", len(World.requests), "request, whose answer was a call"
    )
    agent.process.kill()
    return ended == "end_turn" and len(World.requests) == 1


def asks_after_the_end():
    """A denial ends the prompt, and the permissions of the other calls are asked for all the same.

    expected: no permission is asked for after the end of the prompt.
    it hurts: the user is asked about calls that cannot run any more.
    """
    agent = Agent(["c1", "c2", "c3"])
    session = agent.session()
    Timer(30, agent.process.kill).start()
    prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "mark it"}]}
    agent.send(id="prompt", method="session/prompt", params=prompt)
    asked, has_ended = [], False
    for line in agent.process.stdout:
        message = json.loads(line)
        if message.get("method") == "session/request_permission":
            print("actual: a permission is asked for", "after the end" if has_ended else "before the end")
            asked.append(message["id"])
        elif message.get("id") == "prompt":
            result = message.get("result") or message["error"]
            print("actual: the prompt ends:", result.get("stopReason") or result["message"])
            has_ended = True
        else:
            continue
        if len(asked) == 3:
            break
        if len(asked) == 1 or has_ended:  # the first is denied at once, the second after the end
            outcome = {"outcome": "selected", "optionId": "reject"}
            agent.send(id=asked[-1], result={"outcome": outcome})
    agent.process.kill()
    return has_ended and len(asked) == 3


def started_while_it_is_asked_about():
    """A call is shown as in progress although its permission was asked for, and then denied.

    expected: the call is pending until it is allowed, and then failed.
    it hurts: the screen says that a call runs, while the user is still asked whether it may.
    """
    agent = Agent(["c1"], answer="reject_once")
    agent.prompt(agent.session(), "mark it")
    print("actual: the states of the call:", agent.states)
    agent.process.kill()
    return agent.states == ["pending", "in_progress", "failed"]


def unknown_tool_is_completed():
    """A call of a tool that does not exist is shown as completed.

    expected: the last state is failed.
    it hurts: the screen says that something was done, and nothing was.
    """
    agent = Agent(["c1"], "done", tool="no_such_tool")
    agent.prompt(agent.session(), "mark it")
    (result,) = [one["content"] for one in World.requests[-1] if one["role"] == "tool"]
    print("actual: the states of the call:", agent.states)
    print("actual: the model is told:", result.splitlines()[0])
    agent.process.kill()
    return agent.states[-1] == "completed"


def runs_before_the_response_is_complete():
    """A call runs while the response that asks for it is still being written.

    expected: no tool runs before the model's response is complete.
    it hurts: if the response breaks, the tool has run for an answer that the model never gave.
    """
    agent = Agent(["c1"], "done")
    World.waits = True
    agent.prompt(agent.session(), "mark it")
    print("actual: the tool ran before the end of the response:", World.is_early)
    agent.process.kill()
    return World.is_early


def unknown_call_is_renamed():
    """A call of a tool that does not exist is shown to the model as one of `invalid`, with other arguments.

    expected: the call that the model made, and a result that says what is wrong with it.
    it hurts: the model reads that it did something which it did not, and looks for the tool `invalid`.
    """
    agent = Agent(["c1"], "done", tool="fly")
    agent.prompt(agent.session(), "fly")
    (call,) = World.requests[-1][-2]["tool_calls"]
    print("actual: the model called fly, and is shown:", call["function"])
    agent.process.kill()
    return call["function"]["name"] == "invalid"


PROGRAMS = {
    one.__name__: one
    for one in (
        permission_without_arguments,
        denial_ends_as_an_answer,
        asks_after_the_end,
        started_while_it_is_asked_about,
        unknown_tool_is_completed,
        runs_before_the_response_is_complete,
        unknown_call_is_renamed,
    )
}


if __name__ == "__main__":
    still_there = []
    for name in sys.argv[1:] or PROGRAMS:
        print(f"{name}: {inspect.getdoc(PROGRAMS[name])}")
        if PROGRAMS[name]():
            still_there.append(name)
    raise SystemExit(f"still there: {', '.join(still_there)}" if still_there else 0)
