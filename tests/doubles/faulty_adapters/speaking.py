"""What every adapter in this folder does right: it reads requests and can answer one."""

import json
import sys


def requests():
    """Each request that comes in, as a dict."""
    for line in sys.stdin.buffer:
        yield json.loads(line)


def answer(request):
    """The right answer to a stimulus that changed nothing."""
    write(
        json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"observations": [], "quiescent": True}})
    )


def write(text, end="\n"):
    """Put text or bytes on standard output, at once."""
    raw = text if isinstance(text, bytes) else text.encode()
    sys.stdout.buffer.write(raw + end.encode())
    sys.stdout.buffer.flush()


def complain(words):
    """Put a line on standard error."""
    print(words, file=sys.stderr, flush=True)


FAULTS = {}


def fault(function):
    """A fault by the name of its function."""
    FAULTS[function.__name__] = function
    return function


def put(answer):
    """What is right: one answer, one line, at once."""
    write(json.dumps(answer))


def raw(line):
    """Bytes on standard output."""
    write(line, "")
