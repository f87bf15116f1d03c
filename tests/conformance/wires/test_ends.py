"""The ends of a wire: what belongs to a schedule reaches it, and everything else is answered and counted."""

import asyncio

import httpx
import pytest
from mcp import Client
from served_ends import serving_ends

from runlock.conformance.errors import AdapterError
from runlock.conformance.protocol import ToolCall, Turn
from runlock.conformance.transport.world import ModelFault
from runlock.conformance.wires.ends import Ends, meant

TOOLS = [{"type": "function", "function": {"name": "write", "parameters": {}}}]
MARK = "~thread~"


class Guest:
    """Answers with a turn or a fault, and remembers what came."""

    mark = MARK

    def __init__(self, turn=None):
        self.turn = turn
        self.came = []
        self.was_left = asyncio.Event()

    async def model(self, request):
        self.came.append(request.messages[-1].text)
        if self.turn is None:
            raise ModelFault("the model is gone")
        if self.turn == "never":
            try:
                await asyncio.sleep(3600)
            finally:
                self.was_left.set()
        return self.turn

    async def tool(self, name, args):
        self.came.append((name, args))
        if self.turn == "never":
            return await asyncio.ensure_future(self._until_over())
        return "written", name == "fails"

    async def _until_over(self):
        """As a gate that is open when its schedule ends."""
        raise asyncio.CancelledError


@pytest.fixture
def ends():
    """The ends, on any port."""
    with serving_ends("write", "fails") as found:
        yield found


def asked(ends, path="/v1/chat/completions", **body):
    """The answer to a request."""
    return httpx.post(f"http://127.0.0.1:{ends.port}{path}", json=body, trust_env=False)


def said(text):
    """The messages of a user who says this."""
    return [{"role": "user", "content": text}]


def test_a_request_of_the_schedule_reaches_it(ends):
    """It has the mark of the schedule, and offers a tool of the kit."""
    guest = Guest(Turn(tool_calls=[ToolCall(id="c1", name="write", args={"k": "c1"})]))
    ends.seat(guest)
    answer = asked(ends, messages=said(f"go{MARK}"), tools=TOOLS).json()

    assert guest.came == [f"go{MARK}"]
    assert answer["choices"][0]["message"]["tool_calls"][0]["id"] == "c1"
    assert ends.reached == {"model": 1}


@pytest.mark.parametrize(
    ("offered", "means"),
    [
        (["write", "fails"], {"write": "write", "fails": "fails"}),
        (["kit_write"], {"kit_write": "write"}),
        (["mcp__kit__write", "other"], {"mcp__kit__write": "write"}),
        (["kit.write", "kit/fails"], {"kit.write": "write", "kit/fails": "fails"}),
        (["write", "over_write"], {"write": "write"}),
        (["a_write", "b_write"], {}),
        (["rewrite"], {}),
    ],
)
def test_a_tool_is_known_by_what_its_name_ends_with(offered, means):
    """Unless several may be meant."""
    assert meant(["write", "fails"], offered) == means


def test_a_longer_name_is_that_of_the_application_alone(ends):
    """The schedule has the kit's name, and the application its own."""
    ends.seat(Guest(Turn(tool_calls=[ToolCall(id="c1", name="write", args={"k": "c1"})])))
    tools = [{"type": "function", "function": {"name": "kit_write", "parameters": {}}}]
    call = asked(ends, messages=said(f"go{MARK}"), tools=tools).json()["choices"][0]["message"]["tool_calls"][
        0
    ]

    assert call["function"]["name"] == "kit_write"
    assert ends.plain("kit_write") == "write"


@pytest.mark.parametrize(
    ("messages", "tools"),
    [
        (said("go"), TOOLS),
        (said(f"a title for go{MARK}"), []),
        (said(f"go{MARK}"), [{"function": {"name": "other"}}]),
    ],
)
def test_a_request_of_something_else_is_set_aside(ends, messages, tools):
    """One of another thread, one without tools, one with other tools."""
    guest = Guest(Turn(text="never said"))
    ends.seat(guest)
    answer = asked(ends, messages=messages, tools=tools).json()

    assert guest.came == []
    assert answer["choices"][0]["message"]["content"] == "ok"
    assert ends.reached == {"model": 1, "aside": 1}
    assert len(ends.taken_asides()) == 1
    assert ends.taken_asides() == []


def test_each_of_several_schedules_has_what_holds_its_mark(ends):
    """They are played at the same time on one application."""
    guests = [Guest(Turn(text=name)) for name in ("one", "two")]
    for guest, mark in zip(guests, ("~1~", "~2~"), strict=True):
        guest.mark = mark
        ends.seat(guest)
    answers = [asked(ends, messages=said(f"go{mark}"), tools=TOOLS).json() for mark in ("~2~", "~1~")]
    ends.unseat(guests[0])
    late = asked(ends, messages=said("go~1~"), tools=TOOLS).json()

    assert [one["choices"][0]["message"]["content"] for one in (*answers, late)] == ["two", "one", "ok"]
    assert [guest.came for guest in guests] == [["go~1~"], ["go~2~"]]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses", "/v1/messages"])
def test_a_request_that_cannot_be_read_is_refused(ends, path):
    """With what is wrong, so that the application's log says it."""
    answer = asked(ends, path, messages=[{}], input=[3])

    assert answer.status_code == 400
    assert "the request cannot be read" in answer.text
    assert ends.reached == {"model": 1, "unreadable": 1}


def test_a_fault_of_the_model_is_an_error_that_is_not_tried_again(ends):
    """Clients send a request again for other errors."""
    ends.seat(Guest())
    answer = asked(ends, messages=said(MARK), tools=TOOLS)

    assert (answer.status_code, answer.json()["error"]["message"]) == (400, "the model is gone")


def test_a_client_that_hangs_up_gives_its_request_up(ends):
    """The schedule learns of it."""
    guest = Guest("never")
    ends.seat(guest)
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(
            f"http://127.0.0.1:{ends.port}/v1/chat/completions",
            json={"messages": said(MARK), "tools": TOOLS},
            timeout=0.2,
            trust_env=False,
        )

    ends.real.run(asyncio.wait_for(guest.was_left.wait(), 5))


def test_a_tool_is_entered_over_mcp(ends):
    """The outcome of its call says whether it is an error."""
    guest = Guest()
    ends.seat(guest)

    async def calls():
        async with Client(f"http://127.0.0.1:{ends.port}/mcp") as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            right = await client.call_tool("write", {"k": f"c1{MARK}"})
            wrong = await client.call_tool("fails", {"k": f"c2{MARK}"})
            stray = await client.call_tool("write", {"k": "c3"})
            return tools, [(one.content[0].text, one.is_error) for one in (right, wrong, stray)]

    tools, results = asyncio.run(calls())

    assert tools == ["write", "fails"]
    assert results[:2] == [("written", False), ("written", True)]
    assert results[2] == ("this call is of no schedule that is being played", True)
    assert guest.came == [("write", {"k": f"c1{MARK}"}), ("fails", {"k": f"c2{MARK}"})]


def test_a_schedule_that_ends_in_a_call_leaves_the_session_of_its_client_open(ends):
    """A client keeps one session for all its threads, and calls tools for later schedules."""
    over, later = Guest("never"), Guest()
    over.mark, later.mark = "~1~", "~2~"
    ends.seat(over)
    ends.seat(later)

    async def calls():
        async with Client(f"http://127.0.0.1:{ends.port}/mcp", mode="legacy") as client:
            return [await client.call_tool("write", {"k": mark}) for mark in ("~1~", "~2~")]

    results = [(one.content[0].text, one.is_error) for one in asyncio.run(calls())]

    assert results == [("the schedule of this call is over", True), ("written", False)]


def test_a_port_that_is_taken_is_named(ends):
    """With the option that names another."""
    with pytest.raises(AdapterError, match=rf"port {ends.port}: .*`--ends PORT`"):
        Ends(ends.real, ["write"], ends.port)
