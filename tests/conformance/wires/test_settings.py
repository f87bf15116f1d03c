"""Addresses in `runlock.toml`, and the options of a command."""

import pytest

from runlock.conformance.campaign.targets import resolve
from runlock.conformance.errors import UsageError
from runlock.conformance.wires.address import Address
from runlock.conformance.wires.settings import address_in_file, with_options

URL = "http://127.0.0.1:8000/agent"
FILE = """
[agents.mine]
url = "http://127.0.0.1:{port}/agent"
launch = "uvicorn app:app --port {port}"
ask = ["send", "pay"]
approve = { approved = true }
ends = 9000

[agents.bare]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with such a file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runlock.toml").write_text(FILE, "utf-8")
    return tmp_path


def test_a_name_of_the_file_is_a_target(folder):
    """So that a command needs one word."""
    mine = Address(
        "http://127.0.0.1:{port}/agent",
        launch="uvicorn app:app --port {port}",
        ask=("send", "pay"),
        approve={"approved": True},
        ends=9000,
    )

    assert address_in_file("mine") == mine
    assert resolve("mine").address == mine


def test_another_name_is_none(folder):
    """It is then read as any other target."""
    assert address_in_file("yours") is None
    with pytest.raises(UsageError, match="`yours` names no target"):
        resolve("yours")


def test_without_a_file_there_are_none(tmp_path, monkeypatch):
    """The file need not be there."""
    monkeypatch.chdir(tmp_path)

    assert address_in_file("mine") is None


def test_an_agent_without_a_url_is_refused(folder):
    """The sentence names the file and the table."""
    with pytest.raises(UsageError, match=r"runlock.toml names no URL for bare.*\[agents.bare\]"):
        address_in_file("bare")


def test_options_are_settings(folder):
    """They go before those that the name has already."""
    target = with_options(f"{URL}#ask=pay", "ag-ui", {"ask": ["send"], "free": None, "ends": "9000"})

    assert resolve(target).address == Address(URL, ask=("send",), ends=9000)


def test_a_target_without_options_stays_as_it_is():
    """Whatever it is."""
    assert with_options("reference", None, {"ask": None}) == "reference"


@pytest.mark.parametrize(
    ("wire", "given", "option"), [("ag-ui", {}, "wire"), (None, {"launch": "x"}, "launch")]
)
def test_other_targets_have_no_such_options(wire, given, option):
    """The sentence names the option, and what it is of."""
    with pytest.raises(
        UsageError, match=f"`--{option}` is of a runtime behind a wire, and `reference` is none"
    ):
        with_options("reference", wire, given)
