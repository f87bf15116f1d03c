"""What is no agent behind ACP, or is not wired up: a sentence says what was expected, and what to set."""

import sys
from pathlib import Path

import bad_agents
import pytest

from runlock.conformance.errors import AdapterError, UsageError
from runlock.conformance.wires import acp_wire, wiring
from runlock.conformance.wires.acp_wire import AcpWire
from runlock.conformance.wires.address import Address, address_of


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "says", "right"),
    [
        ("leaving", "ended with exit code 3 before it answered `initialize`", "It wrote last: no config"),
        ("page", "has not answered `initialize`", "It wrote `Welcome! What can I do for you?`"),
        ("newer", "speaks version 7 of the protocol", "The kit speaks version 1"),
        ("locked", "wants a login before `session/new` (it names browser)", "Only what runs with a key"),
        ("failing", "The first prompt to", "no API key"),
        ("canned", "ended with the stop reason end_turn", "The model end was not asked"),
        ("toolless", "ended with the stop reason end_turn", "offered no tool, and not write, read"),
        ("half", "ended with the stop reason end_turn", "offered read, and not write, read"),
    ],
)
def test_the_first_run_says_what_is_wrong(ends, monkeypatch, name, says, right):
    """Before anything is judged."""
    monkeypatch.setattr(acp_wire, "GREETING_SECONDS", 1.0 if name == "page" else 20.0)
    ends.reached.clear()
    with pytest.raises(AdapterError) as refused:
        AcpWire(Address(f"{sys.executable} {Path(bad_agents.__file__)} {name}", "acp"), ends)

    assert says in str(refused.value)
    assert right in str(refused.value)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "asked", "says", "right"),
    [
        ("canned", "2", "speaks version 1 of the protocol, and not version 2", "Add `--protocol 1`"),
        ("second", "", "speaks version 2 of the protocol, and not version 1", "Add `--protocol 2`"),
        ("echo", "2", "it has agentCapabilities and agentInfo, and no `capabilities`", "leave `--protocol`"),
        ("wordless", "2", "it has no word of its own, and no `capabilities`", "leave `--protocol` out"),
        ("sessionless", "2", "its `capabilities` have no `session`", "leave `--protocol` out"),
        ("mute", "2", "did not end within 1 seconds", "no `state_update` came"),
    ],
)
def test_an_agent_that_does_not_speak_the_version_is_named(ends, monkeypatch, name, asked, says, right):
    """None of them is waited for without an end."""
    monkeypatch.setattr(wiring, "CONTACT_SECONDS", 1.0)
    with pytest.raises(AdapterError) as refused:
        AcpWire(Address(f"{sys.executable} {Path(bad_agents.__file__)} {name}", "acp", protocol=asked), ends)

    assert says in str(refused.value)
    assert right in str(refused.value)


def test_a_command_that_is_not_there_is_named(ends):
    """With what would name another."""
    with pytest.raises(AdapterError, match=r"There is no command `no-such-agent`\. `acp:` names"):
        AcpWire(Address("no-such-agent --acp", "acp"), ends)


def test_a_recipe_may_say_that_a_login_is_needed(ends, tmp_path):
    """Then nothing is started."""
    path = tmp_path / "cloud.toml"
    path.write_text('command = "cloud"\nlogin = "its models are reached through its own server"\n', "utf-8")
    with pytest.raises(AdapterError, match="cannot be driven without a login: its models"):
        AcpWire(Address("", "acp", recipe=str(path)), ends)


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("acp:", "`acp:` names no command"),
        ("acp:#recipe=no-such-one", "There is no recipe `no-such-one`"),
        ("acp:agent '", "`acp` is no command"),
        ("acp:agent#launch=x", "`launch` is of a runtime that is reached at a URL"),
        ("http://127.0.0.1:1/a#recipe=x", "A recipe is of an agent behind `acp:`"),
        ("http://127.0.0.1:1/a#protocol=2", "`protocol` is of an agent behind `acp:`"),
        ("acp:agent#protocol=3", "The kit speaks no version 3 of the Agent Client Protocol"),
    ],
)
def test_an_address_that_means_nothing_is_refused(target, says):
    """In one sentence."""
    with pytest.raises(UsageError, match=says):
        address = address_of(target)
        AcpWire(address)
