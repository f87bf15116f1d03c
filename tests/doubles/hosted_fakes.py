"""Toy runtimes for the tests of the hosted interface, made of single functions, and a way to talk to them."""

import asyncio

import pytest

from runlock.conformance.families.lifecycle.adapter import Segment
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.messages import DecisionSupport, Handshake
from runlock.conformance.protocol import Control, Party, ProtocolError

TURN = {"kind": "turn", "text": "bye"}
OK = {"kind": "ok", "content": "fine"}


def toy(*, live=False, control=None, gates=("model", "tool"), **methods):
    """An adapter class: each keyword is a method, given as a plain function of the adapter."""
    shaken = {"control": Control(**control)} if control is not None else {}
    handshake = Handshake(
        implementation=Party(name="toy", version="0"),
        gates=list(gates),
        decisions=DecisionSupport(live=live),
        **shaken,
    )

    async def opened(self, host, scenario):
        self.host, self.scenario, self.thread = host, scenario, []

    async def unasked(self, decisions):
        return Segment("NaturalEnd")

    members = {"handshake": handshake, "open": opened, "start": infer_once, "decide": unasked}
    return type("Toy", (), {**members, **methods})


async def infer_once(self, text):
    await self.host.infer([{"role": "user", "text": text}])
    return Segment("NaturalEnd")


async def one_tool(self, text):
    await self.host.tool("c1", "t0", {"k": "c1"})
    return Segment("NaturalEnd")


async def wait_for_a_decision(self, text):
    return Segment("Suspended", ["c1"])


async def replay(self, decisions):
    for decision in decisions:
        await self.host.tool(decision.call, "t0", {})
    return Segment("NaturalEnd")


async def two_tools(self, text):
    await asyncio.gather(self.host.tool("c1", "t0", {}), self.host.tool("c2", "t0", {}))
    return Segment("NaturalEnd")


class Talk:
    """A conversation with a hosted toy whose scenario is open."""

    def __init__(self, factory, **scenario):
        self.sut = Hosted(factory)
        self.sut.request("scenario.open", {"scenario": "s", **scenario})

    def __call__(self, method, **params):
        return self.sut.request(method, params)

    def start(self, run="r1", **more):
        return self("run.start", run=run, input="hello", **more)

    def release(self, gate, outcome, **more):
        return self("gate.release", gate=gate, outcome=outcome, **more)

    def decide(self, *decisions, run="r1", **more):
        return self("decide", run=run, decisions=list(decisions), **more)

    def deliver(self, *stimuli):
        return self("deliver", stimuli=requests(*stimuli))

    def fails(self, code, method, **params):
        """The words of an answer that is an error with this code."""
        with pytest.raises(ProtocolError) as caught:
            self.sut.request(method, params)
        assert code == caught.value.code
        return caught.value.message


def begun(**made):
    """A conversation with a toy whose run `r1` has started."""
    talk = Talk(toy(**made))
    talk.start()
    return talk


def requests(*stimuli):
    return [{"method": name, "params": params} for name, params in stimuli]


def resume(call="c1", decision="d1", **more):
    return {"id": decision, "call": call, "action": "resume", **more}


def kinds(report):
    return [seen["kind"] for seen in report["observations"]]


def only(report):
    """The one observation of a report, apart from what approvers are shown."""
    (seen,) = [one for one in report["observations"] if one["kind"] != "call.shown"]
    return seen
