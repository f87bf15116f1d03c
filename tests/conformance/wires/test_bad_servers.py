"""What is no agent behind AG-UI, or is not wired up: a sentence says what was expected, and what to set."""

from pathlib import Path

import pytest
from bad_apps import app_of
from served_apps import served

from runlock.conformance.campaign.order import Order, Sampled
from runlock.conformance.campaign.worker_process import WIRE_LIMIT_SECONDS, WorkerHandle
from runlock.conformance.errors import AdapterError, TimedOut
from runlock.conformance.wires import launch, wiring
from runlock.conformance.wires.address import Address, exported
from runlock.conformance.wires.wire import Wire


@pytest.fixture(scope="module")
def url(ends):
    """Where all of the applications are."""
    with served(app_of(exported(ends.port)["OPENAI_BASE_URL"])) as found:
        yield found


@pytest.mark.parametrize(
    ("name", "says", "right"),
    [
        ("page", "text/html, and no stream of events: <h1>Welcome</h1>", "Name the path of the agent"),
        ("locked", "status 401: ", "Run the application without its login"),
        ("broken", "status 500: ", "The application's own log says why"),
        ("nowhere", "status 404: Not Found", "Name the path of the agent"),
        ("garbled", "a line that is no event: {what?", "Each `data:` line is a JSON object with a type"),
        ("partial", "an event that is not whole", "The protocol says which fields an event has"),
        ("canned", "ended with RUN_FINISHED", "The model end was not asked. Set OPENAI_BASE_URL="),
        ("failing", "ended with RUN_ERROR: no API key", "The model end was not asked"),
        ("toolless", "ended with RUN_FINISHED", "offered no tool, and not write, read. Set RUNLOCK_MCP_URL="),
        ("half", "ended with RUN_FINISHED", "offered read, and not write, read"),
        (
            "deaf",
            "A call of write did not run, and nothing asked for its approval",
            "A call waits as an interrupt",
        ),
        ("elsewhere", "ended with RUN_FINISHED", "offered search, pay, and not write, read"),
    ],
)
def test_the_first_run_says_what_is_wrong(url, ends, name, says, right):
    """Before anything is judged."""
    ends.reached.clear()
    with pytest.raises(AdapterError) as refused:
        Wire(Address(f"{url}/{name}"), ends)

    assert says in str(refused.value)
    assert right in str(refused.value)


def test_a_stream_that_never_ends_is_given_up(url, ends, monkeypatch):
    """After a while, and with what was reached by then."""
    monkeypatch.setattr(wiring, "CONTACT_SECONDS", 0.3)
    with pytest.raises(AdapterError, match="did not end within 0 seconds"):
        Wire(Address(f"{url}/endless"), ends)


def test_a_server_that_is_not_there_is_named(ends):
    """With what starts it."""
    with pytest.raises(AdapterError, match=r"Nothing answers at http://127.0.0.1:1/agent.*--launch COMMAND"):
        Wire(Address("http://127.0.0.1:1/agent"), ends)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("launch", "says"),
    [
        ("no-such-program", "There is no command `no-such-program`"),
        ("python -c 'raise SystemExit(7)'", "ended with exit code 7 before it listened .* It wrote nothing"),
        ("python -c 'print(1); raise ValueError(3)'", "exit code 1 .* It wrote last: ValueError: 3"),
    ],
)
def test_an_application_that_does_not_start_is_named(launch, says):
    """With the last line that it wrote."""
    with pytest.raises(AdapterError, match=says):
        Wire(Address("http://127.0.0.1:{port}/agent", launch=launch))


def test_an_application_at_another_port_is_waited_for_once(monkeypatch):
    """It runs, so that a second attempt would take as long."""
    monkeypatch.setattr(launch, "UP_SECONDS", 0.1)
    with pytest.raises(
        TimedOut, match=r"has not listened at http.*/agent within 0 seconds. It runs, and finds"
    ):
        Wire(Address("http://127.0.0.1:{port}/agent", launch="sleep 60"))


@pytest.mark.parametrize(
    ("target", "size", "seconds"),
    [
        ("http://127.0.0.1:{port}/agent#launch=x", 9, 150),  # it may have to be started again
        ("acp:agent", 9, 150),
        ("mine", 0, 150),  # in the settings of the current folder
        ("http://127.0.0.1:1/agent", 9, 12),
        ("py:acme:Verbs", 0, 17),
    ],
)
def test_a_worker_waits_longer_than_an_application_may_take_to_start(
    tmp_path, monkeypatch, target, size, seconds
):
    """So the sentence is about the application, and not about the worker that waits for it."""
    monkeypatch.chdir(tmp_path)
    Path("runlock.toml").write_text('[agents.mine]\nurl = "http://127.0.0.1:1/agent"\n', "utf-8")
    handle = WorkerHandle(Order(target, Sampled(0)), tmp_path / "journal")
    handle.kill()

    assert handle.limit_seconds(size) == seconds
    assert launch.UP_SECONDS < WIRE_LIMIT_SECONDS
