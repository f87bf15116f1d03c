"""The control: an adapter without a fault, in process (`Right`) and behind the pipe."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from served import serve

from runlock.conformance.protocol import NO_SUCH_GATE, ProtocolError
from runlock.conformance.transport.in_process import InProcess


class Right:
    """The mandatory verbs, and a memory of what it was told."""

    def __init__(self):
        self.runs = []

    def initialize(self, params):
        print("a word on standard output")
        return {"protocol": params["protocol"]["max"], "implementation": {"name": "right", "version": "1"}}

    def scenario_open(self, params):
        os.system("echo a word from below Python")
        return {}

    def scenario_close(self, params):
        return {"leaks": []}

    def run_start(self, params):
        self.runs.append(params["run"])
        return {"observations": [{"kind": "run.status", "run": params["run"], "from": None, "to": "Created"}]}

    def gate_release(self, params):
        raise ProtocolError(NO_SUCH_GATE, f"no gate {params['gate']} is open", {"open": []})

    def settle(self, params):
        return {"observations": [], "quiescent": True, "runs": self.runs}

    def cancel(self, params):
        raise ValueError("ünknown\nrun")

    def shutdown(self, params):
        return {}


if __name__ == "__main__":
    serve(InProcess(Right()), sys.stdin.buffer, sys.stdout.buffer)
