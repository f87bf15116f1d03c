"""Each schedule that matters for a tool runner occurs in a script, as the reference plays it."""

from functools import cache

import pytest

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import corpus
from runlock.conformance.families.tool_runner.family import FAMILY
from runlock.conformance.families.tool_runner.host.hosted import HostedRunner
from runlock.conformance.families.tool_runner.reference import reference

SCRIPTS = {script.name: script for script in corpus(FAMILY)}

SCHEDULES = [
    ("a plain message on a tool turn", "pushed-on-calls", "turn tool_use 1, push user, resume"),
    ("a plain message on a final turn", "pushed-on-a-final-turn", "turn end_turn 0, push user, resume"),
    ("the assistant message alone", "pushed-turn", "turn tool_use 2, push assistant, resume"),
    ("the answer alone", "pushed-answer-alone", "turn tool_use 1, push tool, resume"),
    ("both", "pushed-turn-and-response", "push assistant tool, resume, request"),
    ("the user's answer to some calls", "pushed-turn-and-a-part", "turn tool_use 2, push assistant tool"),
    ("the user's denial", "pushed-turn-and-a-denial", "push assistant tool:error, resume, request"),
    ("generate, then push", "respond-and-push-both", "respond, response, push assistant tool, resume"),
    ("push, then generate", "respond-after-a-push", "push user, respond, response, resume"),
    ("generate twice", "respond-twice", "respond, response, respond, response, resume"),
    ("a param that is no message", "params-set", "yield, set params, resume"),
    ("replacement of the history", "messages-set", "yield, set messages, resume"),
    ("several tools in one turn", "results-in-reverse", "turn tool_use 2, enter c1, enter c2, tool ok"),
    ("a tool that raises", "a-tool-throws", "enter c1, tool raise"),
    ("an unknown tool", "an-unknown-tool", "turn no-such-tool, resume, request"),
    ("duplicate ids", "one-id-twice", "turn c1 c1, resume, enter c1"),
    ("a limit of 0", "limit-of-zero", "limit 0"),
    ("a limit of 1", "limit-of-one", "limit 1, request, end Stopped"),
    ("a limit of n", "limit", "limit 2, request, request, end Stopped"),
    ("a refusal", "refused", "turn refusal 0, resume, end NaturalEnd"),
    ("a refusal with a call", "cut-off-by-refusal", "turn refusal 1, resume"),
    ("max_tokens", "cut-off-without-a-call", "turn max_tokens 0, resume, end NaturalEnd"),
    ("max_tokens with a call", "cut-off-by-max-tokens", "turn max_tokens 1, resume"),
    ("pause_turn", "pause", "turn pause_turn 0, resume, request"),
    ("pause_turn with a call", "pause-with-a-call", "turn pause_turn 1, resume, request"),
    ("an error of the API, and again", "the-model-breaks-later", "fault, end Error, again, request"),
    ("an error of a stream", "stream-breaks-after-a-push", "push user & fault, end Error, again, request"),
    ("leaving early, and coming back", "left-and-taken-up", "break, end BehaviorRequested, again, enter c1"),
    ("abort while a tool runs", "cancel-while-tools-run", "enter c1, cancel, end Cancelled"),
    ("a tool added between turns", "tool-added", "add t2, resume, request, enter c2"),
    ("a tool removed between turns", "tool-removed", "remove t0, resume, request"),
    ("a tool removed within a turn", "tool-removed-before-its-call", "turn tool_use, remove t1, resume"),
    ("a tool removed while it runs", "tool-removed-while-it-runs", "respond, enter c1, remove t0, tool ok"),
    ("a tool replaced within a turn", "tool-replaced-before-its-call", "turn tool_use, add t1, resume"),
]
"""What happens, the script that shows it, and what its trace holds, in this order."""


def _released(outcome):
    kind = outcome["kind"]
    if kind != "turn":
        return {"ok": "tool ok", "error": "tool error", "raise": "tool raise"}.get(kind, kind)
    calls = outcome.get("tool_calls") or []
    stop = outcome.get("stop_reason") or ("tool_use" if calls else "end_turn")
    ids, names = ([call[key] for call in calls] for key in ("id", "name"))
    return f"turn {stop} {len(calls)} {' '.join(ids)} {' '.join(names)}"


def _given(messages):
    failed = {"error": ":error"}
    return " ".join(message["role"] + failed.get(message.get("status"), "") for message in messages)


def _sent(method, params):
    """A stimulus in short words."""
    if method == "deliver":
        return " & ".join(_sent(part["method"], part["params"]) for part in params["stimuli"])
    if method == "gate.release":
        return _released(params["outcome"])
    if method == "runner.push":
        return f"push {_given(params['messages'])}"
    if method == "runner.set":
        return "set " + " ".join(key for key in ("messages", "params") if params.get(key))
    if method == "runner.tools":
        return " ".join(f"{verb} {' '.join(names)}" for verb, names in sorted(params.items()) if names)
    return method.removeprefix("runner.")


def _seen(seen):
    """An observation in short words."""
    if seen["kind"] == "gate.open":
        return {"model": "request", "yield": "yield"}.get(seen["on"]) or f"enter {seen['call']}"
    if seen["kind"] == "run.finished":
        return f"end {seen['reason']['code']}"
    return seen["kind"].removeprefix("runner.")


@cache
def told(script):
    """The trace of a script on the reference, in short words."""
    bench = Bench(lambda: HostedRunner(reference()))
    session = bench.session(SCRIPTS[script].scenario)
    session.play(SCRIPTS[script].moves)
    session.close()
    bench.close()
    records = session.trace.records
    options = SCRIPTS[script].scenario.runner
    words = [f"limit {options.max_iterations}"]
    for record in records:
        if "stimulus" in record:
            words.append(_sent(record["stimulus"]["method"], record["stimulus"]["params"]))
        elif "observation" in record:
            words.append(_seen(record["observation"]))
    return words


def _says(line, wanted):
    """Whether a line has these words, in this order."""
    words = iter(line.split())
    return all(word in words for word in wanted.split())


@pytest.mark.parametrize(("what", "script", "wanted"), SCHEDULES, ids=lambda one: one.replace(" ", "-"))
def test_a_schedule_that_matters_occurs(what, script, wanted):
    """The script's trace holds these steps, one after the other."""
    lines = iter(told(script))

    lost = [step for step in wanted.split(", ") if not any(_says(line, step) for line in lines)]

    assert lost == [], told(script)


def test_the_words_of_a_trace_tell_schedules_apart():
    """A script that lacks a step does not show it."""
    lines = iter(told("natural-end"))

    assert not any(_says(line, "push user") for line in lines)
    assert "push assistant tool:error" in told("pushed-turn-and-a-denial")
    assert "push assistant tool:error" not in told("pushed-turn-and-response")
