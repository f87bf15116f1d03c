"""A conversation with a hosted tool runner: stimuli by name, and short words for what it reports."""

from plain_runner import PlainRunner

from runlock.conformance.families.tool_runner.host.hosted import HostedRunner

TOOLS = [{"name": "t0"}]


class Driven:
    """A hosted runner, its open gates by their `on`, and everything that it reported."""

    def __init__(self, make=PlainRunner, *, sut=None, **runner):
        self.made = []
        self.sut = sut or HostedRunner(lambda: self.made.append(make()) or self.made[-1])
        self.sut.request("scenario.open", {"scenario": "s", "tools": TOOLS, "runner": runner})
        self.gates, self.seen, self.refused = {}, [], []

    def send(self, method, **params):
        answer = self.sut.request(method, params)
        self.gates |= {one["on"]: one["gate"] for one in answer["observations"] if one["kind"] == "gate.open"}
        self.seen += answer["observations"]
        self.refused += answer["refused"]
        return [_short(one) for one in answer["observations"]]

    def start(self):
        return self.send("run.start", run="r1", input="hello")

    def release(self, on, **outcome):
        return self.send("gate.release", gate=self.gates[on], outcome=outcome)

    def says(self, *calls, text=""):
        return self.release("model", kind="turn", text=text, tool_calls=list(calls))

    def last(self, kind):
        return [one for one in self.seen if one["kind"] == kind][-1]


def _short(seen):
    if seen["kind"] == "gate.open":
        return f"{seen['on']} {seen['step']}"
    if seen["kind"] == "event":
        return f"{seen['name']} {seen['data'].get('text')}"
    return f"end {seen['reason']['code']}" if seen["kind"] == "run.finished" else seen["kind"]
