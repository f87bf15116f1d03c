"""How an approval is spelled: as the user says, as the schema of the interrupt says, or as usual."""

import pytest

from runlock.conformance.wires.address import Address
from runlock.conformance.wires.ag_ui_server import spoken
from runlock.conformance.wires.dialects import payload, read

URL = "http://127.0.0.1:8000/agent"
TYPES = {"type": {"enum": ["approve", "edit", "reject"]}}


@pytest.mark.parametrize(
    ("schema", "yes", "no"),
    [
        (
            {"type": "object", "properties": {"approved": {"type": "boolean"}}},
            {"approved": True},
            {"approved": False},
        ),
        (
            {"properties": {"note": {"type": "string"}, "accepted": {}}},
            {"accepted": True},
            {"accepted": False},
        ),
        ({"type": "boolean"}, True, False),
        ({"enum": ["accept", "reject"]}, "accept", "reject"),
        ({"type": "object", "properties": TYPES}, {"type": "approve"}, {"type": "reject"}),
        (
            {
                "anyOf": [
                    {"properties": {"type": {"const": "approve"}}},
                    {"properties": {"type": {"const": "reject"}}},
                ]
            },
            {"type": "approve"},
            {"type": "reject"},
        ),
        (
            {"properties": {"decisions": {"type": "array", "items": {"properties": TYPES}}}},
            {"decisions": [{"type": "approve"}]},
            {"decisions": [{"type": "reject"}]},
        ),
    ],
)
def test_a_schema_tells(schema, yes, no):
    """A field that is true or false, a word, or a list with one for each call."""
    assert read(schema) == (yes, no)


@pytest.mark.parametrize(
    "schema", [{}, {"type": "object"}, {"properties": {"colour": {"enum": ["red", "blue"]}}}]
)
def test_another_schema_does_not(schema):
    """Then most runtimes take `approved`."""
    assert read(schema) is None
    assert payload(Address(URL), {"responseSchema": schema}, approves=True) == {"approved": True}


def test_what_the_user_says_goes_first():
    """Also where it is false or empty."""
    address = Address(URL, approve={"ok": 1}, reject=False)
    schema = {"responseSchema": {"type": "boolean"}}

    assert payload(address, schema, approves=True) == {"ok": 1}
    assert payload(address, schema, approves=False) is False


@pytest.mark.parametrize(
    ("declared", "answered"),
    [("1.0", "1.0"), ("1.1", "1.1"), ("1.10", "1.1"), ("2.0", "1.1"), (None, "1.0"), ("latest", "1.0")],
)
def test_the_served_application_speaks_the_version_of_its_client(declared, answered):
    """A client of version 1.0 warns about each newer stream."""
    assert spoken(declared) == answered
