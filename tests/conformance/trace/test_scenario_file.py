"""The grammar of scenario files: what is pleasant to write is read, and what is wrong is distinguished."""

from __future__ import annotations

import pytest

from runlock.conformance.errors import UsageError
from runlock.conformance.families.lifecycle.line_formats import LINE_FORMATS
from runlock.conformance.trace.moves import moves_of
from runlock.conformance.trace.scenario_file import from_text, parse, render, to_text
from runlock.conformance.trace.trace import Trace

LAUGHS = "recover store=@a8\n@a0 = [x]\n" + "".join(f"@a{n} = [{f'@a{n - 1} ' * 10}]\n" for n in range(1, 9))
"""A few lines that define a list of a hundred million values."""

RECORDED = """\
# A run that is asked to write.
target reference:awaken-8

scenario writing
  tool write ask
  tool form ask use_as_result
  stop max_rounds rounds=6
  hold store.put

start r1 "write it"
----
run.status -> Running
gate.open g1 model step=1 messages=[{role=user text="write it"}]

release model turn "let me see" tool_calls=[c1:write {id=c2 name=form args={k=c2 v=1.0}}]
----
call.status c1 -> New
call.status c1 New -> Suspended suspension=1
gate.open g2 tool:c2 form step=1 args={k=c2 v=1.0} attempt=1
unlisted acme.trace depth=3 inner={a=[1 true null "true"]}

# Whoever is first, wins.
race turns=3
  release tool:c2 ok {v=false}
  decide d1 resume c1 payload=false; d2 cancel c1
----
refused "call c1 is decided already" stimulus=1 decision=d2
report quiescent=false

settle
----
run.status Running -> Done reason=NaturalEnd
run.finished NaturalEnd

end leaks=[g2]
"""


def test_a_file_is_written_as_it_was_read():
    """A file in normal form comes back byte for byte, comments and target included."""
    document = parse(RECORDED, LINE_FORMATS)

    assert document.about == "A run that is asked to write."
    assert document.target == "reference:awaken-8"
    assert render(document, LINE_FORMATS) == RECORDED


def test_a_line_says_a_record():
    """Each line is one record of the trace, and the blank line is the report."""
    trace = from_text(RECORDED, LINE_FORMATS)

    assert trace.records[0]["scenario"]["agent"] == {"stop": [{"kind": "max_rounds", "rounds": 6}]}
    assert trace.records[1] == {
        "stimulus": {"method": "run.start", "params": {"run": "r1", "input": "write it"}}
    }
    assert trace.records[2] == {
        "observation": {"kind": "run.status", "run": "r1", "from": None, "to": "Running", "reason": None}
    }
    assert trace.records[4] == {"report": {"quiescent": True, "refused": []}}
    assert trace.records[-1] == {"end": {"leaks": ["g2"]}}


def test_a_gate_is_found_by_what_waits_there():
    """A release names what waits; the trace has the id, and the moves have the name again."""
    trace = from_text(RECORDED, LINE_FORMATS)

    assert trace.stimuli[1]["params"]["gate"] == "g1"
    assert trace.stimuli[2]["params"]["stimuli"][0]["params"]["gate"] == "g2"
    assert [move.params.get("gate") for move in moves_of(trace, LINE_FORMATS.gate_name)][1] == "model"


def test_moves_can_be_written_without_what_they_lead_to():
    """Lines without observations are moves, one a line, blank lines or not."""
    trace = from_text(
        'start r1 hello\nrelease model turn c1:read "I will read"\nrelease tool:c1 raise gone\ncancel\n',
        LINE_FORMATS,
    )

    assert [key for record in trace.records for key in record] == ["stimulus"] * 4
    assert trace.stimuli[1]["params"] == {
        "gate": "model",
        "outcome": {
            "kind": "turn",
            "text": "I will read",
            "tool_calls": [{"id": "c1", "name": "read", "args": {"k": "c1"}}],
        },
    }
    assert trace.stimuli[2]["params"]["outcome"] == {"kind": "raise", "message": "gone"}
    assert trace.stimuli[3]["params"] == {"run": "r1"}


def test_json_is_read_as_well():
    """Values may be written as JSON."""
    lines = 'release model turn tool_calls=[{"id": "c1", "name": "read", "args": {"k": "c1"}}, c2:read]'
    short = "release model turn c1:read c2:read"

    assert from_text(lines, LINE_FORMATS).records == from_text(short, LINE_FORMATS).records


def test_a_long_value_is_defined_by_what_changed():
    """States are set apart at the end, each as the one before but for what is new."""
    calls = {f"c{number}": {"status": "New", "name": "read"} for number in range(4)}
    after = {**calls, "c1": {"status": "Running", "name": "read"}}
    del after["c3"]
    trace = Trace(
        [
            {"observation": {"kind": "checkpoint", "trigger": "StepEnd", "state": {"calls": c}}}
            for c in (calls, after)
        ]
    )
    text = to_text(trace, LINE_FORMATS)

    assert "checkpoint StepEnd -force state=@state2" in text
    assert text.endswith("@state2 = @state1 +{calls={-c3 c1={status=Running}}}\n")
    assert from_text(text, LINE_FORMATS).records == trace.records


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("strat r1 hello", ":1: `strat` is no stimulus. Did you mean `start`?"),
        ("\nrun.start r1 hello", ":2: `run.start` is no stimulus. Did you mean `start`?"),
        ("scenario s\n  tol read", ":1: `tol` is no part of a scenario. Did you mean `tool`?"),
        (
            "settle\n----\nrun.statu -> Done",
            ":3: `run.statu` is no kind of observation. Did you mean `run.status`?",
        ),
        ("settle\n----\nacme 1", "A kind of the runtime's own is `unlisted acme …`."),
        ("settle\n----\nsettle", ":3: `settle` is no observation. A blank line ends a block."),
        ("phase RunStart", ":1: `phase` is observed, and stands above `----`. Put `----` before it."),
        ("settle\n----\n----", ":3: `----` stands in a block for the second time."),
        ("settle\n----\n# why", ":3: A comment stands among what was observed"),
        ("  settle", ":1: A line is indented under nothing."),
        ("settle\n  cancel", ":1: Lines are indented under `settle`, which has none."),
        ("race\n  crash", ":1: `crash` is no stimulus of a race."),
        ("decide d1 resume c1 paylod=1", "`decide` has no field `paylod`. Did you mean `payload`?"),
        ("decide d1 resume c1 x=1", "A field that the protocol does not list is `+x=…`."),
        ("decide d1 resume c1;", "A decision is missing at a semicolon. As in `decide d1 resume c1"),
        ("cancel ; cancel", "A semicolon stands in `cancel`. Only decisions are parted by semicolons."),
        (
            "start r1 hello there",
            "there stands in `start` without a name. Without a name it takes run, input",
        ),
        ("start r1 hello run=r2", "`run` is given twice. Once without its name, and once with it."),
        ("start r1 turns=1 turns=2", "`turns` is given twice. Each key has one value."),
        ("release model", "`release` names a gate and an outcome. As in `release tool:c1 ok done`"),
        ("release tool:c1 ok it works", "works stands after `ok` without a name. A text of several words"),
        ("release tool:c1 pending now", "now stands after `pending` without a name."),
        ('start r1 "hello', "A quote is opened that nothing closes."),
        ('start r1 "\\q"', '"\\q" is no JSON string. A backslash is written twice.'),
        ("decide decisions=[d1", "The line ends before its `]`. A list is `[value value]`."),
        ("recover store={a}", "`a}` stands where a key, a value or `}` belongs. Inside braces"),
        ("recover store={a=1", "The line ends before its `}`."),
        ("recover store=", 'A value is missing before the end of the line. An empty text is `""`'),
        ("recover store=}", "A value is missing before `}`."),
        ("recover store=@s", "@s is not defined. The definitions in this file are: none."),
        ("recover + =1", "A value is missing before `=`."),
        ("@s = 1\n@s = 2", ":2: @s is defined twice."),
        ("@s", ":1: A definition has a name and a value."),
        ("@s = 1 2", ":1: `2` is left over. A definition is one value."),
        ("@s = {a=+[1]}", "There is no list to which `+[…]` could add."),
        ("settle\n----\nrun.status Running ->", "Write `run.status OLD -> NEW`; OLD is left out at first."),
        ("settle\n----\nreport nothing", "`report` says whether the runtime is quiescent."),
        ("record a=1 b=2", "`record` takes one key and its value. The keys are handshake, scenario"),
        (LAUGHS, ":7: The definitions in this line hold more than 100,000 values."),
        ("recover store=" + "[" * 5000, ":1: a value is nested too deep."),
        ("recover store=" + "9" * 5000, "is too long for a number. Write it in quotes."),
        ("scenario s tool=1", "`scenario` has no field `tool`. Did you mean `tools`?"),
    ],
)
def test_what_is_wrong_is_said_with_what_would_be_right(text, says):
    """A malformed file is the writer's affair: the line, what is wrong, and what was probably meant."""
    with pytest.raises(UsageError) as caught:
        from_text(text, LINE_FORMATS, "x.scenario")

    assert "x.scenario:" in str(caught.value)
    assert says in str(caught.value)
