"""A right runtime that goes wrong now and then: `flaky.py FAULT EVERY [METHOD] [TARGET] [STARTS]`.

Each function below is one fault.  It is given the number of a request, the request and the right answer to
it, and puts on standard output what it likes.  It goes wrong at each EVERYth answer, or each EVERYth
observation; with a METHOD (or `any`), only the answers to that one are counted.  STARTS is a file that counts
the starts.
"""

import itertools
import json
import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from plain_runtime import Plain, respond
from speaking import FAULTS, fault, put, raw

SEEN = itertools.count(1)


def due(is_turn):
    """Leave a mark where the environment names one, since the fault shows now."""
    if is_turn and (mark := os.environ.get("FLAKY_MARK")):
        Path(mark).touch()
    return is_turn


def is_due(every):
    """Whether it is the turn of this observation."""
    return due(next(SEEN) % every == 0)


def observations(answer):
    """What an answer shows, in a list that can be changed."""
    return answer.get("result", {}).get("observations") or []


# --- processes ------------------------------------------------------------------------------------


@fault
def exits(answer, is_turn, every):
    if is_turn:
        os._exit(0)
    put(answer)


@fault
def exits_after_it(answer, is_turn, every):
    put(answer)
    if is_turn:
        os._exit(0)


@fault
def is_killed(answer, is_turn, every):
    if is_turn:
        os.kill(os.getpid(), signal.SIGKILL)
    put(answer)


# --- lines ----------------------------------------------------------------------------------------


@fault
def writes_garbage(answer, is_turn, every):
    (raw if is_turn else put)(b"\x1b[2J\x00 what?\n" if is_turn else answer)


@fault
def writes_half_a_line(answer, is_turn, every):
    if is_turn:
        raw(json.dumps(answer).encode()[:20])
        os._exit(0)
    put(answer)


@fault
def answers_twice(answer, is_turn, every):
    put(answer)
    if is_turn:
        put(answer)


@fault
def answers_with_an_error(answer, is_turn, every):
    if is_turn:
        answer = {"jsonrpc": "2.0", "id": answer["id"], "error": {"code": -32603, "message": "not now"}}
    put(answer)


@fault
def says_that_it_crashed(answer, is_turn, every):
    if is_turn:
        answer = {"jsonrpc": "2.0", "id": answer["id"], "error": {"code": -32005, "message": "oh no"}}
    put(answer)


# --- observations ---------------------------------------------------------------------------------


@fault
def loses_an_observation(answer, is_turn, every):
    if seen := observations(answer):
        answer["result"]["observations"] = [one for one in seen if not is_due(every)]
    put(answer)


@fault
def reorders_observations(answer, is_turn, every):
    seen = observations(answer)
    for at in range(1, len(seen)):
        if is_due(every):
            seen[at - 1], seen[at] = seen[at], seen[at - 1]
    put(answer)


@fault
def renames_an_observation(answer, is_turn, every):
    for one in observations(answer):
        if is_due(every):
            one["kind"] = f"{one['kind']}d"
    put(answer)


@fault
def repeats_an_observation(answer, is_turn, every):
    if seen := observations(answer):
        twice = ([one, one] if is_due(every) else [one] for one in seen)
        answer["result"]["observations"] = [one for some in twice for one in some]
    put(answer)


@fault
def stamps_the_time(answer, is_turn, every):
    for one in observations(answer):
        one["stamp"] = time.time_ns()
    put(answer)


# --- the handshake --------------------------------------------------------------------------------


@fault
def changes_its_handshake(answer, is_turn, every):
    """Each EVERYth start names another version, and shows one thing less."""
    if "protocol" in answer.get("result", {}):
        file = Path(sys.argv[5])
        starts = int(file.read_text()) + 1 if file.exists() else 1
        file.write_text(str(starts))
        if starts % every == 0:
            said = answer["result"]
            said["implementation"] = {**said["implementation"], "version": "2"}
            said["observes"] = said["observes"][:-1]
    put(answer)


OF_OBSERVATIONS = (
    "loses_an_observation", "reorders_observations", "renames_an_observation", "repeats_an_observation",
    "stamps_the_time", "changes_its_handshake",
)  # fmt: skip
"""The faults that count what is not an answer."""


def runtime_of(target):
    """What answers a request rightly: `plain` starts soon, since it imports nothing of the kit."""
    if target == "plain":
        runtime = Plain(None)
        return lambda request: respond(runtime, request)

    from runlock.conformance.campaign.targets import resolve
    from runlock.conformance.protocol import ProtocolError

    sut = resolve(target).open()

    def answered(request):
        answer = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            return {**answer, "result": sut.request(request["method"], request["params"])}
        except ProtocolError as error:
            return {**answer, "error": {"code": error.code, "message": error.message}}

    return answered


def main(what, every, method="any", target="plain", starts=""):
    """Answer requests until standard input ends, and do what the command line says."""
    answered, turn = runtime_of(target), 0
    for line in sys.stdin:
        request = json.loads(line)
        answer = answered(request)
        is_counted = method in ("any", request["method"])
        turn += is_counted
        is_turn = is_counted and turn % int(every) == 0
        if what not in OF_OBSERVATIONS:
            due(is_turn)
        FAULTS[what](answer, is_turn, int(every))


if __name__ == "__main__":
    main(*sys.argv[1:])
