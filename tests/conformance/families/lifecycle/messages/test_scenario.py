"""Tools of a scenario: which arguments fit their parameters, and which parameters can be declared."""

import pytest
from pydantic import ValidationError

from runlock.conformance.families.lifecycle.messages import ToolSpec
from runlock.machines.lifecycle.runtime.rounds import fits

COUNT = {"type": "object", "properties": {"n": {"type": "integer"}, "note": {}}, "required": ["n"]}


@pytest.mark.parametrize(
    ("args", "is_right"),
    [
        ({"n": 3}, True),
        ({"n": 3, "note": ["any"], "more": 1}, True),
        ({}, False),
        ({"n": "3"}, False),
        ({"n": True}, False),
    ],
)
def test_arguments_fit_the_types_that_are_declared(args, is_right):
    """The kit and the reference agree: required keys are there, and a boolean is no number."""
    assert ToolSpec(name="count", parameters=COUNT).fits(args) is is_right
    assert fits(args, COUNT) is is_right


def test_a_tool_without_parameters_takes_any_arguments():
    """Nothing is declared, so nothing is refused."""
    assert ToolSpec(name="count").fits({"n": "three"})


@pytest.mark.parametrize("kind", ["array", ["integer", "null"], 3])
def test_a_type_that_the_kit_does_not_check_is_refused(kind):
    """The error names the parameter, its type, and the types that can be declared."""
    parameters = {"properties": {"n": {"type": kind}}}

    with pytest.raises(ValidationError, match=r"parameter n has the type .*; there are string, integer"):
        ToolSpec(name="count", parameters=parameters)


def test_a_tool_that_ignores_its_abort_has_no_time_limit():
    """Nothing could end it when its time has passed, and a second try would enter it twice at once."""
    with pytest.raises(ValidationError, match="a tool that ignores its abort has no time limit"):
        ToolSpec(name="t", abort="ignored", timeout_ms=10)
