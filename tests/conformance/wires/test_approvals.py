"""Each interrupt of a round is answered, also those that name no call, and never for the wrong call."""

from types import SimpleNamespace

import pytest

from runlock.conformance.families.lifecycle.adapter import Refused
from runlock.conformance.families.lifecycle.messages import Decision
from runlock.conformance.protocol import ToolCall
from runlock.conformance.wires.address import Address
from runlock.conformance.wires.ag_ui_client import HttpClient
from runlock.conformance.wires.approvals import Approvals
from runlock.conformance.wires.identity import Identity

MARK = "~a"
URL = "http://127.0.0.1:8000/agent"
LIST = {"properties": {"decisions": {"type": "array", "items": {"enum": ["approve", "reject"]}}}}


def asking(*interrupts):
    """A client with two calls that wait, and what asks about them."""
    calls = {f"call-{one}": ("write", {"k": f"{one}{MARK}"}) for one in ("c1", "c2")}
    client = SimpleNamespace(
        interrupts=[{"id": f"i{at}", **one} for at, one in enumerate(interrupts)],
        unanswered=lambda: list(calls),
        call=calls.__getitem__,
    )
    identity = Identity(MARK, {"write": "write"})
    identity.asked([ToolCall(id=one, name="write", args={}) for one in ("c1", "c2")])
    address = Address(URL, ask=("write",), free=("read",))
    return client, Approvals(address, identity, by_result=False)


def unseen(*interrupts):
    """A client that has been asked about two calls which were never streamed."""
    client, approvals = asking(*interrupts)
    client.unanswered = list
    client.call = lambda name: ("", None)
    return client, approvals


def decide(**actions):
    """Decisions by call."""
    return [Decision(id=f"d-{call}", call=call, action=action) for call, action in actions.items()]


def sent(client, approvals, **actions):
    """The answers that a request brings, by interrupt."""
    found = approvals.answers(client, decide(**actions))
    return found and {one["interruptId"]: one["payload"] for one in found["resume"]}


@pytest.mark.parametrize("waits", [True, False])
def test_an_interrupt_waits_for_a_call_of_before_the_newest_input(waits):
    """A server may say again that it waits, and else the input takes the place of an answer."""
    client = HttpClient(URL, MARK)
    approvals = Approvals(Address(URL, ask=("write",)), Identity(MARK, {"write": "write"}), by_result=False)
    call = {"id": "call-c1", "function": {"name": "write", "arguments": f'{{"k": "c1{MARK}"}}'}}
    client.request("write it")
    client.messages.append({"id": "a1", "role": "assistant", "toolCalls": [call]})
    client.request("and now?")
    client.interrupts = [{"id": "i1"}] * waits

    assert approvals.waiting(client) == ({"c1": "call-c1"} if waits else {})


def test_a_call_waits_that_has_the_id_of_an_earlier_one():
    """That one has its result, which is none of this one."""
    client = HttpClient(URL, MARK)
    asked = {"role": "assistant", "toolCalls": [{"id": "call-c1"}]}
    client.messages = [{"role": "user"}, asked, {"role": "tool", "toolCallId": "call-c1"}]

    assert client.unanswered() == []
    client.messages.append(asked)
    assert client.unanswered() == ["call-c1"]


def test_an_interrupt_waits_though_no_call_is_known_to_ask():
    """Where two calls have one id, the client shows that of the tool that is free."""
    client, approvals = asking({})
    shown = client.call
    client.call = lambda name: ("read", shown(name)[1])

    assert approvals.waiting(client).keys() == {"c1", "c2"}
    client.interrupts = []
    assert not approvals.waiting(client)


@pytest.mark.parametrize(
    "shown",
    [
        [{"metadata": {"k": f"c2{MARK}"}}, {"metadata": {"k": f"c1{MARK}"}}],
        [{"metadata": {"id": "call-c2"}}, {"message": "May I?", "metadata": {"ids": ["call-c1"]}}],
        [{"toolCallId": "call-c2"}, {}],
        [{}, {"toolCallId": "call-c1"}],
    ],
    ids=["arguments", "ids", "one names its call, first", "one names its call, last"],
)
def test_each_of_several_interrupts_is_answered_for_the_call_that_it_shows(shown):
    """Not the first one alone, and not in the order of the calls."""
    client, approvals = asking(*shown)

    assert sent(client, approvals, c1="resume", c2="cancel") == {
        "i0": {"approved": False},
        "i1": {"approved": True},
    }


def test_interrupts_that_show_no_call_are_all_answered():
    """Where one answer fits each of them."""
    client, approvals = asking({}, {})

    assert sent(client, approvals, c1="resume", c2="resume") == {
        "i0": {"approved": True},
        "i1": {"approved": True},
    }


@pytest.mark.parametrize("count", [1, 2])
def test_an_answer_that_would_decide_another_call_is_not_sent(count):
    """What an interrupt asks about cannot be seen, and the calls were decided differently."""
    client, approvals = asking(*[{}] * count)

    with pytest.raises(Refused, match="one answer stands for several calls"):
        sent(client, approvals, c1="resume", c2="cancel")
    assert sent(client, approvals, c1="cancel") is None
    assert set(map(str, sent(client, approvals, c2="cancel").values())) == {"{'approved': False}"}


def test_one_interrupt_takes_a_list_with_a_decision_for_each_call():
    """As its schema says."""
    client, approvals = asking({"responseSchema": LIST})

    assert sent(client, approvals, c2="cancel") is None
    assert sent(client, approvals, c1="resume") == {"i0": {"decisions": ["approve", "reject"]}}


@pytest.mark.parametrize(
    ("names", "shown"),
    [(("c1", "c2"), [{}, {}]), (("x", "y"), [{"args": {"k": f"c1{MARK}"}}, {"args": {"k": f"c2{MARK}"}}])],
    ids=["by its id", "by the arguments that its interrupt shows"],
)
def test_a_call_that_was_never_streamed_is_known(names, shown):
    """An interrupt may be all that a client sees of it."""
    pairs = zip(names, shown, strict=True)
    client, approvals = unseen(*[{"toolCallId": one, "metadata": data} for one, data in pairs])

    assert list(approvals.waiting(client)) == ["c1", "c2"]
    assert sent(client, approvals, c2="resume") == {"i1": {"approved": True}}


def test_a_client_has_no_tool_and_no_arguments_of_a_call_that_was_never_streamed():
    """Where reading its function raised an exception."""
    assert HttpClient(URL, MARK).call("c1") == ("", None)


def test_the_first_answer_to_a_call_stands_until_it_is_sent():
    """A runtime that never saw a rejection cannot be blamed for the approval that came after it."""
    client, approvals = asking({"responseSchema": LIST})
    refused = []
    approvals.refuse = lambda why, decision: refused.append(decision)

    assert sent(client, approvals, c2="cancel") is None
    assert sent(client, approvals, c1="resume", c2="resume") == {"i0": {"decisions": ["approve", "reject"]}}
    assert refused == ["d-c2"]


def test_an_answer_that_brings_nothing_new_is_refused():
    """No request is sent."""
    client, approvals = asking({"responseSchema": LIST})
    sent(client, approvals, c2="cancel")

    with pytest.raises(Refused, match="has an answer"):
        sent(client, approvals, c2="resume")


def test_a_decision_that_is_kept_outlives_an_input():
    """The runtime waits as before, and takes the decisions of its round together."""
    client, approvals = asking({"responseSchema": LIST})
    assert sent(client, approvals, c1="cancel") is None
    approvals.taken(client)

    with pytest.raises(Refused, match="has an answer"):
        sent(client, approvals, c1="resume")
    assert sent(client, approvals, c2="resume") == {"i0": {"decisions": ["reject", "approve"]}}


@pytest.mark.parametrize("decided", [["c1", "c2"], ["c1"]], ids=["that was sent", "of what waits no more"])
def test_a_decision_is_not_kept_for_ever(decided):
    """Later calls may have the id of its call."""
    client, approvals = asking({"responseSchema": LIST})
    interrupts = client.interrupts
    sent(client, approvals, **dict.fromkeys(decided, "cancel"))
    client.interrupts = []
    approvals.taken(client)
    client.interrupts = interrupts

    assert sent(client, approvals, c1="resume") is None
