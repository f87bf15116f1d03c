"""A right runtime behind the pipe that does one thing wrong, named by its command line.

`misbehaving.py WHAT [METHOD]`: each function below is one fault.  It is given a request and the right
answer to it, and puts on standard output what it likes.  With a METHOD the fault shows there alone.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from plain_runtime import Plain, respond
from speaking import FAULTS, fault, put, raw

SLEEP = "import time; time.sleep(3600)"


def error(request, code, message, **data):
    """An answer that is an error."""
    put({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message, **data}})


def seen(answer, kind, **fields):
    """The answer with these fields in each of its observations of a kind."""
    for one in answer.get("result", {}).get("observations", ()):
        if one["kind"] == kind:
            one.update(fields)
    return answer


def shown(answer, **observation):
    """The answer with one observation more."""
    answer["result"].setdefault("observations", []).append({"run": "r1", **observation})
    return answer


# --- the handshake --------------------------------------------------------------------------------


@fault
def speaks_version_2(request, answer):
    put({**answer, "result": {**answer["result"], "protocol": 2}})


@fault
def names_nobody(request, answer):
    del answer["result"]["implementation"]
    put(answer)


@fault
def claims_a_profile_that_nobody_knows(request, answer):
    put({**answer, "result": {**answer["result"], "profile": "awaken-7"}})


@fault
def claims_a_policy_that_nobody_knows(request, answer):
    put({**answer, "result": {**answer["result"], "policies": {"round.colour": "blue"}}})


@fault
def turns_the_handshake_down(request, answer):
    error(request, -32602, "the stars are wrong")


@fault
def has_a_name_of_control_characters_and_markup(request, answer):
    answer["result"]["implementation"] = {"name": "\x1b[31m[bold]evil[/bold]\u202e", "version": "1\n2"}
    put(answer)


@fault
def has_gate_ids_of_control_characters_and_markup(request, answer):
    Plain.prefix = "\x1b[31m[bold]g[/bold]\u202e\x00"
    put(answer)


@fault
def claims_a_gate_and_never_opens_it(request, answer):
    opened = Plain.scenario_open

    def without_gates(runtime, params):
        for tool in params["tools"]:
            tool["permission"] = tool["permission"].replace("gate", "allow")
        return opened(runtime, params)

    Plain.scenario_open = without_gates
    put(answer)


# --- lines ----------------------------------------------------------------------------------------


@fault
def prints_to_standard_output(request, answer):
    print("got", request["method"], flush=True)
    put(answer)


@fault
def writes_garbage(request, answer):
    raw(b"\x1b[2J\x00 what?\n")


@fault
def writes_half_a_line_and_ends(request, answer):
    raw(json.dumps(answer).encode()[:20])
    sys.exit(0)


@fault
def writes_half_a_line_and_hangs(request, answer):
    raw(json.dumps(answer).encode()[:20])
    signal.pause()


@fault
def writes_a_line_of_a_hundred_megabytes(request, answer):
    for _ in range(100):
        sys.stdout.buffer.write(b"x" * 1_000_000)
    raw(b"\n")


@fault
def answers_the_next_request_first(request, answer):
    put({**answer, "id": request["id"] + 1})


@fault
def answers_the_last_request_again(request, answer):
    put({**answer, "id": request["id"] - 1})


@fault
def answers_twice(request, answer):
    put(answer)
    put(answer)


@fault
def asks_the_kit(request, answer):
    put({"jsonrpc": "2.0", "id": 1, "method": "who.are.you"})


@fault
def writes_latin_1(request, answer):
    raw(b'{"jsonrpc":"2.0","id":%d,"result":{"text":"caf\xe9"}}\n' % request["id"])


@fault
def nests_a_hundred_thousand_lists(request, answer):
    raw(b'{"jsonrpc":"2.0","id":%d,"result":{"v":%s}}\n' % (request["id"], b"[" * 10**5 + b"]" * 10**5))


@fault
def answers_with_a_number_that_is_none(request, answer):
    raw(b'{"jsonrpc":"2.0","id":%d,"result":{"v":NaN}}\n' % request["id"])


@fault
def answers_with_a_list(request, answer):
    put({**answer, "result": []})


@fault
def floods_standard_error(request, answer):
    for _ in range(200):
        sys.stderr.write("blah " * 2000 + "\n")
    put(answer)


# --- processes ------------------------------------------------------------------------------------


@fault
def hangs(request, answer):
    signal.pause()


@fault
def stops_itself(request, answer):
    os.kill(os.getpid(), signal.SIGSTOP)
    put(answer)


@fault
def reads_no_more_and_ignores_signals(request, answer):
    for polite in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(polite, signal.SIG_IGN)
    while True:
        time.sleep(3600)


@fault
def ends_with_exit_code_0(request, answer):
    sys.exit(0)


@fault
def ends_with_exit_code_3_and_a_word(request, answer):
    print("no configuration file", file=sys.stderr)
    sys.exit(3)


@fault
def dies_of_a_segmentation_fault(request, answer):
    ctypes.string_at(0)


@fault
def closes_standard_output(request, answer):
    os.close(1)
    signal.pause()


@fault
def leaves_a_child_on_the_pipe(request, answer):
    if os.fork() == 0:
        time.sleep(3600)
    os._exit(0)


@fault
def leaves_a_daemon(request, answer):
    subprocess.Popen([sys.executable, "-c", SLEEP], start_new_session=True, stdout=subprocess.DEVNULL)
    put(answer)


# --- answers --------------------------------------------------------------------------------------


@fault
def does_not_support_it(request, answer):
    error(request, -32001, "not today")


@fault
def says_that_the_kit_is_wrong(request, answer):
    error(request, -32002, "that may not come now")


@fault
def says_that_it_crashed(request, answer):
    error(request, -32005, "KeyError: 'c1'\n", data={"trace": "line 7"})


@fault
def says_that_it_did_not_settle(request, answer):
    error(request, -32004, "10,000 turns were not enough")


@fault
def says_much(request, answer):
    error(request, -32603, "\x1b[31m" + "x" * 100_000)


@fault
def shows_no_list(request, answer):
    put({**answer, "result": {"observations": {"kind": "phase"}}})


@fault
def leaves_a_field_out(request, answer):
    for one in answer["result"]["observations"]:
        one.pop("gate", None)
    put(answer)


@fault
def mistypes_a_field(request, answer):
    put(seen(answer, "gate.open", step="one"))


@fault
def invents_a_status(request, answer):
    put(seen(answer, "run.status", to="Runing"))


@fault
def stores_a_state_of_its_own(request, answer):
    put(shown(answer, kind="checkpoint", trigger="StepEnd", state={"messages": ["hello"]}))


@fault
def opens_a_gate_twice(request, answer):
    observations = answer["result"]["observations"]
    observations += [one for one in observations if one["kind"] == "gate.open"]
    put(answer)


@fault
def opens_a_gate_that_it_does_not_name(request, answer):
    put(seen(answer, "gate.open", on="teapot"))


@fault
def gives_up_a_gate_that_is_not_open(request, answer):
    put(shown(answer, kind="gate.closed", gate="g77", because="why not"))


@fault
def shows_what_nobody_listed(request, answer):
    put(shown(answer, kind="weather", run=None, mood={"\x1b": ["sunny"]}))


@fault
def moves_though_it_was_quiescent(request, answer):
    put(shown(answer, kind="phase", phase="StepStart", step=1))


runs = 0


@fault
def does_otherwise_the_second_time(request, answer):
    """The first run asks the model, and those after it end where it did."""
    global runs  # noqa: PLW0603  # what a runtime should not have
    runs += request["method"] == "run.start"
    if runs > 1 and request["method"] == "run.start":
        run = request["params"]["run"]
        answer["result"]["observations"] = [
            {"kind": "run.status", "run": run, "from": None, "to": "Running"},
            {
                "kind": "run.status",
                "run": run,
                "from": "Running",
                "to": "Done",
                "reason": {"code": "BehaviorRequested"},
            },
            {"kind": "run.finished", "run": run, "reason": {"code": "BehaviorRequested"}, "pending": []},
        ]
    put(answer)


# --- verbs that the runtime does not have -----------------------------------------------------------

OFFERED = ("run.input", "watch", "unwatch", "crash", "recover")
"""It offers them where they are to go wrong; what comes before that is answered with nothing."""


def offering(request, answer):
    """The answer of a runtime that has these verbs too."""
    if request["method"] == "initialize":
        said = answer["result"]
        stimuli = [*said["stimuli"], "run.input", "watch"]
        control = {**said["control"], "crash": ["soft"], "store": "own"}
        return {**answer, "result": {**said, "stimuli": stimuli, "control": control}}
    if request["method"] in OFFERED:
        return {"jsonrpc": "2.0", "id": request["id"], "result": {}}
    return answer


def main():
    """Answer requests until standard input ends, and do what the command line says."""
    what, at = FAULTS[sys.argv[1]], sys.argv[2] if sys.argv[2:] else None
    runtime = Plain(None)
    for line in sys.stdin:
        request = json.loads(line)
        answer = respond(runtime, request)
        (what if request["method"] == at or at is None else lambda _, right: put(right))(
            request, offering(request, answer) if at in OFFERED else answer
        )


if __name__ == "__main__":
    main()
