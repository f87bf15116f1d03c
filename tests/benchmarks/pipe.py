"""What the pipe costs: a round trip through the kit's transport against a bare one, with the same bytes.

    python tests/benchmarks/pipe.py [SCHEDULES]

The conversation is that of the reference with as many walks as SCHEDULES (150 unless told otherwise); the
other side is an echo that knows its answers, so that no runtime is measured.  `own` is processor time of
the kit alone, on this side of the pipe and on the other one where `runlock serve` stands; `x` is against
the bare round trip, which writes a line and reads one.  Each number is the best of several passes.
"""

import io
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from runlock.conformance.campaign.targets import resolve
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.chooser import Seeded
from runlock.conformance.transport.server import serve
from runlock.conformance.transport.stdio import Pipe

PASSES = 7
LIMIT_MS = 0.1
ECHO = (
    "import sys\n"
    "for _, answer in zip(sys.stdin.buffer, open(sys.argv[1], 'rb').readlines()):\n"
    "    sys.stdout.buffer.write(answer)\n"
    "    sys.stdout.buffer.flush()\n"
)


class Overheard:
    """A `Sut` whose requests and answers are kept."""

    def __init__(self, sut, kept):
        self.sut, self.kept = sut, kept
        self.kill, self.close = sut.kill, sut.close

    def request(self, method, params):
        """Pass a verb on, and keep what came of it."""
        answer = self.sut.request(method, params)
        self.kept.append((method, params, answer))
        return answer


class Scripted:
    """A `Sut` that answers what was answered before."""

    def __init__(self, conversation):
        self.answers = iter(conversation)

    def request(self, method, params):
        """The next answer."""
        return next(self.answers)[2]

    def close(self):
        """Nothing is held."""


def conversation(schedules):
    """What walks on the reference send, and what comes back."""
    kept = []
    target = resolve("reference")
    bench, tally = Bench(lambda: Overheard(target.open(), kept)), Tally()
    for index in range(schedules):
        scenario = bench.scenarios[index % len(bench.scenarios)]
        bench.play(scenario, lambda session, i=index: walk(session, Seeded(1, i)), tally)
    bench.close()
    return kept


def lines_of(said):
    """The requests and the answers as lines."""
    requests, answers = [], []
    for own_id, (method, params, answer) in enumerate(said, start=1):
        envelope = {"jsonrpc": "2.0", "id": own_id}
        requests.append(json.dumps({**envelope, "method": method, "params": params}).encode() + b"\n")
        answers.append(json.dumps({**envelope, "result": answer}).encode() + b"\n")
    return requests, answers


def bare(requests, answers_file):
    """Seconds for the conversation with nothing between the two processes but the pipe."""
    words = [sys.executable, "-c", ECHO, answers_file]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as echo:
        began, own = time.perf_counter(), time.process_time()
        for line in requests:
            echo.stdin.write(line)
            echo.stdin.flush()
            echo.stdout.readline()
        return time.perf_counter() - began, time.process_time() - own


def piped(said, answers_file):
    """The same through the kit's transport."""
    pipe = Pipe([sys.executable, "-c", ECHO, str(answers_file)])
    pipe.start()
    began, own = time.perf_counter(), time.process_time()
    for method, params, _ in said:
        pipe.request(method, params)
    taken = time.perf_counter() - began, time.process_time() - own
    pipe.close()
    return taken


def served(said, requests):
    """Seconds of `runlock serve` for the conversation, in memory."""
    raw = io.BytesIO(b"".join(requests))
    own = time.process_time()
    serve(Scripted(said), raw, io.BytesIO())
    return time.process_time() - own


def table(schedules):
    """One line for each way."""
    said = conversation(schedules)
    requests, answers = lines_of(said)
    per_trip = 1000 / len(said)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "answers")
        file.write_bytes(b"".join(answers))
        passes = [(bare(requests, file), piped(said, file), served(said, requests)) for _ in range(PASSES)]
    bare_ms = min(one[0][0] for one in passes) * per_trip
    rows = (
        ("a bare round trip", bare_ms),
        ("through the kit's pipe", min(one[1][0] for one in passes) * per_trip),
        ("  own, bare", min(one[0][1] for one in passes) * per_trip),
        ("  own, the kit's pipe", min(one[1][1] for one in passes) * per_trip),
        ("  own, runlock serve", min(one[2] for one in passes) * per_trip),
    )
    yield f"{len(said):,} round trips, {sum(map(len, answers)) // len(said):,} bytes an answer"
    yield f"{'':<28}{'ms':>8}{'x':>8}"
    for title, cost in rows:
        yield f"{title:<28}{cost:>8.3f}{cost / bare_ms:>8.2f}"
    yield f"The kit's own time on this side is to stay below {LIMIT_MS} ms."


if __name__ == "__main__":
    print(*table(int(sys.argv[1]) if sys.argv[1:] else 150), sep="\n")
