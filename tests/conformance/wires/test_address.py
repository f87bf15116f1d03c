"""The name of a runtime behind a wire: read, written, and refused with what would be right."""

import pytest

from runlock.conformance.errors import UsageError
from runlock.conformance.wires.address import Address, address_of, is_address

URL = "http://127.0.0.1:8000/agent"


@pytest.mark.parametrize(
    "address",
    [
        Address(URL),
        Address(URL, ask=("send", "pay"), free=(), ends=9000),
        Address("http://127.0.0.1:{port}/agent", launch="uvicorn app:app --port {port}"),
        Address(URL, approve={"type": "approve"}, reject=False),
    ],
)
def test_what_is_written_is_read_again(address):
    """One line of text holds all of it."""
    assert address_of(str(address)) == address


def test_a_url_alone_is_meant_as_ag_ui():
    """The wire need not be named."""
    assert address_of(URL) == address_of(f"ag-ui:{URL}") == Address(URL)
    assert str(Address(URL)) == f"ag-ui:{URL}"


def test_a_tool_that_needs_an_approval_is_none_that_needs_none():
    """Where that is not said too."""
    assert address_of(f"{URL}#ask=write,read").free == ()
    assert address_of(f"{URL}#ask=send").free == ("read",)


@pytest.mark.parametrize("target", ["reference", "py:a:b", "cmd:http", "trace:x", "agui:http://x"])
def test_other_targets_are_none(target):
    """What names another kind of target is left to it."""
    assert not is_address(target)


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("ag-ui:127.0.0.1:8000/agent", "is no URL of an agent"),
        ("ag-ui:", "is no URL of an agent"),
        ("http://", "is no URL of an agent"),
        ("http://127.0.0.1:{port}/agent", "leaves its port to the kit"),
        (f"{URL}#asks=write", "Did you mean `ask`?"),
        (
            f"{URL}#colour=red",
            "There are launch, ask, free, approve, reject, declare, ends, recipe, package, protocol.",
        ),
        (f"{URL}#approve={{approved", "`approve` is no JSON"),
        (f"{URL}#declare=[1]", "`declare` is no JSON object"),
        (f"{URL}#ends=0", "`ends` is no port"),
        (f"{URL}#ends=many", "`ends` is no port"),
        (f"{URL}#launch='uvicorn", "`launch` is no command"),
        (f"{URL}#launch=", "`launch` is no command"),
        (f"{URL}#ask=read&free=read", "is in `ask` and in `free`"),
        (f"{URL}#ask=&free=", "No tool is named"),
    ],
)
def test_what_means_nothing_is_refused(target, says):
    """A sentence says what is wrong, and what is right."""
    with pytest.raises(UsageError) as refused:
        address_of(target)

    assert says in str(refused.value)
