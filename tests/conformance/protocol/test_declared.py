"""What a message declares of itself is true of it, in every family, and no message is forgotten."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest

from runlock.conformance.family.family import Family, families
from runlock.conformance.protocol import Observation, Stimulus, Wire
from runlock.conformance.protocol.declared import Declared, filled
from runlock.conformance.trace.line_formats import fields_of

FAMILIES = list(families())

NOT_LISTED = {"Nested"}
"""Classes of observations that only wrap another one."""

IN_PARTS = {"tool-runner": {"stimulus runner.set"}}
"""Needs of stimuli of which a handshake offers the parts."""


def messages(family: Family, base: type[Any]) -> Iterator[type[Any]]:
    """The classes of that kind in the messages of a family, by their modules."""
    package = importlib.import_module(
        f"runlock.conformance.families.{family.name.replace('-', '_')}.messages"
    )
    for found in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{found.name}")
        for one in vars(module).values():
            if isinstance(one, type) and issubclass(one, base) and one.__module__ == module.__name__:
                yield one


def declarations(family: Family) -> Iterator[tuple[type[Wire], Declared]]:
    """The stimuli and observations of a family, each with what it declares."""
    models = [params for params, _ in family.vocabulary.methods.values()]
    for model in (*models, *family.vocabulary.observations.values()):
        declared = getattr(model, "declared", None)
        if declared is not None:
            yield model, declared


@pytest.mark.parametrize("family", FAMILIES, ids=lambda one: one.name)
def test_what_is_declared_is_sent_and_listed(family: Family) -> None:
    """A class that is in no tuple of its family would have no verb, no line and no schema."""
    sent = {params for params, _ in family.vocabulary.methods.values()}
    listed = set(family.vocabulary.observations.values())

    assert set(messages(family, Stimulus)) <= sent
    assert {one.__name__ for one in set(messages(family, Observation)) - listed} <= NOT_LISTED


@pytest.mark.parametrize("family", FAMILIES, ids=lambda one: one.name)
def test_what_a_stimulus_needs_can_be_declared_in_a_handshake(family: Family) -> None:
    """Each need is one of the words that a clause may use."""
    needs = {need for verb in family.vocabulary.methods if (need := family.vocabulary.need_of(verb))}
    words = {f"{first} {word}" for first, known in family.spec.needs.items() for word in known}

    assert needs - words == IN_PARTS.get(family.name, set())


@pytest.mark.parametrize("family", FAMILIES, ids=lambda one: one.name)
def test_a_line_and_a_template_name_fields_of_the_message(family: Family) -> None:
    """A field that is renamed is renamed in them too."""
    for model, declared in declarations(family):
        given = dict.fromkeys(fields_of(model), "x")
        if isinstance(declared.words, str):
            filled(declared.words, given)
    for line in (*family.line_formats.stimuli.values(), *family.line_formats.observations.values()):
        assert set(line.positions) <= line.fields()


def test_a_subclass_keeps_what_its_base_declares() -> None:
    """A family that changes a field of a shared stimulus repeats neither its verb nor its words."""

    class Say(Stimulus, verb="say", line="say {text}", words="say {text!q}"):
        text: str

    class SayLoudly(Say, words="shout {text!q}"):
        volume: int = 1

    assert SayLoudly.method == "say"
    assert SayLoudly.declared.line == "say {text}"
    assert SayLoudly.declared.needs == "stimulus say"
    assert filled("shout {text!q}", {"text": "a"}) == 'shout "a"'
