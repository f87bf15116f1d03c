"""The client that AG-UI publishes drives the application that the kit serves, and verifies its streams."""

import asyncio
import json
import shutil

import pytest
from places import DOUBLES, ROOT
from served_apps import site

from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.protocol import ToolCall, Turn
from runlock.conformance.wires.ag_ui_server import Served, Thread, World

CLIENT = ROOT / "node_modules" / "@ag-ui" / "client"
"""`npm install --no-save @ag-ui/client` in the root of the repository."""

SECONDS = 60

pytestmark = [
    pytest.mark.kits,
    pytest.mark.skipif(
        shutil.which("node") is None or not CLIENT.is_dir(), reason="no @ag-ui/client is here"
    ),
]


class EndingWorld(World):
    """Ends a text that it has not begun."""

    def _tell(self, text):
        self.send({"type": "TEXT_MESSAGE_END", "messageId": "never-begun"})


class Ending(Thread):
    """Streams what is against the protocol."""

    def world_of(self, upstream, names):
        return EndingWorld(upstream, names)


def served(thread):
    """The reference as an application."""
    return Served(factory("awaken-8", {}), ("write",), ("read",), thread)


class Model:
    """Asks once for a tool that needs an approval and for one that needs none."""

    def __init__(self, mark):
        self.mark = mark
        self.asked = 0
        self.entered = []

    async def model(self, request):
        self.asked += 1
        calls = [
            ToolCall(id=f"call-{tool}", name=tool, args={"k": f"{tool}{self.mark}"})
            for tool in ("write", "read")
        ]
        return Turn(tool_calls=calls) if self.asked == 1 else Turn(text="done")

    async def tool(self, name, args):
        self.entered.append(name)
        return f"the result of {name}", False


@pytest.fixture(scope="module")
def apps():
    """A right application, and one whose stream is against the protocol."""
    with site({"right": served(Thread), "ending": served(Ending)}) as found:
        yield found


def driven(apps, name, answer):
    """What the client printed, its errors, and what the model and the tools were asked."""
    guest = Model(f"~official-{name}-{answer}~")
    apps.ends.seat(guest)
    words = ["node", str(DOUBLES / "official_client.mjs"), f"{apps.url}/{name}", guest.mark, answer]

    async def run():
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*words, stdout=pipe, stderr=pipe)
        return await asyncio.wait_for(process.communicate(), SECONDS)

    out, errors = asyncio.run(run())
    apps.ends.unseat(guest)
    return out.decode(), errors.decode(), guest


@pytest.mark.parametrize(("answer", "entered"), [("yes", ["read", "write"]), ("no", ["read"])])
def test_it_approves_and_rejects_through_interrupts(apps, answer, entered):
    """Its own verification accepts both streams, and its messages are those of a whole thread."""
    out, errors, guest = driven(apps, "right", answer)

    assert errors == ""
    thread = json.loads(out)
    assert thread["asked"] == ["call-write"]
    assert thread["left"] == 0
    assert guest.entered == entered
    roles = [message["role"] for message in thread["messages"]]
    assert (roles[0], roles[-1], roles.count("tool")) == ("user", "assistant", 2)
    assert thread["messages"][-1]["content"] == "done"
    calls = [tuple(call) for message in thread["messages"] for call in map(_plain, message["calls"])]
    assert calls == [(tool, f"{tool}{guest.mark}") for tool in ("write", "read")]


def test_it_does_not_accept_what_is_against_the_protocol(apps):
    """So that what it accepts says something."""
    out, errors, _ = driven(apps, "ending", "yes")

    assert out == ""
    assert "TEXT_MESSAGE_END" in errors


def _plain(call):
    name, args = call
    return name, args["k"]
