"""The handshake: its defaults are the weakest claims, and what does not fit is named."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from runlock.conformance.families.lifecycle.messages import ALL_STIMULI, Handshake
from runlock.conformance.protocol import PROTOCOL_VERSION, SPEC_REVISION, Initialize, Party
from runlock.conformance.protocol.handshake import Control, not_misspelt

KINDS = ("run.status", "call.status", "phase")
PARTY = {"name": "tiny", "version": "1.0"}


def read(**fields: Any) -> Handshake:
    """A handshake with these fields, as it comes over the wire."""
    return Handshake.model_validate({"implementation": PARTY, **fields})


def test_the_kit_says_what_it_speaks() -> None:
    """Its half names the protocol, the kit and the revision of the spec."""
    hello = Initialize(kit=Party(name="runlock", version="0")).model_dump(mode="json", exclude_none=True)

    assert hello == {
        "protocol": {"min": PROTOCOL_VERSION, "max": PROTOCOL_VERSION},
        "kit": {"name": "runlock", "version": "0"},
        "spec": {"revision": SPEC_REVISION},
    }


def test_a_runtime_that_says_little_claims_little() -> None:
    """What is left out is the weakest control, the profile core, and nothing shown."""
    said = read()

    assert (said.family, said.profile, said.policies, said.observes) == ("lifecycle", "core", {}, [])
    assert said.control == Control(settle="observed", crash=[], store="none", clock="real", step="none")
    assert said.stimuli == ALL_STIMULI


@pytest.mark.parametrize(("settle", "counts"), [("exact", True), ("observed", False)])
def test_silence_counts_where_the_runtime_settles_exactly(settle: str, counts: bool) -> None:
    """What a runtime has not shown by itself when it is quiescent, it will not show."""
    assert read(control={"settle": settle}).control.settles_exactly is counts


@pytest.mark.parametrize(
    ("fields", "where", "says"),
    [
        ({"implementation": {"name": "x"}}, ("implementation", "version"), "Field required"),
        ({"implementation": {"name": 3, "version": "1"}}, ("implementation", "name"), "valid string"),
        ({"control": {"settle": "soon"}}, ("control", "settle"), "'exact' or 'observed'"),
        ({"control": {"crash": ["hard"]}}, ("control", "crash", 0), "'soft' or 'kill'"),
        ({"gates": ["modl"]}, ("gates", 0), "Input should be"),
        ({"observes": ["call.statsu"]}, ("observes", 0), "Input should be 'call.status'"),
        ({"stimuli": ["cancle"]}, ("stimuli", 0), "Input should be"),
        ({"policies": []}, ("policies",), "valid dictionary"),
        ({"protocol": "1"}, ("protocol",), "valid integer"),
    ],
)
def test_a_claim_that_does_not_fit_is_named(
    fields: dict[str, Any], where: tuple[Any, ...], says: str
) -> None:
    """The error says at which field, and what would have been right."""
    with pytest.raises(ValidationError) as caught:
        read(**fields)

    (error,) = caught.value.errors()
    assert error["loc"] == where
    assert says in error["msg"]


def test_an_unknown_field_is_left_alone() -> None:
    """A runtime may say more than this version of the protocol knows."""
    assert "colour" not in read(colour="blue").to_wire()


def test_a_null_is_a_field_that_was_left_out() -> None:
    """Some languages write every field."""
    assert read(profile=None, control=None, language=None) == read()


@pytest.mark.parametrize(("word", "meant"), [("run.statsu", "run.status"), ("phases", "phase")])
def test_a_slip_is_told_with_what_was_meant(word: str, meant: str) -> None:
    """A kind that is nearly a listed one would leave untested what the runtime does show."""
    with pytest.raises(PydanticCustomError, match=f"Input should be '{meant}'"):
        not_misspelt(word, KINDS)


@pytest.mark.parametrize("word", ["run.status", "acme.progress"])
def test_a_runtime_may_show_kinds_of_its_own(word: str) -> None:
    """What is listed, and what is like nothing that is listed, is taken."""
    assert not_misspelt(word, KINDS) == word
