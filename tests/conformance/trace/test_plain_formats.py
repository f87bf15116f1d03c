"""Formats made from the models of a family: any record survives a round trip, and the lines are short."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from courier_family import METHODS, OBSERVATIONS, courier_formats
from hypothesis import given, settings
from hypothesis import strategies as st

from runlock.conformance.errors import UsageError
from runlock.conformance.trace.line_formats import LineFormat
from runlock.conformance.trace.moves import moves_of
from runlock.conformance.trace.scenario_file import (
    DEFAULT_FAMILY,
    family_of,
    from_text,
    parse,
    render,
    to_text,
)
from runlock.conformance.trace.trace import Record, Trace

FORMATS = courier_formats()

DELIVERY = """\
# A parcel is carried in pieces of a story.
family courier
target courier:one

scenario s-1
  van v1
  van v2 seats=3
  closed north south

start r1 go
----
parcel.place p1 -> depot
gate.open g1 model:c1 step=1

parcel p1 large weight=2.5
----
parcel.place p1 depot -> road
signed Ann reason=expected
message assistant text="on my way"
message user copy_of=m1

release model:c1 delta Once
----

race
  release model:c1 turn c2:scan "the end"
  parcel p2 small

recover
----
unlisted acme.horn loud=true

end
"""


def test_a_file_in_the_made_up_family_is_written_as_it_was_read() -> None:
    """Text fields that are required stand without a name, and the newest run is implied."""
    assert render(parse(DELIVERY, FORMATS), FORMATS) == DELIVERY


def test_lines_are_the_records_of_the_family() -> None:
    """Words are methods and kinds; the gate stays open after a piece, so that its name is found again."""
    trace = from_text(DELIVERY, FORMATS)
    place = {"kind": "parcel.place", "run": "r1", "label": "p1", "from": "depot", "to": "road"}
    said = {"kind": "message", "run": "r1", "message": {"role": "user"}, "copy_of": "m1"}

    assert {
        "scenario": "s-1",
        "vans": [{"name": "v1"}, {"name": "v2", "seats": 3}],
        "closed": ["north", "south"],
    } in (list(trace.of("scenario")))
    assert trace.stimuli[1] == {
        "method": "parcel", "params": {"label": "p1", "size": "large", "weight": 2.5, "run": "r1"}
    }  # fmt: skip
    assert place in list(trace.of("observation"))
    assert said in list(trace.of("observation"))
    assert trace.stimuli[2]["params"] == {"gate": "g1", "outcome": {"kind": "delta", "text": "Once"}}
    assert trace.stimuli[3]["params"]["stimuli"][0]["params"]["gate"] == "g1"
    assert [move.params.get("gate") for move in moves_of(trace, FORMATS.gate_name)][2] == "model:c1"


def test_a_reason_that_is_text_stays_text() -> None:
    """A family without codes has none: the word is the value itself."""
    seen = {"kind": "signed", "run": None, "by": "Ann", "reason": "late"}

    assert from_text(to_text(Trace([{"observation": seen}]), FORMATS), FORMATS).records == [
        {"observation": seen}
    ]


# --- any record ---------------------------------------------------------------------------------

words = st.sampled_from(["", "a b", "->", "c1:t0", "true", "3", "@a", "model", "g1", "r1", "é\n"]) | st.text(
    max_size=4
)
scalars = st.none() | st.booleans() | st.integers() | words
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
names = sorted(
    {name for line in (*FORMATS.stimuli.values(), *FORMATS.observations.values()) for name in line.fields()}
)
fields = st.dictionaries(st.sampled_from(names) | words, values, max_size=6)


def _observation(kind: str, given: dict[str, Any]) -> Record:
    return {"observation": {**given, "kind": kind}}


def _stimulus(method: str, given: dict[str, Any]) -> Record:
    return {"stimulus": {"method": method, "params": given}}


records: st.SearchStrategy[Record] = st.one_of(
    st.builds(_observation, st.sampled_from([*OBSERVATIONS, "acme"]), fields),
    st.builds(_stimulus, st.sampled_from([*METHODS, "fly"]), fields),
    st.builds(lambda given: {"scenario": given}, fields | st.builds(lambda v: {"vans": v}, st.lists(fields))),
    st.just({"report": {"quiescent": True, "refused": []}}),
    st.builds(lambda given: {"handshake": given}, fields),
)


@pytest.mark.long
@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(st.lists(records, max_size=6))
def test_any_record_is_read_back_whole(found: list[Record]) -> None:
    """Whatever the records hold, the text has all of it, and it names its family."""
    text = to_text(Trace(found), FORMATS)
    back = from_text(text, FORMATS)

    assert _exactly(back.records) == _exactly(found)
    assert family_of(text) == ("courier" if found else DEFAULT_FAMILY)
    assert to_text(back, FORMATS) == text


def _exactly(records: list[Record]) -> list[str]:
    return [json.dumps(record, sort_keys=True) for record in records]


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("family courier\nparsel p1 small", ":2: `parsel` is no stimulus. Did you mean `parcel`?"),
        (
            "family courier\nparcel p1 small wieght=1",
            ":2: `parcel` has no field `wieght`. Did you mean `weight`?",
        ),
        (
            "family courier\nparcel p1 small big",
            ":2: big stands in `parcel` without a name. Without a name it",
        ),
        ("family courier\nscenario s\n  vam v1", ":2: `vam` is no part of a scenario. Did you mean `van`?"),
        ("family courier\nscenario s\n  van v1; v2", "A semicolon stands in `van`. No line has one."),
        ("family courier\nscenario s vans=1\n  van v1", ":2: `vans` is given, and is no list."),
        ("family courier\nsettle\n----\nsigned Ann;", ":4: A semicolon stands in `signed`. No line has one."),
        ("settle\n\nfamily courier", ":3: `family` stands below other lines. Only comments stand above it."),
        ("----\n\nfamily courier", ":3: `family` stands below other lines."),
        (
            "# why\n\nfamily train",
            ":3: This is a file of the family `train`. Here files of `courier`",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, says: str) -> None:
    """An error names the line and what would have been right, in the words of the family."""
    with pytest.raises(UsageError) as caught:
        from_text(text, FORMATS, "x.scenario")

    assert says in str(caught.value)
    assert str(caught.value).startswith("x.scenario:")


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("family courier\nsettle", "courier"),
        ("# about\n\n  family of four\nfamily courier", "courier"),
        ("@a = {b=1\n  c=2}\nfamily courier", "courier"),
        ("target t\nfamily courier", DEFAULT_FAMILY),
        ("settle", DEFAULT_FAMILY),
        ("", DEFAULT_FAMILY),
    ],
)
def test_the_first_line_names_the_family(text: str, family: str) -> None:
    """A file whose first line names no family is one of the default family."""
    assert family_of(text) == family


def test_one_word_stands_for_one_line() -> None:
    """A stimulus with the word of an observation cannot be told from it."""
    stimuli = {**FORMATS.stimuli, "parcel": LineFormat("signed")}

    with pytest.raises(ValueError, match="courier have one word: signed"):
        replace(FORMATS, stimuli=stimuli)
