"""Answers the handshake and opens scenarios, and hangs at `run.start`; ignores every polite signal.

Each process of it, and a child that left its group, write their ids to the file that the argument names.
"""

import json
import os
import signal
import sys
import time


def note(path):
    """Add this process to the list."""
    with open(path, "a") as file:
        print(os.getpid(), file=file, flush=True)


def main(path):
    """Answer until a run starts."""
    for polite in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(polite, signal.SIG_IGN)
    note(path)
    if os.fork() == 0:
        os.setsid()
        note(path)
        time.sleep(1000)
    for line in sys.stdin:
        request = json.loads(line)
        if request["method"] == "run.start":
            note(f"{path}.hung")
            time.sleep(1000)
        party = {"name": "hangs", "version": "0"}
        result = {"implementation": party, "profile": "core"} if request["method"] == "initialize" else {}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)


main(sys.argv[1])
