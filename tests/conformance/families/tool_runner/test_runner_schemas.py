"""The JSON Schemas of the tool runner's messages: generated from the models, and true of what is sent."""

import json
import subprocess
import sys
from importlib import resources

import jsonschema
import pytest
from referencing import Registry, Resource

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import applicable, corpus
from runlock.conformance.families.tool_runner.family import FAMILY
from runlock.conformance.families.tool_runner.host.hosted import HostedRunner
from runlock.conformance.families.tool_runner.messages import METHODS
from runlock.conformance.families.tool_runner.reference import reference

FOLDER = resources.files("runlock.conformance.families.tool_runner").joinpath("json_schema")
FILES = {file.name: file.read_text("utf-8") for file in FOLDER.iterdir() if file.name.endswith(".json")}
REGISTRY = Registry().with_resources(
    (name, Resource.from_contents(json.loads(text))) for name, text in FILES.items()
)
SCRIPTS = {script.name: script for script in corpus(FAMILY)}


def fits(name, message):
    """Whether a schema accepts a message."""
    return jsonschema.Draft202012Validator({"$ref": f"{name}.json"}, registry=REGISTRY).is_valid(message)


def test_the_schemas_are_those_of_the_models(tmp_path):
    """`python -m runlock.conformance.protocol.json_schema FOLDER FAMILY` writes the files anew."""
    family = "runlock.conformance.families.tool_runner.family:FAMILY"
    words = [sys.executable, "-m", "runlock.conformance.protocol.json_schema", tmp_path, family]
    subprocess.run(words, check=True, capture_output=True)

    assert {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()} == FILES


def test_every_verb_has_two_schemas():
    """One for what it takes, one for what it answers."""
    sides = {f"{verb}.{side}.json" for verb in METHODS for side in ("params", "answer")}

    assert set(FILES) == sides | {"definitions.json", "observation.json", "outcome.json", "trace.json"}


@pytest.mark.parametrize(
    "name",
    ["respond-and-push-both", "stream-with-a-call", "tool-replaced", "params-set", "left-and-taken-up"],
)
def test_what_is_sent_and_answered_fits(name):
    """Each line of a trace of the reference fits the schema of a trace, and each request that of its verb."""
    bench = Bench(lambda: HostedRunner(reference()))
    session = bench.session(SCRIPTS[name].scenario)
    session.play(SCRIPTS[name].moves)
    session.close()
    bench.close()

    assert applicable(FAMILY, SCRIPTS[name], bench.handshake) == ""
    assert [one for one in session.trace.records if not fits("trace", one)] == []
    sent = [one["stimulus"] for one in session.trace.records if "stimulus" in one]
    assert sent != []
    assert [one for one in sent if not fits(f"{one['method']}.params", one["params"])] == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("runner.push.params", {}),
        ("runner.push.params", {"messages": [{"text": "no role"}]}),
        ("runner.tools.params", {"add": "t0"}),
        ("outcome", {"kind": "leave"}),
        ("observation", {"kind": "runner.response", "run": "r1", "cached": "yes"}),
    ],
)
def test_what_is_malformed_does_not_fit(name, message):
    """A schema that accepts everything would check nothing."""
    assert not fits(name, message)
