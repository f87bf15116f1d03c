"""The JSON Schemas say what the models say, for anyone who writes an adapter in another language."""

import json
import subprocess
import sys
from importlib import resources

import jsonschema
import pytest
from pydantic import TypeAdapter, ValidationError
from referencing import Registry, Resource

from runlock.conformance.families.lifecycle.messages import (
    LISTED,
    METHODS,
    OUTCOMES_BY_GATE,
    AnyObservation,
)

FOLDER = resources.files("runlock.conformance.protocol.json_schema")

HANDSHAKE = {
    "protocol": 1,
    "implementation": {"name": "acme-runtime", "version": "2.4.1", "language": "rust"},
    "family": "lifecycle",
    "profile": "awaken-9",
    "policies": {"round.executor": "parallel"},
    "control": {
        "settle": "exact",
        "crash": ["soft", "kill"],
        "store": "kit",
        "clock": "virtual",
        "step": "turns",
    },
    "gates": ["model", "permission", "tool", "store.put"],
    "observes": [
        "run.status",
        "call.status",
        "phase",
        "resume",
        "message",
        "checkpoint",
        "decision",
        "event",
    ],
    "stimuli": ["decide", "cancel", "cancel.waiting", "run.input", "run.again", "clock.advance", "deliver"],
    "outcomes": {
        "model": ["turn", "fault"],
        "permission": ["allow", "block", "suspend", "set_result"],
        "tool": ["ok", "warning", "error", "raise", "fault", "pending"],
        "store.put": ["ok", "fault"],
    },
    "tools": ["allow", "ask", "gate"],
    "decisions": {"live": True, "ids": True, "suspensions": True, "payload": True},
}
TURN = {
    "kind": "turn",
    "text": "…",
    "tool_calls": [{"id": "c1", "name": "t0", "args": {"k": "c1"}}],
    "usage": {"input": 3, "output": 5},
}
DECISIONS = [
    {"id": "d1", "call": "c1", "action": "resume", "payload": None, "suspension": 1},
    {"id": "d2", "call": "c2", "action": "cancel"},
]
REPORT = {
    "observations": [
        {"kind": "gate.open", "run": "r1", "gate": "g1", "on": "model", "step": 1, "messages": []},
        {"kind": "run.status", "run": "r1", "from": None, "to": "Created", "reason": None},
        {"kind": "acme.native", "run": "r1", "anything": [1, 2]},
    ],
    "quiescent": True,
    "refused": [{"stimulus": 0, "decision": "d9", "why": "unknown call"}],
}

EXAMPLES = [
    (
        "initialize.params",
        {
            "protocol": {"min": 1, "max": 1},
            "kit": {"name": "runlock", "version": "…"},
            "spec": {"revision": "1.0"},
        },
    ),
    ("initialize.answer", HANDSHAKE),
    (
        "scenario.open.params",
        {
            "scenario": "s-17",
            "data": "/an/empty/folder",
            "tools": [
                {"name": "t0", "permission": "allow"},
                {"name": "t1", "permission": "ask", "resume_mode": "replay"},
            ],
            "agent": {"stop": [{"kind": "max_rounds", "rounds": 6}]},
            "hold": ["store.put"],
        },
    ),
    ("scenario.close.answer", {"leaks": []}),
    ("run.start.params", {"run": "r1", "input": "hello", "decisions": []}),
    ("run.start.answer", REPORT),
    ("gate.release.params", {"gate": "g1", "outcome": TURN}),
    ("gate.release.params", {"gate": "g2", "outcome": {"kind": "allow"}}),
    ("gate.release.params", {"gate": "g4", "outcome": {"kind": "fault", "message": "…"}, "turns": 0}),
    ("decide.params", {"run": "r1", "decisions": DECISIONS}),
    ("cancel.params", {"run": "r1"}),
    ("run.input.params", {"run": "r1", "input": "never mind, do this instead"}),
    ("clock.advance.params", {"ms": 30000}),
    (
        "deliver.params",
        {
            "stimuli": [
                {"method": "decide", "params": {"run": "r1", "decisions": DECISIONS}},
                {"method": "gate.release", "params": {"gate": "g1", "outcome": TURN}},
            ]
        },
    ),
    ("settle.params", {"turns": 3}),
    ("settle.answer", {}),
    (
        "inspect.answer",
        {
            "status": "Waiting",
            "reason": None,
            "step": 1,
            "calls": {"c1": {"status": "Suspended", "attempts": 0}},
            "messages": [{"role": "tool", "text": "…", "call": "c1", "status": "ok"}],
        },
    ),
    ("recover.params", {"run": "r1", "store": None}),
    ("settle.answer", {"observations": None, "quiescent": None, "unknown": 1}),
]

MISFITS = [
    ("initialize.answer", {"protocol": 1}),
    ("run.start.params", {"run": 7, "input": "hello"}),
    ("run.start.params", {"run": None, "input": "hello"}),
    ("decide.params", {"run": "r1", "decisions": [{"id": "d1", "call": "c1", "action": "approve"}]}),
    ("deliver.params", {"stimuli": [{"method": "deliver", "params": {}}]}),
    ("settle.answer", {"observations": [{"kind": "run.status", "run": "r1", "to": "Paused"}]}),
    ("settle.answer", {"observations": [{"kind": "gate.closed", "run": "r1"}]}),
    ("settle.answer", {"observations": [{"run": "r1", "gate": "g1"}]}),
    ("settle.answer", []),
]

OBSERVATIONS = [
    {"kind": "gate.open", "gate": "g1", "on": "tool", "call": "c1", "name": "t0", "args": {}, "attempt": 1},
    {"kind": "gate.closed", "run": "r1", "gate": "g1", "because": "cancel"},
    {"kind": "run.status", "run": "r1", "from": "Created", "to": "Running", "reason": None},
    {"kind": "call.status", "run": "r1", "call": "c1", "from": "New", "to": "Suspended", "suspension": 1},
    {"kind": "phase", "run": "r1", "phase": "ToolGate", "step": 1, "call": "c1", "verdict": "suspend"},
    {"kind": "resume", "run": "r1", "state": "DrainDecisionChannel", "call": None, "decision": None},
    {"kind": "decision", "run": "r1", "decision": "d1", "call": "c1", "disposition": "buffered"},
    {"kind": "call.shown", "run": "r1", "call": "c1", "name": "pay", "args": {"k": "c1", "v": 100}},
    {"kind": "message", "run": "r1", "message": {"role": "user", "text": "hello"}},
    {"kind": "checkpoint", "run": "r1", "trigger": "StepEnd", "cause": "step", "force": False, "state": {}},
    {"kind": "event", "run": "r1", "stream": "s", "name": "n", "data": 1, "watcher": None},
    {"kind": "stream.closed", "run": "r1", "watcher": "w1"},
    {
        "kind": "exchange",
        "run": "r1",
        "request": {"threadId": "t", "runId": "r"},
        "events": [{"type": "RUN_STARTED", "threadId": "t", "runId": "r"}],
        "ended": "left",
    },
    {
        "kind": "prompt",
        "run": "r1",
        "events": [{"type": "prompt"}, {"type": "response", "stopReason": "end_turn"}],
        "ended": "answered",
    },
    {"kind": "input.returned", "run": "r1", "text": "never mind"},
    {"kind": "run.finished", "run": "r1", "reason": {"code": "Suspended"}, "pending": ["c1"]},
    {
        "kind": "inspect",
        "run": "r1",
        "status": "Waiting",
        "step": 1,
        "calls": {"c1": {"status": "Suspended", "attempts": 0}},
    },
    {"kind": "thread.edited", "run": "r1", "why": "compaction", "at": 0, "cut": [], "instead": []},
]


def schema(name):
    """A schema as it is checked in."""
    return json.loads(FOLDER.joinpath(f"{name}.json").read_text("utf-8"))


def model(name):
    """The model that a verb's schema was made from."""
    verb, _, side = name.rpartition(".")
    return METHODS[verb][0 if side == "params" else 1]


FILES = [file.name for file in FOLDER.iterdir() if file.name.endswith(".json")]
REGISTRY = Registry().with_resources(
    (name, Resource.from_contents(schema(name.removesuffix(".json")))) for name in FILES
)
"""Every file by its name, by which the others refer to it."""


def fits(name, message):
    """Whether a schema accepts a message."""
    return jsonschema.Draft202012Validator({"$ref": f"{name}.json"}, registry=REGISTRY).is_valid(message)


@pytest.mark.long
def test_the_schemas_are_those_of_the_models(tmp_path):
    """The files are generated: `python -m runlock.conformance.protocol.json_schema` writes them anew."""
    subprocess.run([sys.executable, "-m", "runlock.conformance.protocol.json_schema", tmp_path], check=True)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    checked_in = {file.name: file.read_bytes() for file in FOLDER.iterdir() if file.name.endswith(".json")}

    assert sorted(written) == sorted(checked_in)
    assert [name for name in written if written[name] != checked_in[name]] == []


def test_every_verb_has_two_schemas():
    """One for what it takes, one for what it answers."""
    sides = {f"{verb}.{side}.json" for verb in METHODS for side in ("params", "answer")}

    assert set(FILES) == sides | {"definitions.json", "observation.json", "outcome.json", "trace.json"}


@pytest.mark.parametrize("name", FILES)
def test_a_schema_is_of_the_current_dialect_and_its_references_lead_somewhere(name):
    """No file refers to a definition that is not there, or to anything outside of the folder."""
    whole = schema(name.removesuffix(".json"))
    jsonschema.Draft202012Validator.check_schema(whole)

    for ref in references(whole):
        assert isinstance(REGISTRY.resolver(base_uri=name).lookup(ref).contents, dict)


def references(value):
    """Every reference in a schema."""
    if isinstance(value, list):
        return [ref for one in value for ref in references(one)]
    if not isinstance(value, dict):
        return []
    return [one for key, inner in value.items() for one in ([inner] if key == "$ref" else references(inner))]


def test_a_part_of_a_message_is_defined_once():
    """Other files only refer to the definitions, so that a change of a part is one change."""
    definitions = schema("definitions")["$defs"]
    every = [one for name in FILES for one in references(schema(name.removesuffix(".json")))]

    assert {one.rpartition("/")[2] for one in every} == definitions.keys()
    assert not [name for name in FILES if name != "definitions.json" and "$defs" in schema(name[:-5])]


@pytest.mark.parametrize(("name", "message"), EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_an_example_of_the_protocol_fits_schema_and_model(name, message):
    """What the protocol shows is accepted by both, with a null for what was left out and unknown fields."""
    model(name).model_validate(message)

    assert fits(name, message)


@pytest.mark.parametrize(("name", "message"), MISFITS, ids=[name for name, _ in MISFITS])
def test_a_misfit_fits_neither(name, message):
    """What a model refuses, its schema refuses."""
    with pytest.raises(ValidationError):
        model(name).model_validate(message)

    assert not fits(name, message)


@pytest.mark.parametrize("observation", OBSERVATIONS, ids=lambda seen: seen["kind"])
def test_an_observation_of_each_kind_fits(observation):
    """Each listed kind is accepted by its own model and by the one schema of observations."""
    TypeAdapter(AnyObservation).validate_python(observation)

    assert fits("observation", observation)
    assert fits("trace", {"observation": observation})


def test_every_listed_kind_has_an_example():
    """No kind of observation is left out above."""
    assert [seen["kind"] for seen in OBSERVATIONS] == list(LISTED)


@pytest.mark.parametrize(
    ("gate", "outcome"),
    [
        ("model", TURN),
        ("permission", {"kind": "set_result", "content": 1}),
        ("hook", {"kind": "fault"}),
        ("apply", {"kind": "ok"}),
    ],
)
def test_an_outcome_fits(gate, outcome):
    """What the outside world answers at a gate has a schema too."""
    OUTCOMES_BY_GATE[gate].validate_python(outcome)

    assert fits("outcome", outcome)


@pytest.mark.parametrize(
    "line",
    [
        {"handshake": HANDSHAKE},
        {"scenario": {"scenario": "s-17"}},
        {"stimulus": {"method": "settle", "params": {}}},
        {"report": {"quiescent": True, "refused": []}},
        {"crash": {}},
        {"end": {"leaks": []}},
    ],
    ids=lambda line: next(iter(line)),
)
def test_a_line_of_a_trace_has_one_key(line):
    """Each line of a trace file is an object with exactly one of seven keys."""
    assert fits("trace", line)
    assert not fits("trace", {**line, "more": 1})
    assert not fits("trace", {})
